//! What the faces of both drivers share: one simulation for the process, what is current on a thread,
//! and the functions by which tests control it.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use crate::{Rounding, Settings, Sim, code};

static SIM: Mutex<Option<Sim>> = Mutex::new(None);

thread_local! {
    /// The contexts that were made current, the last one on top.
    static CURRENT: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// 0 global, 1 of the thread, 2 relaxed.
    static MODE: Cell<u32> = const { Cell::new(0) };
}

/// The handle of CUDA's context on device 0; that on the next one is one more.
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
    static END: Once = Once::new();
    END.call_once(|| {
        // SAFETY: the function may be called at any time.
        unsafe { libc::atexit(end) };
    });
    let mut sim = SIM.lock().unwrap_or_else(PoisonError::into_inner);
    sim.get_or_insert_with(|| Sim::new(Settings { real_time: true, ..Settings::default() }));
    Held(sim)
}

/// As real drivers do, this one shuts down with the process, whatever threads still run.
extern "C" fn end() {
    hold().faults.ended = true;
}

/// Begins anew, in real time.
pub fn restart(seed: u64, tick: i64, rounding: Rounding) {
    let sim = Sim::new(Settings { seed, tick, rounding, real_time: true, ..Settings::default() });
    *SIM.lock().unwrap_or_else(PoisonError::into_inner) = Some(sim);
}

/// Whether the driver starts. For programs that know nothing of fakes, `ZONECAST_FAKE_INIT` holds a code.
///
/// # Errors
/// As the faults or the variable want it.
pub fn init(sim: &Sim) -> Result<(), u32> {
    let told = std::env::var("ZONECAST_FAKE_INIT").ok().and_then(|code| code.parse().ok());
    told.or_else(|| sim.faults.fail.get("init").map(|&(_, code)| code)).map_or(Ok(()), Err)
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

/// Copies memory, of which what is the device's must be there.
///
/// # Errors
/// If it is not.
///
/// # Safety
/// What is the host's can be read and written.
pub unsafe fn copy(sim: &mut Sim, to: (u64, bool), from: (u64, bool), size: usize) -> Result<(), u32> {
    sim.call("copy")?;
    for (address, is_device) in [to, from] {
        if is_device && size > 0 && !sim.memory.has(address, size) {
            return Err(code::INVALID_VALUE);
        }
    }
    // SAFETY: by this function's contract, and what is the device's was checked.
    unsafe { core::ptr::copy(from.0 as *const u8, to.0 as *mut u8, size) };
    Ok(())
}

/// Fills the device's memory.
///
/// # Errors
/// If it is not there.
pub fn fill(sim: &mut Sim, to: u64, byte: u8, size: usize) -> Result<(), u32> {
    sim.call("copy")?;
    let is_there = size == 0 || sim.memory.has(to, size);
    // SAFETY: the memory was checked.
    is_there.then(|| unsafe { core::ptr::write_bytes(to as *mut u8, byte, size) }).ok_or(code::INVALID_VALUE)
}

/// Waits until a stream, or all, have done what is on them.
///
/// # Errors
/// As the faults want it.
pub fn synchronize(stream: Option<u64>) -> Result<(), u32> {
    let rest = {
        let mut sim = hold();
        sim.misuse.blocking += 1;
        sim.call("synchronize")?;
        sim.busy_until(stream) - sim.now()
    };
    std::thread::sleep(Duration::from_nanos(u64::try_from(rest).unwrap_or(0)));
    Ok(())
}

/// The text of a module's image, if it is one.
///
/// # Safety
/// It is an image as drivers take it: a text with a 0 at its end, or something with a number at its beginning.
#[must_use]
pub unsafe fn ptx<'a>(image: *const c_void) -> Option<&'a str> {
    const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
    // SAFETY: by this function's contract.
    let start = unsafe { image.cast::<[u8; 4]>().read_unaligned() };
    if start == *b"\x7fELF" || start == FATBIN || start == *b"__CL" {
        return None;
    }
    // SAFETY: by this function's contract.
    unsafe { CStr::from_ptr(image.cast()) }.to_str().ok()
}

/// A name that a caller gave.
///
/// # Safety
/// It ends with a 0.
pub unsafe fn name_of<'a>(name: *const c_char) -> Result<&'a str, u32> {
    // SAFETY: by this function's contract.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| code::INVALID_VALUE)
}

/// Puts a name where the caller wants it.
///
/// # Errors
/// If there is no room.
///
/// # Safety
/// There is room for `size` bytes.
pub unsafe fn put_name(to: *mut c_char, size: i32, name: &CStr) -> Result<(), u32> {
    let bytes = name.to_bytes_with_nul();
    if size < bytes.len() as i32 {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: by this function's contract.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), to, bytes.len()) };
    Ok(())
}

/// Launches a kernel, and does what it does.
///
/// # Errors
/// As [`Sim::launch_kernel`].
pub fn launch(function: u64, shape: [u32; 6], stream: u64, params: *const *mut c_void) -> Result<(), u32> {
    let kernel = hold().launch_kernel(function, shape, stream)?;
    // The simulation is not held while it runs: it may call the driver.
    kernel.into_iter().for_each(|kernel| kernel(params, shape.as_ptr()));
    Ok(())
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
        4 => c"DEINITIALIZED",
        201 => c"INVALID_CONTEXT",
        400 => c"INVALID_HANDLE",
        500 => c"NOT_FOUND",
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

        /// One event in so many is late; 0 for none.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_late(once_in: u64) {
            face::hold().faults.late_once_in = once_in;
        }

        /// Fails calls of a kind from the so-manieth on, or with code 0 no more: 0 create_event, 1 record, 2 query, 3 elapsed, 4
        /// is_capturing, 5 init, 6 create_stream.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_fail(kind: u32, from: u64, code: u32) {
            const KINDS: [&str; 7] =
                ["create_event", "record", "query", "elapsed", "is_capturing", "init", "create_stream"];
            if let Some(kind) = KINDS.get(kind as usize) {
                let fail = &mut face::hold().faults.fail;
                if code == 0 { drop(fail.remove(kind)) } else { drop(fail.insert(kind, (from, code))) }
            }
        }

        /// Has the kernels of this name do this.
        ///
        /// # Safety
        /// The name ends with a 0.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn fake_kernel(name: *const core::ffi::c_char, kernel: $crate::Kernel) {
            // SAFETY: by this function's contract.
            if let Ok(name) = unsafe { face::name_of(name) } {
                face::hold().programs.kernels.insert(name.to_owned(), kernel);
            }
        }

        /// The context is destroyed.
        #[unsafe(no_mangle)]
        pub extern "C" fn fake_destroy() {
            face::hold().faults.destroyed = true;
        }

        /// Numbers about the run: 0 events alive, 1 streams alive, 2 waits, 3 dead handles, 4 broken captures, 5
        /// times asked for early, 6 what is current on this thread, 7 events used with another device's, 8 calls
        /// without a context, 9 bytes of memory.
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
                6 => face::current(),
                7 => sim.misuse.wrong_device,
                8 => sim.misuse.without_context,
                _ => sim.memory.usage().0 as u64,
            }
        }
    };
}

/// Makes functions of a driver: each does something with the simulation, and gives a value through its first
/// parameter if there is an arrow.
#[macro_export]
macro_rules! driver_calls {
    ($(fn $name:ident($($arg:ident: $of:ty),*) $(-> $value:ty)? { |$sim:ident| $body:expr })*) => {
        $($crate::driver_call!(fn $name($($arg: $of),*) $(-> $value)? { |$sim| $body });)*
    };
}

/// One of [`driver_calls`].
#[macro_export]
macro_rules! driver_call {
    (fn $name:ident($($arg:ident: $of:ty),*) { |$sim:ident| $body:expr }) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $of),*) -> u32 {
            #[allow(unused_mut, unused_variables, reason = "some only look, or not even that")]
            let mut $sim = $crate::face::hold();
            $crate::face::result($body)
        }
    };
    (fn $name:ident($($arg:ident: $of:ty),*) -> $value:ty { |$sim:ident| $body:expr }) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(value: *mut $value, $($arg: $of),*) -> u32 {
            #[allow(unused_mut, unused_variables, reason = "some only look, or not even that")]
            let mut $sim = $crate::face::hold();
            let made: Result<$value, u32> = $body;
            // SAFETY: by the driver's contract.
            unsafe { $crate::face::write(value, made) }
        }
    };
}
