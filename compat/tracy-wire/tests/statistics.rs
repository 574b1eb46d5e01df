//! Statistics mode: the same numbers, in memory that does not grow.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use zonecast_tracy_wire::{Encoder, Engine, Item, Keep, PlotValue, Summary, Welcome};

/// Counts the bytes that are allocated.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are passed on to the system's allocator, whose contract is the caller's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A frame of zones, messages, plots, memory and GPU zones, at round `round`.
fn frame(encoder: &mut Encoder, round: i64) -> Vec<u8> {
    let start = round * 1_000_000;
    for step in 0..500 {
        let time = start + step * 1000;
        let (thread, address) = (1 + (step % 4) as u32, 0x1000 + step as u64);
        encoder.push(&Item::ThreadContext { thread });
        encoder.push(&Item::ZoneBegin { time, location: Some(0x40 + step as u64 % 8), callstack: false });
        encoder.push(&Item::ZoneBegin { time: time + 10, location: Some(0x60), callstack: false });
        encoder.push(&Item::SingleString(b"some text of the zone"));
        encoder.push(&Item::ZoneText);
        encoder.push(&Item::ZoneEnd { time: time + 300 });
        encoder.push(&Item::ZoneEnd { time: time + 400 + step });
        encoder.push(&Item::Plot { name: 5, time: time + 500, value: PlotValue::Int(step) });
        encoder.push(&Item::SingleString(b"a message"));
        encoder.push(&Item::Message { time, literal: None, color: None, metadata: 0x20, callstack: false });
        encoder.push(&Item::MemAlloc { time, thread, address, size: 8, named: false, callstack: false });
        encoder.push(&Item::MemFree { time, thread, address, named: false, callstack: false });
        let (query, context) = ((step * 2) as u16, 0);
        let location = Some(0x80);
        encoder.push(&Item::GpuZoneBegin {
            cpu_time: time,
            thread: 1,
            query,
            context,
            location,
            callstack: false,
            serial: true,
        });
        encoder.push(&Item::GpuZoneEnd {
            cpu_time: time,
            thread: 1,
            query: query + 1,
            context,
            serial: true,
        });
        encoder.push(&Item::GpuTime { gpu_time: time, query, context });
        encoder.push(&Item::GpuTime { gpu_time: time + 90, query: query + 1, context });
    }
    encoder.take()
}

fn context() -> Item<'static> {
    Item::GpuNewContext {
        cpu_time: 0,
        gpu_time: 0,
        thread: 0,
        period: 1.0,
        context: 0,
        calibrated: false,
        sort: 8,
    }
}

fn engine(keep: Keep, check: bool) -> Engine {
    let mut engine = Engine::new(Welcome::default()).keep(keep).check(check);
    engine.item(&context());
    engine
}

/// What tells one row of a summary from another, and what it says.
fn row(summary: &Summary<'_>) -> (bool, u64, i128, i64, i64, i64) {
    let durations = &summary.durations;
    (
        summary.gpu,
        durations.count(),
        durations.total(),
        durations.min(),
        durations.max(),
        durations.percentile(99.0),
    )
}

#[test]
fn statistics_are_those_of_everything_and_memory_stays_flat() {
    let (mut whole, mut flat) = (engine(Keep::Everything, false), engine(Keep::Statistics, false));
    let mut encoder = Encoder::default();
    for round in 0..4 {
        let frame = frame(&mut encoder, round);
        whole.feed(&frame).expect("the frame is sound");
        flat.feed(&frame).expect("the frame is sound");
    }
    let (whole, flat) = (whole.finish(), flat.finish());
    let rows = |summary: &[Summary<'_>]| summary.iter().map(row).collect::<Vec<_>>();
    assert_eq!(rows(&whole.summary()), rows(&flat.summary()));
    assert_eq!((whole.zones().count(), flat.zones().count()), (4000, 0));
    assert_eq!(flat.counts()["messages"], 2000);

    for check in [false, true] {
        let mut engine = engine(Keep::Statistics, check);
        let mut encoder = Encoder::default();
        let mut live = Vec::new();
        for round in 0..60 {
            engine.feed(&frame(&mut encoder, round)).expect("the frame is sound");
            live.push(LIVE.load(Ordering::Relaxed));
        }
        let (early, late) = (live[9], live[59]);
        assert!(
            late <= early + 4096,
            "after 10 rounds {early} bytes, after 60 rounds {late}; check: {check}"
        );
        let capture = engine.finish();
        assert_eq!(capture.violations(), []);
        assert!(capture.lost().keys().all(|kind| *kind == "names"), "{:?}", capture.lost());
    }
}
