//! Zones when only a summary is asked for: a zone's beginning and the number of its location travel in
//! its id, and its end changes the thread's own counts. Nothing is kept in between, so zones may end
//! in any order and on any thread.

use super::fragment::{self, Kind};
use super::table::Key;
use super::{lines, thread};
use crate::{Location, ZoneId};

/// Begins a zone; `now` is the clock.
#[inline]
pub(super) fn begin(location: &'static Location, now: impl Fn() -> u64) -> ZoneId {
    let known =
        thread::known().and_then(|thread| thread.table().find_at_once(Key::new(Kind::Zone, location)));
    match known {
        Some(entry) => id(entry.index(), now()),
        None => begin_slowly(location, &now),
    }
}

#[inline(always)]
fn id(index: usize, start: u64) -> ZoneId {
    // Never 0, which would be a zone that was not recorded.
    ZoneId { mark: index as u64 + 1, data: start }
}

#[inline]
pub(super) fn switch(zone: ZoneId, location: &'static Location, now: impl Fn() -> u64) -> ZoneId {
    let now = now();
    if zone.is_recorded() {
        end(zone, now);
    }
    begin(location, || now)
}

#[inline]
pub(super) fn end(zone: ZoneId, now: u64) {
    let index = (zone.mark as usize).wrapping_sub(1);
    // Processors may be apart by some ticks.
    let elapsed = now.saturating_sub(zone.data);
    match thread::known().and_then(|thread| thread.counts().known(index)) {
        Some(counts) => counts.add(elapsed),
        None => end_slowly(index, elapsed),
    }
}

// Everything that is not the common case, so that that one keeps nothing over a call.

#[cold]
#[inline(never)]
fn begin_slowly(location: &'static Location, now: &dyn Fn() -> u64) -> ZoneId {
    let entry = thread::current()
        .and_then(|thread| thread.enter_nameless(|_, thread| lines::zone_entry(thread, location)));
    entry.map_or(ZoneId::NONE, |entry| id(entry.index(), now()))
}

#[cold]
#[inline(never)]
fn end_slowly(index: usize, elapsed: u64) {
    // A number that is none came from no zone of ours.
    if index < fragment::count()
        && let Some(thread) = thread::current()
    {
        thread.enter_nameless(|_, thread| thread.counts().of(index).add(elapsed));
    }
}
