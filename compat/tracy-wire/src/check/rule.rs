//! The rules, and what a server does when one is broken.

use std::fmt;

/// One breach of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The number of the item that broke it, counted from 0; `None` for what only the end of the
    /// stream shows.
    pub item: Option<u64>,
    /// The item, readable.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.item {
            Some(item) => write!(f, "item {item}, {}: {} ({})", self.text, self.rule, self.rule.effect()),
            None => write!(f, "{}: {} ({})", self.text, self.rule, self.rule.effect()),
        }
    }
}

/// What the real server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It ends the capture, with a message.
    EndsCapture,
    /// It asserts. A release build has no asserts: it corrupts the capture, or dies.
    Asserts,
    /// It waits for what will not come.
    Hangs,
    /// It shows something untrue, or not at all.
    Misleads,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EndsCapture => "the server ends the capture",
            Self::Asserts => "the server asserts, or in a release build corrupts the capture or dies",
            Self::Hangs => "the server waits for ever",
            Self::Misleads => "the server shows something untrue",
        })
    }
}

/// What an item brings along for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payload {
    /// A string.
    Text,
    /// The second string.
    SecondText,
    /// A source location with its texts.
    Location,
    /// Return addresses.
    Callstack,
    /// The callstack of the current thread's next item.
    ThreadCallstack,
    /// The callstack of the serial queue's next item.
    SerialCallstack,
    /// The name of a memory pool.
    Pool,
    /// A frame's image.
    Image,
}

/// What can be said of a zone that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Detail {
    Text,
    Name,
    Color,
    Value,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident $({ $($field:ident: $type:ty),* })? => $effect:ident, $($words:tt),+;)*) => {
        /// A rule of the real server, with what broke it.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "fields that have the name of what they are")]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[$doc])* $name $({ $($field: $type),* })?),*
        }

        impl Rule {
            /// What the server does when the rule is broken.
            #[must_use]
            pub fn effect(&self) -> Effect {
                match self {
                    $(Self::$name { .. } => Effect::$effect),*
                }
            }

            /// The rule's name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => stringify!($name)),*
                }
            }
        }

        impl fmt::Display for Rule {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$name $({ $($field),* })? => write!(f, $($words),+)),*
                }
            }
        }
    };
}

rules! {
    /// An item needs something that no item brought along.
    PayloadMissing { payload: Payload } => Asserts, "{payload:?} is needed, and none came before";
    /// Something was brought along while the last one was not used yet.
    PayloadUnused { payload: Payload } => Asserts, "{payload:?} came twice, and none was used in between";

    /// A zone ends on a thread that has none open.
    ZoneEndWithoutBegin => EndsCapture, "no zone is open on this thread";
    /// A validated zone ends while another is the innermost.
    ZoneOrder { open: u32, ended: u32 } => EndsCapture, "zone {open} is the innermost, but {ended} ends";
    /// A text, name, colour or value for no zone, or not for the innermost.
    ZoneDetail { detail: Detail } => EndsCapture, "{detail:?} of a zone that is not the innermost, or of none";
    /// A zone ends before it begins.
    ZoneBackwards { start_ns: i64, end_ns: i64 } => Asserts, "the zone began at {start_ns} ns and ends at {end_ns} ns";
    /// More source locations of one sort than a server can tell apart.
    TooManyLocations { allocated: bool } => EndsCapture, "more source locations than a server tells apart; allocated: {allocated}";
    /// One location is open more often on one thread than a server can count.
    RecursionTooDeep => Misleads, "one source location is open more than 255 times on one thread";
    /// Zones are open when the client says that it is done.
    ZonesNeverEnd { thread: u64, open: usize } => Hangs, "{open} zones of thread {thread} are open at the end";
    /// A time that 48 bits do not hold: 39 hours.
    TimeOutOfRange { time_ns: i64 } => Misleads, "{time_ns} ns is more than 39 hours away from the program's beginning";

    /// A fiber ends on a thread that runs none.
    FiberLeaveWithoutEnter { thread: u32 } => EndsCapture, "thread {thread} runs no fiber";
    /// A message of a severity or source that does not exist.
    MessageMetadata { metadata: u8 } => Asserts, "{metadata:#04x} is no severity and source";
    /// A plot's value is infinite or no number: it is dropped before its time is added up, and all
    /// later times of the thread are shifted.
    PlotNotFinite => Misleads, "the value is no finite number; later times on the thread are shifted";

    /// A context number is used again.
    GpuContextTwice { context: u8 } => Asserts, "context {context} exists";
    /// A context of type 0.
    GpuContextInvalid { context: u8 } => Asserts, "context {context} has the invalid type";
    /// A context that was not announced.
    GpuContextUnknown { context: u8 } => Asserts, "context {context} does not exist";
    /// A query whose time has not come back is used again.
    GpuQueryBusy { context: u8, query: u16 } => Asserts, "the time of query {query} of context {context} is still open";
    /// A GPU zone ends on a thread field that has none open.
    GpuEndWithoutBegin { context: u8, thread: u32 } => Asserts, "no zone of context {context} is open for thread {thread}";
    /// A time for a query that no zone waits for.
    GpuTimeUnasked { context: u8, query: u16 } => Asserts, "no zone of context {context} waits for query {query}";
    /// The time of a zone's end came before that of its beginning: the server swaps them.
    GpuTimesSwapped { context: u8, query: u16 } => Misleads, "the end's time (query {query} of context {context}) comes before the beginning's";
    /// A beginning that lies before the program's: the server takes the next time for the beginning.
    GpuStartNegative { context: u8, time_ns: i64 } => Misleads, "a zone of context {context} begins at {time_ns} ns, before the program";
    /// A zone without length is not exported.
    GpuZoneEmpty { context: u8, start_ns: i64, end_ns: i64 } => Misleads, "a zone of context {context} lasts from {start_ns} to {end_ns} ns";
    /// A time more than 2^31 behind the last: the server adds a power of two to all that follow.
    GpuPhantomWrap { context: u8 } => Misleads, "the time of context {context} goes back by more than 2^31";
    /// Siblings out of order: a binary search does not find them.
    GpuUnsorted { context: u8, start_ns: i64 } => Misleads, "the zone at {start_ns} ns of context {context} lies before its elder sibling";
    /// The times of a zone have not come when the stream ends.
    GpuTimesMissing { context: u8, query: u16 } => Misleads, "the time of query {query} of context {context} never came";
    /// A GPU zone has not ended when the stream ends.
    GpuZonesNeverEnd { context: u8, open: usize } => Misleads, "{open} zones of context {context} never end";
    /// A calibration of a context that was announced as uncalibrated.
    GpuNotCalibrated { context: u8 } => Asserts, "context {context} takes no calibrations";
    /// A calibration whose GPU time has not advanced: the slope is infinite or negative.
    GpuCalibrationStill { context: u8, advance_ns: i64 } => Misleads, "the clock of context {context} advanced by {advance_ns} ns since its last calibration";
    /// A calibration whose difference is not the nanoseconds since the last.
    GpuCalibrationDelta { context: u8, delta: i64, passed_ns: i64 } => Misleads, "cpuDelta of context {context} is {delta}, but {passed_ns} ns passed";

    /// Memory is freed that is not allocated.
    MemoryFreeUnknown { address: u64 } => EndsCapture, "{address:#x} is not allocated in this pool";
    /// Memory is allocated that is allocated.
    MemoryAllocTwice { address: u64 } => EndsCapture, "{address:#x} is allocated in this pool";
    /// An allocation before the last of its pool.
    MemoryBackwards => Asserts, "the pool has a later allocation";
    /// A pool is discarded that has seen nothing: the server does not add the time up, and all
    /// later times of the serial queue are shifted.
    MemoryDiscardUnknown { pool: u64 } => Misleads, "pool {pool:#x} has seen nothing; later serial times are shifted";

    /// A lock's number is used again.
    LockTwice { id: u32 } => Asserts, "lock {id} exists";
    /// A lock that was not announced.
    LockUnknown { id: u32 } => Asserts, "lock {id} does not exist";
    /// A shared hold of a lock that has none.
    LockNotShared { id: u32 } => Asserts, "lock {id} has no readers";
    /// An event before the lock's last.
    LockBackwards { id: u32 } => Asserts, "lock {id} has a later event";
    /// More threads than a server's mask has bits.
    LockThreads { id: u32 } => Asserts, "more than 64 threads use lock {id}";
    /// A thread obtains a lock that it did not wait for. Tracy's own records of locks do so after a try.
    LockWithoutWait { id: u32, thread: u32 } => Asserts, "thread {thread} did not wait for lock {id}";
    /// A lock is obtained more often than a server's count goes, or by a reader that has it.
    LockObtainedTooOften { id: u32 } => Asserts, "lock {id} is obtained once more than can be counted";
    /// A lock is released that is not held, or by a reader that does not have it.
    LockNotHeld { id: u32 } => Asserts, "lock {id} is not held";
    /// A mark by a thread that has not used the lock: the server searches beyond the first event.
    LockMarkWithoutUse { id: u32, thread: u32 } => Asserts, "thread {thread} has not used lock {id}";

    /// One frame set has both marks and starts.
    FrameSortMixed { name: u64 } => Asserts, "frame set {name:#x} has both marks and starts";
    /// A frame before the last of its set.
    FrameBackwards { name: u64 } => Asserts, "frame set {name:#x} has a later frame";
    /// A frame starts while one of its set is open.
    FrameStartTwice { name: u64 } => Asserts, "a frame of set {name:#x} is open";
    /// A frame ends of a set that has none.
    FrameEndWithoutStart { name: u64 } => EndsCapture, "frame set {name:#x} has no frame";
    /// A frame ends that has ended.
    FrameEndTwice { name: u64 } => Asserts, "no frame of set {name:#x} is open";
    /// A second image of one frame.
    FrameImageTwice { frame: u32 } => EndsCapture, "frame {frame} has an image";
    /// An image that is not as large as it says.
    FrameImageSize { expected: usize, found: usize } => Asserts, "the image has {found} bytes, and should have {expected}";

    /// A section begins whose number is in use.
    SectionEnterTwice { id: u32 } => Asserts, "section {id} has begun";
    /// A section ends twice.
    SectionLeaveTwice { id: u32 } => Asserts, "section {id} has ended";
    /// A hint for a thread that the server has not seen.
    HintOfUnknownThread { thread: u32 } => Asserts, "thread {thread} has not been seen";
    /// A processor is described twice.
    TopologyTwice { thread: u32 } => Asserts, "processor {thread} is described";
    /// A load before the last.
    LoadBackwards => Asserts, "there is a later report of the load";
    /// A switch from a thread that the processor does not run.
    SwitchFromOther { cpu: u8, running: u32, left: u32 } => Asserts, "processor {cpu} runs thread {running}, but leaves {left}";
    /// A switch before the last of its processor.
    SwitchBackwards { cpu: u8 } => Asserts, "processor {cpu} has a later switch";
    /// A callstack of an interpreted language that is too deep or broken.
    CallstackBroken => Asserts, "the frames are more than 64, or cut short";
    /// An address that is neither a user's nor the kernel's.
    CallstackAddress { address: u64 } => Asserts, "{address:#x} is no canonical address";

    /// An answer to nothing that was asked.
    AnswerUnasked => Asserts, "nobody asked";
    /// More frames of an address than were announced, or a new address before all came.
    AnswerFrames => Asserts, "frames of a callstack that were not announced, or not all sent";
}
