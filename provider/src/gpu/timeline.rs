//! A device's timeline: positions in nanoseconds for its events, and their times on the host.
//!
//! Drivers tell only the time between two events, and as a float of milliseconds: exact to the
//! nanosecond below 16 ms, off by milliseconds after a day. So positions are counted from *anchors*,
//! events recorded again and again on a stream of our own, each a quarter of a second after the one
//! before. The same events compare the clocks: the host notes when it asked for one and when it saw
//! it done.

use std::sync::Arc;

use super::clock::Clock;
use super::history::History;
use super::{Device, Error, Event, HostClock, Status, Stream};

/// How far anchors are apart while zones come.
const BURST_EVERY: i64 = 250_000_000;
/// How many events are tried for each.
const BURST: usize = 8;
/// How long one of them is waited for.
const PATIENCE: i64 = 100_000;
/// By how much device and host may disagree about an interval before the counter must have been reset:
/// a millisecond, and a thousandth.
const RESET_MARGIN: i64 = 1_000_000;
/// How many anchors lie in what a knot of the clock is made of.
const HOPS: i64 = 8;
/// No time is longer: some months.
const LONGEST: i64 = 1 << 53;
/// Below this, differences of events are exact.
const EXACT: i64 = 16_000_000;

/// An event whose position is known.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    event: Event,
    /// Between these moments of the host's.
    asked: i64,
    seen: i64,
    segment: u32,
}

/// An event that was asked for and is not done.
struct Outstanding {
    event: Event,
    asked: i64,
}

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) segment: u32,
    pub(super) position: i64,
    /// By how much the position may be wrong: the driver rounds.
    pub(super) rounding: i64,
}

/// See [the module](self).
pub(super) struct Timeline {
    pub(super) device: Arc<dyn Device>,
    pub(super) clock: Clock,
    stream: Stream,
    spare: Vec<Event>,
    outstanding: Vec<Outstanding>,
    anchors: History<Anchor>,
    /// When the last burst began.
    burst_at: i64,
    /// Of so many nanoseconds all short times are multiples: the device's clock ticks. 0 until two
    /// of its events were compared.
    tick: i64,
}

impl Timeline {
    pub(super) fn new(device: Arc<dyn Device>) -> Result<Self, Error> {
        let stream = device.create_stream()?;
        let mut timeline = Self {
            device,
            clock: Clock::default(),
            stream,
            spare: Vec::with_capacity(2 * BURST),
            outstanding: Vec::with_capacity(BURST),
            anchors: History::default(),
            burst_at: i64::MIN / 2,
            tick: 0,
        };
        for _ in 0..BURST + 1 {
            match timeline.device.create_event() {
                Ok(event) => timeline.spare.push(event),
                Err(error) => {
                    timeline.destroy();
                    return Err(error);
                }
            }
        }
        Ok(timeline)
    }

    /// Gives back what it made. A device that has failed need not be asked: what it made is gone, or cannot
    /// be given back.
    pub(super) fn destroy(&mut self) {
        let outstanding = self.outstanding.drain(..).map(|one| one.event);
        let anchors = self.anchors.drain().map(|anchor| anchor.event);
        for event in self.spare.drain(..).chain(outstanding).chain(anchors) {
            // SAFETY: made by this device and known to nobody else.
            unsafe { self.device.destroy_event(event) };
        }
        // SAFETY: as above.
        unsafe { self.device.destroy_stream(self.stream) };
    }

    /// Compares the clocks, if that is due at `now`.
    ///
    /// # Errors
    /// If the device has failed.
    pub(super) fn keep_time(&mut self, host: &dyn HostClock, now: i64) -> Result<(), Error> {
        self.look_after_outstanding(host)?;
        if now - self.burst_at >= BURST_EVERY && self.outstanding.is_empty() {
            self.burst_at = now;
            self.burst(host)?;
        }
        Ok(())
    }

    /// Compares the clocks now, and makes the mapping reach up to now.
    pub(super) fn settle(&mut self, host: &dyn HostClock, now: i64) -> Result<(), Error> {
        self.look_after_outstanding(host)?;
        if self.outstanding.is_empty() {
            self.burst_at = now;
            self.burst(host)?;
        }
        self.clock.settle();
        Ok(())
    }

    /// Whether events can be placed yet.
    pub(super) fn has_begun(&self) -> bool {
        self.anchors.last().is_some()
    }

    fn burst(&mut self, host: &dyn HostClock) -> Result<(), Error> {
        let mut best: Option<(i64, Anchor)> = None;
        for _ in 0..BURST {
            let event = match self.spare.pop() {
                Some(event) => event,
                // Without memory for it, the clocks are compared another time.
                None => match self.device.create_event() {
                    Ok(event) => event,
                    Err(_) => break,
                },
            };
            let asked = now(host);
            // SAFETY: event and stream are this device's and alive.
            if let Err(error) = unsafe { self.device.record(event, self.stream) } {
                self.spare.push(event);
                return Err(error);
            }
            let Some(seen) = self.wait(event, asked, host)? else {
                self.outstanding.push(Outstanding { event, asked });
                break;
            };
            if let Some(position) = self.sight(event, asked, seen)? {
                let anchor = Anchor { event, asked, seen, segment: self.clock.segment() };
                let slower = self.tighter(&mut best, position, anchor)?;
                self.spare.extend(slower);
            }
        }
        if let Some((position, anchor)) = best {
            self.anchor(position, anchor);
        }
        Ok(())
    }

    /// Keeps the quicker of the two, and of an earlier segment none. Returns the other's event.
    fn tighter(
        &mut self,
        best: &mut Option<(i64, Anchor)>,
        position: i64,
        anchor: Anchor,
    ) -> Result<Option<Event>, Error> {
        if let Some((_, best)) = best.as_ref().filter(|best| best.1.segment == anchor.segment) {
            // SAFETY: both events are this device's, alive and done.
            let elapsed = unsafe { self.between(best.event, anchor.event) }?;
            if elapsed.abs() < EXACT {
                self.tick = greatest_divisor(self.tick, elapsed.abs());
            }
            if anchor.seen - anchor.asked >= best.seen - best.asked {
                return Ok(Some(anchor.event));
            }
        }
        Ok(best.replace((position, anchor)).map(|(_, old)| old.event))
    }

    /// When the event was seen done, if that is soon.
    fn wait(&self, event: Event, asked: i64, host: &dyn HostClock) -> Result<Option<i64>, Error> {
        loop {
            // SAFETY: the event is this device's and alive.
            let status = unsafe { self.device.query(event) }?;
            let now = now(host);
            if status == Status::Done {
                return Ok(Some(now));
            }
            if now - asked > PATIENCE {
                return Ok(None);
            }
        }
    }

    fn look_after_outstanding(&mut self, host: &dyn HostClock) -> Result<(), Error> {
        while let Some(first) = self.outstanding.first() {
            // SAFETY: the event is this device's and alive.
            if unsafe { self.device.query(first.event) }? != Status::Done {
                return Ok(());
            }
            let seen = now(host);
            let Outstanding { event, asked } = self.outstanding.remove(0);
            if let Some(position) = self.sight(event, asked, seen)? {
                let segment = self.clock.segment();
                self.anchor(position, Anchor { event, asked, seen, segment });
            }
        }
        Ok(())
    }

    /// Takes in an event of our own stream that is done. Returns its position; none for the first one of
    /// a segment, which is an anchor at once, so that the others have something to be counted from.
    fn sight(&mut self, event: Event, asked: i64, seen: i64) -> Result<Option<i64>, Error> {
        let (position, counted) = match self.anchors.last() {
            None => (0, false),
            Some(&(last_position, last)) => {
                // SAFETY: both events are this device's, alive and done.
                let elapsed = unsafe { self.elapsed(last.event, event) }?;
                let (least, most) = (asked - last.seen, seen - last.asked);
                let margin = RESET_MARGIN + most / 1_000 + self.rounding(elapsed);
                if (least - margin..=most + margin).contains(&elapsed) {
                    (last_position + elapsed, true)
                } else {
                    self.clock.reset();
                    (last_position + most.max(0) + 1, false)
                }
            }
        };
        self.clock.slack_ns = self.tick + HOPS * self.rounding(BURST_EVERY);
        self.clock.bound(position, asked, seen);
        if counted {
            return Ok(Some(position));
        }
        self.anchor(position, Anchor { event, asked, seen, segment: self.clock.segment() });
        Ok(None)
    }

    fn anchor(&mut self, position: i64, anchor: Anchor) {
        if self.anchors.last().is_some_and(|last| position <= last.0) {
            self.spare.push(anchor.event);
            return;
        }
        let spare = &mut self.spare;
        self.anchors.push(position, anchor, |old| spare.push(old.event));
    }

    /// The nanoseconds from one event to a later one: what the driver says, if it can be a time at all.
    ///
    /// # Safety
    /// As for [`Device::elapsed_ns`].
    pub(super) unsafe fn elapsed(&self, earlier: Event, later: Event) -> Result<i64, Error> {
        // SAFETY: by this function's contract.
        unsafe { self.device.elapsed_ns(earlier, later) }.map(|ns| ns.clamp(-LONGEST, LONGEST))
    }

    pub(super) fn rounding(&self, elapsed: i64) -> i64 {
        self.device.rounding_ns(elapsed).clamp(0, LONGEST)
    }

    /// The nanoseconds from one event to another, whichever came first.
    ///
    /// # Safety
    /// Both events are this device's, alive and done.
    pub(super) unsafe fn between(&self, from: Event, to: Event) -> Result<i64, Error> {
        // SAFETY: by this function's contract.
        let forward = unsafe { self.elapsed(from, to) }?;
        if forward > 0 {
            return Ok(forward);
        }
        // Some drivers say 0 for what is negative.
        // SAFETY: by this function's contract.
        let backward = unsafe { self.elapsed(to, from) }?;
        Ok(if backward > 0 { -backward } else { forward })
    }

    /// Where an event is that was launched and seen done at these moments of the host's. None if no
    /// place fits.
    ///
    /// # Safety
    /// The event is this device's, alive and done.
    pub(super) unsafe fn place(
        &self,
        event: Event,
        launched: i64,
        seen: i64,
    ) -> Result<Option<Place>, Error> {
        let anchors = self.anchors.points();
        let before = anchors.partition_point(|anchor| anchor.1.seen <= launched).saturating_sub(1);
        for (index, (position, anchor)) in anchors.iter().enumerate().skip(before) {
            let first_of_segment = index == before || anchors[index - 1].1.segment != anchor.segment;
            if !first_of_segment {
                continue;
            }
            if anchor.asked > seen && index != before {
                break;
            }
            // SAFETY: anchors are done and alive; the event by this function's contract.
            let away = unsafe { self.between(anchor.event, event) }?;
            let coarse =
                self.away_from(Place { segment: anchor.segment, position: *position, rounding: 0 }, away);
            // SAFETY: as above.
            let place = unsafe { self.refine(event, coarse) }?;
            if self.is_plausible(place, launched, seen) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Counts from the nearest anchor of the same segment.
    ///
    /// # Safety
    /// As for [`place`](Self::place).
    unsafe fn refine(&self, event: Event, coarse: Place) -> Result<Place, Error> {
        let after = self.anchors.count_until(coarse.position);
        let sides =
            [after.wrapping_sub(1), after].into_iter().filter_map(|side| self.anchors.points().get(side));
        let near = sides.filter(|near| near.1.segment == coarse.segment);
        let Some((position, anchor)) = near.min_by_key(|near| (near.0 - coarse.position).abs()) else {
            return Ok(coarse);
        };
        // SAFETY: anchors are done and alive; the event by this function's contract.
        let away = unsafe { self.between(anchor.event, event) }?;
        Ok(self.away_from(Place { position: *position, rounding: 0, ..coarse }, away))
    }

    fn away_from(&self, from: Place, away: i64) -> Place {
        let rounding = from.rounding.saturating_add(self.rounding(away));
        Place { position: from.position.saturating_add(away), rounding: rounding.max(self.tick), ..from }
    }

    /// Where `to` is, given where `from` of the same stream is: exactly, if they are near.
    ///
    /// # Safety
    /// As for [`place`](Self::place), for both.
    pub(super) unsafe fn place_after(&self, from: (Event, Place), to: Event) -> Result<Place, Error> {
        // SAFETY: by this function's contract.
        let elapsed = unsafe { self.between(from.0, to) }?;
        let coarse = self.away_from(from.1, elapsed);
        if elapsed < EXACT {
            return Ok(coarse);
        }
        // SAFETY: by this function's contract.
        unsafe { self.refine(to, coarse) }
    }

    /// Whether a place may be that of an event launched and seen at these moments. Where the clocks
    /// have hardly been compared yet, anchors stand in for the mapping.
    fn is_plausible(&self, place: Place, launched: i64, seen: i64) -> bool {
        let (host, error) = self.host(place).unwrap_or_else(|| self.guess(place));
        (launched - error - RESET_MARGIN..=seen + error + RESET_MARGIN).contains(&host)
    }

    /// The host's time of a place, and by how much it may be wrong.
    pub(super) fn host(&self, place: Place) -> Option<(i64, i64)> {
        let (host, error) = self.clock.host(place.segment, place.position)?;
        Some((host, error + place.rounding))
    }

    fn guess(&self, place: Place) -> (i64, i64) {
        let near = self.anchors.points().iter().filter(|anchor| anchor.1.segment == place.segment);
        let Some((position, anchor)) = near.min_by_key(|anchor| (anchor.0 - place.position).abs()) else {
            return (0, i64::MAX / 8);
        };
        let away = place.position - position;
        (anchor.asked + away, anchor.seen - anchor.asked + away.abs() / 1_000)
    }
}

/// The host's steady clock.
pub(super) fn now(host: &dyn HostClock) -> i64 {
    host.steady(host.stamp())
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}
