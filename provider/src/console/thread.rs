//! What the console keeps of each thread, and how a thread finds it.
//!
//! It is made at a thread's first call, found through one thread-local pointer, and never freed:
//! when a thread has ended, the next new one takes it over, counters and all. So others can walk
//! over all of them without a lock, also in a signal handler.
//!
//! The pointer has no destructor of its own; the system tells us of a thread's end after the
//! destructors of its thread-locals, so calls in those are as good as any. Calls that come later
//! still take a fresh one.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering, compiler_fence};

use super::buffer::Buffer;
use super::counts::AllCounts;
use super::lines::Own;
use super::signal_stack::SignalStack;
use super::table::Table;
use super::{output, sys};

/// One thread's share.
pub(super) struct Thread {
    next: AtomicPtr<Thread>,
    is_taken: AtomicBool,
    /// One of the states below. Only the thread itself, and its signal handlers, look at it.
    state: AtomicU8,
    buffer: Buffer,
    table: Table,
    counts: AllCounts,
    signal_stack: SignalStack,
    own: UnsafeCell<Own>,
}

// SAFETY: `own` is touched by the thread alone that has taken this one, within `enter`; all else
// may be shared.
unsafe impl Sync for Thread {}

/// Nothing is going on.
const IDLE: u8 = 0;
/// As idle, but the thread's name was not asked for yet.
const NAMELESS: u8 = 1;
/// A call is going on. Others that come from within (an allocator that is traced, a signal handler)
/// are left out.
const BUSY: u8 = 2;

static FIRST: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CURRENT: Cell<*const Thread> = const { Cell::new(core::ptr::null()) };
}

/// In place of a thread's share: its calls are left out.
const IGNORED: *const Thread = core::ptr::dangling();

/// All shares there are.
pub(super) fn all() -> impl Iterator<Item = &'static Thread> {
    let of = |at: &AtomicPtr<Thread>| {
        // SAFETY: null or from a box that was leaked.
        unsafe { at.load(Ordering::Acquire).as_ref() }
    };
    core::iter::successors(of(&FIRST), move |thread| of(&thread.next))
}

/// A number that no other running thread has. Not 0.
#[inline]
pub(super) fn token() -> usize {
    CURRENT.with(|current| core::ptr::from_ref(current).addr())
}

/// Leaves out all calls of this thread from now on.
pub(super) fn ignore_this() {
    CURRENT.set(IGNORED);
}

/// Runs `f`; calls from within are left out.
pub(super) fn ignoring<R>(f: impl FnOnce() -> R) -> R {
    let current = CURRENT.replace(IGNORED);
    let result = f();
    CURRENT.set(current);
    result
}

/// Whether this thread's calls are left out.
pub(super) fn is_ignored() -> bool {
    CURRENT.get() == IGNORED
}

/// This thread's share, or nothing if its calls are left out.
#[inline(always)]
pub(super) fn current() -> Option<&'static Thread> {
    known().or_else(first_call)
}

/// This thread's share, if it has one already.
#[inline(always)]
pub(super) fn known() -> Option<&'static Thread> {
    let current = CURRENT.get();
    // SAFETY: a pointer that is neither null nor the mark came from `take`, and shares are never
    // freed.
    (!current.is_null() && current != IGNORED).then(|| unsafe { &*current })
}

/// This thread's share, if it has one and nothing is going on in it.
#[cfg(unix)]
pub(super) fn current_if_idle() -> Option<&'static Thread> {
    let current = CURRENT.get();
    if current == IGNORED {
        return None;
    }
    // SAFETY: null, or from `take`, and shares are never freed.
    unsafe { current.as_ref() }.filter(|thread| thread.state.load(Ordering::Relaxed) != BUSY)
}

#[cold]
#[inline(never)]
fn first_call() -> Option<&'static Thread> {
    if is_ignored() {
        return None;
    }
    let thread = ignoring(|| {
        let thread = take();
        thread.signal_stack.lend();
        sys::at_thread_exit(core::ptr::from_ref(thread).cast_mut().cast(), leave);
        thread
    });
    CURRENT.set(thread);
    Some(thread)
}

/// A share that no thread has.
fn take() -> &'static Thread {
    let is_free = |thread: &&Thread| {
        let taken = thread.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    };
    let thread = all().find(is_free).unwrap_or_else(make);
    // SAFETY: it was free until now, so that nobody else is in it.
    unsafe { (*thread.own.get()).restart(sys::thread_id()) };
    thread.state.store(NAMELESS, Ordering::Relaxed);
    thread
}

fn make() -> &'static Thread {
    let thread: &'static Thread = Box::leak(Box::new(Thread {
        next: AtomicPtr::new(core::ptr::null_mut()),
        is_taken: AtomicBool::new(true),
        state: AtomicU8::new(BUSY),
        buffer: Buffer::new(),
        table: Table::new(),
        counts: AllCounts::new(),
        signal_stack: SignalStack::new(),
        own: UnsafeCell::new(Own::new(track_number())),
    }));
    let pointer = core::ptr::from_ref(thread).cast_mut();
    let mut first = FIRST.load(Ordering::Relaxed);
    loop {
        thread.next.store(first, Ordering::Relaxed);
        match FIRST.compare_exchange_weak(first, pointer, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return thread,
            Err(changed) => first = changed,
        }
    }
}

/// The number of a new track.
pub(super) fn track_number() -> u64 {
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// The thread that had this share has ended.
unsafe extern "C" fn leave(thread: *mut c_void) {
    // SAFETY: `first_call` gave this function a share, and shares are never freed.
    let thread: &'static Thread = unsafe { &*thread.cast_const().cast() };
    CURRENT.set(IGNORED);
    // SAFETY: it is still this thread's own, and no call is going on: it would be this thread's.
    unsafe { (*thread.own.get()).park() };
    output::flush(&thread.buffer);
    thread.signal_stack.take_back();
    thread.is_taken.store(false, Ordering::Release);
    // Another thread-specific destructor may yet call, and then takes a share anew.
    CURRENT.set(core::ptr::null());
}

impl Thread {
    #[inline]
    pub(super) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    #[inline(always)]
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    #[inline(always)]
    pub(super) fn counts(&self) -> &AllCounts {
        &self.counts
    }

    /// Does something with what is this thread's own. Nothing if a call is going on.
    #[inline]
    pub(super) fn enter<R>(&'static self, f: impl FnOnce(&mut Own, &'static Self) -> R) -> Option<R> {
        match self.state.load(Ordering::Relaxed) {
            IDLE => {}
            NAMELESS => self.ask_name(),
            _ => return None,
        }
        // SAFETY: no call is going on in this thread, which is what is asked for.
        Some(unsafe { self.enter_from(IDLE, f) })
    }

    /// As [`enter`](Self::enter), for calls that may come from within an allocator: the thread's
    /// name is not asked for, which could need memory itself.
    pub(super) fn enter_nameless<R>(
        &'static self,
        f: impl FnOnce(&mut Own, &'static Self) -> R,
    ) -> Option<R> {
        let state = self.state.load(Ordering::Relaxed);
        // SAFETY: as in `enter`.
        (state != BUSY).then(|| unsafe { self.enter_from(state, f) })
    }

    /// # Safety
    ///
    /// No call is going on in this share, and it is this thread's.
    #[inline(always)]
    unsafe fn enter_from<R>(&'static self, state: u8, f: impl FnOnce(&mut Own, &'static Self) -> R) -> R {
        self.state.store(BUSY, Ordering::Relaxed);
        // A signal handler of this thread must find it busy.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the thread alone gets here, and never twice at a time, since it is busy meanwhile.
        let result = f(unsafe { &mut *self.own.get() }, self);
        compiler_fence(Ordering::SeqCst);
        self.state.store(state, Ordering::Relaxed);
        result
    }

    #[cold]
    #[inline(never)]
    fn ask_name(&'static self) {
        self.state.store(IDLE, Ordering::Relaxed);
        // At the very end of a thread the library may have no name to give any more, and panics.
        let name = ignoring(|| {
            std::panic::catch_unwind(|| std::thread::current().name().map(str::to_owned)).unwrap_or_default()
        });
        if let Some(name) = name {
            self.enter(|own, _| ignoring(|| own.set_name_if_none(&name)));
        }
    }
}

/// In a forked child: only this thread is left, and it has another number.
#[cfg(unix)]
pub(super) fn forked() {
    let current = CURRENT.get();
    for thread in all() {
        thread.counts.clear();
        if !core::ptr::eq(thread, current) {
            thread.is_taken.store(false, Ordering::Release);
        }
    }
    if let Some(thread) = current_if_idle() {
        thread.enter_nameless(|own, _| own.set_id(sys::thread_id()));
    }
}
