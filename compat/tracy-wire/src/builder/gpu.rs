//! GPU contexts and zones, by the rules of the real server: zones nest per context and thread, and
//! the first time that arrives for a zone is its start, whichever query it came by.

use hashbrown::HashMap;

use super::{Builder, Keep, Target};
use crate::gpu_clock::GpuClock;
use crate::item::Item;
use crate::model::{GpuContextData, GpuNote, GpuZoneData, NEVER, NONE, Tables};

/// A context that is in use.
#[derive(Debug)]
struct Context {
    index: u32,
    /// The thread field of the context: 0 if each thread has a row of its own.
    thread: u32,
    clock: GpuClock,
    /// Zones that have begun and not ended on the CPU, by row.
    stacks: HashMap<u32, Vec<u32>>,
    /// Zones whose time is open, by query.
    queries: HashMap<u16, u32>,
}

/// Every context, by its number.
#[derive(Debug, Default)]
pub(super) struct GpuState {
    contexts: HashMap<u8, Context>,
    /// In statistics mode: places in the table of zones that are whole and may be used again.
    free: Vec<u32>,
}

impl GpuState {
    pub(super) fn finish(&self, tables: &mut Tables) {
        let open: usize = self.contexts.values().map(|context| context.queries.len()).sum();
        if open > 0 {
            *tables.lost.entry("times of GPU zones").or_default() += open as u64;
        }
    }
}

impl Builder {
    pub(super) fn gpu_item(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        match *item {
            Item::GpuNewContext { .. } => self.gpu_new_context(item, to),
            Item::GpuZoneBegin { .. } => self.gpu_zone_begin(item, to),
            Item::GpuZoneEnd { cpu_time, thread, query, context, .. } => {
                let cpu_ns = to.welcome.nanoseconds(cpu_time);
                let Some(zone) = self.gpu_zone_end(thread, query, context) else {
                    return to.tables.lose("GPU zone ends without a start");
                };
                to.tables.gpu_zones[zone as usize].cpu_end = cpu_ns;
            }
            Item::GpuTime { gpu_time, query, context } => self.gpu_time(gpu_time, query, context, to),
            Item::GpuCalibration { gpu_time, cpu_time, cpu_delta, context } => {
                let cpu_ns = to.welcome.nanoseconds(cpu_time);
                if let Some(context) = self.gpu.contexts.get_mut(&context) {
                    context.clock.calibrate(cpu_ns, gpu_time, cpu_delta);
                    to.tables.gpu_contexts[context.index as usize].calibrations += 1;
                }
            }
            Item::GpuTimeSync { gpu_time, cpu_time, context } => {
                let cpu_ns = to.welcome.nanoseconds(cpu_time);
                if let Some(context) = self.gpu.contexts.get_mut(&context) {
                    context.clock.synchronize(cpu_ns, gpu_time);
                }
            }
            Item::GpuContextName { context } => {
                let name = self.take_text(to);
                if let Some(context) = self.gpu.contexts.get(&context) {
                    to.tables.gpu_contexts[context.index as usize].name = Some(name);
                }
            }
            Item::GpuAnnotationName { note, context } => {
                let name = self.take_text(to);
                if let Some(context) = self.gpu.contexts.get(&context) {
                    to.tables.gpu_contexts[context.index as usize].note_names.insert(note, name);
                }
            }
            Item::GpuZoneAnnotation { note, value, query, context, .. } => {
                let open = self.gpu.contexts.get(&context).and_then(|context| context.queries.get(&query));
                match open {
                    Some(&zone) if self.keep == Keep::Everything => {
                        to.tables.gpu_notes.push(GpuNote { zone, note, value });
                    }
                    Some(_) => {}
                    None => to.tables.lose("annotations of no GPU zone"),
                }
            }
            _ => unreachable!("only GPU items come here"),
        }
    }

    fn gpu_new_context(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        let Item::GpuNewContext { cpu_time, gpu_time, thread, period, context, calibrated, sort } = *item
        else {
            return;
        };
        let index = to.tables.gpu_contexts.len() as u32;
        let cpu_ns = to.welcome.nanoseconds(cpu_time);
        to.tables.gpu_contexts.push(GpuContextData {
            id: context,
            sort,
            thread,
            period,
            calibrated,
            name: None,
            calibrations: 0,
            note_names: Default::default(),
        });
        let state = Context {
            index,
            thread,
            clock: GpuClock::new(cpu_ns, gpu_time, period, calibrated),
            stacks: HashMap::new(),
            queries: HashMap::new(),
        };
        self.gpu.contexts.insert(context, state);
    }

    fn gpu_zone_begin(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        let Item::GpuZoneBegin { cpu_time, thread, query, context, location, callstack, serial } = *item
        else {
            return;
        };
        let callstack = if serial {
            self.serial_callstack(callstack)
        } else if callstack {
            let current = self.current_thread(to);
            self.threads[current as usize].callstack.take()
        } else {
            None
        };
        let location = match location {
            Some(pointer) => Some(to.names.location(pointer)),
            None => self.location.take(),
        };
        let Some(location) = location else { return to.tables.lose("GPU zones without a location") };
        let Some(state) = self.gpu.contexts.get_mut(&context) else {
            return to.tables.lose("GPU zones of no context");
        };
        let row = if state.thread == 0 { thread } else { 0 };
        let stack = state.stacks.entry(row).or_default();
        let zone = GpuZoneData {
            context: state.index,
            thread,
            location,
            parent: stack.last().copied().unwrap_or(NONE),
            depth: stack.len() as u32,
            query,
            callstack,
            cpu_start: to.welcome.nanoseconds(cpu_time),
            cpu_end: NEVER,
            start: NEVER,
            end: NEVER,
        };
        let index = match self.gpu.free.pop() {
            Some(index) => {
                to.tables.gpu_zones[index as usize] = zone;
                index
            }
            None => {
                to.tables.gpu_zones.push(zone);
                to.tables.gpu_zones.len() as u32 - 1
            }
        };
        stack.push(index);
        if state.queries.insert(query, index).is_some() {
            to.tables.lose("times of GPU zones");
        }
    }

    /// Ends the innermost zone of the row; the server looks for the row by the item's own thread.
    fn gpu_zone_end(&mut self, thread: u32, query: u16, context: u8) -> Option<u32> {
        let state = self.gpu.contexts.get_mut(&context)?;
        let row = if state.thread == 0 { thread } else { 0 };
        let zone = state.stacks.get_mut(&row)?.pop()?;
        state.queries.insert(query, zone);
        Some(zone)
    }

    fn gpu_time(&mut self, gpu_time: i64, query: u16, context: u8, to: &mut Target<'_>) {
        let Some(state) = self.gpu.contexts.get_mut(&context) else {
            return to.tables.lose("GPU times of no zone");
        };
        let reading = state.clock.read(gpu_time);
        let Some(index) = state.queries.remove(&query) else {
            return to.tables.lose("GPU times of no zone");
        };
        let zone = &mut to.tables.gpu_zones[index as usize];
        if zone.start < 0 {
            zone.start = reading.nanoseconds;
            return;
        }
        zone.end = reading.nanoseconds;
        if self.keep == Keep::Statistics {
            to.statistics.gpu_zone(zone.location, zone.end.saturating_sub(zone.start));
            self.gpu.free.push(index);
        }
    }
}
