//! CPU zones and fibers.

use super::{Builder, Keep, Target};
use crate::item::Item;
use crate::model::{FiberRunData, NEVER, NONE, ThreadData, ThreadId, ZoneData, ZoneExtra};
use crate::names::{LocationId, TextId};

/// A zone that has not ended.
#[derive(Debug)]
pub(super) struct Open {
    /// Its place in the table, if that is kept.
    index: u32,
    location: LocationId,
    start: i64,
    name: Option<TextId>,
}

impl Builder {
    pub(super) fn zone_begin(
        &mut self,
        time: i64,
        location: Option<u64>,
        callstack: bool,
        to: &mut Target<'_>,
    ) {
        let location = match location {
            Some(pointer) => to.names.location(pointer),
            None => match self.location.take() {
                Some(location) => location,
                None => return to.tables.lose("zones without a location"),
            },
        };
        let start = to.welcome.nanoseconds(time);
        let thread = self.current_thread(to);
        let stack = &mut self.threads[thread as usize].stack;
        let mut index = NONE;
        if self.keep == Keep::Everything {
            index = to.tables.zones.len() as u32;
            to.tables.zones.push(ZoneData {
                start,
                end: NEVER,
                location,
                thread,
                parent: stack.last().map_or(NONE, |open| open.index),
                depth: stack.len() as u32,
                extra: NONE,
            });
        }
        stack.push(Open { index, location, start, name: None });
        if callstack {
            let callstack = self.threads[thread as usize].callstack.take();
            if index != NONE {
                extra(to, index).callstack = callstack;
            }
        }
    }

    pub(super) fn zone_end(&mut self, time: i64, to: &mut Target<'_>) {
        let thread = self.current_thread(to);
        let Some(open) = self.threads[thread as usize].stack.pop() else {
            return to.tables.lose("zone ends without a start");
        };
        let end = to.welcome.nanoseconds(time);
        if open.index != NONE {
            to.tables.zones[open.index as usize].end = end;
        } else {
            to.statistics.zone(open.location, open.name, end.saturating_sub(open.start));
        }
    }

    /// Text, name, colour or value of the innermost zone.
    pub(super) fn zone_detail(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        let thread = self.current_thread(to) as usize;
        let text = match item {
            Item::ZoneText if self.keep == Keep::Statistics => {
                self.first.take();
                None
            }
            Item::ZoneName if self.keep == Keep::Statistics => {
                to.statistics.name(self.first.take(), &mut to.names.texts)
            }
            Item::ZoneText | Item::ZoneName => Some(self.take_text(to)),
            _ => None,
        };
        let Some(open) = self.threads[thread].stack.last_mut() else {
            return to.tables.lose("details of no zone");
        };
        if *item == Item::ZoneName {
            open.name = text;
        }
        if open.index == NONE {
            return;
        }
        let extra = extra(to, open.index);
        match *item {
            Item::ZoneText => extra.texts.extend(text),
            Item::ZoneName => extra.name = text,
            Item::ZoneColor { color } => extra.color = Some(color),
            Item::ZoneValue { value } => extra.values.push(value),
            _ => unreachable!("only details of zones come here"),
        }
    }

    pub(super) fn fiber_enter(
        &mut self,
        time: i64,
        fiber: u64,
        thread: u32,
        group: i32,
        to: &mut Target<'_>,
    ) {
        let start = to.welcome.nanoseconds(time);
        let carrier = self.thread(thread, to);
        self.end_fiber_run(carrier, start, to);
        let fiber = match self.by_fiber.get(&fiber) {
            Some(&known) => known,
            None => self.new_fiber(fiber, group, to),
        };
        let run = to.tables.fiber_runs.len() as u32;
        if self.keep == Keep::Everything {
            to.tables.fiber_runs.push(FiberRunData { fiber, carrier, start, end: NEVER });
        }
        self.threads[carrier as usize].fiber = Some((fiber, run));
    }

    fn new_fiber(&mut self, pointer: u64, group: i32, to: &mut Target<'_>) -> ThreadId {
        to.names.notice_fiber(pointer);
        let fiber = self.new_thread(ThreadData { id: pointer, fiber: true, group }, to);
        self.by_fiber.insert(pointer, fiber);
        fiber
    }

    pub(super) fn fiber_leave(&mut self, time: i64, thread: u32, to: &mut Target<'_>) {
        let end = to.welcome.nanoseconds(time);
        let carrier = self.thread(thread, to);
        if !self.end_fiber_run(carrier, end, to) {
            to.tables.lose("fiber ends without a start");
        }
    }

    fn end_fiber_run(&mut self, carrier: ThreadId, end: i64, to: &mut Target<'_>) -> bool {
        let Some((_, run)) = self.threads[carrier as usize].fiber.take() else { return false };
        if let Some(run) = to.tables.fiber_runs.get_mut(run as usize) {
            run.end = end;
        }
        true
    }
}

fn extra<'t>(to: &'t mut Target<'_>, zone: u32) -> &'t mut ZoneExtra {
    let tables = &mut *to.tables;
    let zone = &mut tables.zones[zone as usize];
    if zone.extra == NONE {
        zone.extra = tables.extras.len() as u32;
        tables.extras.push(ZoneExtra::default());
    }
    &mut tables.extras[zone.extra as usize]
}
