//! The connection, as cheap as it can be looked at. Only on demand there is more than one.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use super::linked::ON_DEMAND;
use super::shim;

// Before the first event nobody has looked where Tracy keeps these. Until then somebody seems to be
// connected, so that the event goes on to `thread::enter`, and that looks.
static AT_FIRST: AtomicBool = AtomicBool::new(true);
static FIRST_ID: AtomicU64 = AtomicU64::new(u64::MAX);
static IS_CONNECTED: AtomicPtr<AtomicBool> = AtomicPtr::new((&raw const AT_FIRST).cast_mut());
static ID: AtomicPtr<AtomicU64> = AtomicPtr::new((&raw const FIRST_ID).cast_mut());

/// Finds where Tracy keeps its connection's state. Tracy must be up.
pub(super) fn find() {
    if ON_DEMAND {
        // SAFETY: the client is up, and the object is the one that is linked (see `shim`).
        let (is_connected, id) = unsafe {
            let profiler = shim::PROFILER();
            (shim::IS_CONNECTED(profiler), shim::CONNECTION_ID(profiler))
        };
        // Relaxed: both lie in statics that were there before `main`.
        ID.store(id.cast_mut(), Ordering::Relaxed);
        IS_CONNECTED.store(is_connected.cast_mut(), Ordering::Relaxed);
    }
}

/// The number of the connection, if there is one.
#[inline(always)]
pub(super) fn current() -> Option<u64> {
    // SAFETY: it points to a static of ours or of Tracy's.
    let is_connected = unsafe { &*IS_CONNECTED.load(Ordering::Relaxed) };
    is_connected.load(Ordering::Acquire).then(id)
}

/// The number of the connection, or of the last one.
#[inline(always)]
pub(super) fn id() -> u64 {
    // SAFETY: it points to a static of ours or of Tracy's.
    unsafe { &*ID.load(Ordering::Relaxed) }.load(Ordering::Acquire)
}
