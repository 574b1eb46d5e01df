//! The zones that are open, on each thread or fiber.
//!
//! C names a zone by a number and may do with it what it likes. Zones of a viewer's timeline nest,
//! so each thread keeps its open ones in order, and their ends are put right:
//!
//! * The innermost zone ends. This is nearly every case.
//! * A zone further out ends: those inside it were forgotten, and end first.
//! * A zone of another thread ends: that thread is told, and ends it before it begins the next. If
//!   others lie inside, they end, too, and begin anew.
//! * A zone ends that has ended, or that never was: nothing.
//!
//! A fiber has a stack of its own, which it takes along from thread to thread. Where the provider
//! has no fibers (feature `fibers`), its zones end when a thread leaves it, and begin anew on the
//! thread that enters it.
//!
//! Here is what every zone passes through, and little else: a thread's [`Here`] says where the next
//! zone goes and how far there is room. Whatever needs more than that finds no room, or no match, and
//! calls for the [`Stack`].

mod stack;

use std::cell::Cell;
use std::collections::HashMap;
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::Mutex;
use zonecast::{Location, Name, ZoneId, raw};

use crate::guard::guarded;
use stack::{Stack, Zone};

/// Whether the provider gives fibers timelines of their own.
const FIBERS: bool = cfg!(feature = "fibers");

/// What zones stand on while a thread has no stack. Nobody writes behind it, as there is no room.
static GROUND: Zone = Zone::GROUND;
static NO_ROOM: AtomicPtr<Zone> = AtomicPtr::new(ptr::null_mut());

/// The stack that this thread uses, with what every zone looks at taken out of it.
struct Here {
    /// Behind the innermost zone. There is always one before it, if only the ground.
    top: Cell<*mut Zone>,
    /// Where `top` must not get to.
    room: Cell<*const AtomicPtr<Zone>>,
    /// The next zone's number.
    next: Cell<u64>,
    /// From a `Box`, or null if there is none.
    stack: Cell<*mut Stack>,
    /// The same, of the thread itself while it runs a fiber.
    own: Cell<*mut Stack>,
    /// The thread goes away, and begins no zone any more.
    is_gone: Cell<bool>,
}

thread_local! {
    // It needs no destructor, so it is there as long as the thread, and reading it takes no check.
    static HERE: Here = const {
        Here {
            top: Cell::new((&raw const GROUND).cast_mut().wrapping_add(1)),
            room: Cell::new(&raw const NO_ROOM),
            next: Cell::new(0),
            stack: Cell::new(ptr::null_mut()),
            own: Cell::new(ptr::null_mut()),
            is_gone: Cell::new(false),
        }
    };
    static AT_END: AtEnd = const { AtEnd };
}

/// Ends a thread's zones when the thread ends. Providers have destructors, too, and those that were
/// made last run first: so this is made after the thread's first zone.
struct AtEnd;

/// Fibers that no thread runs, by the address of their names.
static ASIDE: LazyLock<Mutex<HashMap<usize, Box<Stack>>>> = LazyLock::new(Mutex::default);

/// Begins a zone. Returns its number; 0 while the thread goes away.
#[inline(always)]
pub(crate) fn begin(location: &'static Location) -> u64 {
    HERE.with(|here| {
        if here.is_full() {
            return begin_slowly(location);
        }
        match raw::try_zone_begin(location) {
            Some(id) => here.push(id, location),
            None => begin_slowly(location),
        }
    })
}

/// Begins a zone by calling `begin`.
pub(crate) fn begin_by(location: &'static Location, begin: impl FnOnce() -> ZoneId) -> u64 {
    HERE.with(|here| {
        if here.is_full() && !prepare() {
            return 0;
        }
        let number = here.push(begin(), location);
        let _ = AT_END.try_with(|_| ());
        number
    })
}

#[cold]
#[inline(never)]
extern "C" fn begin_slowly(location: &'static Location) -> u64 {
    guarded(0, || begin_by(location, || raw::zone_begin(location)))
}

/// Ends a zone.
#[inline(always)]
pub(crate) fn end(number: u64) {
    HERE.with(|here| {
        // SAFETY: there is a zone before `top`: see there.
        let innermost = unsafe { &*here.top.get().wrapping_sub(1) };
        // In this order: the ground is not recorded either, but few zones are not.
        let is_zone = innermost.id.is_recorded() || innermost.location.is_some();
        if innermost.number != number || !is_zone {
            return end_other(number);
        }
        here.top.set(ptr::from_ref(innermost).cast_mut());
        if !raw::try_zone_end(innermost.id) {
            end_slowly(innermost.id);
        }
    });
}

#[cold]
#[inline(never)]
fn end_slowly(id: ZoneId) {
    guarded((), || raw::zone_end(id));
}

/// The provider's name for a zone that is open here.
#[inline(always)]
pub(crate) fn id(number: u64) -> Option<ZoneId> {
    HERE.with(|here| {
        // SAFETY: as in `end`.
        let innermost = unsafe { &*here.top.get().wrapping_sub(1) };
        if innermost.number == number { Some(innermost.id) } else { find(number) }
    })
}

/// Remembers the name of a zone that just began.
pub(crate) fn remember_name(number: u64, name: &str) {
    HERE.with(|here| here.with_stack(|stack| stack.remember_name(number, name)));
}

impl Here {
    #[inline(always)]
    fn is_full(&self) -> bool {
        // SAFETY: it points to `NO_ROOM` or into the notes of the stack in use, which it holds.
        self.top.get() >= unsafe { &*self.room.get() }.load(Ordering::Relaxed)
    }

    /// Adds a zone, for which there is room. Returns its number.
    #[inline(always)]
    fn push(&self, id: ZoneId, location: &'static Location) -> u64 {
        let (top, number) = (self.top.get(), self.next.get());
        // SAFETY: there is room, and this is the one thread that uses it.
        unsafe { top.write(Zone { number, id, location: Some(location) }) };
        self.next.set(number + 1);
        self.top.set(top.wrapping_add(1));
        number
    }

    /// Calls `f` with the stack in use, if there is one. Should it panic, the stack's zones are
    /// forgotten.
    fn with_stack<R>(&self, f: impl FnOnce(&mut Stack) -> R) -> Option<R> {
        let mut stack = self.take()?;
        let result = f(&mut stack);
        self.put(stack);
        Some(result)
    }

    /// Takes the stack in use away. What begins until the next is put is on none.
    fn take(&self) -> Option<Box<Stack>> {
        let top = self.top.replace((&raw const GROUND).cast_mut().wrapping_add(1));
        self.room.set(&raw const NO_ROOM);
        let mut stack = taken(&self.stack)?;
        // SAFETY: `top` was set by `put` and by zones that found room.
        unsafe { stack.resume(top, self.next.get()) };
        Some(stack)
    }

    fn put(&self, mut stack: Box<Stack>) {
        self.top.set(stack.top());
        self.room.set(stack.room());
        self.next.set(stack.next());
        self.stack.set(Box::into_raw(stack));
    }
}

/// Makes room for a zone, after ending what other threads have ended. False while the thread goes
/// away.
#[cold]
#[inline(never)]
extern "C" fn prepare() -> bool {
    guarded(false, || {
        HERE.with(|here| {
            if here.is_gone.get() {
                return false;
            }
            let mut stack = here.take().unwrap_or_else(|| {
                crate::modules::from_environment();
                Box::new(Stack::new(None))
            });
            stack.prepare();
            here.put(stack);
            true
        })
    })
}

#[cold]
#[inline(never)]
extern "C" fn end_other(number: u64) {
    guarded((), || {
        if HERE.with(|here| here.with_stack(|stack| stack.end(number))) != Some(true) {
            stack::end_elsewhere(number);
        }
    });
}

#[cold]
#[inline(never)]
fn find(number: u64) -> Option<ZoneId> {
    guarded(None, || HERE.with(|here| here.with_stack(|stack| stack.id(number)).flatten()))
}

/// What a cell has that holds null or what was a `Box`. It holds null then.
fn taken(cell: &Cell<*mut Stack>) -> Option<Box<Stack>> {
    let stack = cell.replace(ptr::null_mut());
    // SAFETY: it was a `Box`, and whoever takes it leaves null behind.
    (!stack.is_null()).then(|| unsafe { Box::from_raw(stack) })
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        leave_fiber();
        HERE.with(|here| {
            here.is_gone.set(true);
            if let Some(mut stack) = here.take() {
                stack.end_all();
            }
        });
    }
}

/// From here on, this thread runs the fiber.
pub(crate) fn enter_fiber(fiber: Name) {
    leave_fiber();
    HERE.with(|here| {
        if here.is_gone.get() {
            return;
        }
        let aside = ASIDE.lock().remove(&key(fiber));
        let mut stack = aside.unwrap_or_else(|| Box::new(Stack::new(Some(fiber))));
        here.own.set(here.take().map_or(ptr::null_mut(), Box::into_raw));
        if FIBERS {
            raw::fiber_enter(fiber);
        } else {
            stack.begin_anew();
        }
        here.put(stack);
        let _ = AT_END.try_with(|_| ());
    });
}

/// From here on, this thread runs no fiber. Nothing if it runs none.
pub(crate) fn leave_fiber() {
    HERE.with(|here| {
        let Some(mut stack) = here.take() else { return };
        let Some(fiber) = stack.fiber() else { return here.put(stack) };
        if FIBERS {
            raw::fiber_leave();
        } else {
            stack.end_for_now();
        }
        // A fiber without zones has nothing to remember.
        if !stack.is_empty() {
            ASIDE.lock().insert(key(fiber), stack);
        }
        if let Some(own) = taken(&here.own) {
            here.put(own);
        }
    });
}

fn key(fiber: Name) -> usize {
    fiber.as_c_str().as_ptr().addr()
}
