//! The collector's side of a stream: trees of zones that are done become zones of a lane.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::{Lane, LaneZone, Time};

use super::context::{Shared, add};
use super::host::{Halves, Moments};
use super::log::{Entry, Reader};
use super::timeline::{Place, Timeline, now};
use super::{Error, Event, HostClock, Status};

/// Of idle streams, so many chunks of events are kept.
const KEPT_CHUNKS: usize = 4;

/// A tree whose outermost zone was seen done.
struct Done {
    entries: u32,
    /// When it was, by the host's steady clock.
    seen: i64,
    /// Where the outermost zone begins; none if it fits nowhere.
    place: Option<Place>,
}

pub(super) struct StreamState {
    pub(super) shared: Arc<Shared>,
    reader: Option<Reader>,
    done: VecDeque<Done>,
    lane: Lane,
    zones: Vec<LaneZone<'static>>,
}

impl StreamState {
    pub(super) fn new(shared: Arc<Shared>, lane: Lane) -> Self {
        let reader = Some(Reader::new(&shared.log));
        Self { shared, reader, done: VecDeque::new(), lane, zones: Vec::new() }
    }

    /// Whether trees wait for nothing but to be handed on.
    pub(super) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// How many zones are on their way.
    pub(super) fn in_flight(&self) -> u64 {
        self.shared.log.in_flight()
    }

    /// Whether nothing will come any more.
    pub(super) fn is_over(&self) -> bool {
        self.shared.log.closed.load(Ordering::Acquire) && self.in_flight() == 0
    }

    /// Sees which trees are done.
    pub(super) fn watch(&mut self, timeline: &mut Timeline, host: &dyn HostClock) -> Result<(), Error> {
        let Some(reader) = self.reader.as_mut().filter(|_| timeline.has_begun()) else { return Ok(()) };
        let log = &self.shared.log;
        while let Some(root) = reader.peek(log) {
            let entries = root.span();
            if root.broken {
                self.done.push_back(Done { entries, seen: now(host), place: None });
                reader.pass(entries);
                continue;
            }
            // SAFETY: the event is this device's, alive, and recorded.
            let status = unsafe { timeline.device.query(root.end) }?;
            let seen = now(host);
            let place = match status {
                Status::Done => {
                    let launched = host.steady(root.launched.stamp());
                    let (begin, end) = (root.begin, root.end);
                    // SAFETY: as above, and done: a stream runs in order.
                    unsafe { see(timeline, begin, end, launched, seen) }
                }
                Status::Pending => break,
                Status::Captured => match reader.peek_second(log, entries) {
                    // SAFETY: as above.
                    Some(second) if unsafe { timeline.device.query(second.end) } == Ok(Status::Done) => None,
                    _ => break,
                },
            };
            self.done.push_back(Done { entries, seen, place });
            reader.pass(entries);
        }
        Ok(())
    }

    /// Hands on the trees whose times are known; with `all`, those that are done.
    pub(super) fn hand_on(&mut self, clocks: Clocks<'_>, all: bool) {
        while let Some(done) = self.done.front() {
            if !all && done.place.is_some() && clocks.known_until() < done.seen {
                return;
            }
            let Some(done) = self.done.pop_front() else { return };
            self.tree(&done, clocks);
        }
    }

    fn tree(&mut self, done: &Done, clocks: Clocks<'_>) {
        let Some(reader) = &mut self.reader else { return };
        let counts = &self.shared.counts;
        let mut zones: Vec<LaneZone<'_>> = core::mem::take(&mut self.zones);
        let mut left_out = u64::from(done.entries);
        if let Some(place) = done.place {
            let mut maker = Maker { clocks, begin: (Event::NONE, place), nesting: Nesting::default() };
            zones.extend(reader.tree(done.entries).filter_map(|entry| maker.zone(entry)));
            // A zone whose outermost one has no times has no tree to be in.
            if zones.first().is_some_and(|zone| zone.depth > 0) {
                zones.clear();
            }
            left_out -= zones.len() as u64;
            if !zones.is_empty() {
                self.lane.tree_until(&mut zones, clocks.moments.at(done.seen).0);
            }
        }
        add(&counts.failed, left_out);
        add(&counts.recorded, u64::from(done.entries) - left_out);
        zones.clear();
        self.zones = recycle(zones);
        reader.consume(&self.shared.log, done.entries);
    }

    /// The device has failed: all that is on its way is counted and left out.
    pub(super) fn give_up(&mut self) {
        self.shared.lost.store(true, Ordering::Relaxed);
        let Some(reader) = &mut self.reader else { return };
        let log = &self.shared.log;
        while let Some(entries) = reader.peek(log).map(|root| root.span()) {
            self.done.push_back(Done { entries, seen: i64::MIN, place: None });
            reader.pass(entries);
        }
        for done in self.done.drain(..) {
            add(&self.shared.counts.failed, u64::from(done.entries));
            reader.consume(log, done.entries);
        }
    }

    /// Gives back events that nobody needed for a while.
    pub(super) fn shrink(&self) {
        if let Some(reader) = &self.reader {
            reader.shrink(&self.shared.log, KEPT_CHUNKS, &*self.shared.device);
        }
    }

    /// Destroys the events of a stream that is over, unless its device has failed.
    pub(super) fn destroy(mut self) {
        let lost = self.shared.lost.load(Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            reader.destroy(&self.shared.log, (!lost).then_some(&*self.shared.device));
        }
    }
}

/// An empty vector of any lifetime is one of every lifetime.
fn recycle(zones: Vec<LaneZone<'_>>) -> Vec<LaneZone<'static>> {
    zones.into_iter().map_while(|_| None).collect()
}

/// Finds an outermost zone's place, and lets what it proves about the clocks be known: it began after
/// it was launched and had ended when it was seen.
///
/// # Safety
/// The events are the device's, alive and done.
unsafe fn see(timeline: &mut Timeline, begin: Event, end: Event, launched: i64, seen: i64) -> Option<Place> {
    // SAFETY: by this function's contract.
    let place = unsafe { timeline.place(begin, launched, seen) }.ok().flatten()?;
    // SAFETY: by this function's contract.
    let elapsed = unsafe { timeline.elapsed(begin, end) }.ok()?;
    // SAFETY: by this function's contract.
    let end = unsafe { timeline.place_after((begin, place), end) }.ok()?;
    let room = seen - launched + timeline.rounding(elapsed) + 1_000_000;
    if elapsed < 0 || !(0..=room + room / 1_000).contains(&end.position.saturating_sub(place.position)) {
        return None;
    }
    if place.segment == timeline.clock.segment() {
        timeline.clock.lower(place.position, launched);
        timeline.clock.upper(end.position, seen);
    }
    Some(place)
}

/// All that is known of time: the device's, the host's steady one, the system's.
#[derive(Clone, Copy)]
pub(super) struct Clocks<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) host: &'a dyn HostClock,
    pub(super) moments: &'a Moments,
}

impl Clocks<'_> {
    /// Up to here, places have moments between two comparisons.
    fn known_until(&self) -> i64 {
        self.timeline.clock.known_until().min(self.moments.known_until())
    }

    /// The moment of a place, and by how much it may be wrong.
    fn moment(&self, place: Place) -> Option<(Time, i64)> {
        let (host, error) = self.timeline.host(place)?;
        let (moment, further) = self.moments.at(host);
        Some((moment, error + further))
    }

    fn launched(&self, stamp: Halves) -> Time {
        self.moments.at(self.host.steady(stamp.stamp())).0
    }
}

/// Makes zones of a tree's entries.
struct Maker<'a> {
    clocks: Clocks<'a>,
    /// The last event whose place is known.
    begin: (Event, Place),
    nesting: Nesting,
}

/// How deep an entry lies, from how many entries those before it span.
#[derive(Default)]
struct Nesting {
    place: u32,
    /// Where the zones end that the next entry may lie in.
    ends: Vec<u32>,
    /// Entries before this place lie in one that was left out, and are left out, too.
    skip_until: u32,
}

impl Nesting {
    /// Goes on to the next entry, which spans so many. Returns its depth.
    fn enter(&mut self, span: u32) -> usize {
        while self.ends.last().is_some_and(|end| *end <= self.place) {
            self.ends.pop();
        }
        let depth = self.ends.len();
        self.ends.push(self.place + span);
        self.place += 1;
        depth
    }
}

impl Maker<'_> {
    fn zone<'a>(&mut self, entry: &'a Entry) -> Option<LaneZone<'a>> {
        let depth = self.nesting.enter(entry.span());
        if self.nesting.place <= self.nesting.skip_until {
            return None;
        }
        let zone = self.times(entry, depth as u32);
        if zone.is_none() {
            self.nesting.skip_until = self.nesting.place - 1 + entry.span();
        }
        zone
    }

    fn times<'a>(&mut self, entry: &'a Entry, depth: u32) -> Option<LaneZone<'a>> {
        if entry.broken {
            return None;
        }
        let timeline = self.clocks.timeline;
        let begin = if depth == 0 {
            self.begin.1
        } else {
            // SAFETY: the events are the device's and alive, and those of a tree whose end was seen are done.
            unsafe { timeline.place_after(self.begin, entry.begin) }.ok()?
        };
        self.begin = (entry.begin, begin);
        // SAFETY: as above.
        let measured_ns = unsafe { timeline.elapsed(entry.begin, entry.end) }.ok().filter(|ns| *ns >= 0)?;
        // SAFETY: as above.
        let end = unsafe { timeline.place_after(self.begin, entry.end) }.ok()?;
        let (start, start_error) = self.clocks.moment(begin)?;
        let (stop, stop_error) = self.clocks.moment(end)?;
        let (launched, launched_end) =
            (self.clocks.launched(entry.launched), self.clocks.launched(entry.launched_end));
        Some(LaneZone {
            location: entry.location?,
            name: entry.name.as_deref(),
            // Nothing happens before it was launched, whatever the clocks say.
            start: start.max(launched),
            end: stop.max(launched_end),
            launched: Some((launched, launched_end)),
            measured_ns,
            error_ns: start_error.max(stop_error),
            depth,
        })
    }
}
