//! Locks. A [`LockId`] is the address of the record that is kept for the lock.
//!
//! With the shim, a lock is announced to each profiler right before its first event, and an event is recorded
//! only with those that it makes sense with: see `shim/locks.cpp`. A lock that nobody uses while a profiler is
//! connected is not shown to it, except if it was made then.

use core::cell::Cell;

use super::calls::SHARED_ITEM;
use super::text;
use super::thread::{may_emit_anywhere, may_emit_pair};
use crate::{Location, LockId};

#[cfg(not(tracy_shim))]
use super::locks_plain as api;

#[cfg(tracy_shim)]
mod api {
    use core::ffi::c_char;

    pub(super) use super::super::shim::Lock;
    use super::super::{linked, shim};
    use super::Location;

    /// # Safety
    ///
    /// The client is up.
    pub(super) unsafe fn announce(location: &'static Location) -> *mut Lock {
        // SAFETY: by this function's contract; the location lives as long as the program.
        unsafe { shim::LOCK_ANNOUNCE(shim::PROFILER(), linked::location(location).addr() as u64) }
    }

    macro_rules! calls {
        ($($call:ident = $function:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
            /// # Safety
            ///
            /// The client is up, and `announce` made the lock, which has not been terminated.
            pub(super) unsafe fn $call(lock: *mut Lock, $($argument: $type),*) $(-> $result)? {
                // SAFETY: by this function's contract.
                unsafe { shim::$function(shim::PROFILER(), lock, $($argument),*) }
            }
        )*};
    }

    calls! {
        name = LOCK_NAME(name: *const c_char, size: u16);
        wait = LOCK_WAIT() -> u64;
        obtain = LOCK_OBTAIN(waited_in: u64);
        release = LOCK_RELEASE();
        terminate = LOCK_TERMINATE();
    }
}

thread_local! {
    /// The connection in which this thread's wait was recorded, 0 if it was not or is over. A thread waits for
    /// one lock at a time.
    static WAITED_IN: Cell<u64> = const { Cell::new(0) };
}

/// The lock's record, where the lock was recorded and its next event is.
fn record(lock: LockId) -> Option<*mut api::Lock> {
    (lock.0 != 0 && may_emit_pair(SHARED_ITEM))
        .then(|| core::ptr::with_exposed_provenance_mut(lock.0 as usize))
}

pub(super) fn announce(location: &'static Location) -> LockId {
    if !may_emit_pair(SHARED_ITEM) {
        return LockId(0);
    }
    // SAFETY: the client is up.
    let record = unsafe { api::announce(location) };
    LockId(record.expose_provenance() as u64)
}

pub(super) fn name(lock: LockId, name: &str) {
    if let Some(record) = record(lock) {
        let name = text::cut(name);
        // SAFETY: the client is up. The record came from `announce`, whose caller keeps it until `terminate`;
        // the bytes are copied, of which there are as many as told.
        unsafe { api::name(record, text::bytes(name), name.len() as u16) }
    }
}

pub(super) fn wait(lock: LockId) {
    if let Some(record) = record(lock) {
        // SAFETY: the client is up, and the record came from `announce`, whose caller keeps it until `terminate`.
        WAITED_IN.set(unsafe { api::wait(record) });
    }
}

pub(super) fn obtain(lock: LockId) {
    let waited_in = WAITED_IN.replace(0);
    if let Some(record) = record(lock) {
        // SAFETY: as for `wait`.
        unsafe { api::obtain(record, waited_in) }
    }
}

/// As after a wait of no time: a profiler asserts that whoever obtains a lock has waited for it.
pub(super) fn try_obtain(lock: LockId, obtained: bool) {
    if obtained && let Some(record) = record(lock) {
        // SAFETY: as for `wait`.
        unsafe { api::obtain(record, api::wait(record)) }
    }
}

pub(super) fn release(lock: LockId) {
    if let Some(record) = record(lock) {
        // SAFETY: as for `wait`.
        unsafe { api::release(record) }
    }
}

pub(super) fn terminate(lock: LockId) {
    // Whatever was dropped: the record is freed.
    if lock.0 != 0 && may_emit_anywhere(0) {
        let record: *mut api::Lock = core::ptr::with_exposed_provenance_mut(lock.0 as usize);
        // SAFETY: as for `wait`; the caller does not use the lock again.
        unsafe { api::terminate(record) }
    }
}
