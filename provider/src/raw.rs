//! Begins and ends that no guard holds together, for bridges from interfaces that have none: C
//! macros, subscribers of other crates.
//!
//! Programs use [`zone!`](crate::zone!), [`Frame`](crate::Frame) and [`Fiber`](crate::Fiber)
//! instead: there the compiler sees to it that each begin has its end. Here the caller does:
//!
//! * a zone ends on the thread on which it began (or on the same fiber),
//! * zones end in the opposite order of their begins,
//! * each zone ends once, and nothing is said about it afterwards.
//!
//! Breaking these rules spoils the picture (Tracy's server may end the capture), not the program.

use crate::select::{provider, settled};
use crate::{Location, Name, ZoneId};

/// Whether a zone begun now would be recorded: false without a provider, or while nobody watches on
/// demand. For work that is done ahead of a zone, such as formatting what it will say.
///
/// ```
/// let text = zonecast::raw::is_recording().then(|| format!("batch {}", 7));
/// ```
#[must_use]
#[inline]
pub fn is_recording() -> bool {
    provider!(|p| p.is_recording())
}

/// Begins a zone.
///
/// ```
/// let zone = zonecast::raw::zone_begin(zonecast::location!("load"));
/// zonecast::raw::zone_end(zone);
/// ```
#[must_use = "a zone that is not ended spoils those around it"]
#[inline(always)]
pub fn zone_begin(location: &'static Location) -> ZoneId {
    provider!(|p| p.zone_begin(location))
}

/// Begins a zone if that is a matter of a few instructions. None if [`zone_begin`] is to be called, since
/// nothing has begun yet: then the caller can leave what it kept at hand, and go another way.
///
/// ```
/// use zonecast::raw;
///
/// let location = zonecast::location!("load");
/// let zone = raw::try_zone_begin(location).unwrap_or_else(|| raw::zone_begin(location));
/// raw::zone_end(zone);
/// ```
#[must_use = "a zone that is not ended spoils those around it"]
#[inline(always)]
pub fn try_zone_begin(location: &'static Location) -> Option<ZoneId> {
    provider!(settled()?, |p| p.try_zone_begin(location))
}

/// Begins a zone and records up to `depth` frames of the call stack, where the provider can.
#[must_use = "a zone that is not ended spoils those around it"]
#[inline]
pub fn zone_begin_callstack(location: &'static Location, depth: u32) -> ZoneId {
    provider!(|p| p.zone_begin_callstack(location, depth))
}

/// Ends a zone. Nothing for one that was not recorded.
#[inline(always)]
pub fn zone_end(zone: ZoneId) {
    if zone.is_recorded() {
        provider!(|p| p.zone_end(zone));
    }
}

/// Ends a zone if that is a matter of a few instructions. False if [`zone_end`] is to be called, since nothing has
/// ended yet.
///
/// ```
/// use zonecast::raw;
///
/// let zone = raw::zone_begin(zonecast::location!("load"));
/// if !raw::try_zone_end(zone) {
///     raw::zone_end(zone);
/// }
/// ```
#[must_use = "a zone that is not ended spoils those around it"]
#[inline(always)]
pub fn try_zone_end(zone: ZoneId) -> bool {
    if !zone.is_recorded() {
        return true;
    }
    settled().is_some_and(|choice| provider!(choice, |p| p.try_zone_end(zone)))
}

/// Adds a text to a zone.
#[inline]
pub fn zone_text(zone: ZoneId, text: &str) {
    if zone.is_recorded() {
        provider!(|p| p.zone_text(zone, text));
    }
}

/// Gives a zone another name than its location's.
#[inline]
pub fn zone_name(zone: ZoneId, name: &str) {
    if zone.is_recorded() {
        provider!(|p| p.zone_name(zone, name));
    }
}

/// Adds a number to a zone.
#[inline]
pub fn zone_value(zone: ZoneId, value: u64) {
    if zone.is_recorded() {
        provider!(|p| p.zone_value(zone, value));
    }
}

/// Gives a zone another colour than its location's: `0xRRGGBB`.
#[inline]
pub fn zone_color(zone: ZoneId, color: u32) {
    if zone.is_recorded() {
        provider!(|p| p.zone_color(zone, color));
    }
}

/// Begins a frame of a sequence that has gaps.
#[inline]
pub fn frame_begin(frame: Name) {
    provider!(|p| p.frame_begin(frame));
}

/// Ends such a frame, on any thread.
#[inline]
pub fn frame_end(frame: Name) {
    provider!(|p| p.frame_end(frame));
}

/// From here on, this thread runs the fiber.
#[inline]
pub fn fiber_enter(fiber: Name) {
    provider!(|p| p.fiber_enter(fiber));
}

/// From here on, this thread runs no fiber.
#[inline]
pub fn fiber_leave() {
    provider!(|p| p.fiber_leave());
}
