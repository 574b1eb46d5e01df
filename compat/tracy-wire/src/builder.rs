//! From items to a capture's tables.
//!
//! [`Builder`] holds what a server holds between two items: the current thread, the zones that are
//! open, the texts that wait for the item they belong to. All of it is bounded by what is open,
//! not by what has passed.

mod cpu;
mod gpu;
mod memory;

use hashbrown::HashMap;

use crate::item::{FrameSort, Item};
use crate::model::{
    CrashData, FrameImage, FrameMark, MessageData, NEVER, PlotLook, SectionData, Tables, ThreadData, ThreadId,
};
use crate::names::{CallstackId, LocationId, Names, TextId, TextRef};
use crate::stats::Statistics;
use crate::welcome::Welcome;

/// What of a stream a capture keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Every zone, message, value and event.
    #[default]
    Everything,
    /// Counts and distributions per zone, and names and sources. Memory does not grow with the
    /// length of the stream.
    Statistics,
}

/// A pending string: bytes of a buffer that is used again and again.
#[derive(Debug, Default)]
struct Pending {
    bytes: Vec<u8>,
    present: bool,
}

impl Pending {
    fn set(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.present = true;
    }

    /// The string, which is used up by that; empty if none is pending.
    fn take(&mut self) -> &[u8] {
        if std::mem::take(&mut self.present) { &self.bytes } else { &[] }
    }
}

/// What a thread has open.
#[derive(Debug, Default)]
struct ThreadState {
    stack: Vec<cpu::Open>,
    /// The fiber that runs on it, and its run.
    fiber: Option<(ThreadId, u32)>,
    callstack: Option<CallstackId>,
}

/// The state between two items.
#[derive(Debug)]
pub(crate) struct Builder {
    keep: Keep,
    first: Pending,
    second: Pending,
    location: Option<LocationId>,
    callstack: Option<CallstackId>,
    serial_callstack: Option<CallstackId>,
    image: Option<Vec<u8>>,
    pool: Option<u64>,
    current_number: u32,
    /// The thread that items belong to; `None` until the first item that belongs to it.
    current: Option<ThreadId>,
    threads: Vec<ThreadState>,
    by_number: HashMap<u32, ThreadId>,
    by_fiber: HashMap<u64, ThreadId>,
    memory: memory::MemoryState,
    locks: HashMap<u32, memory::LockState>,
    /// Sections that have not ended, by their number.
    sections: HashMap<u32, usize>,
    gpu: gpu::GpuState,
}

/// Where a builder puts what it makes of an item.
pub(crate) struct Target<'a> {
    pub(crate) names: &'a mut Names,
    pub(crate) tables: &'a mut Tables,
    pub(crate) statistics: &'a mut Statistics,
    pub(crate) welcome: &'a Welcome,
}

impl Builder {
    pub(crate) fn new(keep: Keep) -> Self {
        Self {
            keep,
            first: Pending::default(),
            second: Pending::default(),
            location: None,
            callstack: None,
            serial_callstack: None,
            image: None,
            pool: None,
            current_number: 0,
            current: None,
            threads: Vec::new(),
            by_number: HashMap::new(),
            by_fiber: HashMap::new(),
            memory: memory::MemoryState::default(),
            locks: HashMap::new(),
            sections: HashMap::new(),
            gpu: gpu::GpuState::default(),
        }
    }

    /// Takes one item in.
    #[inline]
    pub(crate) fn item(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        match *item {
            Item::ZoneBegin { time, location, callstack } => self.zone_begin(time, location, callstack, to),
            Item::ZoneEnd { time } => self.zone_end(time, to),
            Item::ThreadContext { thread } => {
                self.current_number = thread;
                self.current = self.by_number.get(&thread).copied();
            }
            Item::ZoneValidation { .. } | Item::KeepAlive => {}
            _ => self.rarer_item(item, to),
        }
    }

    fn rarer_item(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        match *item {
            Item::SingleString(text) => self.first.set(text),
            Item::SecondString(text) => self.second.set(text),
            Item::LocationPayload(ref location) => self.location = Some(to.names.location_payload(location)),
            Item::CallstackPayload { frames } => {
                let Names { callstacks, questions, .. } = &mut *to.names;
                self.callstack = Some(callstacks.native(frames, questions));
            }
            Item::CallstackAllocPayload { frames } => {
                let below = self.callstack.take();
                let Names { callstacks, texts, .. } = &mut *to.names;
                self.callstack = callstacks.interpreted(frames, below, texts);
            }
            Item::Callstack | Item::CallstackAlloc => {
                let thread = self.current_thread(to) as usize;
                self.threads[thread].callstack = self.callstack.take();
            }
            Item::CallstackSerial => self.serial_callstack = self.callstack.take(),
            Item::CallstackSample { thread, .. } => {
                self.callstack = None;
                self.thread(thread, to);
            }
            Item::FrameImageData { image } => {
                self.image = (self.keep == Keep::Everything).then(|| image.to_vec());
            }
            Item::ZoneText | Item::ZoneName | Item::ZoneColor { .. } | Item::ZoneValue { .. } => {
                self.zone_detail(item, to);
            }
            Item::Message { .. } => self.message(item, to),
            Item::AppInfo { .. } => {
                let text = self.take_text(to);
                to.tables.app_info.push(text);
            }
            Item::Plot { name, time, value } => {
                to.names.notice_plot(name);
                self.point(name, time, value.as_f64(), to);
            }
            Item::PlotConfig { name, format, step, fill, color } => {
                to.names.notice_plot(name);
                to.tables.plots.entry(name).or_default().look = Some(PlotLook { format, step, fill, color });
            }
            Item::FrameMark { time, name, sort } => self.frame_mark(time, name, sort, to),
            Item::FrameImage { frame, width, height, flip } => {
                if let Some(dxt1) = self.image.take() {
                    to.tables.frame_images.push(FrameImage { frame, width, height, flip, dxt1 });
                }
            }
            Item::SectionEnter { .. } | Item::SectionLeave { .. } | Item::SectionSetup { .. } => {
                self.section(item, to);
            }
            Item::FiberEnter { time, fiber, thread, group } => {
                self.fiber_enter(time, fiber, thread, group, to)
            }
            Item::FiberLeave { time, thread } => self.fiber_leave(time, thread, to),
            Item::ThreadGroupHint { thread, group } => {
                let thread = self.thread(thread, to);
                to.tables.threads[thread as usize].group = group;
            }
            Item::ContextSwitch { new_thread, .. } if new_thread != 0 => {
                to.names.notice_external(u64::from(new_thread));
            }
            Item::SysTime { time, percent } if self.keep == Keep::Everything => {
                to.tables.cpu_load.push((to.welcome.nanoseconds(time), percent));
            }
            Item::SysPower { name, .. } | Item::ParamSetup { name, .. } => to.names.notice_string(name),
            Item::CrashReport { time, text } => {
                to.names.notice_string(text);
                let thread = self.current_thread(to);
                to.tables.crash = Some(CrashData { time: to.welcome.nanoseconds(time), thread, text });
            }
            _ => self.item_with_parts_of_its_own(item, to),
        }
    }

    fn item_with_parts_of_its_own(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        match item {
            Item::MemAlloc { .. } | Item::MemFree { .. } | Item::MemDiscard { .. } | Item::MemName { .. } => {
                self.memory_item(item, to);
            }
            Item::LockAnnounce { .. }
            | Item::LockTerminate { .. }
            | Item::LockWait { .. }
            | Item::LockObtain { .. }
            | Item::LockRelease { .. }
            | Item::LockMark { .. }
            | Item::LockName { .. } => self.lock_item(item, to),
            Item::GpuNewContext { .. }
            | Item::GpuZoneBegin { .. }
            | Item::GpuZoneEnd { .. }
            | Item::GpuTime { .. }
            | Item::GpuCalibration { .. }
            | Item::GpuTimeSync { .. }
            | Item::GpuContextName { .. }
            | Item::GpuAnnotationName { .. }
            | Item::GpuZoneAnnotation { .. } => self.gpu_item(item, to),
            _ => {
                if to.names.answer(item, self.first.take(), self.second.take()).is_err() {
                    to.tables.lose("answers to nothing that was asked");
                }
            }
        }
    }

    /// Whether no item waits for its second half.
    pub(crate) fn is_settled(&self) -> bool {
        !self.first.present && !self.second.present && self.location.is_none() && self.image.is_none()
    }

    /// Counts what never ended.
    pub(crate) fn finish(&mut self, tables: &mut Tables) {
        let open: usize = self.threads.iter().map(|thread| thread.stack.len()).sum();
        if open > 0 {
            *tables.lost.entry("ends of zones").or_default() += open as u64;
        }
        self.gpu.finish(tables);
        if self.keep == Keep::Statistics {
            // Places that were used again and again while their zones were open.
            tables.gpu_zones.clear();
        }
    }

    fn take_text(&mut self, to: &mut Target<'_>) -> TextId {
        to.names.texts.intern(self.first.take())
    }

    /// The thread or fiber that items without a thread of their own belong to.
    #[inline]
    fn current_thread(&mut self, to: &mut Target<'_>) -> ThreadId {
        let thread = match self.current {
            Some(thread) => thread,
            None => {
                let thread = self.thread(self.current_number, to);
                self.current = Some(thread);
                thread
            }
        };
        match self.threads[thread as usize].fiber {
            Some((fiber, _)) => fiber,
            None => thread,
        }
    }

    fn thread(&mut self, number: u32, to: &mut Target<'_>) -> ThreadId {
        if let Some(&thread) = self.by_number.get(&number) {
            return thread;
        }
        to.names.notice_thread(u64::from(number));
        let thread = self.new_thread(ThreadData { id: u64::from(number), fiber: false, group: 0 }, to);
        self.by_number.insert(number, thread);
        thread
    }

    fn new_thread(&mut self, data: ThreadData, to: &mut Target<'_>) -> ThreadId {
        let thread = self.threads.len() as ThreadId;
        self.threads.push(ThreadState::default());
        to.tables.threads.push(data);
        thread
    }

    fn message(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        let Item::Message { time, literal, color, metadata, callstack } = *item else { return };
        let thread = self.current_thread(to);
        let callstack = if callstack { self.threads[thread as usize].callstack.take() } else { None };
        to.statistics.messages += 1;
        if self.keep == Keep::Statistics {
            self.first.take();
            return;
        }
        let text = match literal {
            Some(pointer) => {
                to.names.notice_string(pointer);
                TextRef::pointer(pointer)
            }
            None => TextRef::Text(self.take_text(to)),
        };
        let time = to.welcome.nanoseconds(time);
        to.tables.messages.push(MessageData { time, text, color, metadata, thread, callstack });
    }

    fn point(&mut self, name: u64, time: i64, value: f64, to: &mut Target<'_>) {
        if !value.is_finite() {
            to.tables.lose("plot values that are no numbers");
            return;
        }
        let plot = to.tables.plots.entry(name).or_default();
        to.statistics.plot_values += 1;
        if self.keep == Keep::Everything {
            plot.points.push((to.welcome.nanoseconds(time), value));
        }
    }

    fn frame_mark(&mut self, time: i64, name: u64, sort: FrameSort, to: &mut Target<'_>) {
        to.names.notice_frame(name);
        to.statistics.frames += u64::from(sort != FrameSort::End);
        if self.keep == Keep::Statistics {
            return;
        }
        let time = to.welcome.nanoseconds(time);
        let marks = to.tables.frames.entry(name).or_default();
        match sort {
            FrameSort::Continuous | FrameSort::Start => {
                marks.push(FrameMark { start_ns: time, end_ns: None })
            }
            FrameSort::End => match marks.last_mut() {
                Some(mark) if mark.end_ns.is_none() => mark.end_ns = Some(time),
                _ => to.tables.lose("frame ends without a start"),
            },
        }
    }

    fn section(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        match *item {
            Item::SectionEnter { time, id, category } => {
                let text = self.take_text(to);
                let start = to.welcome.nanoseconds(time);
                self.sections.insert(id, to.tables.sections.len());
                to.tables.sections.push(SectionData { category, text, start, end: NEVER });
            }
            Item::SectionLeave { time, id } => {
                let end = to.welcome.nanoseconds(time);
                match self.sections.remove(&id) {
                    Some(section) => to.tables.sections[section].end = end,
                    None => to.tables.lose("section ends without a start"),
                }
            }
            Item::SectionSetup { category } => {
                let text = self.take_text(to);
                to.tables.section_categories.insert(category, text);
            }
            _ => unreachable!("only sections come here"),
        }
    }
}
