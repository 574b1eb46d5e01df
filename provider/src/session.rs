//! The beginning and the end of a traced run.

use core::time::Duration;

use crate::select::provider;
use crate::settings;

/// How long the end of a session waits for GPUs.
const GPU_PATIENCE: Duration = Duration::from_secs(2);

/// Chooses the provider and gets it ready, so that the first zone does not pay for it, and makes the texts
/// known that are embedded in the [program](crate::sources::program) itself.
///
/// Tracing works without it, too. Keep the guard until the end of `main`: dropping it writes out
/// what is held back, and with `TRACY_NO_EXIT=1` waits until a profiler has fetched everything.
///
/// ```
/// let _session = zonecast::start();
/// let _zone = zonecast::zone!("main");
/// ```
pub fn start() -> Session {
    provider!(|p| p.start());
    if crate::select::is_recording() {
        crate::sources::program();
    }
    Session(())
}

/// As [`start`], for a program that wants other settings than zonecast's own.
///
/// Each pair is one of zonecast's environment variables, `ZONECAST_…`, and what it counts as where it is unset
/// or empty: the program's user has the last word. Call it before any other trace call, since settings are
/// read once; only the first call's settings count.
///
/// ```
/// let _session = zonecast::start_with(&[("ZONECAST_CONSOLE", "text,summary"), ("ZONECAST_SOURCES", "7")]);
/// ```
pub fn start_with(settings: &'static [(&'static str, &'static str)]) -> Session {
    settings::of_program(settings);
    start()
}

/// Writes out what is held back when it is dropped.
#[derive(Debug)]
#[must_use = "dropping the session at once writes nothing out at the end; bind it: `let _session = …`"]
pub struct Session(());

impl Session {
    /// Writes out what is held back so far.
    pub fn flush(&self) {
        provider!(|p| p.flush());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        crate::gpu::finish(GPU_PATIENCE);
        provider!(|p| p.finish());
    }
}
