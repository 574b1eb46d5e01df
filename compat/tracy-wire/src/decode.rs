//! From bytes to items.
//!
//! Every item says its length by its kind, or by a length that follows the kind, so a stream is
//! walked without knowing what its items mean: [`measure`]. The [`Decoder`] also reads them, and
//! turns delta-coded times into absolute ones. It copies and allocates nothing.

use crate::error::DecodeError;
use crate::item::{FrameSort, HwCounter, Item, Location, PlotValue};
use crate::protocol::Kind;

/// The offset that the wire leaves out of 32-bit times, which 16 bits could have held.
pub(crate) const BEYOND_16_BIT: i64 = 1 << 16;
/// The offset that the wire leaves out of 64-bit times that are not negative.
pub(crate) const BEYOND_32_BIT: i64 = (1 << 16) + (1 << 32);
/// The length that the long form of a string leaves out.
pub(crate) const BEYOND_8_BIT: usize = 1 << 8;

/// The kind of the first item in `bytes`, and how many bytes the item takes.
///
/// # Errors
/// [`DecodeError::UnknownItem`] and [`DecodeError::Truncated`], both at offset 0.
///
/// # Panics
/// If `bytes` is empty.
#[inline]
pub fn measure(bytes: &[u8]) -> Result<(Kind, usize), DecodeError> {
    let kind = Kind::from_byte(bytes[0]).ok_or(DecodeError::UnknownItem { byte: bytes[0], offset: 0 })?;
    let head = kind.size();
    let length = match kind {
        Kind::SingleStringData8 | Kind::SecondStringData8 => head + 1 + field8(bytes, head)?,
        Kind::SingleStringData | Kind::SecondStringData => head + 2 + BEYOND_8_BIT + field16(bytes, head)?,
        Kind::FrameImageData | Kind::SymbolCode | Kind::SourceCode => {
            (head + 4).saturating_add(field32(bytes, head)?)
        }
        _ if kind >= Kind::StringData => head + 2 + field16(bytes, head)?,
        _ => head,
    };
    if length > bytes.len() { Err(TRUNCATED) } else { Ok((kind, length)) }
}

const TRUNCATED: DecodeError = DecodeError::Truncated { offset: 0 };

fn field8(bytes: &[u8], at: usize) -> Result<usize, DecodeError> {
    bytes.get(at).map(|byte| usize::from(*byte)).ok_or(TRUNCATED)
}

fn field16(bytes: &[u8], at: usize) -> Result<usize, DecodeError> {
    let field = bytes.get(at..at + 2).ok_or(TRUNCATED)?;
    Ok(usize::from(u16::from_le_bytes([field[0], field[1]])))
}

fn field32(bytes: &[u8], at: usize) -> Result<usize, DecodeError> {
    let field = bytes.get(at..at + 4).ok_or(TRUNCATED)?;
    Ok(u32::from_le_bytes([field[0], field[1], field[2], field[3]]) as usize)
}

/// Fields of an item whose length has been checked.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    #[inline]
    fn array<const N: usize>(self, at: usize) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.0[at..at + N]);
        field
    }
    #[inline]
    fn u8(self, at: usize) -> u8 {
        self.0[at]
    }
    #[inline]
    fn u16(self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }
    #[inline]
    fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }
    #[inline]
    fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }
    #[inline]
    fn i64(self, at: usize) -> i64 {
        self.u64(at) as i64
    }
    fn i32(self, at: usize) -> i32 {
        self.u32(at) as i32
    }
    fn f32(self, at: usize) -> f32 {
        f32::from_bits(self.u32(at))
    }
    fn f64(self, at: usize) -> f64 {
        f64::from_bits(self.u64(at))
    }
    /// Three bytes, blue first.
    fn color(self, at: usize) -> u32 {
        u32::from(self.u8(at)) | u32::from(self.u8(at + 1)) << 8 | u32::from(self.u8(at + 2)) << 16
    }
    /// The bytes behind a 16-bit length.
    fn text16(self, at: usize) -> &'a [u8] {
        &self.0[at + 2..]
    }
    /// The bytes behind a 32-bit length.
    fn text32(self, at: usize) -> &'a [u8] {
        &self.0[at + 4..]
    }
}

/// The sums of the deltas so far, one per class of times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct References {
    pub(crate) thread: i64,
    pub(crate) serial: i64,
    pub(crate) switch: i64,
    pub(crate) gpu: i64,
}

/// Adds a delta to its reference. The sum may wrap: what comes from a peer must not panic.
#[inline]
fn advance(reference: &mut i64, delta: i64) -> i64 {
    *reference = reference.wrapping_add(delta);
    *reference
}

/// A 64-bit delta of a kind that has shorter forms for small ones.
#[inline]
fn wide(delta: i64) -> i64 {
    if delta >= 0 { delta.wrapping_add(BEYOND_32_BIT) } else { delta }
}

/// Reads the items of one connection, in order.
#[derive(Debug, Default)]
pub struct Decoder {
    references: References,
}

impl Decoder {
    /// Hands each item of `frame` to `each`, with its kind and the bytes it stands in. Stops at the
    /// first error, or when `each` returns one.
    ///
    /// # Errors
    /// What is wrong with the bytes, with the offset in `frame`; or what `each` returned.
    pub fn decode<'f, E: From<DecodeError>>(
        &mut self,
        frame: &'f [u8],
        mut each: impl FnMut(Kind, Item<'f>, &'f [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut offset = 0;
        while offset < frame.len() {
            let (kind, length) = measure(&frame[offset..]).map_err(|error| at(error, offset))?;
            let bytes = &frame[offset..offset + length];
            let item = self.read(kind, bytes).map_err(|error| at(error, offset))?;
            each(kind, item, bytes)?;
            offset += length;
        }
        Ok(())
    }

    /// Reads one item of which the kind and the extent are known.
    #[inline]
    fn read<'f>(&mut self, kind: Kind, bytes: &'f [u8]) -> Result<Item<'f>, DecodeError> {
        let f = Fields(bytes);
        let times = &mut self.references;
        Ok(match kind {
            Kind::ZoneBegin16 | Kind::ZoneBeginCallstack16 => Item::ZoneBegin {
                time: advance(&mut times.thread, i64::from(f.u16(1))),
                location: Some(f.u64(3)),
                callstack: kind == Kind::ZoneBeginCallstack16,
            },
            Kind::ZoneEnd16 => Item::ZoneEnd { time: advance(&mut times.thread, i64::from(f.u16(1))) },
            Kind::ZoneBegin32 | Kind::ZoneBeginCallstack32 => Item::ZoneBegin {
                time: advance(&mut times.thread, i64::from(f.u32(1)) + BEYOND_16_BIT),
                location: Some(f.u64(5)),
                callstack: kind == Kind::ZoneBeginCallstack32,
            },
            Kind::ZoneEnd32 => {
                Item::ZoneEnd { time: advance(&mut times.thread, i64::from(f.u32(1)) + BEYOND_16_BIT) }
            }
            Kind::ZoneBegin | Kind::ZoneBeginCallstack => Item::ZoneBegin {
                time: advance(&mut times.thread, wide(f.i64(1))),
                location: Some(f.u64(9)),
                callstack: kind == Kind::ZoneBeginCallstack,
            },
            Kind::ZoneEnd => Item::ZoneEnd { time: advance(&mut times.thread, wide(f.i64(1))) },
            Kind::ZoneBeginAllocSrcLoc | Kind::ZoneBeginAllocSrcLocCallstack => Item::ZoneBegin {
                time: advance(&mut times.thread, f.i64(1)),
                location: None,
                callstack: kind == Kind::ZoneBeginAllocSrcLocCallstack,
            },
            Kind::ThreadContext => {
                times.thread = 0;
                Item::ThreadContext { thread: f.u32(1) }
            }
            _ => return self.read_rarer(kind, f),
        })
    }

    fn read_rarer<'f>(&mut self, kind: Kind, f: Fields<'f>) -> Result<Item<'f>, DecodeError> {
        let times = &mut self.references;
        Ok(match kind {
            Kind::ZoneValidation => Item::ZoneValidation { id: f.u32(1) },
            Kind::ZoneText => Item::ZoneText,
            Kind::ZoneName => Item::ZoneName,
            Kind::ZoneColor => Item::ZoneColor { color: f.color(1) },
            Kind::ZoneValue => Item::ZoneValue { value: f.u64(1) },
            Kind::Message
            | Kind::MessageCallstack
            | Kind::MessageColor
            | Kind::MessageColorCallstack
            | Kind::MessageLiteral
            | Kind::MessageLiteralCallstack
            | Kind::MessageLiteralColor
            | Kind::MessageLiteralColorCallstack => message(kind, f),
            Kind::MessageAppInfo => Item::AppInfo { time: f.i64(1) },
            Kind::CallstackSerial => Item::CallstackSerial,
            Kind::Callstack => Item::Callstack,
            Kind::CallstackAlloc => Item::CallstackAlloc,
            Kind::CallstackSample | Kind::CallstackSampleContextSwitch => Item::CallstackSample {
                thread: f.u32(1),
                time: advance(&mut times.switch, wide(f.i64(5))),
                switch: kind == Kind::CallstackSampleContextSwitch,
            },
            Kind::CallstackSample32 | Kind::CallstackSampleContextSwitch32 => Item::CallstackSample {
                thread: f.u32(1),
                time: advance(&mut times.switch, i64::from(f.u32(5)) + BEYOND_16_BIT),
                switch: kind == Kind::CallstackSampleContextSwitch32,
            },
            Kind::CallstackSample16 | Kind::CallstackSampleContextSwitch16 => Item::CallstackSample {
                thread: f.u32(1),
                time: advance(&mut times.switch, i64::from(f.u16(5))),
                switch: kind == Kind::CallstackSampleContextSwitch16,
            },
            Kind::FrameImage => {
                Item::FrameImage { frame: f.u32(1), width: f.u16(5), height: f.u16(7), flip: f.u8(9) != 0 }
            }
            Kind::FrameMarkMsg => frame_mark(f, FrameSort::Continuous),
            Kind::FrameMarkMsgStart => frame_mark(f, FrameSort::Start),
            Kind::FrameMarkMsgEnd => frame_mark(f, FrameSort::End),
            Kind::FrameVsync => Item::FrameVsync { time: f.i64(1), id: f.u32(9) },
            Kind::LockAnnounce => Item::LockAnnounce {
                id: f.u32(1),
                time: f.i64(5),
                location: f.u64(13),
                shared: f.u8(21) != 0,
            },
            Kind::LockTerminate => Item::LockTerminate { id: f.u32(1), time: f.i64(5) },
            Kind::LockWait | Kind::LockSharedWait => Item::LockWait {
                thread: f.u32(1),
                id: f.u32(5),
                time: advance(&mut times.serial, f.i64(9)),
                shared: kind == Kind::LockSharedWait,
            },
            Kind::LockObtain | Kind::LockSharedObtain => Item::LockObtain {
                thread: f.u32(1),
                id: f.u32(5),
                time: advance(&mut times.serial, f.i64(9)),
                shared: kind == Kind::LockSharedObtain,
            },
            Kind::LockRelease => {
                Item::LockRelease { thread: None, id: f.u32(1), time: advance(&mut times.serial, f.i64(5)) }
            }
            Kind::LockSharedRelease => Item::LockRelease {
                thread: Some(f.u32(13)),
                id: f.u32(1),
                time: advance(&mut times.serial, f.i64(5)),
            },
            Kind::LockMark => Item::LockMark { thread: f.u32(1), id: f.u32(5), location: f.u64(9) },
            Kind::LockName => Item::LockName { id: f.u32(1) },
            Kind::MemAlloc | Kind::MemAllocNamed | Kind::MemAllocCallstack | Kind::MemAllocCallstackNamed => {
                Item::MemAlloc {
                    time: advance(&mut times.serial, f.i64(1)),
                    thread: f.u32(9),
                    address: f.u64(13),
                    size: u64::from(f.u32(21)) | u64::from(f.u16(25)) << 32,
                    named: matches!(kind, Kind::MemAllocNamed | Kind::MemAllocCallstackNamed),
                    callstack: matches!(kind, Kind::MemAllocCallstack | Kind::MemAllocCallstackNamed),
                }
            }
            Kind::MemFree | Kind::MemFreeNamed | Kind::MemFreeCallstack | Kind::MemFreeCallstackNamed => {
                Item::MemFree {
                    time: advance(&mut times.serial, f.i64(1)),
                    thread: f.u32(9),
                    address: f.u64(13),
                    named: matches!(kind, Kind::MemFreeNamed | Kind::MemFreeCallstackNamed),
                    callstack: matches!(kind, Kind::MemFreeCallstack | Kind::MemFreeCallstackNamed),
                }
            }
            Kind::MemDiscard | Kind::MemDiscardCallstack => Item::MemDiscard {
                time: advance(&mut times.serial, f.i64(1)),
                thread: f.u32(9),
                pool: f.u64(13),
                callstack: kind == Kind::MemDiscardCallstack,
            },
            Kind::MemNamePayload => Item::MemName { pool: f.u64(1) },
            Kind::PlotDataInt => plot(times, f, PlotValue::Int(f.i64(17))),
            Kind::PlotDataFloat => plot(times, f, PlotValue::Float(f.f32(17))),
            Kind::PlotDataDouble => plot(times, f, PlotValue::Double(f.f64(17))),
            Kind::PlotConfig => Item::PlotConfig {
                name: f.u64(1),
                format: f.u8(9),
                step: f.u8(10) != 0,
                fill: f.u8(11) != 0,
                color: f.u32(12) & 0xFF_FFFF,
            },
            _ if is_gpu(kind) => gpu(times, kind, f),
            _ if is_system(kind) => system(times, kind, f),
            _ => return text_or_answer(kind, f),
        })
    }
}

fn at(error: DecodeError, offset: usize) -> DecodeError {
    match error {
        DecodeError::UnknownItem { byte, .. } => DecodeError::UnknownItem { byte, offset },
        DecodeError::Truncated { .. } => DecodeError::Truncated { offset },
        DecodeError::Malformed { what, .. } => DecodeError::Malformed { what, offset },
        other => other,
    }
}

fn message(kind: Kind, f: Fields<'_>) -> Item<'_> {
    let literal = kind >= Kind::MessageLiteral;
    let colored = matches!(
        kind,
        Kind::MessageColor
            | Kind::MessageColorCallstack
            | Kind::MessageLiteralColor
            | Kind::MessageLiteralColorCallstack
    );
    let callstack = matches!(
        kind,
        Kind::MessageCallstack
            | Kind::MessageColorCallstack
            | Kind::MessageLiteralCallstack
            | Kind::MessageLiteralColorCallstack
    );
    let after_color = if colored { 12 } else { 9 };
    // A literal's address shares its eight bytes with the metadata.
    let (literal, metadata) = if literal {
        let tagged = f.u64(after_color);
        (Some(tagged >> 8), tagged as u8)
    } else {
        (None, f.u8(after_color))
    };
    Item::Message { time: f.i64(1), literal, color: colored.then(|| f.color(9)), metadata, callstack }
}

fn frame_mark(f: Fields<'_>, sort: FrameSort) -> Item<'_> {
    Item::FrameMark { time: f.i64(1), name: f.u64(9), sort }
}

fn plot<'f>(times: &mut References, f: Fields<'f>, value: PlotValue) -> Item<'f> {
    Item::Plot { name: f.u64(1), time: advance(&mut times.thread, f.i64(9)), value }
}

fn is_gpu(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::GpuZoneBegin
            | Kind::GpuZoneBeginCallstack
            | Kind::GpuZoneBeginAllocSrcLoc
            | Kind::GpuZoneBeginAllocSrcLocCallstack
            | Kind::GpuZoneEnd
            | Kind::GpuZoneBeginSerial
            | Kind::GpuZoneBeginCallstackSerial
            | Kind::GpuZoneBeginAllocSrcLocSerial
            | Kind::GpuZoneBeginAllocSrcLocCallstackSerial
            | Kind::GpuZoneEndSerial
            | Kind::GpuTime
            | Kind::GpuContextName
            | Kind::GpuAnnotationName
            | Kind::GpuCalibration
            | Kind::GpuTimeSync
            | Kind::GpuNewContext
            | Kind::GpuZoneAnnotation
    )
}

fn gpu<'f>(times: &mut References, kind: Kind, f: Fields<'f>) -> Item<'f> {
    match kind {
        Kind::GpuNewContext => Item::GpuNewContext {
            cpu_time: f.i64(1),
            gpu_time: f.i64(9),
            thread: f.u32(17),
            period: f.f32(21),
            context: f.u8(25),
            calibrated: f.u8(26) & 1 != 0,
            sort: f.u8(27),
        },
        Kind::GpuZoneEnd | Kind::GpuZoneEndSerial => {
            let serial = kind == Kind::GpuZoneEndSerial;
            Item::GpuZoneEnd {
                cpu_time: advance(gpu_reference(times, serial), f.i64(1)),
                thread: f.u32(9),
                query: f.u16(13),
                context: f.u8(15),
                serial,
            }
        }
        Kind::GpuTime => {
            Item::GpuTime { gpu_time: advance(&mut times.gpu, f.i64(1)), query: f.u16(9), context: f.u8(11) }
        }
        Kind::GpuContextName => Item::GpuContextName { context: f.u8(1) },
        Kind::GpuAnnotationName => Item::GpuAnnotationName { note: f.i64(1), context: f.u8(9) },
        Kind::GpuCalibration => Item::GpuCalibration {
            gpu_time: f.i64(1),
            cpu_time: f.i64(9),
            cpu_delta: f.i64(17),
            context: f.u8(25),
        },
        Kind::GpuTimeSync => Item::GpuTimeSync { gpu_time: f.i64(1), cpu_time: f.i64(9), context: f.u8(17) },
        Kind::GpuZoneAnnotation => Item::GpuZoneAnnotation {
            note: f.i64(1),
            value: f.f64(9),
            thread: f.u32(17),
            query: f.u16(21),
            context: f.u8(23),
        },
        _ => gpu_zone_begin(times, kind, f),
    }
}

fn gpu_reference(times: &mut References, serial: bool) -> &mut i64 {
    if serial { &mut times.serial } else { &mut times.thread }
}

fn gpu_zone_begin<'f>(times: &mut References, kind: Kind, f: Fields<'f>) -> Item<'f> {
    let serial = kind >= Kind::GpuZoneBeginSerial;
    let allocated = kind.size() == Kind::GpuZoneBeginAllocSrcLoc.size();
    let callstack = matches!(
        kind,
        Kind::GpuZoneBeginCallstack
            | Kind::GpuZoneBeginAllocSrcLocCallstack
            | Kind::GpuZoneBeginCallstackSerial
            | Kind::GpuZoneBeginAllocSrcLocCallstackSerial
    );
    Item::GpuZoneBegin {
        cpu_time: advance(gpu_reference(times, serial), f.i64(1)),
        thread: f.u32(9),
        query: f.u16(13),
        context: f.u8(15),
        location: (!allocated).then(|| f.u64(16)),
        callstack,
        serial,
    }
}

fn is_system(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::ContextSwitch
            | Kind::ThreadWakeup
            | Kind::TidToPid
            | Kind::HwSampleCpuCycle
            | Kind::HwSampleInstructionRetired
            | Kind::HwSampleCacheReference
            | Kind::HwSampleCacheMiss
            | Kind::HwSampleBranchRetired
            | Kind::HwSampleBranchMiss
            | Kind::SysTimeReport
            | Kind::SysPowerReport
            | Kind::CpuTopology
            | Kind::FiberEnter
            | Kind::FiberLeave
            | Kind::SectionEnter
            | Kind::SectionLeave
            | Kind::SectionSetup
            | Kind::ThreadGroupHint
            | Kind::ParamSetup
            | Kind::Terminate
            | Kind::KeepAlive
            | Kind::Crash
            | Kind::CrashReport
    )
}

fn system<'f>(times: &mut References, kind: Kind, f: Fields<'f>) -> Item<'f> {
    match kind {
        Kind::ContextSwitch => Item::ContextSwitch {
            time: advance(&mut times.switch, f.i64(1)),
            old_thread: f.u32(9),
            new_thread: f.u32(13),
            cpu: f.u8(17),
            reason: f.u8(18),
            state: f.u8(19),
        },
        Kind::ThreadWakeup => {
            Item::ThreadWakeup { time: advance(&mut times.switch, f.i64(1)), thread: f.u32(9), cpu: f.u8(13) }
        }
        Kind::TidToPid => Item::TidToPid { tid: f.u64(1), pid: f.u64(9) },
        Kind::SysTimeReport => Item::SysTime { time: f.i64(1), percent: f.f32(9) },
        Kind::SysPowerReport => Item::SysPower { time: f.i64(1), microjoule: f.u64(9), name: f.u64(17) },
        Kind::CpuTopology => {
            Item::CpuTopology { package: f.u32(1), die: f.u32(5), core: f.u32(9), thread: f.u32(13) }
        }
        Kind::FiberEnter => Item::FiberEnter {
            time: advance(&mut times.thread, f.i64(1)),
            fiber: f.u64(9),
            thread: f.u32(17),
            group: f.i32(21),
        },
        Kind::FiberLeave => Item::FiberLeave { time: advance(&mut times.thread, f.i64(1)), thread: f.u32(9) },
        Kind::SectionEnter => Item::SectionEnter {
            time: advance(&mut times.thread, f.i64(1)),
            id: f.u32(9),
            category: f.u16(13),
        },
        Kind::SectionLeave => Item::SectionLeave { time: advance(&mut times.thread, f.i64(1)), id: f.u32(9) },
        Kind::SectionSetup => Item::SectionSetup { category: f.u16(1) },
        Kind::ThreadGroupHint => Item::ThreadGroupHint { thread: f.u32(1), group: f.i32(5) },
        Kind::ParamSetup => {
            Item::ParamSetup { index: f.u32(1), name: f.u64(5), boolean: f.u8(13) != 0, value: f.i32(14) }
        }
        Kind::Terminate => Item::Terminate,
        Kind::KeepAlive => Item::KeepAlive,
        Kind::Crash => Item::Crash,
        Kind::CrashReport => Item::CrashReport { time: f.i64(1), text: f.u64(9) },
        _ => Item::HwSample { counter: hw_counter(kind), address: f.u64(1), time: f.i64(9) },
    }
}

fn hw_counter(kind: Kind) -> HwCounter {
    match kind {
        Kind::HwSampleCpuCycle => HwCounter::CpuCycle,
        Kind::HwSampleInstructionRetired => HwCounter::InstructionRetired,
        Kind::HwSampleCacheReference => HwCounter::CacheReference,
        Kind::HwSampleCacheMiss => HwCounter::CacheMiss,
        Kind::HwSampleBranchRetired => HwCounter::BranchRetired,
        _ => HwCounter::BranchMiss,
    }
}

fn text_or_answer(kind: Kind, f: Fields<'_>) -> Result<Item<'_>, DecodeError> {
    let pointer = if kind >= Kind::StringData { f.u64(1) } else { 0 };
    Ok(match kind {
        Kind::SingleStringData8 => Item::SingleString(&f.0[2..]),
        Kind::SingleStringData => Item::SingleString(f.text16(1)),
        Kind::SecondStringData8 => Item::SecondString(&f.0[2..]),
        Kind::SecondStringData => Item::SecondString(f.text16(1)),
        Kind::SourceLocationPayload => Item::LocationPayload(location_payload(f.text16(9))?),
        Kind::CallstackPayload => Item::CallstackPayload { frames: f.text16(9) },
        Kind::CallstackAllocPayload => Item::CallstackAllocPayload { frames: f.text16(9) },
        Kind::FrameImageData => Item::FrameImageData { image: f.text32(9) },
        Kind::StringData => Item::StringData { pointer, text: f.text16(9) },
        Kind::ThreadName => Item::ThreadName { thread: pointer, text: f.text16(9) },
        Kind::PlotName => Item::PlotName { pointer, text: f.text16(9) },
        Kind::FrameName => Item::FrameName { pointer, text: f.text16(9) },
        Kind::FiberName => Item::FiberName { pointer, text: f.text16(9) },
        Kind::ExternalName => Item::ExternalName { thread: pointer, text: f.text16(9) },
        Kind::ExternalThreadName => Item::ExternalThreadName { thread: pointer, text: f.text16(9) },
        Kind::SourceLocation => Item::SourceLocation {
            name: f.u64(1),
            function: f.u64(9),
            file: f.u64(17),
            line: f.u32(25),
            color: f.color(29),
        },
        Kind::SourceCode => Item::SourceCode { id: pointer, text: f.text32(9) },
        Kind::AckSourceCodeNotAvailable => Item::SourceCodeNotAvailable { id: f.u32(1) },
        Kind::SymbolCode => Item::SymbolCode { symbol: pointer, code: f.text32(9) },
        Kind::AckSymbolCodeNotAvailable => Item::SymbolCodeNotAvailable,
        Kind::CallstackFrameSize => Item::CallstackFrameSize { address: f.u64(1), frames: f.u8(9) },
        Kind::CallstackFrame => {
            Item::CallstackFrame { line: f.u32(1), symbol: f.u64(5), symbol_size: f.u32(13) }
        }
        Kind::SymbolInformation => Item::SymbolInformation { line: f.u32(1), symbol: f.u64(5) },
        Kind::AckServerQueryNoop => Item::Acknowledge,
        // The three kinds that a client's threads say to its own sender, and any kind not named above.
        _ => {
            return Err(DecodeError::Malformed { what: "a kind that never crosses the wire", offset: 0 });
        }
    })
}

/// Colour, line, function, NUL, file, NUL, name to the end.
fn location_payload(text: &[u8]) -> Result<Location<'_>, DecodeError> {
    const BROKEN: DecodeError =
        DecodeError::Malformed { what: "a source location without its texts", offset: 0 };
    let (head, texts) = text.split_at_checked(8).ok_or(BROKEN)?;
    let head = Fields(head);
    let (function, rest) = split_at_nul(texts).ok_or(BROKEN)?;
    let (file, name) = split_at_nul(rest).ok_or(BROKEN)?;
    Ok(Location {
        name: (!name.is_empty()).then_some(name),
        function,
        file,
        line: head.u32(4),
        color: head.u32(0) & 0xFF_FFFF,
    })
}

fn split_at_nul(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let nul = text.iter().position(|byte| *byte == 0)?;
    Some((&text[..nul], &text[nul + 1..]))
}
