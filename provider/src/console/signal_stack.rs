//! Room for signal handlers, which a thread that has overflowed its own stack cannot give.
//!
//! Rust's threads have a stack for them of 8 KiB. Where a processor has much to be saved, a signal
//! takes nearly 4 KiB of that, and a stack overflow has two: the fault, and the `abort` of Rust's own
//! handler, which has words to say as well. Nothing would be left for the last lines.

#[cfg(unix)]
pub(super) use unix::SignalStack;

#[cfg(not(unix))]
pub(super) use other::SignalStack;

#[cfg(unix)]
mod unix {
    use core::ffi::c_void;
    use core::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicPtr, Ordering};

    use super::super::sys;

    const SIZE: usize = 64 << 10;

    /// One that threads have by turns.
    pub(in super::super) struct SignalStack(AtomicPtr<c_void>);

    impl SignalStack {
        pub(in super::super) const fn new() -> Self {
            Self(AtomicPtr::new(null_mut()))
        }

        /// Has this thread's handlers run here, if they have a smaller stack of their own.
        pub(in super::super) fn lend(&'static self) {
            let now = present();
            let is_in_use = now.ss_flags & (libc::SS_DISABLE | libc::SS_ONSTACK) == 0;
            if is_in_use && now.ss_size < SIZE {
                let memory = self.memory();
                if !memory.is_null() {
                    set(&libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: SIZE });
                }
            }
        }

        /// The thread ends. Rust has taken away the stack for its handlers already, others have not.
        pub(in super::super) fn take_back(&self) {
            let now = present();
            if now.ss_flags & libc::SS_DISABLE == 0 && now.ss_sp == self.0.load(Ordering::Relaxed) {
                set(&libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: SIZE });
            }
        }

        /// Null if there is none to be had.
        fn memory(&self) -> *mut c_void {
            if self.0.load(Ordering::Relaxed).is_null()
                && let Some(memory) = sys::scratch(SIZE)
            {
                self.0.store(memory.as_mut_ptr().cast(), Ordering::Relaxed);
            }
            self.0.load(Ordering::Relaxed)
        }
    }

    fn present() -> libc::stack_t {
        let mut now = libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: `now` is ours to be written, and nothing is set.
        unsafe { libc::sigaltstack(null(), &mut now) };
        now
    }

    fn set(stack: &libc::stack_t) {
        // SAFETY: the memory is never given back, and one thread at a time has it. On failure the
        // thread keeps the stack that it has.
        unsafe { libc::sigaltstack(stack, null_mut()) };
    }
}

#[cfg(not(unix))]
mod other {
    /// There are no signals.
    pub(in super::super) struct SignalStack;

    impl SignalStack {
        pub(in super::super) const fn new() -> Self {
            Self
        }

        pub(in super::super) fn lend(&'static self) {}

        pub(in super::super) fn take_back(&self) {}
    }
}
