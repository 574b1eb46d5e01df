//! A device's stream.

use std::collections::HashMap;
use std::thread::ThreadId;

use zonecast::gpu::DeviceClock;
use zonecast::{Lane, LaneKind, LaneZone, Time};

use super::queries::{Mark, Place, Queries};
use super::trees::{Moment, Trees, Zone};

/// After so long, zones are handed on although the clocks were not compared since.
const PATIENCE: i64 = 3_000_000_000;
/// How late a driver may have been to read the host's clock at its base, besides how far the clocks may have
/// run apart since.
const BASE_ERROR: i64 = 1_000_000_000;
/// What is allowed to times that are known by more than the base.
const MARGIN: i64 = 1_000_000;

/// So many threads that told times are remembered, besides those that are in the middle of it.
const THREADS: usize = 64;

/// The moment that a driver counts from.
pub(super) struct Base {
    host: Time,
    device: i64,
    /// Nanoseconds of a tick.
    period: f64,
}

impl Base {
    pub(super) fn new(host: Time, device: i64, period: f32) -> Self {
        let is_sound = period.is_finite() && period > 0.0;
        Self { host, device, period: if is_sound { period.into() } else { 1.0 } }
    }

    /// The nanoseconds since.
    fn since(&self, device: i64) -> i64 {
        let ticks = device.saturating_sub(self.device);
        if self.period == 1.0 { ticks } else { (ticks as f64 * self.period) as i64 }
    }
}

/// Zones whose times are known to the device.
struct Told {
    zones: Vec<Zone>,
    seen: Time,
}

/// See [the module](self).
pub(super) struct Context {
    lane: Lane,
    base: Base,
    clock: DeviceClock,
    queries: Queries,
    trees: HashMap<ThreadId, Trees>,
    told: Vec<Told>,
}

impl Context {
    pub(super) fn new(name: &str, kind: LaneKind, base: Base, is_calibrated: bool) -> Self {
        let mut context = Self {
            lane: Lane::of_kind(name, kind),
            clock: DeviceClock::default(),
            queries: Queries::default(),
            trees: HashMap::new(),
            told: Vec::new(),
            base,
        };
        if is_calibrated {
            context.compare(context.base.device, context.base.host);
        }
        context
    }

    pub(super) fn begin(&mut self, query: u16, place: Place) {
        self.queries.begin(query, place);
    }

    pub(super) fn end(&mut self, query: u16) {
        self.queries.end(query);
    }

    /// The driver has read both clocks at once.
    pub(super) fn compare(&mut self, device: i64, host: Time) {
        self.clock.bound(self.base.since(device), host, host);
    }

    /// An event took place at `device`; at 0, it never did.
    pub(super) fn notify(&mut self, query: u16, device: i64) {
        let seen = Time::now();
        let trees = self.trees.entry(std::thread::current().id()).or_default();
        let Some((query, is_first)) = self.queries.known(query, trees.last) else { return };
        let query = query.clone();
        let position = self.base.since(device);
        let took_place = device != 0 && self.can_be(position, query.recorded, seen);
        if took_place {
            let step = rounding(position);
            self.clock.bound(position, query.recorded.plus(-step), seen.plus(step));
        } else if let Mark::Begin { .. } = query.mark {
            self.queries.close(query.order);
        }
        let moment =
            took_place.then(|| Moment { device: position, recorded: is_first.then_some(query.recorded) });
        let trees = self.trees.entry(std::thread::current().id()).or_default();
        let zones = trees.take(query, moment);
        if !zones.is_empty() {
            self.told.push(Told { zones, seen });
        }
        if self.trees.len() > THREADS {
            self.trees.retain(|_, trees| !trees.is_empty());
        }
    }

    /// Whether an event that was recorded and seen at these moments can have taken place there. Tells the
    /// times of another's events, and of counters that were reset.
    fn can_be(&self, position: i64, recorded: Time, seen: Time) -> bool {
        let (host, error) = self.host(position);
        let slack = MARGIN + error + rounding(position);
        position >= 0 && recorded.plus(-slack) <= host && host <= seen.plus(slack)
    }

    /// The host's time of a position, and by how much it may be wrong.
    fn host(&self, position: i64) -> (Time, i64) {
        let by_base = || (self.base.host.plus(position), BASE_ERROR + position.saturating_abs() / 1_000);
        self.clock.host(position).unwrap_or_else(by_base)
    }

    /// Hands on the zones whose times on the host's clock will not be known better; or all.
    pub(super) fn hand_on(&mut self, all: bool) {
        let now = Time::now();
        let is_late = |told: &Told| all || now - told.seen > PATIENCE;
        if self.told.iter().any(is_late) {
            self.clock.settle();
        }
        let known = self.clock.known_until();
        self.told.sort_by_key(|told| told.zones.first().map(|zone| zone.begin.device));
        let ready = self.told.iter().take_while(|told| told.seen <= known || is_late(told)).count();
        let told: Vec<Told> = self.told.drain(..ready).collect();
        for told in &told {
            let mut zones: Vec<_> = told.zones.iter().map(|zone| self.zone(zone, told.seen)).collect();
            self.lane.zones(&mut zones);
        }
    }

    fn zone<'a>(&self, zone: &'a Zone, seen: Time) -> LaneZone<'a> {
        let ((begin, begin_error), (end, end_error)) =
            (self.host(zone.begin.device), self.host(zone.end.device));
        // Nothing takes place before it was recorded or after it was seen, whatever the clocks say.
        let within = |at: Time, moment: Moment| at.max(moment.recorded.unwrap_or(at)).min(seen);
        LaneZone {
            name: zone.place.name(),
            launched: zone.begin.recorded.zip(zone.end.recorded),
            measured_ns: zone.end.device - zone.begin.device,
            error_ns: begin_error.max(end_error),
            depth: zone.depth,
            ..LaneZone::new(zone.place.location(), within(begin, zone.begin), within(end, zone.end))
        }
    }
}

/// How far apart the times are that a driver can tell there: it reads milliseconds since its base as single
/// floats.
fn rounding(position: i64) -> i64 {
    let ms = position as f32 / 1e6;
    (f64::from(ms.next_up() - ms) * 1e6).ceil() as i64
}
