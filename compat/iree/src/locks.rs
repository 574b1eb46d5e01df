//! Locks, by the names that IREE calls.
//!
//! A lock that was never announced has the number 0, and is not shown.

use std::sync::Arc;

use parking_lot::RwLock;
use zonecast::{Location, Lock};

use crate::guard::guarded;

/// Locks by their numbers less one. Numbers of locks that are gone are given again.
static LOCKS: RwLock<Vec<Option<Arc<Lock>>>> = RwLock::new(Vec::new());

/// # Safety
///
/// The location stays as it is until the program ends; `number` is null or can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn iree_tracing_mutex_announce(location: &'static Location, number: *mut u32) {
    let announced = guarded(0, || add(Arc::new(Lock::announce(location))));
    // SAFETY: the caller's promise.
    if let Some(number) = unsafe { number.as_mut() } {
        *number = announced;
    }
}

#[unsafe(no_mangle)]
extern "C" fn iree_tracing_mutex_terminate(number: u32) {
    guarded((), || {
        let gone = index(number).and_then(|index| LOCKS.write().get_mut(index)?.take());
        drop(gone);
    });
}

#[unsafe(no_mangle)]
extern "C" fn iree_tracing_mutex_before_lock(number: u32) {
    with(number, Lock::wait);
}

#[unsafe(no_mangle)]
extern "C" fn iree_tracing_mutex_after_lock(number: u32) {
    with(number, Lock::obtained);
}

#[unsafe(no_mangle)]
extern "C" fn iree_tracing_mutex_after_try_lock(number: u32, was_acquired: bool) {
    with(number, |lock| lock.tried(was_acquired));
}

#[unsafe(no_mangle)]
extern "C" fn iree_tracing_mutex_after_unlock(number: u32) {
    with(number, Lock::released);
}

fn add(lock: Arc<Lock>) -> u32 {
    let mut locks = LOCKS.write();
    let index = locks.iter().position(Option::is_none).unwrap_or(locks.len());
    match locks.get_mut(index) {
        Some(free) => *free = Some(lock),
        None => locks.push(Some(lock)),
    }
    u32::try_from(index + 1).unwrap_or(0)
}

fn index(number: u32) -> Option<usize> {
    (number as usize).checked_sub(1)
}

/// Outside of our own lock: a provider may wait for its output.
fn with(number: u32, call: impl FnOnce(&Lock)) {
    guarded((), || {
        let lock = index(number).and_then(|index| LOCKS.read().get(index)?.clone());
        if let Some(lock) = lock {
            call(&lock);
        }
    });
}
