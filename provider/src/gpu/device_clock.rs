//! Another's measurements on the host's clock.

use crate::Time;

use super::clock::Clock;

/// A device's clock of which it is only known between which moments of the host's its events took place.
///
/// For whoever gets a device's time stamps from elsewhere, and shows them on a [`Lane`](crate::Lane): every
/// stamp has been taken after its work was launched, and before it was read. Enough of such bounds
/// tell the two clocks' difference and its drift better than any single comparison does.
///
/// ```
/// use zonecast::{Time, gpu::DeviceClock};
///
/// let mut clock = DeviceClock::default();
/// for ms in 0..3_000 {
///     let host = Time::from_ns(ms * 1_000_000);
///     // The device counts from 5 s on; it is asked 4 µs before, and answers 4 µs after.
///     clock.bound(5_000_000_000 + ms * 1_000_000, host.plus(-4_000), host.plus(4_000));
/// }
/// let (time, error_ns) = clock.host(6_000_000_000).unwrap();
/// assert!((time - Time::from_ns(1_000_000_000)).abs() <= error_ns);
/// assert!(error_ns < 10_000);
/// ```
#[derive(Debug, Default)]
pub struct DeviceClock(Clock);

impl DeviceClock {
    /// The moment that the device calls `device_ns` lies between these two. Moments come about in their
    /// order.
    pub fn bound(&mut self, device_ns: i64, earliest: Time, latest: Time) {
        self.0.bound(device_ns, earliest.ns(), latest.ns());
    }

    /// Makes what is known reach up to the latest bound, less exactly than if it waited for more.
    pub fn settle(&mut self) {
        self.0.settle();
    }

    /// Up to when moments are known as well as they will ever be: about a second before the latest bound.
    #[must_use]
    pub fn known_until(&self) -> Time {
        Time::from_ns(self.0.known_until())
    }

    /// The host's time of a moment of the device's, and by how many nanoseconds it may be wrong. None
    /// while nothing is known.
    #[must_use]
    pub fn host(&self, device_ns: i64) -> Option<(Time, i64)> {
        let (ns, error) = self.0.host(self.0.segment(), device_ns)?;
        Some((Time::from_ns(ns), error))
    }
}
