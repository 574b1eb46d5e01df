//! What a client says, one value per item.
//!
//! The wire has 132 kinds of item, many of which differ in nothing but the width of a time. Here
//! such kinds are one variant, and every time is *absolute*: the [`Decoder`](crate::Decoder) adds up
//! the deltas that the wire carries, the [`Encoder`](crate::Encoder) takes them apart again.
//!
//! A time is in *ticks* of the client's clock. [`Welcome::nanoseconds`](crate::Welcome::nanoseconds)
//! turns ticks into nanoseconds since the program began. Two exceptions say so where they stand:
//! times of a GPU, and the `cpu_delta` of a calibration.
//!
//! A *pointer* is an address in the client. It stands for a string (or a source location) that a
//! server asks for when it first meets the pointer. Texts that the client will not keep arrive as
//! an item of their own just before the item that uses them: [`Item::SingleString`] before
//! `ZoneText`, [`Item::LocationPayload`] before `ZoneBegin`, [`Item::Callstack`]'s frames before
//! the item that has a callstack.

/// A colour as `0xRRGGBB`.
pub type Color = u32;

/// One item of the stream.
///
/// The lifetime is that of the frame the item was read from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields that have the name of what they are")]
pub enum Item<'a> {
    /// From here on, items without a thread of their own belong to `thread`.
    ThreadContext { thread: u32 },

    /// A zone begins on the current thread. `location` is a pointer; `None` where the location came
    /// as a [`LocationPayload`](Self::LocationPayload).
    ZoneBegin { time: i64, location: Option<u64>, callstack: bool },
    /// The innermost zone of the current thread ends.
    ZoneEnd { time: i64 },
    /// The zone that the next item speaks of, where the client numbers its zones.
    ZoneValidation { id: u32 },
    /// The pending string is text of the innermost zone.
    ZoneText,
    /// The pending string is the name of the innermost zone.
    ZoneName,
    /// The innermost zone's colour.
    ZoneColor { color: Color },
    /// A number of the innermost zone.
    ZoneValue { value: u64 },

    /// A message of the current thread. `literal` is a pointer to its text; `None` where the text
    /// is the pending string. `metadata` holds the severity (upper four bits) and the source.
    Message { time: i64, literal: Option<u64>, color: Option<Color>, metadata: u8, callstack: bool },
    /// The pending string describes the program.
    AppInfo { time: i64 },

    /// The pending callstack belongs to the next item that wants one on the serial queue.
    CallstackSerial,
    /// The pending callstack belongs to the next item of the current thread that wants one.
    Callstack,
    /// As [`Callstack`](Self::Callstack), with frames of an interpreted language on top.
    CallstackAlloc,
    /// The pending callstack is where `thread` was at `time`; `switch` if at a context switch.
    CallstackSample { thread: u32, time: i64, switch: bool },

    /// The pending image is that of frame `frame`.
    FrameImage { frame: u32, width: u16, height: u16, flip: bool },
    /// A frame ends and the next begins (`Continuous`), or a frame of a discontinuous set begins or
    /// ends. `name` is a pointer, 0 for the main frame set.
    FrameMark { time: i64, name: u64, sort: FrameSort },
    /// The screen `id` was refreshed.
    FrameVsync { time: i64, id: u32 },

    /// A lock exists. `location` is a pointer; `shared` if it has readers and writers.
    LockAnnounce { id: u32, time: i64, location: u64, shared: bool },
    /// A lock is gone.
    LockTerminate { id: u32, time: i64 },
    /// `thread` begins to wait for a lock.
    LockWait { thread: u32, id: u32, time: i64, shared: bool },
    /// `thread` has got a lock.
    LockObtain { thread: u32, id: u32, time: i64, shared: bool },
    /// A lock is given back. The thread is said for shared holds alone.
    LockRelease { thread: Option<u32>, id: u32, time: i64 },
    /// Where in the code `thread` last used the lock; `location` is a pointer.
    LockMark { thread: u32, id: u32, location: u64 },
    /// The pending string is a lock's name.
    LockName { id: u32 },

    /// Memory was allocated, in the pending pool if `named`.
    MemAlloc { time: i64, thread: u32, address: u64, size: u64, named: bool, callstack: bool },
    /// Memory was freed.
    MemFree { time: i64, thread: u32, address: u64, named: bool, callstack: bool },
    /// All of a pool was freed at once; `pool` is a pointer to its name.
    MemDiscard { time: i64, thread: u32, pool: u64, callstack: bool },
    /// The pool that the next item speaks of; a pointer to its name.
    MemName { pool: u64 },

    /// A timeline of a GPU. `gpu_time` is in ticks of the GPU, each `period` nanoseconds long;
    /// `thread` is 0 where each thread has zones of its own.
    GpuNewContext {
        cpu_time: i64,
        gpu_time: i64,
        thread: u32,
        period: f32,
        context: u8,
        calibrated: bool,
        sort: u8,
    },
    /// A GPU zone was launched. Its times come later, by `query`.
    GpuZoneBegin {
        cpu_time: i64,
        thread: u32,
        query: u16,
        context: u8,
        location: Option<u64>,
        callstack: bool,
        serial: bool,
    },
    /// The end of a GPU zone was launched.
    GpuZoneEnd { cpu_time: i64, thread: u32, query: u16, context: u8, serial: bool },
    /// A time has come back, in ticks of the GPU.
    GpuTime { gpu_time: i64, query: u16, context: u8 },
    /// Both clocks, read together again; `cpu_delta` is in *nanoseconds* since the last time.
    GpuCalibration { gpu_time: i64, cpu_time: i64, cpu_delta: i64, context: u8 },
    /// Both clocks, read together after the GPU's was reset.
    GpuTimeSync { gpu_time: i64, cpu_time: i64, context: u8 },
    /// The pending string is a context's name.
    GpuContextName { context: u8 },
    /// The pending string names a sort of annotation.
    GpuAnnotationName { note: i64, context: u8 },
    /// A number of the GPU zone that `query` began.
    GpuZoneAnnotation { note: i64, value: f64, thread: u32, query: u16, context: u8 },

    /// A plot's value; `name` is a pointer.
    Plot { name: u64, time: i64, value: PlotValue },
    /// How a plot is drawn; `format` is 0 for numbers, 1 for bytes, 2 for percent.
    PlotConfig { name: u64, format: u8, step: bool, fill: bool, color: Color },

    /// A processor changed threads.
    ContextSwitch { time: i64, old_thread: u32, new_thread: u32, cpu: u8, reason: u8, state: u8 },
    /// A thread may run again.
    ThreadWakeup { time: i64, thread: u32, cpu: u8 },
    /// Which process a thread belongs to.
    TidToPid { tid: u64, pid: u64 },
    /// A hardware counter fired at an instruction.
    HwSample { counter: HwCounter, address: u64, time: i64 },
    /// Load of the whole machine, in percent.
    SysTime { time: i64, percent: f32 },
    /// Energy since the last report, in microjoule; `name` is a pointer.
    SysPower { time: i64, microjoule: u64, name: u64 },
    /// Where a processor sits.
    CpuTopology { package: u32, die: u32, core: u32, thread: u32 },

    /// `thread` runs a fiber from here on; `fiber` is a pointer to its name.
    FiberEnter { time: i64, fiber: u64, thread: u32, group: i32 },
    /// `thread` runs itself again.
    FiberLeave { time: i64, thread: u32 },
    /// A section of the run begins; the pending string says which.
    SectionEnter { time: i64, id: u32, category: u16 },
    /// A section of the run ends.
    SectionLeave { time: i64, id: u32 },
    /// The pending string names a category of sections.
    SectionSetup { category: u16 },
    /// Threads with the same hint are drawn together.
    ThreadGroupHint { thread: u32, group: i32 },
    /// A number that the profiler may set; `name` is a pointer.
    ParamSetup { index: u32, name: u64, boolean: bool, value: i32 },

    /// The client is done, and answers questions until it is told to go.
    Terminate,
    /// The client is alive and has nothing to say.
    KeepAlive,
    /// The client is crashing.
    Crash,
    /// Why it crashes; `text` is a pointer.
    CrashReport { time: i64, text: u64 },

    /// Text for the next item.
    SingleString(&'a [u8]),
    /// More text for the next item.
    SecondString(&'a [u8]),
    /// A source location for the next item.
    LocationPayload(Location<'a>),
    /// Return addresses for the next item, innermost first, eight bytes each.
    CallstackPayload { frames: &'a [u8] },
    /// Frames of an interpreted language for the next item.
    CallstackAllocPayload { frames: &'a [u8] },
    /// A DXT1 image for the next item.
    FrameImageData { image: &'a [u8] },

    /// Answer: the string at a pointer.
    StringData { pointer: u64, text: &'a [u8] },
    /// Answer: a thread's name.
    ThreadName { thread: u64, text: &'a [u8] },
    /// Answer: a plot's name.
    PlotName { pointer: u64, text: &'a [u8] },
    /// Answer: a frame set's name.
    FrameName { pointer: u64, text: &'a [u8] },
    /// Answer: a fiber's name.
    FiberName { pointer: u64, text: &'a [u8] },
    /// Answer: the process of a thread outside this program.
    ExternalName { thread: u64, text: &'a [u8] },
    /// Answer: the name of a thread outside this program.
    ExternalThreadName { thread: u64, text: &'a [u8] },
    /// Answer: the source location asked for first among those still open; three pointers.
    SourceLocation { name: u64, function: u64, file: u64, line: u32, color: Color },
    /// Answer: a source file's text.
    SourceCode { id: u64, text: &'a [u8] },
    /// Answer: there is no text for this question.
    SourceCodeNotAvailable { id: u32 },
    /// Answer: a function's machine code.
    SymbolCode { symbol: u64, code: &'a [u8] },
    /// Answer: there is no machine code.
    SymbolCodeNotAvailable,
    /// Answer: how many (inlined) frames `address` stands for; the pending string is its image.
    CallstackFrameSize { address: u64, frames: u8 },
    /// Answer: one of them; the pending strings are function and file.
    CallstackFrame { line: u32, symbol: u64, symbol_size: u32 },
    /// Answer: where a function is defined; the pending string is the file.
    SymbolInformation { line: u32, symbol: u64 },
    /// Answer to a question that has none.
    Acknowledge,
}

/// What a frame mark does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameSort {
    /// Ends one frame and begins the next.
    Continuous,
    /// Begins a frame of a discontinuous set.
    Start,
    /// Ends a frame of a discontinuous set.
    End,
}

/// A plot's value, in the width that the program gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the width is all there is to say")]
pub enum PlotValue {
    Int(i64),
    Float(f32),
    Double(f64),
}

impl PlotValue {
    /// The value as the profiler stores it.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => f64::from(value),
            Self::Double(value) => value,
        }
    }
}

/// What a hardware counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "names of counters")]
pub enum HwCounter {
    CpuCycle,
    InstructionRetired,
    CacheReference,
    CacheMiss,
    BranchRetired,
    BranchMiss,
}

/// A source location that came with its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The zone's name, if it has one besides its function.
    pub name: Option<&'a [u8]>,
    /// The function.
    pub function: &'a [u8],
    /// The file's path.
    pub file: &'a [u8],
    /// The line in it.
    pub line: u32,
    /// The zone's colour, 0 for none.
    pub color: Color,
}
