//! Each run as a zone, at the kernel's source.

use std::path::Path;

use zonecast::{Interned, Lane, Location, LocationParts, Time, dispatch, sources};

use super::Run;
use super::job::RawRun;

/// The lane that a replay's runs are on.
pub(super) struct Trace {
    lane: Lane,
    place: Interned,
    /// While it lives, its texts can be asked for.
    _module: Option<sources::Module>,
    /// What to add to the system's monotonic clock.
    offset: i64,
}

impl Trace {
    /// For an image in a file, whether or not it carries sources.
    pub(super) fn new(image: &Path, kernel: &str) -> Self {
        match sources::open(image) {
            Ok(module) => Self::of(module, kernel),
            Err(_) => Self::at(place(&image.to_string_lossy(), kernel), None),
        }
    }

    pub(super) fn of(module: sources::Module, kernel: &str) -> Self {
        let sites = dispatch::sites(&module);
        let site = sites.named(kernel).map(|site| site.place().clone());
        let place = site.unwrap_or_else(|| place(module.executable().name(), kernel));
        Self::at(place, Some(module))
    }

    fn at(place: Interned, module: Option<sources::Module>) -> Self {
        Self { lane: Lane::new("replay"), place, _module: module, offset: Time::now().ns() - monotonic() }
    }

    pub(super) fn run(&mut self, raw: RawRun) -> Run {
        let at = |ns: i64| Time::from_ns(ns.saturating_add(self.offset));
        let run = Run {
            start: at(raw.start),
            end: at(raw.end),
            output: usize::try_from(raw.output).unwrap_or(usize::MAX),
        };
        self.lane.zone_at_interned(&self.place, run.start, run.end);
        run
    }
}

/// Where a kernel is of which nothing more is known.
fn place(file: &str, kernel: &str) -> Interned {
    Location::intern(LocationParts { name: kernel, function: kernel, file, line: 0, color: 0 })
}

/// The clock that processes share, in nanoseconds.
pub(super) fn monotonic() -> i64 {
    #[cfg(target_os = "linux")]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec * 1_000_000_000 + now.tv_nsec
    }
    #[cfg(not(target_os = "linux"))]
    0
}
