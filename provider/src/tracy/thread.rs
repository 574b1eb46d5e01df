//! What a thread is to Tracy, from its first event to its end.
//!
//! A thread that has not begun, one that is ending, one of a process that exits, and one that drops
//! what it is given have the same *queue*: the stand-in, whose tail is always at the end of a block.
//! So the one test that the inline path has to make at a block's end finds all of them, and leads
//! to [`enter`].
//!
//! * A thread **begins** with its first event: the shim notes it after Tracy's own thread-locals.
//! * It **ends** before Tracy hands its queue to other threads. What it records later, in
//!   destructors of thread-locals, is dropped; Tracy would put it on another thread.
//! * The process **exits**: every thread gets the stand-in before Tracy frees the queues. A thread
//!   that was interrupted between looking at its queue and writing to it has until Tracy's own
//!   threads have been joined.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use super::shim::{self, Callbacks, Queue};
use super::{app_info, bound, drops, linked};
#[cfg(tracy_inline)]
use super::{check, connection};

/// What an event is to the bound on memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A zone's beginning: past the bound the whole zone is dropped.
    Zone,
    /// What stands alone, and can be dropped alone.
    Other,
    /// The rest of what was recorded, such as a zone's end. It is never dropped.
    Rest,
}

/// Where an event goes that the inline path could not write.
#[cfg(tracy_inline)]
pub(super) enum Route {
    /// To this queue, through the shim.
    Queue(*mut Queue),
    /// Through Tracy's C interface.
    CApi,
    /// It is dropped.
    Nowhere,
}

/// Zeros in the place of a queue: a tail index at the end of a block. Nobody writes to it.
#[repr(C, align(64))]
struct StandIn([u8; STAND_IN_SIZE]);
pub(super) const STAND_IN_SIZE: usize = 512;
static STAND_IN: StandIn = StandIn([0; STAND_IN_SIZE]);

const fn stand_in() -> *mut Queue {
    (&raw const STAND_IN).cast_mut().cast()
}

/// What others may look at.
pub(super) struct Shared {
    queue: AtomicPtr<Queue>,
    pub(super) id: AtomicU32,
    /// Dropped and not reported yet.
    pub(super) zones: AtomicU64,
    pub(super) others: AtomicU64,
}

#[repr(C)]
struct Thread {
    // First, so that its address is the thread's.
    shared: Shared,
    own: Cell<*mut Queue>,
    stage: Cell<Stage>,
    is_dropping: Cell<bool>,
    /// Inside here: events of an allocator or an output that traces go round the bound.
    is_busy: Cell<bool>,
    /// Bytes that the bound has granted this thread beside its queue.
    credit: Cell<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Beginning,
    Begun,
    Ended,
}

thread_local! {
    // It needs no destructor, so it is there as long as the thread, and reading it takes no check.
    static THREAD: Thread = const {
        Thread {
            shared: Shared {
                queue: AtomicPtr::new(stand_in()),
                id: AtomicU32::new(0),
                zones: AtomicU64::new(0),
                others: AtomicU64::new(0),
            },
            own: Cell::new(ptr::null_mut()),
            stage: Cell::new(Stage::New),
            is_dropping: Cell::new(false),
            is_busy: Cell::new(false),
            credit: Cell::new(0),
        }
    };
}

/// The queue that this thread writes to, or the stand-in.
#[inline(always)]
#[cfg(tracy_inline)]
pub(super) fn queue() -> *mut Queue {
    // Relaxed: another thread writes here only when the process exits.
    THREAD.with(|thread| thread.shared.queue.load(Ordering::Relaxed))
}

/// Gets this thread ready, so that its first event does not pay for it.
pub(super) fn begin() {
    if is_open() {
        THREAD.with(Thread::has_begun);
    }
}

/// Whether this thread may record an event, which takes `bytes` beside the thread's queue.
#[inline]
pub(super) fn may_emit(event: Event, bytes: usize) -> bool {
    is_open() && THREAD.with(|thread| thread.spend(bytes) || thread.ask(event, bytes))
}

/// As [`may_emit`] for a lone event of the queue that all threads share, where an ending thread can
/// record, too.
#[inline]
pub(super) fn may_emit_anywhere(bytes: usize) -> bool {
    is_open() && THREAD.with(|thread| thread.spend(bytes) || thread.ask_anywhere(bytes))
}

/// As [`may_emit_anywhere`] for events that make sense only with those before and after them, such
/// as memory's: the profiler takes the giving back of what was never taken for a fault. So once one
/// of them was dropped, no other follows.
#[inline]
pub(super) fn may_emit_pair(bytes: usize) -> bool {
    if bound::pairs_have_ended() {
        THREAD.with(|thread| thread.count(Event::Other));
        return false;
    }
    may_emit_anywhere(bytes) || {
        if is_open() {
            bound::end_pairs();
        }
        false
    }
}

/// Where an event goes that the inline path could not write.
#[cold]
#[inline(never)]
#[cfg(tracy_inline)]
pub(super) fn enter(event: Event) -> Route {
    if is_open() { THREAD.with(|thread| thread.enter(event)) } else { Route::Nowhere }
}

/// Whether Tracy is there to record.
#[inline(always)]
fn is_open() -> bool {
    linked::is_up() && !shim::zonecast_tracy_process_ends.load(Ordering::Relaxed)
}

impl Thread {
    #[cfg(tracy_inline)]
    fn enter(&self, event: Event) -> Route {
        if !self.has_begun() {
            return Route::Nowhere;
        }
        if !check::has_passed() {
            return Route::CApi;
        }
        if !self.is_busy.get() {
            if !self.undisturbed(|| self.admit(event, 0)) {
                return Route::Nowhere;
            }
            if !self.is_dropping.get() {
                self.write_to(self.own.get());
            }
            // After the queue was written: whoever left a line before that and replaced the queue is seen here.
            if linked::ON_DEMAND && app_info::look_again(self.own.get()) {
                self.write_to(stand_in());
            }
        }
        Route::Queue(self.own.get())
    }

    #[inline(always)]
    fn spend(&self, bytes: usize) -> bool {
        if self.stage.get() != Stage::Begun {
            return false;
        }
        if linked::ON_DEMAND {
            app_info::look_again(self.own.get());
            return true;
        }
        let left = self.credit.get().checked_sub(bytes);
        left.inspect(|&left| self.credit.set(left)).is_some()
    }

    #[cold]
    fn ask(&self, event: Event, bytes: usize) -> bool {
        self.has_begun()
            && (self.is_busy.get() || self.spend(bytes) || self.undisturbed(|| self.admit(event, bytes)))
    }

    #[cold]
    fn ask_anywhere(&self, bytes: usize) -> bool {
        // Without the bound, where there is nothing to keep account with.
        self.is_busy.get() || self.stage.get() == Stage::Ended || self.ask(Event::Other, bytes)
    }

    fn undisturbed<R>(&self, f: impl FnOnce() -> R) -> R {
        self.is_busy.set(true);
        let result = f();
        self.is_busy.set(false);
        result
    }

    /// Whether this thread has begun, which it does here, and has not ended.
    fn has_begun(&self) -> bool {
        if self.stage.get() == Stage::New {
            self.stage.set(Stage::Beginning);
            self.undisturbed(|| self.begin());
            self.stage.set(Stage::Begun);
        }
        self.stage.get() == Stage::Begun
    }

    fn begin(&self) {
        // SAFETY: the client is up (see `is_open`).
        self.own.set(unsafe { shim::QUEUE() });
        // SAFETY: Tracy's thread-locals have been constructed just now, by the line above. The
        // address stays valid until `thread_ends`, which runs on this thread before thread-locals
        // lose their memory.
        unsafe {
            shim::zonecast_tracy_thread_begins(ptr::from_ref(self).cast(), (&raw const CALLBACKS).cast());
        }
        self.shared.id.store(shim::zonecast_tracy_thread_id(), Ordering::Relaxed);
        bound::thread_begins();
        #[cfg(tracy_inline)]
        {
            check::run(self.own.get());
            connection::find();
        }
    }

    /// Whether there is room for the event, and `bytes` beside it. Else it has been counted.
    fn admit(&self, event: Event, bytes: usize) -> bool {
        if bound::is_off(self.own.get()) {
            self.is_dropping.set(false);
            self.credit.set(usize::MAX);
            drops::report();
            return true;
        }
        let has_room = self.may_look_for_room(event) && self.get_credit(bytes);
        self.drop_from_here(!has_room);
        if !has_room && event != Event::Rest {
            self.count(event);
            return false;
        }
        true
    }

    /// Not for each of the many events that are dropped. Now and then, though: a client that found
    /// no port throws away what waits.
    fn may_look_for_room(&self, event: Event) -> bool {
        let dropped =
            || self.shared.zones.load(Ordering::Relaxed) + self.shared.others.load(Ordering::Relaxed);
        !self.is_dropping.get() || event == Event::Rest || dropped() % LOOK_AGAIN == LOOK_AGAIN - 1
    }

    fn get_credit(&self, bytes: usize) -> bool {
        match bytes {
            0 => bound::has_room(),
            _ => match bound::grant(bytes) {
                Some(granted) => {
                    self.credit.set(self.credit.get() + granted - bytes);
                    true
                }
                None => false,
            },
        }
    }

    fn drop_from_here(&self, drop: bool) {
        if drop && !self.is_dropping.get() {
            self.write_to(stand_in());
            bound::take_back(self.credit.take());
            drops::say();
        }
        self.is_dropping.set(drop);
    }

    fn count(&self, event: Event) {
        drops::note();
        let count = if event == Event::Zone { &self.shared.zones } else { &self.shared.others };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn write_to(&self, queue: *mut Queue) {
        // Sequentially consistent, as in the shim: either the exiting process finds this queue and
        // replaces it, or we find that it exits.
        self.shared.queue.store(queue, Ordering::SeqCst);
        if shim::zonecast_tracy_process_ends.load(Ordering::SeqCst) {
            self.shared.queue.store(stand_in(), Ordering::SeqCst);
        }
    }
}

/// After so many dropped events a thread looks for room again.
const LOOK_AGAIN: u64 = 65_536;

static CALLBACKS: Callbacks<Thread> = Callbacks { thread_ends, process_ends };

/// # Safety
///
/// `thread` is this thread's.
unsafe extern "C" fn thread_ends(thread: *const Thread) {
    // SAFETY: by this function's contract; a thread-local without a destructor is still there.
    let thread = unsafe { &*thread };
    thread.stage.set(Stage::Ended);
    thread.write_to(stand_in());
    bound::take_back(thread.credit.take());
    bound::thread_ends();
    drops::thread_ends(&thread.shared);
}

/// # Safety
///
/// `thread` has not ended, and does not while this runs.
unsafe extern "C" fn process_ends(thread: *const Thread) {
    // SAFETY: by this function's contract. Other threads look at what is shared alone.
    let shared = unsafe { &*thread.cast::<Shared>() };
    shared.queue.store(stand_in(), Ordering::SeqCst);
}

/// This thread's queue, once it has begun.
pub(super) fn own_queue() -> *mut Queue {
    THREAD.with(|thread| thread.own.get())
}

/// Sends every thread with its next event to [`enter`].
pub(super) fn interrupt() {
    each(|shared| shared.queue.store(stand_in(), Ordering::SeqCst));
}

/// Calls `visit` for every thread that has begun and not ended. It must not record anything.
pub(super) fn each(mut visit: impl FnMut(&Shared)) {
    unsafe extern "C" fn call<F: FnMut(&Shared)>(thread: *const c_void, visit: *mut c_void) {
        // SAFETY: `visit` is the closure below; `thread` has not ended and does not while the shim
        // visits it, and what is shared stands first in it.
        unsafe { (*visit.cast::<F>())(&*thread.cast::<Shared>()) }
    }
    fn caller<F: FnMut(&Shared)>(_: &F) -> unsafe extern "C" fn(*const c_void, *mut c_void) {
        call::<F>
    }
    // SAFETY: `call` gets the closure that it was made for.
    unsafe { shim::zonecast_tracy_each_thread(caller(&visit), (&raw mut visit).cast()) }
}
