//! From items to bytes: streams built by hand, and answers to another receiver.
//!
//! An [`Encoder`] is the [`Decoder`](crate::Decoder)'s mirror. It codes times as deltas, and picks
//! the shortest kind that holds each, as a client does.

use crate::decode::{BEYOND_8_BIT, BEYOND_16_BIT, BEYOND_32_BIT, References};
use crate::item::{FrameSort, HwCounter, Item, Location, PlotValue};
use crate::protocol::Kind;

/// Writes the items of one connection, in order.
///
/// ```
/// use zonecast_tracy_wire::{Decoder, Encoder, Item};
///
/// let mut encoder = Encoder::default();
/// encoder.push(&Item::ThreadContext { thread: 7 });
/// encoder.push(&Item::ZoneBegin { time: 1_000_000, location: Some(0x40), callstack: false });
/// encoder.push(&Item::ZoneEnd { time: 1_000_060 });
///
/// let mut last = None;
/// Decoder::default()
///     .decode(encoder.bytes(), |_, item, _| Ok::<_, zonecast_tracy_wire::DecodeError>(last = Some(item)))
///     .unwrap();
/// assert_eq!(last, Some(Item::ZoneEnd { time: 1_000_060 }));
/// ```
#[derive(Debug, Default)]
pub struct Encoder {
    references: References,
    bytes: Vec<u8>,
}

impl Encoder {
    /// What was pushed since the last [`take`](Self::take).
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives up what was pushed, to be sent as a frame; the times go on.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Appends an item.
    ///
    /// # Panics
    /// If a text is longer than its kind can carry: 65,791 bytes for pending strings, 65,535 for
    /// names and payloads, 4 GiB for the rest.
    pub fn push(&mut self, item: &Item<'_>) {
        match *item {
            Item::ThreadContext { thread } => {
                self.references.thread = 0;
                self.kind(Kind::ThreadContext).u32(thread);
            }
            Item::ZoneBegin { time, location, callstack } => self.zone_begin(time, location, callstack),
            Item::ZoneEnd { time } => {
                let delta = since(&mut self.references.thread, time);
                self.scaled(delta, [Kind::ZoneEnd16, Kind::ZoneEnd32, Kind::ZoneEnd]);
            }
            Item::ZoneValidation { id } => {
                self.kind(Kind::ZoneValidation).u32(id);
            }
            Item::ZoneText => {
                self.kind(Kind::ZoneText);
            }
            Item::ZoneName => {
                self.kind(Kind::ZoneName);
            }
            Item::ZoneColor { color } => {
                self.kind(Kind::ZoneColor).color(color);
            }
            Item::ZoneValue { value } => {
                self.kind(Kind::ZoneValue).u64(value);
            }
            Item::Message { .. } => self.message(item),
            Item::AppInfo { time } => {
                self.kind(Kind::MessageAppInfo).i64(time);
            }
            Item::Plot { name, time, value } => self.plot(name, time, value),
            Item::PlotConfig { name, format, step, fill, color } => {
                let out = self.kind(Kind::PlotConfig).u64(name);
                out.u8(format).u8(step.into()).u8(fill.into()).u32(color);
            }
            Item::FrameMark { time, name, sort } => {
                let kind = match sort {
                    FrameSort::Continuous => Kind::FrameMarkMsg,
                    FrameSort::Start => Kind::FrameMarkMsgStart,
                    FrameSort::End => Kind::FrameMarkMsgEnd,
                };
                self.kind(kind).i64(time).u64(name);
            }
            Item::FrameVsync { time, id } => {
                self.kind(Kind::FrameVsync).i64(time).u32(id);
            }
            Item::FrameImage { frame, width, height, flip } => {
                self.kind(Kind::FrameImage).u32(frame).u16(width).u16(height).u8(flip.into());
            }
            Item::Terminate => {
                self.kind(Kind::Terminate);
            }
            Item::KeepAlive => {
                self.kind(Kind::KeepAlive);
            }
            Item::Crash => {
                self.kind(Kind::Crash);
            }
            Item::CrashReport { time, text } => {
                self.kind(Kind::CrashReport).i64(time).u64(text);
            }
            _ => self.push_queued(item),
        }
    }

    /// Items of the serial queue, and those of sections and fibers.
    fn push_queued(&mut self, item: &Item<'_>) {
        match *item {
            Item::LockAnnounce { id, time, location, shared } => {
                self.kind(Kind::LockAnnounce).u32(id).i64(time).u64(location).u8(shared.into());
            }
            Item::LockTerminate { id, time } => {
                self.kind(Kind::LockTerminate).u32(id).i64(time);
            }
            Item::LockWait { thread, id, time, shared } => {
                let delta = since(&mut self.references.serial, time);
                let kind = if shared { Kind::LockSharedWait } else { Kind::LockWait };
                self.kind(kind).u32(thread).u32(id).i64(delta);
            }
            Item::LockObtain { thread, id, time, shared } => {
                let delta = since(&mut self.references.serial, time);
                let kind = if shared { Kind::LockSharedObtain } else { Kind::LockObtain };
                self.kind(kind).u32(thread).u32(id).i64(delta);
            }
            Item::LockRelease { thread, id, time } => {
                let delta = since(&mut self.references.serial, time);
                match thread {
                    None => self.kind(Kind::LockRelease).u32(id).i64(delta),
                    Some(thread) => self.kind(Kind::LockSharedRelease).u32(id).i64(delta).u32(thread),
                };
            }
            Item::LockMark { thread, id, location } => {
                self.kind(Kind::LockMark).u32(thread).u32(id).u64(location);
            }
            Item::LockName { id } => {
                self.kind(Kind::LockName).u32(id);
            }
            Item::MemName { pool } => {
                self.kind(Kind::MemNamePayload).u64(pool);
            }
            Item::MemAlloc { .. } | Item::MemFree { .. } | Item::MemDiscard { .. } => self.memory(item),
            Item::FiberEnter { time, fiber, thread, group } => {
                let delta = since(&mut self.references.thread, time);
                self.kind(Kind::FiberEnter).i64(delta).u64(fiber).u32(thread).u32(group as u32);
            }
            Item::FiberLeave { time, thread } => {
                let delta = since(&mut self.references.thread, time);
                self.kind(Kind::FiberLeave).i64(delta).u32(thread);
            }
            Item::SectionEnter { time, id, category } => {
                let delta = since(&mut self.references.thread, time);
                self.kind(Kind::SectionEnter).i64(delta).u32(id).u16(category);
            }
            Item::SectionLeave { time, id } => {
                let delta = since(&mut self.references.thread, time);
                self.kind(Kind::SectionLeave).i64(delta).u32(id);
            }
            Item::SectionSetup { category } => {
                self.kind(Kind::SectionSetup).u16(category);
            }
            Item::GpuNewContext { .. }
            | Item::GpuZoneBegin { .. }
            | Item::GpuZoneEnd { .. }
            | Item::GpuTime { .. }
            | Item::GpuCalibration { .. }
            | Item::GpuTimeSync { .. }
            | Item::GpuContextName { .. }
            | Item::GpuAnnotationName { .. }
            | Item::GpuZoneAnnotation { .. } => self.gpu(item),
            _ => self.push_system(item),
        }
    }

    /// Items about the machine, callstacks, and texts.
    fn push_system(&mut self, item: &Item<'_>) {
        match *item {
            Item::CallstackSerial => {
                self.kind(Kind::CallstackSerial);
            }
            Item::Callstack => {
                self.kind(Kind::Callstack);
            }
            Item::CallstackAlloc => {
                self.kind(Kind::CallstackAlloc);
            }
            Item::CallstackSample { thread, time, switch } => self.callstack_sample(thread, time, switch),
            Item::ContextSwitch { time, old_thread, new_thread, cpu, reason, state } => {
                let delta = since(&mut self.references.switch, time);
                let out = self.kind(Kind::ContextSwitch).i64(delta).u32(old_thread).u32(new_thread);
                out.u8(cpu).u8(reason).u8(state).u8(0).u8(0).u8(0);
            }
            Item::ThreadWakeup { time, thread, cpu } => {
                let delta = since(&mut self.references.switch, time);
                self.kind(Kind::ThreadWakeup).i64(delta).u32(thread).u8(cpu).u16(0);
            }
            Item::TidToPid { tid, pid } => {
                self.kind(Kind::TidToPid).u64(tid).u64(pid);
            }
            Item::HwSample { counter, address, time } => {
                let kind = match counter {
                    HwCounter::CpuCycle => Kind::HwSampleCpuCycle,
                    HwCounter::InstructionRetired => Kind::HwSampleInstructionRetired,
                    HwCounter::CacheReference => Kind::HwSampleCacheReference,
                    HwCounter::CacheMiss => Kind::HwSampleCacheMiss,
                    HwCounter::BranchRetired => Kind::HwSampleBranchRetired,
                    HwCounter::BranchMiss => Kind::HwSampleBranchMiss,
                };
                self.kind(kind).u64(address).i64(time);
            }
            Item::SysTime { time, percent } => {
                self.kind(Kind::SysTimeReport).i64(time).u32(percent.to_bits());
            }
            Item::SysPower { time, microjoule, name } => {
                self.kind(Kind::SysPowerReport).i64(time).u64(microjoule).u64(name);
            }
            Item::CpuTopology { package, die, core, thread } => {
                self.kind(Kind::CpuTopology).u32(package).u32(die).u32(core).u32(thread);
            }
            Item::ThreadGroupHint { thread, group } => {
                self.kind(Kind::ThreadGroupHint).u32(thread).u32(group as u32);
            }
            Item::ParamSetup { index, name, boolean, value } => {
                self.kind(Kind::ParamSetup).u32(index).u64(name).u8(boolean.into()).u32(value as u32);
            }
            _ => self.push_text(item),
        }
    }

    fn push_text(&mut self, item: &Item<'_>) {
        match *item {
            Item::SingleString(text) => {
                self.pending_string(Kind::SingleStringData8, Kind::SingleStringData, text);
            }
            Item::SecondString(text) => {
                self.pending_string(Kind::SecondStringData8, Kind::SecondStringData, text);
            }
            Item::LocationPayload(location) => self.location_payload(location),
            Item::CallstackPayload { frames } => self.text(Kind::CallstackPayload, 0, frames),
            Item::CallstackAllocPayload { frames } => self.text(Kind::CallstackAllocPayload, 0, frames),
            Item::FrameImageData { image } => self.long_text(Kind::FrameImageData, 0, image),
            Item::StringData { pointer, text } => self.text(Kind::StringData, pointer, text),
            Item::ThreadName { thread, text } => self.text(Kind::ThreadName, thread, text),
            Item::PlotName { pointer, text } => self.text(Kind::PlotName, pointer, text),
            Item::FrameName { pointer, text } => self.text(Kind::FrameName, pointer, text),
            Item::FiberName { pointer, text } => self.text(Kind::FiberName, pointer, text),
            Item::ExternalName { thread, text } => self.text(Kind::ExternalName, thread, text),
            Item::ExternalThreadName { thread, text } => self.text(Kind::ExternalThreadName, thread, text),
            Item::SourceLocation { name, function, file, line, color } => {
                self.kind(Kind::SourceLocation).u64(name).u64(function).u64(file).u32(line).color(color);
            }
            Item::SourceCode { id, text } => self.long_text(Kind::SourceCode, id, text),
            Item::SourceCodeNotAvailable { id } => {
                self.kind(Kind::AckSourceCodeNotAvailable).u32(id);
            }
            Item::SymbolCode { symbol, code } => self.long_text(Kind::SymbolCode, symbol, code),
            Item::SymbolCodeNotAvailable => {
                self.kind(Kind::AckSymbolCodeNotAvailable);
            }
            Item::CallstackFrameSize { address, frames } => {
                self.kind(Kind::CallstackFrameSize).u64(address).u8(frames);
            }
            Item::CallstackFrame { line, symbol, symbol_size } => {
                self.kind(Kind::CallstackFrame).u32(line).u64(symbol).u32(symbol_size);
            }
            Item::SymbolInformation { line, symbol } => {
                self.kind(Kind::SymbolInformation).u32(line).u64(symbol);
            }
            Item::Acknowledge => {
                self.kind(Kind::AckServerQueryNoop);
            }
            _ => unreachable!("`push` and its parts cover every item"),
        }
    }

    fn zone_begin(&mut self, time: i64, location: Option<u64>, callstack: bool) {
        let delta = since(&mut self.references.thread, time);
        let Some(location) = location else {
            let kind =
                if callstack { Kind::ZoneBeginAllocSrcLocCallstack } else { Kind::ZoneBeginAllocSrcLoc };
            self.kind(kind).i64(delta);
            return;
        };
        let kinds = if callstack {
            [Kind::ZoneBeginCallstack16, Kind::ZoneBeginCallstack32, Kind::ZoneBeginCallstack]
        } else {
            [Kind::ZoneBegin16, Kind::ZoneBegin32, Kind::ZoneBegin]
        };
        self.scaled(delta, kinds).u64(location);
    }

    fn message(&mut self, item: &Item<'_>) {
        let Item::Message { time, literal, color, metadata, callstack } = *item else { return };
        let kind = match (literal.is_some(), color.is_some(), callstack) {
            (false, false, false) => Kind::Message,
            (false, false, true) => Kind::MessageCallstack,
            (false, true, false) => Kind::MessageColor,
            (false, true, true) => Kind::MessageColorCallstack,
            (true, false, false) => Kind::MessageLiteral,
            (true, false, true) => Kind::MessageLiteralCallstack,
            (true, true, false) => Kind::MessageLiteralColor,
            (true, true, true) => Kind::MessageLiteralColorCallstack,
        };
        let out = self.kind(kind).i64(time);
        if let Some(color) = color {
            out.color(color);
        }
        match literal {
            Some(pointer) => out.u64(pointer << 8 | u64::from(metadata)),
            None => out.u8(metadata),
        };
    }

    fn plot(&mut self, name: u64, time: i64, value: PlotValue) {
        let delta = since(&mut self.references.thread, time);
        let kind = match value {
            PlotValue::Int(_) => Kind::PlotDataInt,
            PlotValue::Float(_) => Kind::PlotDataFloat,
            PlotValue::Double(_) => Kind::PlotDataDouble,
        };
        let out = self.kind(kind).u64(name).i64(delta);
        match value {
            PlotValue::Int(value) => out.i64(value),
            PlotValue::Float(value) => out.u32(value.to_bits()),
            PlotValue::Double(value) => out.u64(value.to_bits()),
        };
    }

    fn memory(&mut self, item: &Item<'_>) {
        match *item {
            Item::MemAlloc { time, thread, address, size, named, callstack } => {
                let kind = match (named, callstack) {
                    (false, false) => Kind::MemAlloc,
                    (true, false) => Kind::MemAllocNamed,
                    (false, true) => Kind::MemAllocCallstack,
                    (true, true) => Kind::MemAllocCallstackNamed,
                };
                let delta = since(&mut self.references.serial, time);
                let out = self.kind(kind).i64(delta).u32(thread).u64(address);
                out.u32(size as u32).u16((size >> 32) as u16);
            }
            Item::MemFree { time, thread, address, named, callstack } => {
                let kind = match (named, callstack) {
                    (false, false) => Kind::MemFree,
                    (true, false) => Kind::MemFreeNamed,
                    (false, true) => Kind::MemFreeCallstack,
                    (true, true) => Kind::MemFreeCallstackNamed,
                };
                let delta = since(&mut self.references.serial, time);
                self.kind(kind).i64(delta).u32(thread).u64(address);
            }
            Item::MemDiscard { time, thread, pool, callstack } => {
                let kind = if callstack { Kind::MemDiscardCallstack } else { Kind::MemDiscard };
                let delta = since(&mut self.references.serial, time);
                self.kind(kind).i64(delta).u32(thread).u64(pool);
            }
            _ => unreachable!("only memory items come here"),
        }
    }

    fn gpu(&mut self, item: &Item<'_>) {
        match *item {
            Item::GpuNewContext { cpu_time, gpu_time, thread, period, context, calibrated, sort } => {
                let out = self.kind(Kind::GpuNewContext).i64(cpu_time).i64(gpu_time).u32(thread);
                out.u32(period.to_bits()).u8(context).u8(calibrated.into()).u8(sort);
            }
            Item::GpuZoneBegin { cpu_time, thread, query, context, location, callstack, serial } => {
                let kind = gpu_begin_kind(location.is_none(), callstack, serial);
                let delta = since(self.gpu_reference(serial), cpu_time);
                let out = self.kind(kind).i64(delta).u32(thread).u16(query).u8(context);
                if let Some(location) = location {
                    out.u64(location);
                }
            }
            Item::GpuZoneEnd { cpu_time, thread, query, context, serial } => {
                let kind = if serial { Kind::GpuZoneEndSerial } else { Kind::GpuZoneEnd };
                let delta = since(self.gpu_reference(serial), cpu_time);
                self.kind(kind).i64(delta).u32(thread).u16(query).u8(context);
            }
            Item::GpuTime { gpu_time, query, context } => {
                let delta = since(&mut self.references.gpu, gpu_time);
                self.kind(Kind::GpuTime).i64(delta).u16(query).u8(context);
            }
            Item::GpuCalibration { gpu_time, cpu_time, cpu_delta, context } => {
                self.kind(Kind::GpuCalibration).i64(gpu_time).i64(cpu_time).i64(cpu_delta).u8(context);
            }
            Item::GpuTimeSync { gpu_time, cpu_time, context } => {
                self.kind(Kind::GpuTimeSync).i64(gpu_time).i64(cpu_time).u8(context);
            }
            Item::GpuContextName { context } => {
                self.kind(Kind::GpuContextName).u8(context);
            }
            Item::GpuAnnotationName { note, context } => {
                self.kind(Kind::GpuAnnotationName).i64(note).u8(context);
            }
            Item::GpuZoneAnnotation { note, value, thread, query, context } => {
                let out = self.kind(Kind::GpuZoneAnnotation).i64(note).u64(value.to_bits());
                out.u32(thread).u16(query).u8(context);
            }
            _ => unreachable!("only GPU items come here"),
        }
    }

    fn gpu_reference(&mut self, serial: bool) -> &mut i64 {
        if serial { &mut self.references.serial } else { &mut self.references.thread }
    }

    fn callstack_sample(&mut self, thread: u32, time: i64, switch: bool) {
        let delta = since(&mut self.references.switch, time);
        let kinds = if switch {
            [
                Kind::CallstackSampleContextSwitch16,
                Kind::CallstackSampleContextSwitch32,
                Kind::CallstackSampleContextSwitch,
            ]
        } else {
            [Kind::CallstackSample16, Kind::CallstackSample32, Kind::CallstackSample]
        };
        let (kind, _) = scale(delta, kinds);
        self.kind(kind).u32(thread);
        self.scaled_field(delta);
    }

    fn location_payload(&mut self, location: Location<'_>) {
        let name = location.name.unwrap_or_default();
        let length = 8 + location.function.len() + 1 + location.file.len() + 1 + name.len();
        let length = u16::try_from(length).expect("a location's texts fit into 65,535 bytes");
        let out = self.kind(Kind::SourceLocationPayload).u64(0).u16(length);
        out.u32(location.color).u32(location.line);
        out.raw(location.function).u8(0).raw(location.file).u8(0).raw(name);
    }

    fn pending_string(&mut self, short: Kind, long: Kind, text: &[u8]) {
        match u8::try_from(text.len()) {
            Ok(length) => self.kind(short).u8(length),
            Err(_) => {
                let length =
                    u16::try_from(text.len() - BEYOND_8_BIT).expect("a string fits into 65,791 bytes");
                self.kind(long).u16(length)
            }
        }
        .raw(text);
    }

    fn text(&mut self, kind: Kind, pointer: u64, text: &[u8]) {
        let length = u16::try_from(text.len()).expect("a text fits into 65,535 bytes");
        self.kind(kind).u64(pointer).u16(length).raw(text);
    }

    fn long_text(&mut self, kind: Kind, pointer: u64, text: &[u8]) {
        let length = u32::try_from(text.len()).expect("a text fits into 4 GiB");
        self.kind(kind).u64(pointer).u32(length).raw(text);
    }

    /// A kind and its time, in the shortest form that holds `delta`.
    fn scaled(&mut self, delta: i64, kinds: [Kind; 3]) -> &mut Self {
        self.kind(scale(delta, kinds).0);
        self.scaled_field(delta)
    }

    fn scaled_field(&mut self, delta: i64) -> &mut Self {
        match scale(delta, [16, 32, 64]) {
            (16, field) => self.u16(field as u16),
            (32, field) => self.u32(field as u32),
            (_, field) => self.i64(field),
        }
    }

    fn kind(&mut self, kind: Kind) -> &mut Self {
        self.u8(kind as u8)
    }
    fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }
    fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }
    fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }
    fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }
    fn i64(&mut self, value: i64) -> &mut Self {
        self.u64(value as u64)
    }
    fn color(&mut self, color: u32) -> &mut Self {
        self.raw(&color.to_le_bytes()[..3])
    }
    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }
}

fn since(reference: &mut i64, time: i64) -> i64 {
    let delta = time.wrapping_sub(*reference);
    *reference = time;
    delta
}

/// Which of the three widths holds `delta`, and what stands in the field then.
fn scale<W>(delta: i64, [short, middle, long]: [W; 3]) -> (W, i64) {
    match delta {
        0..BEYOND_16_BIT => (short, delta),
        BEYOND_16_BIT..BEYOND_32_BIT => (middle, delta - BEYOND_16_BIT),
        BEYOND_32_BIT.. => (long, delta - BEYOND_32_BIT),
        _ => (long, delta),
    }
}

fn gpu_begin_kind(allocated: bool, callstack: bool, serial: bool) -> Kind {
    match (serial, allocated, callstack) {
        (false, false, false) => Kind::GpuZoneBegin,
        (false, false, true) => Kind::GpuZoneBeginCallstack,
        (false, true, false) => Kind::GpuZoneBeginAllocSrcLoc,
        (false, true, true) => Kind::GpuZoneBeginAllocSrcLocCallstack,
        (true, false, false) => Kind::GpuZoneBeginSerial,
        (true, false, true) => Kind::GpuZoneBeginCallstackSerial,
        (true, true, false) => Kind::GpuZoneBeginAllocSrcLocSerial,
        (true, true, true) => Kind::GpuZoneBeginAllocSrcLocCallstackSerial,
    }
}
