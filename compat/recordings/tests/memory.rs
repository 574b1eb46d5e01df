//! Summing up a stream takes no more memory for a longer one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use zonecast_recordings::instruments::{AccessMap, Filter, Function, InstrumentRing, Stream, Workgroup};

/// Counts what is allocated, and the most that ever was.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A stream of so many executions of a kernel that copies a buffer, and what it takes to sum it up.
fn most(executions: u32) -> (usize, u64) {
    const TILES: u32 = 64;
    const TILE: u64 = 1024;
    let records = u64::from(executions * TILES) * (2 + 2 * TILE / 16);
    let ring = InstrumentRing::new(usize::try_from(16 * records).unwrap().next_power_of_two());
    for tile in (0..executions).flat_map(|_| 0..TILES) {
        let key = ring.workgroup(Workgroup { site: 0, id: [tile, 0, 0], count: [TILES, 1, 1], processor: 0 });
        for at in (0..TILE).step_by(16) {
            let at = 0x10_0000 + u64::from(tile) * TILE + at;
            ring.load(key, at, 16);
            ring.store(key, at + 0x10_0000, 16);
        }
    }
    let mut bytes = Vec::new();
    let function = Function { name: b"copy", target: None, layout: None, source: None };
    ring.save(&[function], &[0], &mut bytes).unwrap();
    let stream = Stream::read(&bytes).unwrap();
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let map = AccessMap::of(&stream.modules()[0], &Filter::default());
    let most = MOST.load(Ordering::Relaxed) - before;
    assert_eq!(map.sites()[0].workgroups, u64::from(executions * TILES));
    (most, map.records())
}

#[test]
fn a_longer_stream_takes_no_more_memory() {
    let (short, few) = most(4);
    let (long, many) = most(64);
    assert_eq!(many, 16 * few);
    assert_eq!(short, long, "bytes at most");
}
