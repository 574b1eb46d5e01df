//! GPU contexts and zones.

use hashbrown::HashMap;
use std::collections::{BTreeMap, VecDeque};

use super::payload::Payloads;
use super::rule::{Payload, Rule};
use super::{Report, TIME_RANGE};
use crate::gpu_clock::GpuClock;
use crate::item::Item;
use crate::welcome::Welcome;

type ZoneId = u64;
type ListId = u64;

/// The list of outermost zones of each row; children have one per parent.
const OUTERMOST: ListId = 0;

#[derive(Debug)]
struct Zone {
    begin_query: u16,
    start_ns: Option<i64>,
    /// Which siblings it has, and which of them it is.
    list: (u32, ListId),
    place: u64,
}

/// Times of siblings, in the order of their beginning; the first ones are forgotten once they and
/// their successor are known to be in order.
#[derive(Debug, Default)]
struct Siblings {
    first: u64,
    times: VecDeque<Option<(i64, i64)>>,
}

#[derive(Debug)]
struct Context {
    thread: u32,
    clock: GpuClock,
    calibrated: bool,
    calibrated_cpu_ns: i64,
    zones: HashMap<ZoneId, Zone>,
    next_zone: ZoneId,
    stacks: HashMap<u32, Vec<ZoneId>>,
    queries: HashMap<u16, ZoneId>,
    siblings: HashMap<(u32, ListId), Siblings>,
}

/// The state of all contexts.
#[derive(Debug, Default)]
pub(super) struct GpuRules {
    contexts: BTreeMap<u8, Context>,
}

impl GpuRules {
    pub(super) fn check(
        &mut self,
        item: &Item<'_>,
        payload: &mut Payloads,
        welcome: &Welcome,
        report: &mut Report,
    ) {
        match *item {
            Item::GpuNewContext { .. } => return self.new_context(item, welcome, report),
            Item::GpuZoneBegin { location, callstack, serial, .. } => {
                payload.take_if(location.is_none(), Payload::Location, report);
                payload.take_if(callstack && serial, Payload::SerialCallstack, report);
            }
            Item::GpuContextName { .. } | Item::GpuAnnotationName { .. } => {
                payload.take(Payload::Text, report)
            }
            _ => {}
        }
        let (Item::GpuZoneBegin { context, .. }
        | Item::GpuZoneEnd { context, .. }
        | Item::GpuTime { context, .. }
        | Item::GpuCalibration { context, .. }
        | Item::GpuTimeSync { context, .. }
        | Item::GpuContextName { context }
        | Item::GpuAnnotationName { context, .. }
        | Item::GpuZoneAnnotation { context, .. }) = *item
        else {
            return;
        };
        match self.contexts.get_mut(&context) {
            Some(state) => state.check(item, context, welcome, report),
            None => report.add(Rule::GpuContextUnknown { context }),
        }
    }

    fn new_context(&mut self, item: &Item<'_>, welcome: &Welcome, report: &mut Report) {
        let Item::GpuNewContext { cpu_time, gpu_time, thread, period, context, calibrated, sort } = *item
        else {
            return;
        };
        report.require(sort != 0, Rule::GpuContextInvalid { context });
        let cpu_ns = welcome.nanoseconds(cpu_time);
        let state = Context {
            thread,
            clock: GpuClock::new(cpu_ns, gpu_time, period, calibrated),
            calibrated,
            calibrated_cpu_ns: cpu_ns,
            zones: HashMap::new(),
            next_zone: OUTERMOST + 1,
            stacks: HashMap::new(),
            queries: HashMap::new(),
            siblings: HashMap::new(),
        };
        let known = self.contexts.insert(context, state).is_some();
        report.require(!known, Rule::GpuContextTwice { context });
    }

    pub(super) fn finish(&self, report: &mut Report) {
        for (&context, state) in &self.contexts {
            let open: usize = state.stacks.values().map(Vec::len).sum();
            report.require(open == 0, Rule::GpuZonesNeverEnd { context, open });
            let mut queries: Vec<u16> = state.queries.keys().copied().collect();
            queries.sort_unstable();
            queries.into_iter().for_each(|query| report.add(Rule::GpuTimesMissing { context, query }));
        }
    }
}

impl Context {
    fn check(&mut self, item: &Item<'_>, context: u8, welcome: &Welcome, report: &mut Report) {
        match *item {
            Item::GpuZoneBegin { thread, query, .. } => self.begin(context, thread, query, report),
            Item::GpuZoneEnd { thread, query, .. } => {
                let Some(zone) = self.stacks.get_mut(&thread).and_then(Vec::pop) else {
                    return report.add(Rule::GpuEndWithoutBegin { context, thread });
                };
                self.occupy(context, query, zone, report);
            }
            Item::GpuTime { gpu_time, query, .. } => self.time(context, gpu_time, query, report),
            Item::GpuCalibration { gpu_time, cpu_time, cpu_delta, .. } => {
                report.require(self.calibrated, Rule::GpuNotCalibrated { context });
                let cpu_ns = welcome.nanoseconds(cpu_time);
                self.calibrate(context, gpu_time, cpu_ns, cpu_delta, report);
            }
            Item::GpuTimeSync { gpu_time, cpu_time, .. } => {
                self.clock.synchronize(welcome.nanoseconds(cpu_time), gpu_time);
            }
            _ => {}
        }
    }

    fn begin(&mut self, context: u8, thread: u32, query: u16, report: &mut Report) {
        // A context with a thread of its own has one row, which ends name by thread 0.
        let row = if self.thread == 0 { thread } else { 0 };
        let stack = self.stacks.entry(row).or_default();
        let list = (row, stack.last().copied().unwrap_or(OUTERMOST));
        let siblings = self.siblings.entry(list).or_default();
        let place = siblings.first + siblings.times.len() as u64;
        siblings.times.push_back(None);
        let id = self.next_zone;
        self.next_zone += 1;
        stack.push(id);
        self.zones.insert(id, Zone { begin_query: query, start_ns: None, list, place });
        self.occupy(context, query, id, report);
    }

    fn occupy(&mut self, context: u8, query: u16, zone: ZoneId, report: &mut Report) {
        let busy = self.queries.insert(query, zone).is_some();
        report.require(!busy, Rule::GpuQueryBusy { context, query });
    }

    fn time(&mut self, context: u8, gpu_time: i64, query: u16, report: &mut Report) {
        let reading = self.clock.read(gpu_time);
        let time_ns = reading.nanoseconds;
        report.require(!reading.wrapped, Rule::GpuPhantomWrap { context });
        report.require(TIME_RANGE.contains(&time_ns), Rule::TimeOutOfRange { time_ns });
        let Some(id) = self.queries.remove(&query) else {
            return report.add(Rule::GpuTimeUnasked { context, query });
        };
        let Some(zone) = self.zones.get_mut(&id) else { return };
        let Some(start_ns) = zone.start_ns else {
            report.require(query == zone.begin_query, Rule::GpuTimesSwapped { context, query });
            if time_ns < 0 {
                report.add(Rule::GpuStartNegative { context, time_ns });
            } else {
                zone.start_ns = Some(time_ns);
            }
            return;
        };
        report.require(time_ns > start_ns, Rule::GpuZoneEmpty { context, start_ns, end_ns: time_ns });
        let (list, place) = (zone.list, zone.place);
        self.zones.remove(&id);
        self.place_among_siblings(context, list, place, (start_ns, time_ns), report);
    }

    /// The profiler finds zones by binary search over the ends, and draws from the starts.
    fn place_among_siblings(
        &mut self,
        context: u8,
        list: (u32, ListId),
        place: u64,
        times: (i64, i64),
        report: &mut Report,
    ) {
        let Some(siblings) = self.siblings.get_mut(&list) else { return };
        let Some(index) = place.checked_sub(siblings.first).map(|index| index as usize) else { return };
        let at = |index: usize| siblings.times.get(index).copied().flatten();
        let in_order = |a: (i64, i64), b: (i64, i64)| a.0 <= b.0 && a.1 <= b.1;
        let elder = index.checked_sub(1).and_then(at);
        if elder.is_some_and(|elder| !in_order(elder, times)) {
            report.add(Rule::GpuUnsorted { context, start_ns: times.0 });
        }
        if let Some(younger) = at(index + 1).filter(|younger| !in_order(times, *younger)) {
            report.add(Rule::GpuUnsorted { context, start_ns: younger.0 });
        }
        siblings.times[index] = Some(times);
        while siblings.times.len() > 1 && siblings.times[0].is_some() && siblings.times[1].is_some() {
            siblings.times.pop_front();
            siblings.first += 1;
        }
        let settled = siblings.times.iter().all(Option::is_some);
        if settled && list.1 != OUTERMOST && !self.zones.contains_key(&list.1) {
            self.siblings.remove(&list);
        }
    }

    fn calibrate(&mut self, context: u8, gpu_time: i64, cpu_ns: i64, cpu_delta: i64, report: &mut Report) {
        const TOO_SHORT_TO_JUDGE: i64 = 1_000_000;
        let advance_ns = self.clock.calibrate(cpu_ns, gpu_time, cpu_delta);
        report.require(advance_ns > 0, Rule::GpuCalibrationStill { context, advance_ns });
        let passed_ns = cpu_ns.saturating_sub(self.calibrated_cpu_ns);
        self.calibrated_cpu_ns = cpu_ns;
        // Some backends send the GPU's advance, which is off by the drift; ticks instead of
        // nanoseconds are off by a factor.
        let off = cpu_delta.saturating_sub(passed_ns).unsigned_abs() > passed_ns.unsigned_abs() / 4;
        let wrong = cpu_delta <= 0 || passed_ns >= TOO_SHORT_TO_JUDGE && off;
        report.require(!wrong, Rule::GpuCalibrationDelta { context, delta: cpu_delta, passed_ns });
    }
}
