//! Locks in builds without the shim, by Tracy's C interface alone.
//!
//! On demand, a lock that is announced while a profiler connects comes to it twice, which the profiler takes
//! for a fault: the client announces it with what it kept for the profiler, and once more as it comes. And the
//! profiler dies of a lock that more than 64 threads use.

use core::ffi::c_char;

use tracy_client_sys as sys;

use super::linked;
use crate::Location;

/// Tracy's record of a lock.
pub(super) type Lock = sys::__tracy_lockable_context_data;

/// # Safety
///
/// The client is up.
pub(super) unsafe fn announce(location: &'static Location) -> *mut Lock {
    // SAFETY: by this function's contract; the location lives as long as the program and is laid out as C's.
    unsafe { sys::___tracy_announce_lockable_ctx(linked::location(location)) }
}

/// # Safety
///
/// Here and below: the client is up, and `announce` made the lock, which has not been terminated.
pub(super) unsafe fn name(lock: *mut Lock, name: *const c_char, size: u16) {
    // SAFETY: by this function's contract; Tracy copies so many bytes.
    unsafe { sys::___tracy_custom_name_lockable_ctx(lock, name, size.into()) }
}

/// Returns 0 if the wait was not recorded.
pub(super) unsafe fn wait(lock: *mut Lock) -> u64 {
    // SAFETY: by this function's contract.
    u64::from(unsafe { sys::___tracy_before_lock_lockable_ctx(lock) } != 0)
}

pub(super) unsafe fn obtain(lock: *mut Lock, waited: u64) {
    if waited != 0 {
        // SAFETY: by this function's contract.
        unsafe { sys::___tracy_after_lock_lockable_ctx(lock) }
    }
}

pub(super) unsafe fn release(lock: *mut Lock) {
    // SAFETY: by this function's contract.
    unsafe { sys::___tracy_after_unlock_lockable_ctx(lock) }
}

pub(super) unsafe fn terminate(lock: *mut Lock) {
    // SAFETY: by this function's contract.
    unsafe { sys::___tracy_terminate_lockable_ctx(lock) }
}
