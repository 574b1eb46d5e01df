//! Locks. A [`LockId`] is the address of the record that Tracy keeps for the lock.

use core::cell::Cell;

use tracy_client_sys as sys;

use super::calls::SHARED_ITEM;
use super::thread::{may_emit_anywhere, may_emit_pair};
use super::{linked, text};
use crate::{Location, LockId};

thread_local! {
    /// Whether this thread's last wait was recorded. On demand it is not while nobody is connected,
    /// and then neither must be what follows. A thread waits for one lock at a time.
    static WAITS: Cell<bool> = const { Cell::new(true) };
}

type Record = *mut sys::__tracy_lockable_context_data;

/// Tracy's record, where the lock was recorded and its next event is.
fn record(lock: LockId) -> Option<Record> {
    (lock.0 != 0 && may_emit_pair(SHARED_ITEM))
        .then(|| core::ptr::with_exposed_provenance_mut(lock.0 as usize))
}

pub(super) fn announce(location: &'static Location) -> LockId {
    if !may_emit_pair(SHARED_ITEM) {
        return LockId(0);
    }
    // SAFETY: the client is up; the location lives as long as the program and is laid out as C's.
    let record = unsafe { sys::___tracy_announce_lockable_ctx(linked::location(location)) };
    LockId(record.expose_provenance() as u64)
}

pub(super) fn name(lock: LockId, name: &str) {
    if let Some(record) = record(lock) {
        let name = text::cut(name);
        // SAFETY: the record came from `announce`, whose caller keeps it until `terminate`; Tracy
        // copies the bytes, of which there are as many as it is told.
        unsafe { sys::___tracy_custom_name_lockable_ctx(record, text::bytes(name), name.len()) }
    }
}

pub(super) fn wait(lock: LockId) {
    if let Some(record) = record(lock) {
        // SAFETY: the record came from `announce`, whose caller keeps it until `terminate`.
        let recorded = unsafe { sys::___tracy_before_lock_lockable_ctx(record) } != 0;
        WAITS.set(recorded);
    }
}

pub(super) fn obtain(lock: LockId) {
    if let Some(record) = record(lock).filter(|_| WAITS.get()) {
        // SAFETY: as for `wait`.
        unsafe { sys::___tracy_after_lock_lockable_ctx(record) }
    }
}

pub(super) fn try_obtain(lock: LockId, obtained: bool) {
    if let Some(record) = record(lock) {
        // SAFETY: as for `wait`.
        unsafe { sys::___tracy_after_try_lock_lockable_ctx(record, i32::from(obtained)) }
    }
}

pub(super) fn release(lock: LockId) {
    if let Some(record) = record(lock) {
        // SAFETY: as for `wait`.
        unsafe { sys::___tracy_after_unlock_lockable_ctx(record) }
    }
}

pub(super) fn terminate(lock: LockId) {
    // Whatever was dropped: Tracy frees the record.
    if lock.0 != 0 && may_emit_anywhere(0) {
        let record: Record = core::ptr::with_exposed_provenance_mut(lock.0 as usize);
        // SAFETY: as for `wait`; the caller does not use the lock again.
        unsafe { sys::___tracy_terminate_lockable_ctx(record) }
    }
}
