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
    pub(super) fn new(image: &Path, kernel: &str) -> Self {
        let module = sources::open(image).ok();
        let sites = module.as_ref().map(dispatch::sites);
        let site = sites.as_ref().and_then(|sites| sites.named(kernel));
        let place = site.map_or_else(
            || {
                let file = image.to_string_lossy();
                let parts = LocationParts { name: kernel, function: kernel, file: &file, line: 0, color: 0 };
                Location::intern(parts)
            },
            |site| site.place().clone(),
        );
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
