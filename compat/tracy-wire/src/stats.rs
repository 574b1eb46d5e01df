//! Distributions of durations, in constant memory.
//!
//! A [`Distribution`] counts durations in buckets of which 32 cover each power of two, so that a
//! percentile is at most 1.6 % off, whatever the durations are. Count, total, minimum and maximum
//! are exact.

use hashbrown::HashMap;

use crate::names::{LocationId, TextId, Texts};

/// How many names that zones were given at run time are told apart in statistics.
const NAME_LIMIT: usize = 10_000;
/// Buckets per power of two, as a power of two.
const STEPS: u32 = 5;

/// Durations of one sort of zone.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    count: u64,
    total: i128,
    squares: f64,
    min: i64,
    max: i64,
    buckets: Vec<u64>,
}

impl Distribution {
    /// Counts a duration, in nanoseconds. What is negative counts as 0 in the percentiles.
    pub fn add(&mut self, duration: i64) {
        (self.min, self.max) = match self.count {
            0 => (duration, duration),
            _ => (self.min.min(duration), self.max.max(duration)),
        };
        self.count += 1;
        self.total += i128::from(duration);
        self.squares += duration as f64 * duration as f64;
        let bucket = bucket_of(duration.max(0) as u64);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
    }

    /// Counts all that `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        (self.min, self.max) = match self.count {
            0 => (other.min, other.max),
            _ => (self.min.min(other.min), self.max.max(other.max)),
        };
        self.count += other.count;
        self.total += other.total;
        self.squares += other.squares;
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// How many durations were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, in nanoseconds.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.total
    }

    /// The shortest, in nanoseconds; 0 if there is none.
    #[must_use]
    pub fn min(&self) -> i64 {
        self.min
    }

    /// The longest, in nanoseconds; 0 if there is none.
    #[must_use]
    pub fn max(&self) -> i64 {
        self.max
    }

    /// Their mean, in nanoseconds; 0 if there is none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total as f64 / self.count as f64 }
    }

    /// Their standard deviation, in nanoseconds; 0 if there are fewer than two.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let count = self.count as f64;
        let spread = self.squares - count * self.mean() * self.mean();
        (spread.max(0.0) / (count - 1.0)).sqrt()
    }

    /// The duration below which `percent` of all lie, in nanoseconds, at most 1.6 % off.
    ///
    /// ```
    /// let mut durations = zonecast_tracy_wire::Distribution::default();
    /// (1..=1000).for_each(|duration| durations.add(duration));
    /// assert!((492..=508).contains(&durations.percentile(50.0)));
    /// assert_eq!(durations.percentile(100.0), 1000);
    /// ```
    #[must_use]
    pub fn percentile(&self, percent: f64) -> i64 {
        let rank = ((self.count as f64 * percent / 100.0).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return middle_of(bucket).clamp(self.min, self.max);
            }
        }
        self.max
    }
}

/// Values below 2^STEPS have a bucket each; above, a power of two is cut into 2^STEPS parts.
fn bucket_of(value: u64) -> usize {
    let octave = (64 - value.leading_zeros()).saturating_sub(STEPS + 1);
    ((u64::from(octave) << STEPS) + (value >> octave)) as usize
}

fn middle_of(bucket: usize) -> i64 {
    let bucket = bucket as u64;
    let octave = (bucket >> STEPS).saturating_sub(1);
    let low = (bucket - (octave << STEPS)) << octave;
    (low + ((1 << octave) >> 1)) as i64
}

/// What statistics mode keeps, and what a whole capture is summarised by.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    rows: Vec<Row>,
    plain: Vec<Option<u32>>,
    named: HashMap<(LocationId, TextId), u32>,
    gpu: HashMap<LocationId, u32>,
    names: usize,
    pub(crate) messages: u64,
    pub(crate) plot_values: u64,
    pub(crate) frames: u64,
    pub(crate) memory_events: u64,
    pub(crate) lock_events: u64,
}

/// One sort of zone.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) location: LocationId,
    pub(crate) name: Option<TextId>,
    pub(crate) gpu: bool,
    pub(crate) durations: Distribution,
}

impl Statistics {
    #[inline]
    pub(crate) fn zone(&mut self, location: LocationId, name: Option<TextId>, duration: i64) {
        let next = self.rows.len() as u32;
        let row = match name {
            None => {
                let place = location as usize;
                if self.plain.len() <= place {
                    self.plain.resize(place + 1, None);
                }
                *self.plain[place].get_or_insert(next)
            }
            Some(name) => *self.named.entry((location, name)).or_insert(next),
        };
        self.add(row, Row { location, name, gpu: false, durations: Distribution::default() }, duration);
    }

    pub(crate) fn gpu_zone(&mut self, location: LocationId, duration: i64) {
        let next = self.rows.len() as u32;
        let row = *self.gpu.entry(location).or_insert(next);
        self.add(row, Row { location, name: None, gpu: true, durations: Distribution::default() }, duration);
    }

    #[inline]
    fn add(&mut self, row: u32, new: Row, duration: i64) {
        if row as usize == self.rows.len() {
            self.rows.push(new);
        }
        self.rows[row as usize].durations.add(duration);
    }

    /// The id of a name given at run time, unless there are too many of them to tell apart.
    pub(crate) fn name(&mut self, name: &[u8], texts: &mut Texts) -> Option<TextId> {
        if let Some(known) = texts.find_bytes(name) {
            return Some(known);
        }
        if self.names >= NAME_LIMIT {
            return None;
        }
        self.names += 1;
        Some(texts.intern(name))
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_at_most_a_thirty_second_wide() {
        for value in (0..200).chain([999, 12_345, 1 << 20, (1 << 40) + 7, u64::MAX >> 2]) {
            let middle = middle_of(bucket_of(value)) as f64;
            assert!((middle - value as f64).abs() <= value as f64 / 64.0, "{value} became {middle}");
        }
    }

    #[test]
    fn extremes_and_sums_are_exact() {
        let mut durations = Distribution::default();
        [7, 1_000_003, -2].into_iter().for_each(|duration| durations.add(duration));
        assert_eq!((durations.count(), durations.total()), (3, 1_000_008));
        assert_eq!((durations.min(), durations.max()), (-2, 1_000_003));
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let mut durations = Distribution::default();
        [2, 4, 4, 4, 5, 5, 7, 9].into_iter().for_each(|duration| durations.add(duration));
        assert!((durations.deviation() - 2.138).abs() < 0.001, "{}", durations.deviation());
    }

    #[test]
    fn nothing_counted_reads_zero() {
        let none = Distribution::default();
        assert_eq!((none.percentile(50.0), none.mean(), none.max()), (0, 0.0, 0));
    }
}
