//! The C++ beside Tracy: see `shim/`. Only in builds that found Tracy's headers.
//!
//! Where a function has variants, every one stands in the archive, but nothing here names more than
//! one of them: a constant is evaluated by the compiler, so the program refers to the chosen
//! function alone, and the linker leaves the others, for which Tracy has no counterpart, where they
//! are.

use core::ffi::{c_char, c_void};
use core::sync::atomic::AtomicBool;
#[cfg(tracy_inline)]
use core::sync::atomic::AtomicU64;

use super::linked::{FIBERS, MANUAL_LIFETIME, ON_DEMAND};
use crate::Location;

/// Tracy's profiler object. Only the shim looks into it.
#[repr(C)]
pub(super) struct Profiler {
    _opaque: [u8; 0],
}

/// A thread's own part of Tracy's queue of events.
#[repr(C)]
pub(super) struct Queue {
    _opaque: [u8; 0],
}

/// See `Answer` in `shim/profiler.cpp`.
#[repr(C)]
pub(super) struct Answer {
    text: *mut c_char,
    size: usize,
}

/// See `Lookup` in `shim/profiler.cpp`.
pub(super) type Lookup = unsafe extern "C" fn(path: *const c_char, size: usize, answer: *mut Answer);

/// See `Callbacks` in `shim/threads.cpp`.
#[repr(C)]
pub(super) struct Callbacks<T> {
    pub(super) thread_ends: unsafe extern "C" fn(*const T),
    pub(super) process_ends: unsafe extern "C" fn(*const T),
}

macro_rules! accessor {
    ($(#[$doc:meta])* $constant:ident: $type:ty = $($name:ident($od:literal, $ml:literal, $f:literal))*) => {
        unsafe extern "C" { $(fn $name() -> $type;)* }
        $(#[$doc])*
        pub(super) const $constant: unsafe extern "C" fn() -> $type = match (ON_DEMAND, MANUAL_LIFETIME, FIBERS) {
            $(($od, $ml, $f) => $name,)*
        };
    };
}

accessor! {
    /// The profiler object. Tracy must be up.
    PROFILER: *mut Profiler =
        zonecast_tracy_profiler_od0_ml0_f0(false, false, false)
        zonecast_tracy_profiler_od1_ml0_f0(true, false, false)
        zonecast_tracy_profiler_od0_ml1_f0(false, true, false)
        zonecast_tracy_profiler_od1_ml1_f0(true, true, false)
        zonecast_tracy_profiler_od0_ml0_f1(false, false, true)
        zonecast_tracy_profiler_od1_ml0_f1(true, false, true)
        zonecast_tracy_profiler_od0_ml1_f1(false, true, true)
        zonecast_tracy_profiler_od1_ml1_f1(true, true, true)
}

accessor! {
    /// This thread's queue. Tracy must be up.
    QUEUE: *mut Queue =
        zonecast_tracy_queue_od0_ml0_f0(false, false, false)
        zonecast_tracy_queue_od1_ml0_f0(true, false, false)
        zonecast_tracy_queue_od0_ml1_f0(false, true, false)
        zonecast_tracy_queue_od1_ml1_f0(true, true, false)
        zonecast_tracy_queue_od0_ml0_f1(false, false, true)
        zonecast_tracy_queue_od1_ml0_f1(true, false, true)
        zonecast_tracy_queue_od0_ml1_f1(false, true, true)
        zonecast_tracy_queue_od1_ml1_f1(true, true, true)
}

/// Declares functions that stand in the archive with and without on-demand, and picks those that go
/// with the linked client.
macro_rules! variants {
    ($($(#[$meta:meta])* $constant:ident = $od0:ident | $od1:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {$(
        $(#[$meta])*
        pub(super) const $constant: unsafe extern "C" fn($($argument),*) $(-> $result)? = {
            unsafe extern "C" {
                fn $od0($(_: $argument),*) $(-> $result)?;
                fn $od1($(_: $argument),*) $(-> $result)?;
            }
            if ON_DEMAND { $od1 } else { $od0 }
        };
    )*};
}

variants! {
    /// Has Tracy ask for source texts.
    REGISTER_SOURCES = zonecast_tracy_register_sources_od0 | zonecast_tracy_register_sources_od1:
        fn(*mut Profiler, Lookup);
    /// Answers with a copy of a text, in memory that Tracy frees.
    ANSWER = zonecast_tracy_answer_od0 | zonecast_tracy_answer_od1: fn(*mut Answer, *const c_char, usize);
    /// Where the profiler object says whether a profiler is connected.
    IS_CONNECTED = zonecast_tracy_is_connected_od0 | zonecast_tracy_is_connected_od1:
        fn(*mut Profiler) -> *const AtomicBool;
    /// How many events of the queue that all threads share nobody has taken.
    SHARED_WAITING = zonecast_tracy_shared_waiting_od0 | zonecast_tracy_shared_waiting_od1:
        fn(*mut Profiler) -> usize;
    /// Where the profiler object counts connections; null without on-demand.
    #[cfg(tracy_inline)]
    CONNECTION_ID = zonecast_tracy_connection_id_od0 | zonecast_tracy_connection_id_od1:
        fn(*mut Profiler) -> *const AtomicU64;
}

/// See `Line` in `shim/app_info.cpp`.
#[repr(C)]
pub(super) struct Line {
    text: *const c_char,
    size: usize,
    connection: u64,
    queue: *const Queue,
    index: usize,
}

impl Line {
    /// A line of so many bytes that nobody has got yet.
    pub(super) const fn new(text: *const c_char, size: usize) -> Self {
        Self { text, size, connection: 0, queue: core::ptr::null(), index: 0 }
    }
}

// SAFETY: text and queue are there until the process ends, and only the shim follows them.
unsafe impl Send for Line {}

#[allow(dead_code, reason = "builds without the inline path need some of these only")]
unsafe extern "C" {
    pub(super) fn zonecast_tracy_zone_begin(queue: *mut Queue, location: *const Location);
    pub(super) fn zonecast_tracy_zone_begin_callstack(
        queue: *mut Queue,
        location: *const Location,
        depth: i32,
    );
    pub(super) fn zonecast_tracy_zone_end(queue: *mut Queue);
    pub(super) fn zonecast_tracy_zone_switch(queue: *mut Queue, location: *const Location);
    pub(super) fn zonecast_tracy_copy(text: *const c_char, size: usize) -> *mut c_char;
    pub(super) fn zonecast_tracy_copy_message(text: *const c_char, size: usize, severity: i8) -> u64;
    pub(super) fn zonecast_tracy_waiting(queue: *const Queue) -> usize;
    pub(super) fn zonecast_tracy_was_taken_from(queue: *const Queue) -> bool;
    pub(super) safe fn zonecast_tracy_all_waiting() -> usize;
    pub(super) safe fn zonecast_tracy_thread_id() -> u32;
    pub(super) fn zonecast_tracy_is_layout(values: *const usize, count: usize) -> bool;
}

unsafe extern "C" {
    /// Of on-demand builds. It refers to nothing that others lack.
    pub(super) fn zonecast_tracy_settle_od1(
        profiler: *mut Profiler,
        queue: *mut Queue,
        line: *mut Line,
    ) -> bool;
}

unsafe extern "C" {
    pub(super) safe static zonecast_tracy_process_ends: AtomicBool;
    pub(super) fn zonecast_tracy_thread_begins(thread: *const c_void, callbacks: *const c_void);
    pub(super) fn zonecast_tracy_each_thread(
        visit: unsafe extern "C" fn(*const c_void, *mut c_void),
        context: *mut c_void,
    );
}

/// See `LaneZone` in `shim/gpu.cpp`.
#[repr(C)]
pub(super) struct LaneZone {
    pub(super) location: u64,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) launched: i64,
    pub(super) launched_end: i64,
    pub(super) depth: u32,
    pub(super) is_allocated: u32,
}

/// See `LaneContext` in `shim/gpu.cpp`.
#[repr(C)]
pub(super) struct Row {
    pub(super) ticks: i64,
    pub(super) origin: i64,
    pub(super) last: i64,
    connection: u64,
    name: *const c_char,
    pub(super) row: u32,
    query: u16,
    name_size: u16,
    pub(super) id: u8,
    pub(super) sort: u8,
}

impl Row {
    /// Of a context that nobody knows yet.
    pub(super) const fn new(id: u8, sort: u8, ticks: i64, origin: i64) -> Self {
        Self {
            ticks,
            origin,
            last: 0,
            connection: 0,
            name: core::ptr::null(),
            row: 0,
            query: 0,
            name_size: 0,
            id,
            sort,
        }
    }
}

// SAFETY: the name is on no thread's own memory, and only the shim follows it.
unsafe impl Send for Row {}

/// A lock's record. Only the shim looks into it.
#[repr(C)]
pub(super) struct Lock {
    _opaque: [u8; 0],
}

variants! {
    /// How many nanoseconds the profiler takes a tick for.
    TIMER_MUL = zonecast_tracy_timer_mul_od0 | zonecast_tracy_timer_mul_od1: fn(*mut Profiler) -> f64;
    /// The tick from which the profiler counts.
    FIRST_TICK = zonecast_tracy_first_tick_od0 | zonecast_tracy_first_tick_od1: fn() -> i64;
    /// The next id of a GPU context, or -1.
    NEXT_CONTEXT = zonecast_tracy_next_context_od0 | zonecast_tracy_next_context_od1: fn() -> i32;
    /// Names a GPU context, with so many bytes, and announces it.
    NEW_CONTEXT = zonecast_tracy_new_context_od0 | zonecast_tracy_new_context_od1:
        fn(*mut Profiler, *mut Row, *const c_char, u16);
    /// Sends a tree of so many zones; the last argument is room for as many numbers as it is deep.
    ZONES = zonecast_tracy_zones_od0 | zonecast_tracy_zones_od1:
        fn(*mut Profiler, *mut Row, *const LaneZone, usize, *mut usize);
}

variants! {
    /// Announces a lock, made at this location. `LOCK_TERMINATE` frees the record.
    LOCK_ANNOUNCE = zonecast_tracy_lock_announce_od0 | zonecast_tracy_lock_announce_od1:
        fn(*mut Profiler, u64) -> *mut Lock;
    /// Names it, with so many bytes.
    LOCK_NAME = zonecast_tracy_lock_name_od0 | zonecast_tracy_lock_name_od1:
        fn(*mut Profiler, *mut Lock, *const c_char, u16);
    /// Returns the connection that the wait was recorded in, or 0.
    LOCK_WAIT = zonecast_tracy_lock_wait_od0 | zonecast_tracy_lock_wait_od1: fn(*mut Profiler, *mut Lock) -> u64;
    /// The connection that the wait was recorded in, or 0.
    LOCK_OBTAIN = zonecast_tracy_lock_obtain_od0 | zonecast_tracy_lock_obtain_od1:
        fn(*mut Profiler, *mut Lock, u64);
    LOCK_RELEASE = zonecast_tracy_lock_release_od0 | zonecast_tracy_lock_release_od1: fn(*mut Profiler, *mut Lock);
    LOCK_TERMINATE = zonecast_tracy_lock_terminate_od0 | zonecast_tracy_lock_terminate_od1:
        fn(*mut Profiler, *mut Lock);
}
