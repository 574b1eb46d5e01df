//! Nothing that has ended is lost: what happens when the program ends, is killed, or forks.
//!
//! * `exit`, and the return from `main`: lines and the summary are written by an exit handler.
//! * A fault or `abort`: a signal handler writes the lines of all threads, hands the signal on to the
//!   handler that was there before (Rust's own looks for stack overflows), and, if the program is
//!   going to die of it, adds the zones that the thread had open, and the summary. A runtime that
//!   turns faults into errors is not disturbed.
//! * Signals that ask a program to end (Ctrl-C): the same, but only where nobody handles them when
//!   the console starts.
//! * A forked child begins with nothing held back and counts from nothing.
//!
//! A handler uses neither memory nor locks: lines are appended in buffers that are there, and the
//! right to write is waited for, for a second at most.

#[cfg(unix)]
pub(super) use unix::{install, without_signals};

#[cfg(not(unix))]
pub(super) fn install() {
    super::sys::at_exit(at_exit);
}

#[cfg(not(unix))]
pub(super) fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    f()
}

extern "C" fn at_exit() {
    super::output::flush_at_end(super::summary::write_once);
    super::output::say_if_lost();
}

#[cfg(unix)]
mod unix {
    use core::cell::UnsafeCell;
    use core::ffi::{c_int, c_void};
    use core::mem::{MaybeUninit, zeroed};
    use core::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::event::Event;
    use super::super::{clock, output, registry, start, summary, sys, thread};

    /// A signal, what it is called, and what its handler was before ours.
    struct Signal {
        number: c_int,
        name: &'static [u8],
        is_fault: bool,
        before: UnsafeCell<MaybeUninit<libc::sigaction>>,
        is_ours: AtomicBool,
    }

    // SAFETY: `before` is written once, in `install`, before `is_ours` is set with Release; whoever
    // reads it has seen that with Acquire.
    unsafe impl Sync for Signal {}

    const fn signal(number: c_int, name: &'static [u8], is_fault: bool) -> Signal {
        Signal {
            number,
            name,
            is_fault,
            before: UnsafeCell::new(MaybeUninit::uninit()),
            is_ours: AtomicBool::new(false),
        }
    }

    static SIGNALS: [Signal; 14] = [
        signal(libc::SIGSEGV, b"SIGSEGV", true),
        signal(libc::SIGBUS, b"SIGBUS", true),
        signal(libc::SIGILL, b"SIGILL", true),
        signal(libc::SIGFPE, b"SIGFPE", true),
        signal(libc::SIGTRAP, b"SIGTRAP", true),
        signal(libc::SIGSYS, b"SIGSYS", true),
        signal(libc::SIGABRT, b"SIGABRT", true),
        signal(libc::SIGINT, b"SIGINT", false),
        signal(libc::SIGTERM, b"SIGTERM", false),
        signal(libc::SIGHUP, b"SIGHUP", false),
        signal(libc::SIGQUIT, b"SIGQUIT", false),
        signal(libc::SIGPIPE, b"SIGPIPE", false),
        signal(libc::SIGXCPU, b"SIGXCPU", false),
        signal(libc::SIGXFSZ, b"SIGXFSZ", false),
    ];

    /// Gets ready for the end.
    pub(in super::super) fn install() {
        sys::at_exit(super::at_exit);
        SIGNALS.iter().for_each(Signal::install);
        // SAFETY: the three functions are of the right shape and live as long as the program.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
    }

    impl Signal {
        fn install(&self) {
            // SAFETY: an all-zero sigaction is a valid one.
            let (mut before, mut ours): (libc::sigaction, libc::sigaction) = unsafe { (zeroed(), zeroed()) };
            // SAFETY: both are sigactions of ours; our handler has the shape that SA_SIGINFO asks
            // for and keeps to what is allowed in one.
            unsafe {
                libc::sigaction(self.number, null(), &mut before);
                if !self.is_fault && before.sa_sigaction != libc::SIG_DFL {
                    return;
                }
                *self.before.get() = MaybeUninit::new(before);
                self.is_ours.store(true, Ordering::Release);
                ours.sa_sigaction = handle as *const () as usize;
                ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | self.stack();
                libc::sigemptyset(&mut ours.sa_mask);
                libc::sigaction(self.number, &ours, null_mut());
            }
        }

        /// On which stack its handler runs. A fault may come of a stack that is full. A thread that
        /// is asked to end has room on its own, and its other one may be small: see `signal_stack`.
        fn stack(&self) -> c_int {
            if self.is_fault { libc::SA_ONSTACK } else { 0 }
        }

        fn before(&self) -> Option<&libc::sigaction> {
            // SAFETY: it is written when `is_ours` is true, and never again.
            self.is_ours.load(Ordering::Acquire).then(|| unsafe { (*self.before.get()).assume_init_ref() })
        }

        /// Leaves the signal to the system from now on.
        fn set_default(&self) {
            // SAFETY: an all-zero sigaction with the default in it is a valid one, of ours.
            unsafe {
                let mut default: libc::sigaction = zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(self.number, &default, null_mut());
            }
        }

        /// Whether the system would end the program now.
        fn is_deadly_now(&self) -> bool {
            // SAFETY: an all-zero sigaction is a valid one, and is there to be written.
            unsafe {
                let mut now: libc::sigaction = zeroed();
                libc::sigaction(self.number, null(), &mut now);
                now.sa_sigaction == libc::SIG_DFL
            }
        }
    }

    extern "C" fn handle(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        let Some(signal) = SIGNALS.iter().find(|signal| signal.number == number) else { return };
        let Some(before) = signal.before() else { return };
        let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        if !signal.is_fault {
            // Nobody handles it but us. Whoever asks twice does not want to wait.
            signal.set_default();
            output::end_soon();
        }
        output::flush_all_in_signal();
        // SAFETY: `info` is valid in a handler.
        let is_own_fault = signal.is_fault && unsafe { (*info).si_code } > 0;
        match before.sa_sigaction {
            // A fault that is ignored would only be met again.
            libc::SIG_IGN if !is_own_fault => {}
            libc::SIG_DFL | libc::SIG_IGN => {
                last_words(signal);
                die(signal, is_own_fault);
            }
            handler => {
                // SAFETY: the system would have called this handler with the same arguments.
                unsafe { call(handler, before.sa_flags, number, info, context) };
                // Rust's own handler, for one, leaves it to the system to end the program.
                if signal.is_deadly_now() {
                    last_words(signal);
                }
            }
        }
        set_error(error);
    }

    /// Puts this thread's error number back: the program may look at it when a handler returns.
    fn set_error(error: c_int) {
        #[cfg(target_os = "linux")]
        use libc::__errno_location as place;
        #[cfg(target_vendor = "apple")]
        use libc::__error as place;
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        // SAFETY: the place is this thread's own.
        unsafe {
            *place() = error;
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        let _ = error;
    }

    /// # Safety
    ///
    /// `handler` is a signal handler installed with `flags`; the rest is what the system gave ours.
    unsafe fn call(
        handler: usize,
        flags: c_int,
        number: c_int,
        info: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        // SAFETY: the caller vouches for the handler; its flags say which shape it has.
        unsafe {
            if flags & libc::SA_SIGINFO != 0 {
                type Long = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                core::mem::transmute::<usize, Long>(handler)(number, info, context);
            } else {
                core::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(number);
            }
        }
    }

    /// Lets the system end the program as it would have without us: by the instruction that failed,
    /// tried again, or else by the signal, sent again.
    fn die(signal: &Signal, is_own_fault: bool) {
        signal.set_default();
        // `abort` sends it again by itself.
        if !is_own_fault && signal.number != libc::SIGABRT {
            // SAFETY: sending a signal to this thread is what it asks for.
            unsafe { libc::raise(signal.number) };
        }
    }

    /// The program dies of this signal.
    fn last_words(signal: &Signal) {
        output::hold_nothing_back();
        if let Some(thread) = thread::current_if_idle() {
            let fatal =
                Event { name: "fatal", subject: Some(("signal", signal.name)), elapsed: None, fields: &[] };
            thread.enter_nameless(|own, thread| {
                own.open_zones(thread);
                own.event(&fatal, clock::ns(), thread);
            });
        }
        output::flush_at_end(summary::write_once);
    }

    extern "C" fn before_fork() {
        registry::over_fork::before();
    }

    extern "C" fn after_fork() {
        registry::over_fork::after();
    }

    extern "C" fn in_child() {
        registry::over_fork::after();
        output::forked();
        thread::forked();
        start::forked();
    }

    /// Runs `f`, and whatever threads it starts, with all signals held off.
    pub(in super::super) fn without_signals<R>(f: impl FnOnce() -> R) -> R {
        // SAFETY: both sets are ours; the mask is put back as it was.
        unsafe {
            let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            let result = f();
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
            result
        }
    }
}
