//! Time: nanoseconds for lines, bare processor ticks for the summary.
//!
//! A line shows its time, so it reads the system's monotonic clock. The summary only adds times up,
//! so it may count the processor's ticks, which cost a fifth, and turn them into nanoseconds once at
//! the end, over the whole run: no calibration at the start has to guess their rate. Ticks are used
//! only where the kernel itself trusts them as its clock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::sys;
use crate::Time;

/// Whether the processor's ticks are counted.
static PROCESSOR: AtomicBool = AtomicBool::new(false);
static START: OnceLock<Start> = OnceLock::new();

#[derive(Clone, Copy)]
struct Start {
    ns: u64,
    ticks: u64,
    time: Time,
    unix: Duration,
}

/// Starts the clocks. `want_ticks`: only a summary is asked for.
pub(super) fn start(want_ticks: bool) {
    START.get_or_init(|| {
        PROCESSOR.store(want_ticks && ticks_are_time(), Ordering::Relaxed);
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (ns, time) = same_moment();
        Start { ns, ticks: counted(), time, unix }
    });
}

/// One moment by both clocks that lines show. The first readings take long, and any may be
/// interrupted: of several pairs the closest.
fn same_moment() -> (u64, Time) {
    let pair = |_| {
        let before = sys::monotonic_ns();
        let time = Time::now();
        let apart = sys::monotonic_ns() - before;
        (apart, before + apart / 2, time)
    };
    let (_, ns, time) = (0..8).map(pair).min_by_key(|pair| pair.0).expect("there are eight");
    (ns, time)
}

/// Nanoseconds of the system's monotonic clock.
#[inline(always)]
pub(super) fn ns() -> u64 {
    sys::monotonic_ns()
}

/// When the clocks were started, by the monotonic clock.
pub(super) fn started_ns() -> u64 {
    START.get().map_or(0, |start| start.ns)
}

/// How long after the start a time is.
pub(super) fn time_since_start(time: Time) -> i64 {
    START.get().map_or(0, |start| time - start.time)
}

/// When the clocks were started, since 1970.
pub(super) fn started_unix() -> Duration {
    START.get().map_or(Duration::ZERO, |start| start.unix)
}

/// Whether [`ticks`] are what is counted, not nanoseconds.
pub(super) fn has_ticks() -> bool {
    PROCESSOR.load(Ordering::Relaxed)
}

/// What is counted when there are no lines: a number that only ever grows. [`Rate`] knows how fast.
#[inline]
pub(super) fn counted() -> u64 {
    if has_ticks() { ticks() } else { ns() }
}

/// The processor's ticks. Only where [`has_ticks`] says so.
#[inline(always)]
pub(super) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction; where a system forbids it, it does not
    // use it as its own clock either, and `has_ticks` is false.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    ns()
}

fn ticks_are_time() -> bool {
    cfg!(target_arch = "x86_64")
        && std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .is_ok_and(|source| source.trim_ascii() == b"tsc")
}

/// How many nanoseconds a tick is, measured from the start until now.
#[derive(Clone, Copy)]
pub(super) struct Rate(f64);

impl Rate {
    /// Ticks that are nanoseconds.
    pub(super) const NANOSECONDS: Self = Self(1.0);

    /// Measures. Safe in a signal handler. Waits until a millisecond has passed since the start, so
    /// that reading two clocks one after the other adds an error of less than 1 in 1,000.
    pub(super) fn measure() -> Self {
        let Some(start) = START.get().filter(|_| has_ticks()) else {
            return Self::NANOSECONDS;
        };
        loop {
            let elapsed = ns().saturating_sub(start.ns);
            let ticks = ticks().saturating_sub(start.ticks);
            if elapsed >= 1_000_000 && ticks > 0 {
                return Self(elapsed as f64 / ticks as f64);
            }
        }
    }

    /// The nanoseconds in `ticks`.
    pub(super) fn ns(self, ticks: u64) -> u64 {
        (ticks as f64 * self.0) as u64
    }
}
