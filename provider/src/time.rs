//! Moments on the host's monotonic clock.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A moment by the host's monotonic clock, in nanoseconds.
///
/// It begins near 0 when somebody first asks; moments before are negative. All times of lanes are on
/// it, wherever they were measured.
///
/// ```
/// use std::time::{Duration, Instant};
/// use zonecast::Time;
///
/// let at = Instant::now();
/// assert_eq!((Time::from(at + Duration::from_micros(3)) - Time::from(at)), 3_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// Before everything.
    pub(crate) const FIRST: Self = Self(i64::MIN / 4);
    /// After everything.
    pub(crate) const LAST: Self = Self(i64::MAX / 4);

    /// This moment.
    #[must_use]
    pub fn now() -> Self {
        Instant::now().into()
    }

    /// A moment told by its nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// The nanoseconds since the clock's beginning.
    #[must_use]
    pub const fn ns(self) -> i64 {
        self.0
    }

    /// The moment so many nanoseconds later. At the ends of the clock's range it stands still.
    #[must_use]
    pub const fn plus(self, ns: i64) -> Self {
        Self(self.0.saturating_add(ns))
    }
}

/// The nanoseconds from the second moment to the first.
impl core::ops::Sub for Time {
    type Output = i64;

    fn sub(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<Instant> for Time {
    fn from(instant: Instant) -> Self {
        static BEGINNING: OnceLock<Instant> = OnceLock::new();
        let beginning = *BEGINNING.get_or_init(Instant::now);
        let ns = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        match instant.checked_duration_since(beginning) {
            Some(after) => Self(ns(after)),
            None => Self(-ns(beginning - instant)),
        }
    }
}
