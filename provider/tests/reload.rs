//! What registering costs: no source byte, a few allocations a module, and nothing that grows.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use zonecast::dispatch;
use zonecast::embed::Executable;
use zonecast::sources;

/// Counts what is taken and what is still held.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call goes to the system's allocator with the caller's own arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        TAKEN.fetch_add(layout.size(), Ordering::Relaxed);
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MANY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../embed/tests/data/iree/many.cpu.g3.vmfb");

/// One test, since the counters are the whole process's.
#[test]
fn registering_copies_nothing_and_reloading_does_not_grow() {
    registering_copies_nothing();
    reloading_does_not_grow();
}

fn registering_copies_nothing() {
    let executables: Vec<_> = (0..1_000).map(|_| Arc::new(Executable::open(MANY).unwrap())).collect();
    let mut modules = Vec::with_capacity(executables.len());
    let (calls, taken) = (CALLS.load(Ordering::Relaxed), TAKEN.load(Ordering::Relaxed));
    modules.extend(executables.iter().map(|executable| sources::register(executable.clone())));
    let calls = CALLS.load(Ordering::Relaxed) - calls;
    let taken = TAKEN.load(Ordering::Relaxed) - taken;
    assert!(calls <= 1_000, "{calls} allocations for 1,000 modules");
    assert!(taken <= 256 * 1_000, "{taken} bytes for 1,000 modules");
}

fn reloading_does_not_grow() {
    let cycle = || {
        let module = sources::register(Executable::open(MANY).unwrap());
        let sites = dispatch::sites(&module);
        sites.iter().map(|site| std::ptr::from_ref(site.location()).addr()).collect::<Vec<_>>()
    };
    let first = cycle();
    assert_eq!(first.len(), 12);
    for _ in 0..10 {
        cycle();
    }
    let held = HELD.load(Ordering::Relaxed);
    for _ in 0..10_000 {
        assert_eq!(cycle(), first, "a location moved");
    }
    let grown = HELD.load(Ordering::Relaxed) - held;
    assert!(grown <= 0, "{grown} bytes more after 10,000 reloads");
}
