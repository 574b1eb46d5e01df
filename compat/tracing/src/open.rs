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

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use zonecast::{Location, Name, ZoneId, raw};

/// Which span, of which layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The address of the layer's cache, since two subscribers may use the same ids; 0 for futures.
    pub(crate) layer: usize,
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

/// A thread's open zones.
struct Here {
    // Not dropped with the thread, but by `AtEnd`.
    open: ManuallyDrop<RefCell<Open>>,
    is_gone: Cell<bool>,
}

thread_local! {
    static HERE: Here = const {
        Here { open: ManuallyDrop::new(RefCell::new(Open::nothing(None))), is_gone: Cell::new(false) }
    };
    static AT_END: AtEnd = const { AtEnd };
}

/// Ends a thread's zones when the thread ends. Providers have destructors, too, and those that were
/// made last run first: so this is made after the thread's first zone.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        HERE.with(|here| {
            here.is_gone.set(true);
            if let Ok(mut open) = here.open.try_borrow_mut() {
                *open = Open::nothing(None);
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
    HERE.with(|here| {
        if here.is_gone.get() {
            return None;
        }
        let result = f(&mut *here.open.try_borrow_mut().ok()?);
        let _ = AT_END.try_with(|_| ());
        Some(result)
    })
}

impl Open {
    /// Nothing is entered, on a fiber or on none.
    pub(crate) const fn nothing(fiber: Option<Name>) -> Self {
        Self { entered: Vec::new(), fiber, strays_seen: 0 }
    }

    pub(crate) fn fiber(&self) -> Option<Name> {
        self.fiber
    }

    /// The zone of `key`, if it is open here.
    pub(crate) fn zone(&self, key: Key) -> Option<ZoneId> {
        self.entered.iter().rfind(|entered| entered.key == key).map(|entered| entered.zone)
    }

    /// Enters `key`. `begin` begins its zone, or knows of none.
    #[inline]
    pub(crate) fn enter(&mut self, key: Key, begin: impl FnOnce() -> Option<(&'static Location, ZoneId)>) {
        if STRAYS.load(Ordering::Relaxed) != self.strays_seen {
            self.end_strays();
        }
        if let Some((location, zone)) = begin() {
            self.entered.push(Entered { key, zone, location });
        }
    }

    /// Leaves `key`. `begin` begins zones anew.
    #[inline]
    pub(crate) fn exit(&mut self, key: Key, mut begin: impl FnMut(&Entered) -> ZoneId) {
        if let Some(innermost) = self.entered.pop_if(|innermost| innermost.key == key) {
            raw::zone_end(innermost.zone);
        } else if !self.exit_from_within(key, &mut begin) {
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

    #[cold]
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
