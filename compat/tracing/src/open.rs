//! The zones that are open on each thread, and how they end in whatever order spans are left.
//!
//! Spans may be left in any order, and on another thread than they were entered on; zones may not.
//! So each thread keeps its open zones in order:
//!
//! * The innermost span is left: its zone ends. This is nearly every case.
//! * A span further out is left: the zones inside it end, it ends, and the ones inside begin anew.
//!   The picture then has them in two pieces, at the right times.
//! * A span is left that was not entered here: the thread that entered it ends the zone at its
//!   next span, since nobody else can.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use zonecast::{Location, Name, ZoneId, raw};

use crate::text::SpanText;

/// Which span, of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The number of the layer or subscriber, since two may use the same ids; 0 for futures.
    pub(crate) owner: usize,
    pub(crate) span: u64,
}

/// A span that is entered.
#[derive(Debug)]
pub(crate) struct Entered {
    pub(crate) key: Key,
    pub(crate) zone: ZoneId,
    pub(crate) location: &'static Location,
}

/// What is entered on a thread, or in a future that is not being polled; the innermost last.
#[derive(Debug)]
pub(crate) struct Open {
    entered: Vec<Entered>,
    /// The fiber that runs here.
    fiber: Option<Name>,
    /// How many strays have been looked at.
    strays_seen: usize,
}

thread_local! {
    // A thread's open zones. They have no destructor; `AtEnd` drops them.
    static HERE: ManuallyDrop<RefCell<Open>> = const { ManuallyDrop::new(RefCell::new(Open::nothing(None))) };
    static AT_END: AtEnd = const { AtEnd };
}

/// Ends a thread's zones when the thread ends. Providers have destructors, too, and those that were
/// made last run first: so this is made after the thread's first zone.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        HERE.with(|here| {
            if let Ok(mut open) = here.try_borrow_mut() {
                *open = Open::nothing(None);
                // Borrowed from now on: nothing is entered on a thread that is going away.
                std::mem::forget(open);
            }
        });
    }
}

/// Calls `f` with this thread's open zones.
///
/// Not while it is being called, so that a provider that itself uses spans does no harm, and not
/// while the thread is going away.
#[inline]
pub(crate) fn here<R>(f: impl FnOnce(&mut Open) -> R) -> Option<R> {
    // `f` is called outside of `with`, which the compiler inlines only if it is small.
    let here = HERE.with(std::ptr::from_ref);
    // SAFETY: it has no destructor, so it is there as long as its thread, which is this one.
    let mut open = unsafe { &*here }.try_borrow_mut().ok()?;
    Some(f(&mut open))
}

/// Enters `key` if that takes a few instructions only and no call. False if nothing was done: then it is to be
/// entered as usual.
#[inline(always)]
pub(crate) fn enter_at_once(key: Key, location: &'static Location) -> bool {
    let entered = here(|open| {
        let has_room = open.entered.len() < open.entered.capacity();
        let zone = (has_room && !open.has_strays()).then(|| raw::try_zone_begin(location))??;
        open.entered.push(Entered { key, zone, location });
        Some(())
    });
    entered.flatten().is_some()
}

/// Leaves `key` if it is the innermost, which is nearly always.
#[inline(always)]
pub(crate) fn exit_at_once(key: Key) -> bool {
    let left = here(|open| {
        let innermost = open.entered.pop_if(|innermost| innermost.key == key)?;
        raw::zone_end(innermost.zone);
        Some(())
    });
    left.flatten().is_some()
}

/// Adds a text to the zone of `key`, if it is open on this thread.
pub(crate) fn tell(key: Key, text: &SpanText) {
    here(|open| {
        if let Some(entered) = open.entered.iter().rfind(|entered| entered.key == key) {
            raw::zone_text(entered.zone, &text.0);
        }
    });
}

impl Open {
    /// Nothing is entered, on a fiber or on none.
    pub(crate) const fn nothing(fiber: Option<Name>) -> Self {
        Self { entered: Vec::new(), fiber, strays_seen: 0 }
    }

    pub(crate) fn fiber(&self) -> Option<Name> {
        self.fiber
    }

    /// The innermost span that is `wanted`.
    pub(crate) fn innermost<R>(&self, mut wanted: impl FnMut(Key) -> Option<R>) -> Option<R> {
        self.entered.iter().rev().find_map(|entered| wanted(entered.key))
    }

    #[inline(always)]
    fn has_strays(&self) -> bool {
        STRAYS.load(Ordering::Relaxed) != self.strays_seen
    }

    /// Enters `key`. `begin` begins its zone, or knows of none.
    pub(crate) fn enter(&mut self, key: Key, begin: impl FnOnce() -> Option<(&'static Location, ZoneId)>) {
        if self.has_strays() {
            self.end_strays();
        }
        if let Some((location, zone)) = begin() {
            self.entered.push(Entered { key, zone, location });
            let _ = AT_END.try_with(|_| ());
        }
    }

    /// Leaves `key`. `begin` begins zones anew.
    pub(crate) fn exit(&mut self, key: Key, mut begin: impl FnMut(&Entered) -> ZoneId) {
        if !self.exit_from_within(key, &mut begin) {
            stray(key);
        }
    }

    /// Ends all zones, the innermost first, and remembers where they were.
    pub(crate) fn suspend(&mut self) {
        end(&mut self.entered);
    }

    /// Ends all zones for good.
    pub(crate) fn end_all(&mut self) {
        end(&mut self.entered);
        self.entered.clear();
    }

    /// Begins all zones anew.
    pub(crate) fn resume(&mut self) {
        for entered in &mut self.entered {
            entered.zone = raw::zone_begin(entered.location);
        }
    }

    fn exit_from_within(&mut self, key: Key, begin: &mut dyn FnMut(&Entered) -> ZoneId) -> bool {
        let Some(at) = self.entered.iter().rposition(|entered| entered.key == key) else { return false };
        end(&mut self.entered[at..]);
        self.entered.remove(at);
        for entered in &mut self.entered[at..] {
            entered.zone = begin(entered);
        }
        true
    }

    #[cold]
    fn end_strays(&mut self) {
        let mut list = LIST.lock().unwrap_or_else(PoisonError::into_inner);
        self.strays_seen = STRAYS.load(Ordering::Relaxed);
        list.retain(|&key| !self.exit_from_within(key, &mut |entered| raw::zone_begin(entered.location)));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        end(&mut self.entered);
    }
}

fn end(entered: &mut [Entered]) {
    for entered in entered.iter_mut().rev() {
        raw::zone_end(std::mem::replace(&mut entered.zone, ZoneId::NONE));
    }
}

/// How many spans were left where they were not entered.
static STRAYS: AtomicUsize = AtomicUsize::new(0);
/// The latest of them. A thread that looks too late finds its zone open until it exits.
static LIST: Mutex<VecDeque<Key>> = Mutex::new(VecDeque::new());
const LISTED: usize = 1024;

#[cold]
fn stray(key: Key) {
    let mut list = LIST.lock().unwrap_or_else(PoisonError::into_inner);
    if list.len() == LISTED {
        list.pop_front();
    }
    list.push_back(key);
    STRAYS.fetch_add(1, Ordering::Relaxed);
}
