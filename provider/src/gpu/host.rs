//! The host's clock as program threads read it: the processor's own count, where the system trusts
//! it, turned into nanoseconds by the collector.

use crate::Time;

use super::HostClock;
use super::history::{History, on_line};

/// The clock of this machine.
#[derive(Debug)]
pub(super) struct SystemClock {
    counts: bool,
}

impl SystemClock {
    pub(super) fn new() -> Self {
        let source = std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        let is_trusted = source.is_ok_and(|name| name.trim_ascii() == b"tsc");
        Self { counts: cfg!(target_arch = "x86_64") && is_trusted }
    }
}

impl HostClock for SystemClock {
    #[inline]
    fn stamp(&self) -> u64 {
        if self.counts { processor_count() } else { self.now().ns() as u64 }
    }

    fn is_processor_count(&self) -> bool {
        self.counts
    }

    fn now(&self) -> Time {
        Time::now()
    }
}

/// The processor's time stamp counter; 0 where there is none.
#[inline(always)]
pub(super) fn processor_count() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// A stamp in the two halves in which the processor counts: as they are stored, they need not be put
/// together by the program's thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Halves {
    low: u32,
    high: u32,
}

impl Halves {
    #[inline(always)]
    pub(super) const fn new(stamp: u64) -> Self {
        Self { low: stamp as u32, high: (stamp >> 32) as u32 }
    }

    /// The processor's count.
    #[inline(always)]
    pub(super) fn of_processor() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let (low, high);
            // SAFETY: it reads a counter into two registers, and changes nothing else.
            unsafe {
                core::arch::asm!(
                    "rdtsc",
                    out("eax") low,
                    out("edx") high,
                    options(nomem, nostack, preserves_flags)
                );
            }
            Self { low, high }
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        Self::new(processor_count())
    }

    pub(super) const fn stamp(self) -> u64 {
        (self.high as u64) << 32 | self.low as u64
    }
}

/// Knows which moment a stamp was.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    pairs: History<i64>,
    /// How far apart two readings that belong together were at worst.
    pub(super) error_ns: i64,
}

/// Pairs are this far apart at least.
const SPACING_NS: i64 = 20_000_000;

impl Stamps {
    /// Compares stamp and time, if that is due. Returns the time.
    pub(super) fn sample(&mut self, clock: &dyn HostClock) -> Time {
        let now = clock.now();
        if self.pairs.last().is_some_and(|last| now.ns() - last.1 < SPACING_NS) {
            return now;
        }
        // The tightest of three: a thread may be interrupted between two readings.
        let tightest = (0..3).map(|_| Self::read(clock)).min_by_key(|&(_, _, width)| width);
        let Some((stamp, ns, width)) = tightest else { return now };
        if self.pairs.last().is_none_or(|last| last.0 < stamp && last.1 < ns) {
            self.pairs.push(stamp, ns, drop);
            self.error_ns = width;
        }
        now
    }

    /// A stamp, its time, and how many nanoseconds lie around the reading.
    fn read(clock: &dyn HostClock) -> (i64, i64, i64) {
        let before = clock.now();
        let stamp = clock.stamp();
        let after = clock.now();
        (stamp as i64, before.ns() + (after - before) / 2, after - before)
    }

    /// The moment of a stamp.
    pub(super) fn time(&self, stamp: u64) -> Time {
        let key = stamp as i64;
        match (self.pairs.around(key), self.pairs.last()) {
            (Some([from, to]), _) => Time::from_ns(on_line(key, *from, *to)),
            (None, Some(only)) => Time::from_ns(only.1),
            (None, None) => Time::from_ns(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_this_machine_are_understood() {
        let clock = SystemClock::new();
        let mut stamps = Stamps::default();
        stamps.sample(&clock);
        std::thread::sleep(std::time::Duration::from_millis(25));
        stamps.sample(&clock);
        let (before, stamp, after) = (clock.now(), clock.stamp(), clock.now());
        let seen = stamps.time(stamp);
        assert!(
            seen > before.plus(-1_000_000) && seen < after.plus(1_000_000),
            "{before:?} {seen:?} {after:?}"
        );
    }
}
