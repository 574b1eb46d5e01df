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

use std::cell::Cell;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use zonecast::{Location, Name, ZoneId, raw};

/// Whether the provider gives fibers timelines of their own.
const FIBERS: bool = cfg!(feature = "fibers");

/// The lower bits of a zone's number count the zones of a stack, the upper ones the stacks.
const COUNT_BITS: u32 = 40;

/// A zone that has begun and not ended.
struct Zone {
    number: u64,
    id: ZoneId,
    location: &'static Location,
}

/// The open zones of a thread or a fiber, the innermost last, so in the order of their numbers.
pub(crate) struct Stack {
    zones: Vec<Zone>,
    next: u64,
    notes: Arc<Notes>,
    fiber: Option<Name>,
    /// Names of zones that have others than their locations', for fibers that begin them anew.
    names: Vec<(u64, Box<str>)>,
}

/// What other threads have to say to a stack.
#[derive(Default)]
struct Notes {
    /// How many zones there is room for; 0 if there is something to read. One number, so that the
    /// next zone asks both questions at once.
    room: AtomicUsize,
    ended: Mutex<Vec<u64>>,
}

thread_local! {
    /// This thread's stack, or that of the fiber that it runs. Null before its first zone.
    static HERE: Cell<*mut Stack> = const { Cell::new(std::ptr::null_mut()) };
    static OWN: Own = const { Own(Cell::new(None)) };
}

/// A thread's own stack, which ends with the thread.
struct Own(Cell<Option<NonNull<Stack>>>);

/// Fibers that no thread runs, by the address of their names.
static ASIDE: LazyLock<Mutex<HashMap<usize, Box<Stack>>>> = LazyLock::new(Mutex::default);
/// The notes of every stack, by the upper bits of its zones' numbers.
static STACKS: LazyLock<Mutex<HashMap<u64, Arc<Notes>>>> = LazyLock::new(Mutex::default);

/// Calls `f` with the stack of this thread or its fiber; not while the thread goes away.
///
/// `f` must not call C, which could come back here; providers do not.
#[inline(always)]
pub(crate) fn here<R>(f: impl FnOnce(&mut Stack) -> R) -> Option<R> {
    let mut stack = HERE.get();
    if stack.is_null() {
        stack = first_zone()?;
    }
    // SAFETY: `HERE` holds null or a stack from a `Box` that only this thread has: its own, freed
    // by `Own`, which clears `HERE`; or a fiber's, taken out of `ASIDE` and put back when `HERE` is
    // set to another. This reference is the only one, since `f` does not come back here.
    Some(f(unsafe { &mut *stack }))
}

#[cold]
fn first_zone() -> Option<*mut Stack> {
    crate::modules::from_environment();
    let own = OWN.try_with(|own| {
        own.0.get().unwrap_or_else(|| {
            let stack = NonNull::from(Box::leak(Box::new(Stack::new(None))));
            own.0.set(Some(stack));
            stack
        })
    });
    let stack = own.ok()?.as_ptr();
    HERE.set(stack);
    Some(stack)
}

impl Drop for Own {
    fn drop(&mut self) {
        leave_fiber();
        HERE.set(std::ptr::null_mut());
        if let Some(stack) = self.0.take() {
            // SAFETY: it came from a `Box` in `first_zone`, and nobody but this thread had it.
            let mut stack = unsafe { Box::from_raw(stack.as_ptr()) };
            stack.end_down_to(0);
        }
    }
}

/// From here on, this thread runs the fiber.
pub(crate) fn enter_fiber(fiber: Name) {
    leave_fiber();
    let aside = ASIDE.lock().remove(&key(fiber));
    let mut stack = aside.unwrap_or_else(|| Box::new(Stack::new(Some(fiber))));
    if FIBERS {
        raw::fiber_enter(fiber);
    } else {
        stack.read_notes();
        stack.begin_anew(0);
    }
    HERE.set(Box::into_raw(stack));
}

/// From here on, this thread runs no fiber. Nothing if it runs none.
pub(crate) fn leave_fiber() {
    let here = NonNull::new(HERE.get());
    // SAFETY: as in `here`.
    let Some((here, fiber)) = here.and_then(|here| unsafe { here.as_ref() }.fiber.map(|fiber| (here, fiber)))
    else {
        return;
    };
    HERE.set(std::ptr::null_mut());
    // SAFETY: a fiber's stack comes from the `Box` in `enter_fiber`, and `HERE` held it alone.
    let mut stack = unsafe { Box::from_raw(here.as_ptr()) };
    if FIBERS {
        raw::fiber_leave();
    } else {
        stack.end_for_now(0);
    }
    // A fiber without zones has nothing to remember.
    if !stack.zones.is_empty() {
        ASIDE.lock().insert(key(fiber), stack);
    }
}

fn key(fiber: Name) -> usize {
    fiber.as_c_str().as_ptr().addr()
}

impl Stack {
    fn new(fiber: Option<Name>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let stack = NEXT.fetch_add(1, Ordering::Relaxed);
        let notes = Arc::<Notes>::default();
        STACKS.lock().insert(stack, notes.clone());
        // The first number is not 0, which means no zone.
        Self {
            zones: Vec::with_capacity(32),
            next: (stack << COUNT_BITS) + 1,
            notes,
            fiber,
            names: Vec::new(),
        }
    }

    /// Begins a zone. Returns its number.
    #[inline(always)]
    pub(crate) fn begin(&mut self, location: &'static Location, begin: impl FnOnce() -> ZoneId) -> u64 {
        if self.zones.len() >= self.notes.room.load(Ordering::Relaxed) {
            self.prepare();
        }
        let id = begin();
        let number = self.next;
        self.next = number + 1;
        let at = self.zones.len();
        debug_assert!(at < self.zones.capacity());
        // SAFETY: there were fewer zones than `room`, which is the capacity at most, or `prepare`
        // has made room.
        unsafe {
            self.zones.as_mut_ptr().add(at).write(Zone { number, id, location });
            self.zones.set_len(at + 1);
        }
        number
    }

    /// Makes room for another zone, after ending what other threads have ended.
    #[cold]
    #[inline(never)]
    fn prepare(&mut self) {
        // First the room, then the notes: a note that comes in between takes the room again.
        self.zones.reserve(1);
        self.notes.room.store(self.zones.capacity(), Ordering::Relaxed);
        self.read_notes();
    }

    /// Remembers the name of a zone that just began.
    pub(crate) fn remember_name(&mut self, number: u64, name: &str) {
        if self.fiber.is_some() && !FIBERS {
            while self.names.last().is_some_and(|(last, _)| self.find(*last).is_none()) {
                self.names.pop();
            }
            self.names.push((number, name.into()));
        }
    }

    #[inline(always)]
    pub(crate) fn end(&mut self, number: u64) {
        match self.zones.last() {
            Some(innermost) if innermost.number == number => {
                let id = innermost.id;
                self.zones.pop();
                raw::zone_end(id);
            }
            _ => self.end_other(number),
        }
    }

    /// The provider's name for a zone that is open here.
    #[inline]
    pub(crate) fn id(&self, number: u64) -> Option<ZoneId> {
        match self.zones.last() {
            Some(innermost) if innermost.number == number => Some(innermost.id),
            _ => self.find(number).map(|at| self.zones[at].id),
        }
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.zones.binary_search_by_key(&number, |zone| zone.number).ok()
    }

    #[cold]
    #[inline(never)]
    fn end_other(&mut self, number: u64) {
        let stack = number >> COUNT_BITS;
        if stack == self.next >> COUNT_BITS {
            if let Some(at) = self.find(number) {
                self.end_down_to(at);
            }
        } else if let Some(notes) = STACKS.lock().get(&stack) {
            notes.ended.lock().push(number);
            notes.room.store(0, Ordering::Relaxed);
        }
    }

    /// Ends what other threads have ended.
    fn read_notes(&mut self) {
        let ended = std::mem::take(&mut *self.notes.ended.lock());
        for number in ended {
            let Some(at) = self.find(number) else { continue };
            let was_begun = self.zones[at].id.is_recorded();
            self.end_for_now(at);
            self.zones.remove(at);
            if was_begun {
                self.begin_anew(at);
            }
        }
    }

    /// Ends all zones from `at` on, the innermost first.
    fn end_down_to(&mut self, at: usize) {
        self.end_for_now(at);
        self.zones.truncate(at);
    }

    /// The same, to begin them anew later.
    fn end_for_now(&mut self, at: usize) {
        for zone in self.zones[at..].iter_mut().rev() {
            raw::zone_end(std::mem::replace(&mut zone.id, ZoneId::NONE));
        }
    }

    fn begin_anew(&mut self, at: usize) {
        for zone in &mut self.zones[at..] {
            zone.id = raw::zone_begin(zone.location);
            if let Some((_, name)) = self.names.iter().rfind(|(number, _)| *number == zone.number) {
                raw::zone_name(zone.id, name);
            }
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        STACKS.lock().remove(&(self.next >> COUNT_BITS));
    }
}
