//! A profile's tables as zones, memory and messages.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::clock::Clock;
use super::file::Profile;
use super::rows::{
    CounterSample, DeviceSpan, HostSpan, Region, counter_unit_name, memory_event_name, operation_name,
};
use crate::executions::{Executions, Which};
use crate::places::Places;
use crate::timeline::{Memory, Message, Timeline, Zone};

/// Says nothing.
const NONE: u32 = u32::MAX;
const DISPATCH: u32 = 2;
/// So many counters are told of a dispatch.
const COUNTED: usize = 256;
/// Measurements that this crate does not read.
const UNSHOWN: [&str; 2] = ["device-metric-samples", "executable-traces"];
const QUEUE_ALLOCA: u32 = 7;
const QUEUE_DEALLOCA: u32 = 8;
const BUFFER_ALLOCATE: u32 = 9;
const BUFFER_FREE: u32 = 10;

type Clocks = BTreeMap<u32, Clock>;
/// Samples of counters by the dispatch that they are of: its device and event.
type Samples<'p> = HashMap<(u32, u64), Vec<&'p CounterSample>>;
type Rows = BTreeMap<(String, u8), Vec<Zone>>;

impl Profile {
    /// Puts everything at its time: a row for each queue (what the host did for it, what the device did, parts of
    /// command buffers), memory by pool, submissions as messages. Dispatches get their places, and what other
    /// recordings of the run say of them.
    pub fn timeline(&self, places: &Places, executions: &Executions) -> Timeline {
        let mut rows = Rows::new();
        let which = self.host_executions();
        for (index, span) in self.host_spans.iter().enumerate().filter(|(_, span)| span.begin <= span.end) {
            let zone = tell(self.host_zone(span, places), which.get(&index), executions);
            row(&mut rows, span.device, span.queue, "", 0).push(zone);
        }
        self.add_device_rows(&mut rows, places, executions);
        for region in self.regions.iter().filter(|region| region.begin <= region.end) {
            row(&mut rows, region.device, region.queue, " regions", 2).push(region_zone(region));
        }
        let mut timeline = Timeline::default();
        for ((name, _), zones) in rows {
            let files = zones.iter().filter_map(|zone| Some(&zone.place.as_ref()?.file));
            for file in files {
                if let Some(text) = places.text(file) {
                    timeline.sources.entry(file.clone()).or_insert_with(|| text.to_vec());
                }
            }
            timeline.add(&name, zones);
        }
        timeline.memory = self.memory_events();
        timeline.messages = self.submissions();
        timeline
    }

    fn add_device_rows(&self, rows: &mut Rows, places: &Places, executions: &Executions) {
        let clocks = self.clocks();
        let mut samples = Samples::new();
        for sample in self.counter_samples.iter().filter(|sample| sample.dispatch != 0) {
            samples.entry((sample.device, sample.dispatch)).or_default().push(sample);
        }
        let which = self.device_executions(&clocks);
        for (index, span) in self.device_spans.iter().enumerate() {
            if let Some(zone) = self.device_zone(span, &clocks, &samples, places) {
                let zone = tell(zone, which.get(&index), executions);
                row(rows, span.device, span.queue, " on the device", 1).push(zone);
            }
        }
    }

    /// What the timeline leaves out, in sentences.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if !self.is_finished {
            gaps.push("the profile was never finished; it holds what was written until then".to_owned());
        }
        let dropped = self.dropped.iter();
        gaps.extend(dropped.map(|(content, count)| format!("the runtime dropped {count} rows of {content}")));
        let unshown = self.rows.iter().filter(|(content, _)| UNSHOWN.contains(&content.as_str()));
        gaps.extend(unshown.map(|(content, count)| format!("{count} rows of {content} are not shown")));
        let backwards = self.host_spans.iter().filter(|span| span.begin > span.end).count()
            + self.regions.iter().filter(|region| region.begin > region.end).count();
        if backwards > 0 {
            gaps.push(format!("{backwards} spans end before they begin and are left out"));
        }
        let clocks = self.clocks();
        let dispatches = self.device_spans.iter().filter(|span| span.operation == DISPATCH);
        let dispatches: HashSet<_> = dispatches.map(|span| (span.device, span.event)).collect();
        let samples = self.counter_samples.iter().map(|sample| (sample.device, sample.dispatch));
        let lost = samples.filter(|of| of.1 == 0 || !dispatches.contains(of)).count();
        if lost > 0 {
            gaps.push(format!("{lost} samples of counters belong to no dispatch and are left out"));
        }
        let untimed = self.device_spans.iter().filter(|span| device_times(span, &clocks).is_none()).count();
        if untimed > 0 {
            gaps.push(format!(
                "{untimed} spans of devices are left out: their ticks cannot be told in host time"
            ));
        }
        gaps
    }

    /// Which execution of its kernel each dispatch by the host is, by the index of its span.
    fn host_executions(&self) -> HashMap<usize, Which<'_>> {
        self.in_turn(self.host_spans.iter().map(|span| {
            let kernel = (span.operation, span.executable, span.function);
            (kernel, i128::from(span.begin), span.workgroups)
        }))
    }

    /// The same of dispatches on devices.
    fn device_executions(&self, clocks: &Clocks) -> HashMap<usize, Which<'_>> {
        self.in_turn(self.device_spans.iter().map(|span| {
            let kernel = (span.operation, span.executable, span.function);
            let time = device_times(span, clocks).map(|(begin, _)| begin.into());
            (kernel, time.unwrap_or(span.begin_tick.into()), span.workgroups)
        }))
    }

    /// Every dispatch once: by the host, and on devices where the host has done none.
    pub(crate) fn executions(&self) -> impl Iterator<Item = Which<'_>> {
        let by_host = self.host_executions();
        let all = if by_host.is_empty() { self.device_executions(&self.clocks()) } else { by_host };
        all.into_values()
    }

    /// `spans` are what each one is (operation, executable, function), its beginning and grid.
    fn in_turn(
        &self,
        spans: impl Iterator<Item = ((u32, u64, u32), i128, [u32; 3])>,
    ) -> HashMap<usize, Which<'_>> {
        let dispatches = spans.enumerate().filter(|(_, (kernel, ..))| kernel.0 == DISPATCH);
        let mut dispatches: Vec<_> = dispatches.collect();
        dispatches.sort_by_key(|(_, (_, begin, _))| *begin);
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let which = dispatches.into_iter().rev().filter_map(|(index, (kernel, _, workgroups))| {
            let kernel = self.function_name(kernel.1, kernel.2)?;
            let later = *seen.entry(kernel).and_modify(|later| *later += 1).or_default();
            Some((index, Which { kernel, later, workgroups }))
        });
        which.collect()
    }

    fn host_zone(&self, span: &HostSpan, places: &Places) -> Zone {
        let mut facts =
            facts(span.submission, span.command_buffer, span.command, span.workgroups, span.bytes);
        if span.tiles > 0 {
            facts.push(format!("tiles: {}, {} ns in all", span.tiles, span.tile_ns));
        }
        if span.status != 0 {
            facts.push(format!("FAILED with status {}", span.status));
        }
        let zone = Zone { begin: span.begin, end: span.end, text: facts.join("\n"), ..Zone::default() };
        self.named(zone, span.operation, span.executable, span.function, places)
    }

    fn device_zone(
        &self,
        span: &DeviceSpan,
        clocks: &Clocks,
        samples: &Samples<'_>,
        places: &Places,
    ) -> Option<Zone> {
        let (begin, end) = device_times(span, clocks)?;
        let mut facts =
            facts(span.submission, span.command_buffer, span.command, span.workgroups, span.bytes);
        let counted = samples.get(&(span.device, span.event)).filter(|_| span.operation == DISPATCH);
        facts.extend(counted.into_iter().flatten().flat_map(|sample| self.counted(sample)).take(COUNTED));
        let zone = Zone { begin, end, text: facts.join("\n"), ..Zone::default() };
        Some(self.named(zone, span.operation, span.executable, span.function, places))
    }

    /// What a sample says of each counter: the sum of its numbers.
    fn counted(&self, sample: &CounterSample) -> impl Iterator<Item = String> {
        let counters = self.counters.iter().filter(|counter| counter.set == sample.set);
        counters.filter_map(|counter| {
            let values = sample.values.get(counter.first as usize..)?.get(..counter.count as usize)?;
            let sum: u128 = values.iter().copied().map(u128::from).sum();
            Some(format!("{}: {sum}{}", counter.name, counter_unit_name(counter.unit)))
        })
    }

    /// A dispatch is named after its kernel and has its place, other work after what it is.
    fn named(&self, zone: Zone, operation: u32, executable: u64, function: u32, places: &Places) -> Zone {
        let name = self.function_name(executable, function).unwrap_or(operation_name(operation));
        Zone { name: name.to_owned(), place: places.of(name).cloned(), ..zone }
    }

    /// Allocations that are given back, and those that are not. Some devices give them no number: those have no
    /// address that a viewer could tell apart.
    fn memory_events(&self) -> Vec<Memory> {
        let mut events: Vec<_> = self.memory.iter().filter(|event| event.allocation != 0).collect();
        events.sort_by_key(|event| event.time);
        let mut live = HashSet::new();
        let mut memory = Vec::new();
        for event in events {
            let key = (event.device, event.pool, event.allocation);
            let taken = match event.kind {
                QUEUE_ALLOCA | BUFFER_ALLOCATE if live.insert(key) => Some(event.length),
                QUEUE_DEALLOCA | BUFFER_FREE if live.remove(&key) => None,
                _ => continue,
            };
            let pool = format!("device {} pool {:#x}", event.device, event.pool);
            memory.push(Memory { time: event.time, pool, address: event.allocation, taken });
        }
        memory
    }

    fn submissions(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = self
            .queue_events
            .iter()
            .map(|event| {
                let waited = event.ready.saturating_sub(event.time).max(0);
                let what = operation_name(event.operation);
                let text = format!("submission {}: {what}, ready after {waited} ns", event.submission);
                Message { time: event.time, text }
            })
            .collect();
        let unnumbered = self.memory.iter().filter(|event| event.allocation == 0);
        messages.extend(unnumbered.map(|event| {
            let text = format!("{} of {} bytes", memory_event_name(event.kind), event.length);
            Message { time: event.time, text }
        }));
        messages.sort_by_key(|message| message.time);
        messages
    }
}

/// Adds what other recordings say of an execution.
fn tell(mut zone: Zone, which: Option<&Which<'_>>, executions: &Executions) -> Zone {
    for fact in which.map(|which| executions.facts(which)).unwrap_or_default() {
        zone.text.push('\n');
        zone.text.push_str(&fact);
    }
    zone
}

fn device_times(span: &DeviceSpan, clocks: &Clocks) -> Option<(i64, i64)> {
    let clock = clocks.get(&span.device)?;
    let (begin, end) = (clock.host(span.begin_tick)?, clock.host(span.end_tick)?);
    (begin <= end).then_some((begin, end))
}

fn row<'r>(rows: &'r mut Rows, device: u32, queue: u32, what: &str, order: u8) -> &'r mut Vec<Zone> {
    rows.entry((format!("device {device} queue {queue}{what}"), order)).or_default()
}

fn facts(submission: u64, command_buffer: u64, command: u32, [x, y, z]: [u32; 3], bytes: u64) -> Vec<String> {
    let mut facts = Vec::new();
    if x > 0 {
        facts.push(format!("workgroups: {x}x{y}x{z}"));
    }
    if bytes > 0 {
        facts.push(format!("bytes: {bytes}"));
    }
    if command_buffer > 0 {
        let which = if command == NONE { String::new() } else { format!(", command {command}") };
        facts.push(format!("command buffer {command_buffer}{which}"));
    }
    facts.push(format!("submission {submission}"));
    facts
}

fn region_zone(region: &Region) -> Zone {
    let text = format!(
        "dispatches: {}, tiles: {}, workers: {}\ncommand buffer {}\nsubmission {}",
        region.dispatches, region.tiles, region.workers, region.command_buffer, region.submission
    );
    let name = format!("region {}", region.index);
    Zone { name, begin: region.begin, end: region.end, text, ..Zone::default() }
}
