//! Zones when only a summary is asked for: a zone's beginning travels in its id, and its end changes
//! a row of the thread's own table. Nothing is kept in between, so they may end in any order and on
//! any thread.

use super::fragment::Kind;
use super::table::Key;
use super::{lines, thread};
use crate::{Location, ZoneId};

#[inline]
pub(super) fn begin(location: &'static Location, now: u64) -> ZoneId {
    ZoneId { mark: core::ptr::from_ref(location).expose_provenance() as u64, data: now }
}

#[inline]
pub(super) fn switch(zone: ZoneId, location: &'static Location, now: u64) -> ZoneId {
    if zone.is_recorded() {
        end(zone, now);
    }
    begin(location, now)
}

#[inline]
pub(super) fn end(zone: ZoneId, now: u64) {
    // SAFETY: in a summary, `begin` made the id from a location.
    let location = unsafe { &*core::ptr::with_exposed_provenance::<Location>(zone.mark as usize) };
    // Processors may be apart by some ticks.
    let elapsed = now.saturating_sub(zone.data);
    let known =
        thread::known().and_then(|thread| thread.table().find_at_once(Key::new(Kind::Zone, location)));
    match known {
        Some(entry) => entry.counts().add(elapsed),
        None => end_slowly(location, elapsed),
    }
}

/// Everything that is not the common case, so that that one keeps nothing over a call.
#[cold]
#[inline(never)]
fn end_slowly(location: &'static Location, elapsed: u64) {
    let Some(thread) = thread::current() else { return };
    match thread.table().find(Key::new(Kind::Zone, location)) {
        Some(entry) => entry.counts().add(elapsed),
        None => {
            thread.enter_nameless(|_, thread| lines::zone_entry(thread, location).counts().add(elapsed));
        }
    }
}
