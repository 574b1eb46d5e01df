//! Zones, fibers, messages and plots: what belongs to threads.

use hashbrown::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::payload::Payloads;
use super::rule::{Detail, Payload, Rule};
use super::{Report, TIME_RANGE};
use crate::item::{Item, Location};
use crate::protocol::{ALLOCATED_LOCATION_LIMIT, STATIC_LOCATION_LIMIT};
use crate::welcome::Welcome;

/// A thread, or a fiber: fibers are told apart from threads by their name's pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Row {
    Thread(u32),
    Fiber(u64),
}

#[derive(Debug)]
struct Open {
    start_ns: i64,
    validation: u32,
    location: u64,
}

#[derive(Debug, Default)]
struct Thread {
    stack: Vec<Open>,
    /// How often each location is open.
    depths: HashMap<u64, u32>,
    next_validation: u32,
    callstack: bool,
}

/// The state of all threads.
#[derive(Debug, Default)]
pub(super) struct CpuRules {
    current: u32,
    rows: HashMap<Row, Thread>,
    fibers: HashMap<u32, u64>,
    locations: HashSet<u64>,
    contents: HashSet<u64>,
    /// Stands for the location of the zone that comes next, where it came with its texts.
    allocated: u64,
}

impl CpuRules {
    pub(super) fn enter_thread(&mut self, thread: u32) {
        self.current = thread;
    }

    pub(super) fn notice_thread(&mut self, thread: u32) {
        self.rows.entry(Row::Thread(thread)).or_default();
    }

    pub(super) fn knows_thread(&self, thread: u32) -> bool {
        self.rows.contains_key(&Row::Thread(thread))
    }

    fn row(&self) -> Row {
        self.fibers.get(&self.current).map_or(Row::Thread(self.current), |fiber| Row::Fiber(*fiber))
    }

    fn current(&mut self) -> &mut Thread {
        self.notice_thread(self.current);
        self.rows.entry(self.row()).or_default()
    }

    pub(super) fn static_location(&mut self, pointer: u64, report: &mut Report) {
        if self.locations.insert(pointer) {
            report.require(
                self.locations.len() <= STATIC_LOCATION_LIMIT,
                Rule::TooManyLocations { allocated: false },
            );
        }
    }

    /// The server keeps locations that come with their texts apart by content.
    pub(super) fn allocated_location(&mut self, location: &Location<'_>, report: &mut Report) {
        let mut hasher = DefaultHasher::new();
        (location.name, location.function, location.file, location.line, location.color).hash(&mut hasher);
        self.allocated = hasher.finish();
        if self.contents.insert(self.allocated) {
            report.require(
                self.contents.len() <= ALLOCATED_LOCATION_LIMIT,
                Rule::TooManyLocations { allocated: true },
            );
        }
    }

    pub(super) fn use_callstack(&mut self, report: &mut Report) {
        let callstack = std::mem::take(&mut self.current().callstack);
        report.require(callstack, Rule::PayloadMissing { payload: Payload::ThreadCallstack });
    }

    pub(super) fn check(
        &mut self,
        item: &Item<'_>,
        payload: &mut Payloads,
        welcome: &Welcome,
        report: &mut Report,
    ) {
        match *item {
            Item::ZoneBegin { time, location, callstack } => {
                match location {
                    Some(pointer) => self.static_location(pointer, report),
                    None => payload.take(Payload::Location, report),
                }
                let location = location.unwrap_or(self.allocated);
                self.zone_begin(welcome.nanoseconds(time), location, report);
                if callstack {
                    self.use_callstack(report);
                }
            }
            Item::ZoneEnd { time } => self.zone_end(welcome.nanoseconds(time), report),
            Item::ZoneValidation { id } => self.current().next_validation = id,
            Item::ZoneText => {
                self.detail(Detail::Text, report);
                payload.take(Payload::Text, report);
            }
            Item::ZoneName => {
                self.detail(Detail::Name, report);
                payload.take(Payload::Text, report);
            }
            Item::ZoneColor { .. } => self.detail(Detail::Color, report),
            Item::ZoneValue { .. } => self.detail(Detail::Value, report),
            Item::Message { literal, metadata, callstack, .. } => {
                self.current();
                payload.take_if(literal.is_none(), Payload::Text, report);
                let known = metadata >> 4 < 6 && metadata & 0x0F < 2;
                report.require(known, Rule::MessageMetadata { metadata });
                if callstack {
                    self.use_callstack(report);
                }
            }
            Item::Plot { value, .. } => report.require(value.as_f64().is_finite(), Rule::PlotNotFinite),
            Item::Callstack | Item::CallstackAlloc => {
                payload.take(Payload::Callstack, report);
                let waiting = std::mem::replace(&mut self.current().callstack, true);
                report.require(!waiting, Rule::PayloadUnused { payload: Payload::ThreadCallstack });
            }
            Item::CrashReport { .. } => self.current().callstack = false,
            Item::FiberEnter { thread, fiber, .. } => {
                self.notice_thread(thread);
                self.fibers.insert(thread, fiber);
            }
            Item::FiberLeave { thread, .. } => {
                let was_on_one = self.fibers.remove(&thread).is_some();
                report.require(was_on_one, Rule::FiberLeaveWithoutEnter { thread });
            }
            _ => unreachable!("only items of threads come here"),
        }
    }

    fn zone_begin(&mut self, start_ns: i64, location: u64, report: &mut Report) {
        report.require(TIME_RANGE.contains(&start_ns), Rule::TimeOutOfRange { time_ns: start_ns });
        let thread = self.current();
        let validation = std::mem::take(&mut thread.next_validation);
        thread.stack.push(Open { start_ns, validation, location });
        let depth = thread.depths.entry(location).or_default();
        *depth += 1;
        report.require(*depth != 256, Rule::RecursionTooDeep);
    }

    fn zone_end(&mut self, end_ns: i64, report: &mut Report) {
        let thread = self.current();
        let ended = std::mem::take(&mut thread.next_validation);
        let Some(Open { start_ns, validation, location }) = thread.stack.pop() else {
            return report.add(Rule::ZoneEndWithoutBegin);
        };
        if let Some(depth) = thread.depths.get_mut(&location) {
            *depth -= 1;
        }
        report.require(validation == ended, Rule::ZoneOrder { open: validation, ended });
        report.require(TIME_RANGE.contains(&end_ns), Rule::TimeOutOfRange { time_ns: end_ns });
        report.require(end_ns >= start_ns, Rule::ZoneBackwards { start_ns, end_ns });
    }

    fn detail(&mut self, detail: Detail, report: &mut Report) {
        let thread = self.current();
        let meant = std::mem::take(&mut thread.next_validation);
        let innermost = thread.stack.last().map(|open| open.validation);
        report.require(innermost == Some(meant), Rule::ZoneDetail { detail });
    }

    pub(super) fn finish(&self, report: &mut Report) {
        for (row, thread) in &self.rows {
            let (Row::Thread(number), open) = (row, thread.stack.len()) else { continue };
            report.require(open == 0, Rule::ZonesNeverEnd { thread: u64::from(*number), open });
        }
        for (row, thread) in &self.rows {
            let (Row::Fiber(number), open) = (row, thread.stack.len()) else { continue };
            report.require(open == 0, Rule::ZonesNeverEnd { thread: *number, open });
        }
    }
}
