//! The end of a session.
//!
//! Tracy sends what is left when the process exits: its static destructor asks the client's thread
//! to finish, which with a profiler connected sends everything and answers every question, and
//! with `TRACY_NO_EXIT=1` waits for a profiler first. So the end of a session has nothing to send.
//!
//! With `TRACY_NO_EXIT=1` it waits nevertheless: until a profiler has come and has taken what this
//! thread recorded, and what all threads recorded in the queue that they share. So a program that
//! leaves by another way than `exit` (an abort, `_exit`, a kill by its parent) can drop its session
//! first; one that then returns from `main` waits no longer than it would have. Where nobody can
//! come any more, because Tracy found no free port or because a profiler came and has gone, Tracy
//! throws events away, and the wait ends as well.

use core::time::Duration;

use super::{drops, linked, shim};

/// Between two looks at the queues. Tracy's client looks as often.
const PAUSE: Duration = Duration::from_millis(10);

/// Reports what was dropped, and waits if `TRACY_NO_EXIT` asks for it.
pub(super) fn finish() {
    if !linked::is_up() {
        return;
    }
    drops::report();
    if is_asked() && (own() > 0 || shared() > 0) {
        crate::say::say_once!("TRACY_NO_EXIT=1: waiting until a profiler has fetched the trace");
        wait_for_own();
        wait_for_shared();
        // What was taken is sent when nothing more is there to be taken.
        std::thread::sleep(5 * PAUSE);
    }
}

/// As Tracy reads it.
fn is_asked() -> bool {
    std::env::var_os("TRACY_NO_EXIT").is_some_and(|value| value.as_encoded_bytes().first() == Some(&b'1'))
}

/// Waits until this thread's queue is empty, which nobody else fills.
fn wait_for_own() {
    while own() > 0 {
        std::thread::sleep(PAUSE);
    }
}

/// Waits until the shared queue has been emptied. Other threads may go on filling it, but the client
/// takes all of it at once: then it is shorter than it was.
fn wait_for_shared() {
    let mut before = shared();
    while before > 0 {
        std::thread::sleep(PAUSE);
        let now = shared();
        if now < before {
            return;
        }
        before = now;
    }
}

/// What waits in this thread's queue.
fn own() -> usize {
    // SAFETY: the client is up (see `finish`); the queue is this thread's.
    unsafe { shim::zonecast_tracy_waiting(shim::QUEUE()) }
}

/// What waits in the queue that all threads share.
fn shared() -> usize {
    // SAFETY: the client is up, and the object is the one that is linked (see `shim`).
    unsafe { shim::SHARED_WAITING(shim::PROFILER()) }
}
