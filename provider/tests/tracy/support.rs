//! What all tests need.

use std::time::{Duration, Instant};

use zonecast_tracy_wire::child::Case;

/// Nothing is recorded before a profiler has connected.
pub(crate) const ON_DEMAND: bool = cfg!(feature = "tracy-on-demand");

/// Longer than any machine is busy with something else.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// A process that traces with Tracy, whatever else the build has.
pub(crate) fn case() -> Case {
    Case::new().env("ZONECAST_PROVIDER", "tracy").receiver(|receiver| receiver.check(true))
}

/// Starts tracing, once somebody watches where that matters.
pub(crate) fn start() -> zonecast::Session {
    let session = zonecast::start();
    if ON_DEMAND {
        wait_for_server();
    }
    session
}

/// Waits until a server has connected.
pub(crate) fn wait_for_server() {
    let deadline = Instant::now() + PATIENCE;
    while !zonecast::is_connected() {
        assert!(Instant::now() < deadline, "no server has connected");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs `body` on so many threads at once, with their numbers, until they have ended.
pub(crate) fn on_threads(count: u64, body: impl Fn(u64) + Sync) {
    std::thread::scope(|scope| {
        let body = &body;
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || body(number))).collect();
        // The scope itself would not wait for the threads' destructors.
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
