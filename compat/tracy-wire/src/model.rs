//! How a capture lies in memory: flat tables that refer to each other by index.
//!
//! Handles such as [`Zone`](crate::Zone) make it readable.

use std::collections::BTreeMap;

use crate::item::Color;
use crate::names::{CallstackId, LocationId, TextId, TextRef};

/// Index of a thread, or of a fiber, which is a thread without a processor of its own.
pub(crate) type ThreadId = u32;

/// Stands for "none" in the tables.
pub(crate) const NONE: u32 = u32::MAX;
/// The end of what has not ended, and the time of what has none.
pub(crate) const NEVER: i64 = i64::MIN;

#[derive(Debug)]
pub(crate) struct ThreadData {
    /// The system's number; for a fiber, the pointer to its name.
    pub(crate) id: u64,
    pub(crate) fiber: bool,
    pub(crate) group: i32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ZoneData {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) location: LocationId,
    pub(crate) thread: ThreadId,
    pub(crate) parent: u32,
    pub(crate) depth: u32,
    pub(crate) extra: u32,
}

/// What few zones have.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZoneExtra {
    pub(crate) name: Option<TextId>,
    pub(crate) texts: Vec<TextId>,
    pub(crate) values: Vec<u64>,
    pub(crate) color: Option<Color>,
    pub(crate) callstack: Option<CallstackId>,
}

#[derive(Debug)]
pub(crate) struct GpuContextData {
    pub(crate) id: u8,
    pub(crate) sort: u8,
    pub(crate) thread: u32,
    pub(crate) period: f32,
    pub(crate) calibrated: bool,
    pub(crate) name: Option<TextId>,
    pub(crate) calibrations: u32,
    pub(crate) note_names: BTreeMap<i64, TextId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuZoneData {
    pub(crate) context: u32,
    pub(crate) thread: u32,
    pub(crate) location: LocationId,
    pub(crate) parent: u32,
    pub(crate) depth: u32,
    pub(crate) query: u16,
    pub(crate) callstack: Option<CallstackId>,
    pub(crate) cpu_start: i64,
    pub(crate) cpu_end: i64,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuNote {
    pub(crate) zone: u32,
    pub(crate) note: i64,
    pub(crate) value: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageData {
    pub(crate) time: i64,
    pub(crate) text: TextRef,
    pub(crate) color: Option<Color>,
    pub(crate) metadata: u8,
    pub(crate) thread: ThreadId,
    pub(crate) callstack: Option<CallstackId>,
}

/// How a plot is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlotLook {
    /// 0 for numbers, 1 for bytes, 2 for percent.
    pub format: u8,
    /// Whether it is drawn in steps.
    pub step: bool,
    /// Whether the area below is filled.
    pub fill: bool,
    /// Its colour, 0 for the profiler's choice.
    pub color: Color,
}

#[derive(Debug, Default)]
pub(crate) struct PlotData {
    pub(crate) points: Vec<(i64, f64)>,
    pub(crate) look: Option<PlotLook>,
}

/// One frame, or the mark between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMark {
    /// When it began, in nanoseconds.
    pub start_ns: i64,
    /// When it ended, for frames of a discontinuous set.
    pub end_ns: Option<i64>,
}

/// An image of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameImage {
    /// The frame's number.
    pub frame: u32,
    /// Pixels across.
    pub width: u16,
    /// Pixels down.
    pub height: u16,
    /// Whether the first row is the lowest.
    pub flip: bool,
    /// The picture, DXT1 compressed.
    pub dxt1: Vec<u8>,
}

/// One thing that happened to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEvent {
    /// When, in nanoseconds.
    pub time_ns: i64,
    /// The address.
    pub address: u64,
    /// How many bytes; for a free, what the allocation had, or 0 if that was not seen.
    pub size: u64,
    /// Whether memory was given back.
    pub free: bool,
    /// The thread, by the system's number.
    pub thread: u32,
    pub(crate) callstack: Option<CallstackId>,
}

/// What a thread did with a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAction {
    /// Began to wait.
    Wait,
    /// Got it.
    Obtain,
    /// Gave it back.
    Release,
}

/// One thing that happened to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockEvent {
    /// When, in nanoseconds.
    pub time_ns: i64,
    /// The thread, by the system's number.
    pub thread: u32,
    /// What it did.
    pub action: LockAction,
    /// Whether as one of several readers.
    pub shared: bool,
    pub(crate) mark: Option<LocationId>,
}

#[derive(Debug)]
pub(crate) struct LockData {
    pub(crate) id: u32,
    pub(crate) location: LocationId,
    pub(crate) shared: bool,
    pub(crate) name: Option<TextId>,
    pub(crate) announced: i64,
    pub(crate) terminated: i64,
    pub(crate) events: Vec<LockEvent>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FiberRunData {
    pub(crate) fiber: ThreadId,
    pub(crate) carrier: ThreadId,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionData {
    pub(crate) category: u16,
    pub(crate) text: TextId,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CrashData {
    pub(crate) time: i64,
    pub(crate) thread: ThreadId,
    pub(crate) text: u64,
}

/// The tables.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) threads: Vec<ThreadData>,
    pub(crate) zones: Vec<ZoneData>,
    pub(crate) extras: Vec<ZoneExtra>,
    pub(crate) gpu_contexts: Vec<GpuContextData>,
    pub(crate) gpu_zones: Vec<GpuZoneData>,
    pub(crate) gpu_notes: Vec<GpuNote>,
    pub(crate) messages: Vec<MessageData>,
    pub(crate) app_info: Vec<TextId>,
    pub(crate) plots: BTreeMap<u64, PlotData>,
    pub(crate) frames: BTreeMap<u64, Vec<FrameMark>>,
    pub(crate) frame_images: Vec<FrameImage>,
    pub(crate) memory: BTreeMap<u64, Vec<MemoryEvent>>,
    pub(crate) locks: Vec<LockData>,
    pub(crate) fiber_runs: Vec<FiberRunData>,
    pub(crate) sections: Vec<SectionData>,
    pub(crate) section_categories: BTreeMap<u16, TextId>,
    pub(crate) cpu_load: Vec<(i64, f32)>,
    pub(crate) crash: Option<CrashData>,
    pub(crate) lost: BTreeMap<&'static str, u64>,
}

impl Tables {
    pub(crate) fn lose(&mut self, what: &'static str) {
        *self.lost.entry(what).or_default() += 1;
    }
}
