//! The host's clock as program threads read it: the processor's own count, where the system trusts
//! it, turned into nanoseconds by the collector.

use crate::Time;

use super::HostClock;
use super::history::{History, on_line};

/// The clock of this machine.
#[derive(Debug)]
pub(super) struct SystemClock {
    /// The processor's count, if it is what stamps are.
    counter: Option<Counter>,
}

impl SystemClock {
    pub(super) fn new() -> Self {
        let source = std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        let is_trusted = source.is_ok_and(|name| name.trim_ascii() == b"tsc");
        Self { counter: (cfg!(target_arch = "x86_64") && is_trusted).then(Counter::measured) }
    }
}

impl HostClock for SystemClock {
    #[inline]
    fn stamp(&self) -> u64 {
        if self.counter.is_some() { processor_count() } else { self.now().ns() as u64 }
    }

    fn is_processor_count(&self) -> bool {
        self.counter.is_some()
    }

    fn steady(&self, stamp: u64) -> i64 {
        self.counter.as_ref().map_or(stamp as i64, |counter| counter.ns(stamp))
    }

    fn now(&self) -> Time {
        Time::now()
    }
}

/// The processor's count in nanoseconds, by a rate that is measured once.
#[derive(Debug)]
struct Counter {
    first: u64,
    ns: i64,
    /// Nanoseconds per count, times 2^40.
    rate: i128,
}

impl Counter {
    /// It takes as long as is needed to know the rate to 50 parts in a million: a millisecond, unless
    /// the thread is interrupted.
    fn measured() -> Self {
        let tight = || {
            let readings = (0..3).map(|_| Reading::take(&Time::now, &processor_count));
            readings.min_by_key(|reading| reading.width).unwrap_or_default()
        };
        let from = tight();
        loop {
            let to = tight();
            let (ns, counts) = (to.ns - from.ns, to.stamp.wrapping_sub(from.stamp));
            if counts > 0 && ns >= 1_000_000.max((from.width + to.width) * 10_000) {
                return Self {
                    first: from.stamp,
                    ns: from.ns,
                    rate: (i128::from(ns) << 40) / i128::from(counts),
                };
            }
        }
    }

    fn ns(&self, stamp: u64) -> i64 {
        let counts = stamp.wrapping_sub(self.first) as i64;
        self.ns + ((i128::from(counts) * self.rate) >> 40) as i64
    }
}

/// A stamp between two looks at the time.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    stamp: u64,
    /// The time, half way between.
    ns: i64,
    /// How many nanoseconds lie between.
    width: i64,
}

impl Reading {
    fn take(now: &dyn Fn() -> Time, stamp: &dyn Fn() -> u64) -> Self {
        let before = now();
        let stamp = stamp();
        let width = now() - before;
        Self { stamp, ns: before.ns() + width / 2, width }
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

/// Turns the steady nanoseconds of stamps into moments of the system's clock, whose rate is changed
/// now and then by those who set it.
#[derive(Debug, Default)]
pub(super) struct Moments {
    pairs: History<Moment>,
}

#[derive(Clone, Copy, Debug)]
struct Moment {
    ns: i64,
    /// By how much the pair may be wrong.
    error: i64,
    /// By how much moments between the pair before and this one may be wrong besides.
    bend: i64,
}

/// Pairs are this far apart at least.
const SPACING_NS: i64 = 20_000_000;

impl Moments {
    /// Compares the clocks, if that is due. Returns the steady time.
    pub(super) fn sample(&mut self, clock: &dyn HostClock) -> i64 {
        let now = clock.steady(clock.stamp());
        if self.pairs.last().is_none_or(|last| now - last.0 >= SPACING_NS) {
            self.compare(clock);
        }
        now
    }

    /// Compares the clocks, so that all moments up to now lie between two pairs.
    pub(super) fn compare(&mut self, clock: &dyn HostClock) {
        // The tightest of three: a thread may be interrupted between two readings.
        let readings = (0..3).map(|_| Reading::take(&|| clock.now(), &|| clock.stamp()));
        let Some(reading) = readings.min_by_key(|reading| reading.width) else { return };
        let key = clock.steady(reading.stamp);
        if self.pairs.last().is_none_or(|last| last.0 < key && last.1.ns < reading.ns) {
            let moment =
                Moment { ns: reading.ns, error: reading.width / 2, bend: self.bend(key, reading.ns) };
            self.pairs.push(key, moment, drop);
        }
    }

    /// By how much the clock is beside where it would be, had its rate stayed what it was before the
    /// last pair. If the rate was changed in between, no moment there is further from the line.
    fn bend(&self, key: i64, ns: i64) -> i64 {
        /// Of so many nanoseconds, a steady clock counts one wrong: see [`Counter::measured`].
        const COUNTED: i64 = 20_000;
        let Some(last) = self.pairs.last() else { return 0 };
        // From as far back, so that the readings' own errors do not count many times.
        let before = self.pairs.until(last.0 - (key - last.0)).or(self.pairs.points().first());
        let Some(before) = before.filter(|before| before.0 < last.0) else {
            let (steady, passed) = (key - last.0, ns - last.1.ns);
            return (passed - steady).abs() + steady / COUNTED;
        };
        (on_line(key, (before.0, before.1.ns), (last.0, last.1.ns)) - ns).abs()
    }

    /// The steady time of the last pair.
    pub(super) fn known_until(&self) -> i64 {
        self.pairs.last().map_or(i64::MIN, |last| last.0)
    }

    /// The moment of a steady time, and by how much it may be wrong.
    pub(super) fn at(&self, steady: i64) -> (Time, i64) {
        let Some([from, to]) = self.pairs.around(steady) else {
            let away = self.pairs.last().map_or(0, |only| only.1.ns - only.0);
            return (Time::from_ns(steady + away), 0);
        };
        let ns = on_line(steady, (from.0, from.1.ns), (to.0, to.1.ns));
        (Time::from_ns(ns), from.1.error.max(to.1.error) + to.1.bend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicI64, Ordering};

    #[test]
    fn stamps_of_this_machine_are_understood() {
        let clock = SystemClock::new();
        let mut moments = Moments::default();
        moments.sample(&clock);
        std::thread::sleep(std::time::Duration::from_millis(25));
        let (before, stamp, after) = (clock.now(), clock.stamp(), clock.now());
        moments.compare(&clock);
        let (seen, error) = moments.at(clock.steady(stamp));
        assert!(before.plus(-error - 100) <= seen && seen <= after.plus(error + 100), "{seen:?} ± {error}");
    }

    /// A clock that is slowed down by 500 millionths from the second on.
    #[derive(Default)]
    struct Slewed(AtomicI64);

    impl Slewed {
        fn time(steady: i64) -> i64 {
            steady - (steady - 1_000_000_000).max(0) / 2_000
        }
    }

    impl HostClock for Slewed {
        fn stamp(&self) -> u64 {
            self.0.fetch_add(20, Ordering::Relaxed) as u64
        }
        fn now(&self) -> Time {
            Time::from_ns(Self::time(self.stamp() as i64))
        }
    }

    #[test]
    fn a_change_of_rate_is_within_the_error_told() {
        for pause in [20_000_000, 300_000_000, 1_500_000_000] {
            let clock = Slewed::default();
            let mut moments = Moments::default();
            for _ in 0..=6_000_000_000 / pause {
                moments.sample(&clock);
                clock.0.fetch_add(pause, Ordering::Relaxed);
            }
            for steady in (0..4_000_000_000).step_by(1_234_567) {
                let (told, error) = moments.at(steady);
                let off = (told.ns() - Slewed::time(steady)).abs();
                assert!(off <= error + 1, "{off} ns off at {steady}, {error} told");
                assert!(error < pause / 1_000, "{error}");
            }
            assert!(moments.at(5_000_000_000).1 < 100, "the new rate is known");
        }
    }
}
