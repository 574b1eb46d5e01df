//! From a device's ticks to the host's time.

use super::rows::Row;

const HAS_TICK: u32 = 1 << 0;
const HAS_HOST_TIME: u32 = 1 << 3;

/// A device's tick and the host's time, read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correlation {
    /// Of which device.
    pub device: u32,
    /// Its tick.
    pub tick: u64,
    /// The host's nanoseconds just before and just after.
    pub host: [i64; 2],
}

impl Correlation {
    /// Nothing if the row does not hold both.
    pub(super) fn read(row: Row<'_>) -> Option<Self> {
        let has_both = row.u32(4) & HAS_TICK != 0 && row.u32(4) & HAS_HOST_TIME != 0;
        has_both.then(|| Self { device: row.u32(8), tick: row.u64(24), host: [row.i64(56), row.i64(64)] })
    }
}

/// A line through a device's first and last correlation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    first: (u64, i64),
    nanoseconds: i128,
    ticks: i128,
}

impl Clock {
    /// Nothing if there are not two that differ.
    pub fn fit(correlations: impl Iterator<Item = Correlation>) -> Option<Self> {
        let points = correlations.map(|one| (one.tick, midpoint(one.host)));
        let (first, last) =
            points.fold(None, |ends, point| Some((ends.map_or(point, |(first, _)| first), point)))?;
        let ticks = i128::from(last.0) - i128::from(first.0);
        let nanoseconds = i128::from(last.1) - i128::from(first.1);
        (ticks > 0 && nanoseconds > 0).then_some(Self { first, nanoseconds, ticks })
    }

    /// The host's nanoseconds at a tick, to the nearest; nothing beyond the range of the host's clock.
    pub fn host(&self, tick: u64) -> Option<i64> {
        let since = (i128::from(tick) - i128::from(self.first.0)).checked_mul(self.nanoseconds)?;
        let rounded = (since + self.ticks / 2).div_euclid(self.ticks);
        i64::try_from(i128::from(self.first.1) + rounded).ok()
    }
}

fn midpoint([before, after]: [i64; 2]) -> i64 {
    ((i128::from(before) + i128::from(after)) / 2) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_lie_on_the_line() {
        let at = |tick, host: i64| Correlation { device: 0, tick, host: [host - 10, host + 10] };
        let clock =
            Clock::fit([at(1000, 5_000_000), at(2000, 99), at(26_000, 6_000_000)].into_iter()).unwrap();
        assert_eq!(clock.host(1000), Some(5_000_000));
        assert_eq!(clock.host(1001), Some(5_000_040));
        assert_eq!(clock.host(0), Some(4_960_000));
        assert_eq!(clock.host(u64::MAX), None, "beyond the range");
        assert_eq!(Clock::fit([at(5, 5)].into_iter()), None);
        assert_eq!(Clock::fit([at(5, 5), at(5, 9)].into_iter()), None);
    }
}
