//! What is asked of the system beyond the standard library.
//!
//! On Unix every function here but [`at_thread_exit`] may be called in a signal handler.

#[cfg(unix)]
pub(super) use unix::{
    at_exit, at_thread_exit, is_writable, monotonic_ns, nap, scratch, standard_error, thread_id,
};

#[cfg(not(unix))]
pub(super) use other::{
    at_exit, at_thread_exit, is_writable, monotonic_ns, nap, scratch, standard_error, thread_id,
};

#[cfg(unix)]
mod unix {
    use core::ffi::c_void;
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::sync::OnceLock;

    #[inline(always)]
    pub(in super::super) fn monotonic_ns() -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a timespec of ours. The call cannot fail for this clock.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
    }

    /// The number that the system's own tools know this thread by.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(in super::super) fn thread_id() -> u64 {
        // SAFETY: the call takes nothing and cannot fail.
        unsafe { libc::gettid() as u64 }
    }

    /// A number of this thread alone.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(in super::super) fn thread_id() -> u64 {
        // SAFETY: the call takes nothing and cannot fail.
        unsafe { libc::pthread_self() as u64 }
    }

    /// Standard error itself, not a copy of it: a program may yet point it elsewhere.
    pub(in super::super) fn standard_error() -> Option<File> {
        // SAFETY: it is never closed, since the file is kept for as long as the program runs, and
        // nobody relies on being the only owner of this one.
        Some(unsafe { File::from_raw_fd(libc::STDERR_FILENO) })
    }

    /// Whether a file takes more now, or says why it does not. Waits for it for a while.
    pub(in super::super) fn is_writable(file: &File, milliseconds: u8) -> bool {
        let mut wanted = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
        // SAFETY: `wanted` is one pollfd of ours.
        unsafe { libc::poll(&mut wanted, 1, milliseconds.into()) > 0 }
    }

    /// Sleeps for a moment.
    pub(in super::super) fn nap() {
        let moment = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };
        // SAFETY: `moment` is a timespec of ours; how much was slept is not asked.
        unsafe { libc::nanosleep(&moment, core::ptr::null_mut()) };
    }

    /// Memory that is zero, without the allocator. It is never given back: it is for the last words.
    pub(in super::super) fn scratch(bytes: usize) -> Option<&'static mut [u8]> {
        // SAFETY: a new private mapping of no file touches no memory that anybody has.
        let memory = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                bytes.max(1),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANON,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the mapping is that long, zeroed, nobody else's, and never unmapped.
        Some(unsafe { core::slice::from_raw_parts_mut(memory.cast(), bytes) })
    }

    /// Calls `leave(value)` when this thread ends: after the destructors of its thread-locals, and
    /// again if one of the last ones asks anew.
    pub(in super::super) fn at_thread_exit(value: *mut c_void, leave: unsafe extern "C" fn(*mut c_void)) {
        static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
        let key = KEY.get_or_init(|| {
            let mut key = 0;
            // SAFETY: `key` is ours to be written.
            (unsafe { libc::pthread_key_create(&mut key, Some(leave)) } == 0).then_some(key)
        });
        if let Some(key) = *key {
            // SAFETY: the key was made above and is never deleted.
            unsafe { libc::pthread_setspecific(key, value) };
        }
    }

    /// Calls `last` when the program ends by `exit` or by returning from `main`.
    pub(in super::super) fn at_exit(last: extern "C" fn()) {
        // SAFETY: `last` is a function of the same shape. A table that is full leaves it out.
        unsafe { libc::atexit(last) };
    }
}

#[cfg(not(unix))]
mod other {
    use core::cell::Cell;
    use core::ffi::c_void;
    use std::fs::File;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    pub(in super::super) fn monotonic_ns() -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    pub(in super::super) fn thread_id() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        thread_local!(static ID: u64 = NEXT.fetch_add(1, Ordering::Relaxed));
        ID.try_with(|id| *id).unwrap_or(0)
    }

    #[cfg(windows)]
    pub(in super::super) fn standard_error() -> Option<File> {
        use std::os::windows::io::AsHandle;
        std::io::stderr().as_handle().try_clone_to_owned().ok().map(File::from)
    }

    #[cfg(not(windows))]
    pub(in super::super) fn standard_error() -> Option<File> {
        None
    }

    pub(in super::super) fn is_writable(_: &File, _: u8) -> bool {
        nap();
        true
    }

    pub(in super::super) fn nap() {
        std::thread::sleep(Duration::from_micros(100));
    }

    pub(in super::super) fn scratch(bytes: usize) -> Option<&'static mut [u8]> {
        Some(Box::leak(vec![0; bytes].into_boxed_slice()))
    }

    struct Leaver(Cell<Option<(*mut c_void, unsafe extern "C" fn(*mut c_void))>>);

    impl Drop for Leaver {
        fn drop(&mut self) {
            if let Some((value, leave)) = self.0.take() {
                // SAFETY: `leave` was given together with the value that it is for.
                unsafe { leave(value) };
            }
        }
    }

    pub(in super::super) fn at_thread_exit(value: *mut c_void, leave: unsafe extern "C" fn(*mut c_void)) {
        thread_local!(static LEAVER: Leaver = const { Leaver(Cell::new(None)) });
        let _ = LEAVER.try_with(|leaver| leaver.0.set(Some((value, leave))));
    }

    pub(in super::super) fn at_exit(last: extern "C" fn()) {
        unsafe extern "C" {
            fn atexit(last: extern "C" fn()) -> core::ffi::c_int;
        }
        // SAFETY: this is the C library's own, which calls `last` at the end.
        unsafe { atexit(last) };
    }
}
