//! What all threads share, and need only when something is new: it is behind one lock, which is held
//! for a look or a change, never for input or output.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::{HashMap, HashSet};

use super::fragment::{Fragment, Kind};
use super::lanes::Lane;
use super::locks::Record;
use super::track::Track;

#[derive(Default)]
struct Registry {
    fragments: HashMap<Kind, HashMap<Vec<u8>, &'static Fragment>>,
    /// The places whose source a fragment shows.
    sources: HashSet<Box<[u8]>>,
    /// The fibers that no thread runs now.
    fibers: Vec<Track>,
    /// The lanes that are open.
    lanes: HashMap<u64, Arc<Lane>>,
    /// Records of locks that are gone.
    locks: Vec<&'static Record>,
}

// The standard library's lock, since its state survives a fork.
static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut Registry) -> R) -> R {
    f(lock().get_or_insert_with(Registry::default))
}

fn lock() -> MutexGuard<'static, Option<Registry>> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fragment with this content.
pub(super) fn fragment(kind: Kind, content: &[u8]) -> Option<&'static Fragment> {
    with(|registry| registry.fragments.get(&kind)?.get(content).copied())
}

/// Adds a fragment, unless another thread was faster. `count` is how many there are.
pub(super) fn add_fragment(
    kind: Kind,
    content: Vec<u8>,
    mut new: Fragment,
    count: &AtomicUsize,
) -> &'static Fragment {
    with(|Registry { fragments, sources, .. }| {
        *fragments.entry(kind).or_default().entry(content).or_insert_with(|| {
            new.index = count.fetch_add(1, Ordering::AcqRel);
            // A kernel's dispatches and its workgroups are at one place, under two names.
            new.keep_source(|place| sources.insert(place.into()));
            Box::leak(Box::new(new))
        })
    })
}

/// Takes the first parked fiber that is wanted.
pub(super) fn take_fiber(is_wanted: impl Fn(&Track) -> bool) -> Option<Track> {
    with(|registry| {
        let at = registry.fibers.iter().position(is_wanted)?;
        Some(registry.fibers.swap_remove(at))
    })
}

/// Parks a fiber.
pub(super) fn park_fiber(track: Track) {
    with(|registry| registry.fibers.push(track));
}

/// Adds a lane, or with `None` takes it out.
pub(super) fn set_lane(number: u64, lane: Option<Arc<Lane>>) {
    with(|registry| match lane {
        Some(lane) => registry.lanes.insert(number, lane),
        None => registry.lanes.remove(&number),
    });
}

/// An open lane.
pub(super) fn lane(number: u64) -> Option<Arc<Lane>> {
    with(|registry| registry.lanes.get(&number).cloned())
}

/// A record of a lock that is gone.
pub(super) fn take_lock() -> Option<&'static Record> {
    with(|registry| registry.locks.pop())
}

/// Keeps the record of a lock that is gone.
pub(super) fn keep_lock(record: &'static Record) {
    with(|registry| registry.locks.push(record));
}

/// Holds the lock over a fork, so that the child finds everything whole.
#[cfg(unix)]
pub(super) mod over_fork {
    use core::cell::UnsafeCell;

    use super::{MutexGuard, Registry, lock};

    struct Kept(UnsafeCell<Option<MutexGuard<'static, Option<Registry>>>>);

    // SAFETY: only touched by the thread that forks, between the two functions below, while it
    // holds the lock; in the child it is the same thread.
    unsafe impl Sync for Kept {}

    static KEPT: Kept = Kept(UnsafeCell::new(None));

    pub(in super::super) fn before() {
        let guard = lock();
        // SAFETY: this thread holds the lock, see above.
        unsafe { *KEPT.0.get() = Some(guard) };
    }

    pub(in super::super) fn after() {
        // SAFETY: this thread still holds the lock, see above.
        drop(unsafe { (*KEPT.0.get()).take() });
    }
}
