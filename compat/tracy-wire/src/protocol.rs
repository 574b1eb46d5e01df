//! Numbers of Tracy's wire protocol, version 82.
//!
//! Sources: `TracyProtocol.hpp` and `TracyQueue.hpp` of Tracy 0.14, the two headers that client and
//! server share. Nothing here is computed; a new protocol version is a new copy of this table.

/// The protocol that this crate speaks: Tracy 0.14.
pub const PROTOCOL_VERSION: u32 = 82;
/// What a server says first.
pub const SHIBBOLETH: [u8; 8] = *b"TracyPrf";
/// The most bytes that one frame holds once decompressed.
pub const FRAME_LIMIT: usize = 256 * 1024;
/// The most bytes that one frame occupies compressed: what LZ4 may need for [`FRAME_LIMIT`] bytes.
pub const COMPRESSED_LIMIT: usize = FRAME_LIMIT + FRAME_LIMIT / 255 + 16;
/// The longest source text, in bytes, that a client sends: a frame, less the item around the text.
pub const SOURCE_LIMIT: usize = FRAME_LIMIT - 17;
/// How many static source locations a server can tell apart: of the positive 16-bit numbers, the
/// first stands for none and the last for all that are too many.
pub const STATIC_LOCATION_LIMIT: usize = i16::MAX as usize - 2;
/// How many source locations that come with their texts a server can tell apart.
pub const ALLOCATED_LOCATION_LIMIT: usize = i16::MAX as usize;
/// How many threads may touch one lock before a server loses count: it keeps them in a 64-bit mask.
pub const LOCK_THREAD_LIMIT: usize = 64;
/// How often a lock may be obtained before it is released: a server counts in a byte.
pub const LOCK_COUNT_LIMIT: u32 = 255;

/// The Tracy release that speaks `protocol`, as far as one is known.
///
/// ```
/// use zonecast_tracy_wire::protocol::tracy_release;
/// assert_eq!(tracy_release(82), Some("0.14"));
/// assert_eq!(tracy_release(1), None);
/// ```
#[must_use]
pub fn tracy_release(protocol: u32) -> Option<&'static str> {
    Some(match protocol {
        82 => "0.14",
        76 => "0.13",
        74 => "0.12",
        69 => "0.11.1",
        66 => "0.11.0",
        64 => "0.10",
        63 => "0.9",
        _ => return None,
    })
}

/// Bits of the welcome message's flags.
pub mod welcome_flags {
    /// The client records only while a server is connected.
    pub const ON_DEMAND: u8 = 1 << 0;
    /// Frees without an allocation, and double allocations, are no faults.
    pub const IGNORE_MEMORY_FAULTS: u8 = 1 << 1;
    /// The client answers questions for source text and machine code.
    pub const CODE_TRANSFER: u8 = 1 << 2;
}

/// The client's answer to a server's greeting.
pub mod handshake {
    /// The welcome message follows.
    pub const WELCOME: u8 = 1;
    /// The client speaks another protocol.
    pub const PROTOCOL_MISMATCH: u8 = 2;
    /// The client has, or had, its one server.
    pub const NOT_AVAILABLE: u8 = 3;
    /// The connection is given up.
    pub const DROPPED: u8 = 4;
}

macro_rules! kinds {
    ($($name:ident = $number:literal, $size:literal;)*) => {
        /// What an item is: its first byte on the wire.
        #[allow(missing_docs, reason = "the names are Tracy's own; `Item` documents what each carries")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind { $($name = $number),* }

        impl Kind {
            /// Every kind, in wire order.
            pub const ALL: [Kind; 132] = [$(Kind::$name),*];

            /// Bytes that an item of this kind occupies, its first byte included and any
            /// trailing text excluded.
            #[must_use]
            pub const fn size(self) -> usize {
                SIZES[self as usize] as usize
            }
        }

        const SIZES: [u8; 132] = [$($size),*];
    };
}

kinds! {
    ZoneText = 0, 1;
    ZoneName = 1, 1;
    Message = 2, 10;
    MessageColor = 3, 13;
    MessageCallstack = 4, 10;
    MessageColorCallstack = 5, 13;
    MessageAppInfo = 6, 9;
    ZoneBeginAllocSrcLoc = 7, 9;
    ZoneBeginAllocSrcLocCallstack = 8, 9;
    CallstackSerial = 9, 1;
    Callstack = 10, 1;
    CallstackAlloc = 11, 1;
    CallstackSample = 12, 13;
    CallstackSample32 = 13, 9;
    CallstackSample16 = 14, 7;
    CallstackSampleContextSwitch = 15, 13;
    CallstackSampleContextSwitch32 = 16, 9;
    CallstackSampleContextSwitch16 = 17, 7;
    FrameImage = 18, 10;
    ZoneBegin = 19, 17;
    ZoneBegin32 = 20, 13;
    ZoneBegin16 = 21, 11;
    ZoneBeginCallstack = 22, 17;
    ZoneBeginCallstack32 = 23, 13;
    ZoneBeginCallstack16 = 24, 11;
    ZoneEnd = 25, 9;
    ZoneEnd32 = 26, 5;
    ZoneEnd16 = 27, 3;
    LockWait = 28, 17;
    LockObtain = 29, 17;
    LockRelease = 30, 13;
    LockSharedWait = 31, 17;
    LockSharedObtain = 32, 17;
    LockSharedRelease = 33, 17;
    LockName = 34, 5;
    MemAlloc = 35, 27;
    MemAllocNamed = 36, 27;
    MemFree = 37, 21;
    MemFreeNamed = 38, 21;
    MemAllocCallstack = 39, 27;
    MemAllocCallstackNamed = 40, 27;
    MemFreeCallstack = 41, 21;
    MemFreeCallstackNamed = 42, 21;
    MemDiscard = 43, 21;
    MemDiscardCallstack = 44, 21;
    GpuZoneBegin = 45, 24;
    GpuZoneBeginCallstack = 46, 24;
    GpuZoneBeginAllocSrcLoc = 47, 16;
    GpuZoneBeginAllocSrcLocCallstack = 48, 16;
    GpuZoneEnd = 49, 16;
    GpuZoneBeginSerial = 50, 24;
    GpuZoneBeginCallstackSerial = 51, 24;
    GpuZoneBeginAllocSrcLocSerial = 52, 16;
    GpuZoneBeginAllocSrcLocCallstackSerial = 53, 16;
    GpuZoneEndSerial = 54, 16;
    PlotDataInt = 55, 25;
    PlotDataFloat = 56, 21;
    PlotDataDouble = 57, 25;
    ContextSwitch = 58, 23;
    ThreadWakeup = 59, 16;
    GpuTime = 60, 12;
    GpuContextName = 61, 2;
    GpuAnnotationName = 62, 10;
    CallstackFrameSize = 63, 10;
    SymbolInformation = 64, 13;
    ExternalNameMetadata = 65, 1;
    SymbolCodeMetadata = 66, 1;
    SourceCodeMetadata = 67, 1;
    FiberEnter = 68, 25;
    FiberLeave = 69, 13;
    SectionEnter = 70, 15;
    SectionLeave = 71, 13;
    SectionSetup = 72, 3;
    Terminate = 73, 1;
    KeepAlive = 74, 1;
    ThreadContext = 75, 5;
    GpuCalibration = 76, 26;
    GpuTimeSync = 77, 18;
    Crash = 78, 1;
    CrashReport = 79, 17;
    ZoneValidation = 80, 5;
    ZoneColor = 81, 4;
    ZoneValue = 82, 9;
    FrameMarkMsg = 83, 17;
    FrameMarkMsgStart = 84, 17;
    FrameMarkMsgEnd = 85, 17;
    FrameVsync = 86, 13;
    SourceLocation = 87, 32;
    LockAnnounce = 88, 22;
    LockTerminate = 89, 13;
    LockMark = 90, 17;
    MessageLiteral = 91, 17;
    MessageLiteralColor = 92, 20;
    MessageLiteralCallstack = 93, 17;
    MessageLiteralColorCallstack = 94, 20;
    GpuNewContext = 95, 28;
    CallstackFrame = 96, 17;
    SysTimeReport = 97, 13;
    SysPowerReport = 98, 25;
    TidToPid = 99, 17;
    HwSampleCpuCycle = 100, 17;
    HwSampleInstructionRetired = 101, 17;
    HwSampleCacheReference = 102, 17;
    HwSampleCacheMiss = 103, 17;
    HwSampleBranchRetired = 104, 17;
    HwSampleBranchMiss = 105, 17;
    PlotConfig = 106, 16;
    ParamSetup = 107, 18;
    AckServerQueryNoop = 108, 1;
    AckSourceCodeNotAvailable = 109, 5;
    AckSymbolCodeNotAvailable = 110, 1;
    CpuTopology = 111, 17;
    SingleStringData = 112, 1;
    SecondStringData = 113, 1;
    SingleStringData8 = 114, 1;
    SecondStringData8 = 115, 1;
    MemNamePayload = 116, 9;
    ThreadGroupHint = 117, 9;
    GpuZoneAnnotation = 118, 24;
    StringData = 119, 9;
    ThreadName = 120, 9;
    PlotName = 121, 9;
    SourceLocationPayload = 122, 9;
    CallstackPayload = 123, 9;
    CallstackAllocPayload = 124, 9;
    FrameName = 125, 9;
    FrameImageData = 126, 9;
    ExternalName = 127, 9;
    ExternalThreadName = 128, 9;
    SymbolCode = 129, 9;
    SourceCode = 130, 9;
    FiberName = 131, 9;
}

impl Kind {
    /// The kind numbered `byte`, if there is one.
    #[must_use]
    #[inline]
    pub fn from_byte(byte: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(byte)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_its_own_number() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(Kind::from_byte(number as u8), Some(kind));
        }
        assert_eq!(Kind::from_byte(132), None);
    }

    #[test]
    fn no_item_is_larger_than_a_queue_slot() {
        assert_eq!(Kind::ALL.iter().map(|kind| kind.size()).max(), Some(32));
    }
}
