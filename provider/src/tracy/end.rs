//! The end of a session.
//!
//! Tracy sends what is left when the process exits: its static destructor asks the client's thread
//! to finish, which with a profiler connected sends everything and answers every question, and
//! with `TRACY_NO_EXIT=1` waits for a profiler first. So the end of a session has nothing to send.
//!
//! With `TRACY_NO_EXIT=1` it waits nevertheless: until a profiler has come and has taken what this
//! thread recorded. So a program that leaves by another way than `exit` (an abort, `_exit`, a kill
//! by its parent) can drop its session first; one that then returns from `main` waits no longer
//! than it would have. Where nobody can come any more, because Tracy found no free port or because
//! a profiler came and has gone, Tracy throws events away, and the wait ends as well.

#[cfg(tracy_shim)]
use core::time::Duration;

#[cfg(tracy_shim)]
use super::{linked, shim};

/// Waits if `TRACY_NO_EXIT` asks for it. Builds without the shim leave all waiting to Tracy.
pub(super) fn wait_if_asked() {
    #[cfg(tracy_shim)]
    if is_asked() && linked::is_up() && is_something_waiting() {
        crate::say::say_once!("TRACY_NO_EXIT=1: waiting until a profiler has fetched the trace");
        while is_something_waiting() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// As Tracy reads it.
#[cfg(tracy_shim)]
fn is_asked() -> bool {
    std::env::var_os("TRACY_NO_EXIT").is_some_and(|value| value.as_encoded_bytes().first() == Some(&b'1'))
}

#[cfg(tracy_shim)]
fn is_something_waiting() -> bool {
    // SAFETY: the client is up (see the caller).
    unsafe { shim::WAITING() != 0 }
}
