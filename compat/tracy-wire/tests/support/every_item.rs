//! Items of every kind.

use zonecast_tracy_wire::{FrameSort, HwCounter, Item, Location, PlotValue};

/// At least one item of every kind that crosses the wire.
pub(crate) fn every_item() -> Vec<Item<'static>> {
    const LONG: &[u8] = &[b'l'; 1000];
    let location = Location { name: Some(b"n"), function: b"f", file: b"file.rs", line: 9, color: 0x123456 };
    let mut items = vec![
        Item::ThreadContext { thread: 1 },
        Item::ZoneValidation { id: 3 },
        Item::ZoneText,
        Item::ZoneName,
        Item::ZoneColor { color: 0xABCDEF },
        Item::ZoneValue { value: u64::MAX },
        Item::AppInfo { time: 5 },
        Item::CallstackSerial,
        Item::Callstack,
        Item::CallstackAlloc,
        Item::FrameImage { frame: 1, width: 8, height: 4, flip: true },
        Item::FrameVsync { time: 8, id: 2 },
        Item::LockAnnounce { id: 1, time: 2, location: 3, shared: true },
        Item::LockTerminate { id: 1, time: 9 },
        Item::LockRelease { thread: None, id: 1, time: 70 },
        Item::LockRelease { thread: Some(4), id: 1, time: 60 },
        Item::LockMark { thread: 1, id: 2, location: 3 },
        Item::LockName { id: 5 },
        Item::MemName { pool: 0x77 },
        Item::GpuTime { gpu_time: -5, query: 9, context: 1 },
        Item::GpuContextName { context: 3 },
        Item::GpuAnnotationName { note: -1, context: 3 },
        Item::GpuCalibration { gpu_time: 1, cpu_time: 2, cpu_delta: 3, context: 4 },
        Item::GpuTimeSync { gpu_time: 1, cpu_time: 2, context: 4 },
        Item::GpuNewContext {
            cpu_time: 1,
            gpu_time: 2,
            thread: 3,
            period: 1.5,
            context: 4,
            calibrated: true,
            sort: 8,
        },
        Item::GpuZoneAnnotation { note: 1, value: 0.25, thread: 2, query: 3, context: 4 },
        Item::Plot { name: 1, time: 100, value: PlotValue::Int(-5) },
        Item::Plot { name: 1, time: 90, value: PlotValue::Float(0.5) },
        Item::Plot { name: 1, time: 110, value: PlotValue::Double(-0.5) },
        Item::PlotConfig { name: 1, format: 2, step: true, fill: false, color: 0x010203 },
        Item::ContextSwitch { time: 5, old_thread: 1, new_thread: 2, cpu: 3, reason: 4, state: 5 },
        Item::ThreadWakeup { time: 9, thread: 1, cpu: 2 },
        Item::TidToPid { tid: 1, pid: 2 },
        Item::SysTime { time: 1, percent: 12.5 },
        Item::SysPower { time: 1, microjoule: 2, name: 3 },
        Item::CpuTopology { package: 1, die: 2, core: 3, thread: 4 },
        Item::FiberEnter { time: 200, fiber: 5, thread: 6, group: -7 },
        Item::FiberLeave { time: 210, thread: 6 },
        Item::SectionEnter { time: 220, id: 1, category: 2 },
        Item::SectionLeave { time: 230, id: 1 },
        Item::SectionSetup { category: 2 },
        Item::ThreadGroupHint { thread: 1, group: -2 },
        Item::ParamSetup { index: 1, name: 2, boolean: true, value: -3 },
        Item::Terminate,
        Item::KeepAlive,
        Item::Crash,
        Item::CrashReport { time: 1, text: 2 },
        Item::SingleString(b"short"),
        Item::SingleString(LONG),
        Item::SecondString(b""),
        Item::SecondString(LONG),
        Item::LocationPayload(location),
        Item::LocationPayload(Location { name: None, ..location }),
        Item::CallstackPayload { frames: &[1; 16] },
        Item::CallstackAllocPayload { frames: &[0] },
        Item::FrameImageData { image: &[7; 16] },
        Item::StringData { pointer: 1, text: LONG },
        Item::ThreadName { thread: 1, text: b"main" },
        Item::PlotName { pointer: 1, text: b"plot" },
        Item::FrameName { pointer: 1, text: b"frame" },
        Item::FiberName { pointer: 1, text: b"fiber" },
        Item::ExternalName { thread: 1, text: b"sh" },
        Item::ExternalThreadName { thread: 1, text: b"sh" },
        Item::SourceLocation { name: 1, function: 2, file: 3, line: 4, color: 0x102030 },
        Item::SourceCode { id: 1, text: &[b's'; 70_000] },
        Item::SourceCodeNotAvailable { id: 1 },
        Item::SymbolCode { symbol: 1, code: &[0xC3] },
        Item::SymbolCodeNotAvailable,
        Item::CallstackFrameSize { address: 1, frames: 2 },
        Item::CallstackFrame { line: 1, symbol: 2, symbol_size: 3 },
        Item::SymbolInformation { line: 1, symbol: 2 },
        Item::Acknowledge,
    ];
    for sort in [FrameSort::Continuous, FrameSort::Start, FrameSort::End] {
        items.push(Item::FrameMark { time: 7, name: 6, sort });
    }
    for counter in [
        HwCounter::CpuCycle,
        HwCounter::InstructionRetired,
        HwCounter::CacheReference,
        HwCounter::CacheMiss,
        HwCounter::BranchRetired,
        HwCounter::BranchMiss,
    ] {
        items.push(Item::HwSample { counter, address: 1, time: 2 });
    }
    for flag in [false, true] {
        items.extend([
            Item::LockWait { thread: 1, id: 2, time: 50, shared: flag },
            Item::LockObtain { thread: 1, id: 2, time: 55, shared: flag },
            Item::MemDiscard { time: 50, thread: 1, pool: 2, callstack: flag },
            Item::GpuZoneEnd { cpu_time: 300, thread: 1, query: 2, context: 3, serial: flag },
        ]);
        for other in [false, true] {
            items.extend([
                Item::MemAlloc {
                    time: 80,
                    thread: 1,
                    address: 2,
                    size: 1 << 40,
                    named: flag,
                    callstack: other,
                },
                Item::MemFree { time: 81, thread: 1, address: 2, named: flag, callstack: other },
            ]);
            for last in [None, Some(0x40)] {
                items.extend([
                    Item::Message {
                        time: 1,
                        literal: last,
                        color: flag.then_some(0xA0B0C0),
                        metadata: 0x31,
                        callstack: other,
                    },
                    Item::GpuZoneBegin {
                        cpu_time: 90,
                        thread: 1,
                        query: 2,
                        context: 3,
                        location: last,
                        callstack: flag,
                        serial: other,
                    },
                ]);
            }
        }
    }
    for callstack in [false, true] {
        let context = Item::ThreadContext { thread: 1 };
        items.push(context);
        items.extend(times().map(|time| Item::ZoneBegin { time, location: Some(0x40), callstack }));
        items.push(context);
        items.extend(times().map(|time| Item::ZoneEnd { time }));
        items.extend(times().map(|time| Item::ZoneBegin { time, location: None, callstack }));
        items.extend(times().map(|time| Item::CallstackSample { thread: 1, time, switch: callstack }));
    }
    items
}

/// Times whose differences lie on both sides of every limit of a short form, and go backwards.
fn times() -> [i64; 9] {
    const BEYOND_32: i64 = (1 << 32) + (1 << 16);
    [0, 1, 65_535, 65_536 * 2, BEYOND_32 * 2, BEYOND_32 * 4 - 1, 7, -9, 1 << 60]
}
