//! What the faces of both drivers share: one simulation for the process, what is current on a thread,
//! and the functions by which tests control it.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Rounding, Settings, Sim, code};

static SIM: Mutex<Option<Sim>> = Mutex::new(None);

thread_local! {
    /// The contexts that were made current, the last one on top.
    static CURRENT: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// 0 global, 1 of the thread, 2 relaxed.
    static MODE: Cell<u32> = const { Cell::new(0) };
}

/// The handle of the one context.
pub const CONTEXT: u64 = 0xc0c0;

/// The simulation of this process.
pub struct Held(MutexGuard<'static, Option<Sim>>);

impl std::ops::Deref for Held {
    type Target = Sim;
    fn deref(&self) -> &Sim {
        self.0.as_ref().expect("made by hold()")
    }
}

impl std::ops::DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Sim {
        self.0.as_mut().expect("made by hold()")
    }
}

/// Takes hold of the simulation. In real time, unless it was set up otherwise.
#[must_use]
pub fn hold() -> Held {
    let mut sim = SIM.lock().unwrap_or_else(PoisonError::into_inner);
    sim.get_or_insert_with(|| Sim::new(Settings { real_time: true, ..Settings::default() }));
    Held(sim)
}

/// Begins anew, in real time.
pub fn restart(seed: u64, tick: i64, rounding: Rounding) {
    let sim = Sim::new(Settings { seed, tick, rounding, real_time: true, ..Settings::default() });
    *SIM.lock().unwrap_or_else(PoisonError::into_inner) = Some(sim);
}

/// A result as drivers return it.
#[must_use]
pub fn result(result: Result<(), u32>) -> u32 {
    result.err().unwrap_or(code::SUCCESS)
}

/// A result with a value, which is written where the caller wants it.
///
/// # Safety
/// `to` is null or can be written.
pub unsafe fn write<T>(to: *mut T, value: Result<T, u32>) -> u32 {
    match value {
        Ok(_) if to.is_null() => code::INVALID_VALUE,
        Ok(value) => {
            // SAFETY: by this function's contract.
            unsafe { to.write(value) };
            code::SUCCESS
        }
        Err(code) => code,
    }
}

/// What is current on this thread; 0 for nothing.
#[must_use]
pub fn current() -> u64 {
    CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

/// Makes a context current.
pub fn push(context: u64) {
    CURRENT.with_borrow_mut(|stack| stack.push(context));
}

/// Makes the one before current again.
pub fn pop() -> Option<u64> {
    CURRENT.with_borrow_mut(Vec::pop)
}

/// Changes what this thread's calls may do while others capture; returns what it was.
pub fn exchange_mode(mode: u32) -> u32 {
    MODE.replace(mode)
}

/// A query breaks a capture that is under way, unless its thread is relaxed about that.
pub fn check_capture(sim: &mut Sim) -> Result<(), u32> {
    if MODE.get() != 2 && sim.is_any_capturing() {
        sim.misuse.broken_captures += 1;
        return Err(code::CAPTURE_UNSUPPORTED);
    }
    Ok(())
}

/// A name for a code, much like the drivers'.
#[must_use]
pub const fn name(code: u32) -> &'static std::ffi::CStr {
    match code {
        0 => c"SUCCESS",
        1 => c"INVALID_VALUE",
        2 => c"OUT_OF_MEMORY",
        34 => c"STUB_LIBRARY",
        100 => c"NO_DEVICE",
        101 => c"INVALID_DEVICE",
        400 => c"INVALID_HANDLE",
        600 => c"NOT_READY",
        709 => c"CONTEXT_IS_DESTROYED",
        719 => c"LAUNCH_FAILED",
        900 => c"STREAM_CAPTURE_UNSUPPORTED",
        907 => c"CAPTURED_EVENT",
        _ => c"UNKNOWN",
    }
}

/// Puts the functions by which tests control a face into the face's library.
#[macro_export]
macro_rules! controls {
    ($rounding:expr) => {
        use $crate::face;

        /// Begins anew.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_restart(seed: u64, tick: i64) {
            face::restart(seed, tick, $rounding);
        }

        /// Work of some nanoseconds on a stream.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_launch(stream: u64, ns: i64) -> u32 {
            face::result(face::hold().launch(stream, ns))
        }

        /// Begins (1) or ends (0) the capture of a stream.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_capture(stream: u64, on: u32) {
            face::hold().capture(stream, on != 0);
        }

        /// Fails calls of a kind from the so-manieth on: 0 create_event, 1 record, 2 query, 3 elapsed, 4
        /// is_capturing, 5 init, 6 create_stream.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_fail(kind: u32, from: u64, code: u32) {
            const KINDS: [&str; 7] =
                ["create_event", "record", "query", "elapsed", "is_capturing", "init", "create_stream"];
            if let Some(kind) = KINDS.get(kind as usize) {
                face::hold().faults.fail.insert(kind, (from, code));
            }
        }

        /// The context is destroyed.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_destroy() {
            face::hold().faults.destroyed = true;
        }

        /// Numbers about the run: 0 events alive, 1 streams alive, 2 waits, 3 dead handles, 4 broken captures, 5
        /// times asked for early, 6 what is current on this thread.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_number(which: u32) -> u64 {
            let sim = face::hold();
            match which {
                0 => sim.live_events() as u64,
                1 => sim.live_streams() as u64,
                2 => sim.misuse.blocking,
                3 => sim.misuse.dead_handles,
                4 => sim.misuse.broken_captures,
                5 => sim.misuse.early_times,
                _ => face::current(),
            }
        }
    };
}
