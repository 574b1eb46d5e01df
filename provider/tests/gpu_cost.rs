//! What a zone costs the program's thread, beyond the driver's own calls: no allocation once it is warm.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use zonecast::gpu::{
    Collector, Context, DEFAULT_LIMIT, Device, Error, Event, Gpu, HostClock, Status, Stream,
};
use zonecast::{Provider, Time, location};

/// Counts this thread's allocations.
struct Counting;

thread_local!(static ALLOCATIONS: Cell<u64> = const { Cell::new(0) });

// SAFETY: everything is the system's; a counter is no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: by the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the caller's contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Nothing;

impl Provider for Nothing {}

/// A clock that host and device share, and a device that is always done.
#[derive(Clone, Default)]
struct Instant(Arc<Shared>);

#[derive(Default)]
struct Shared {
    now: AtomicI64,
    events: AtomicUsize,
}

impl HostClock for Instant {
    fn stamp(&self) -> u64 {
        self.now().ns() as u64
    }
    fn now(&self) -> Time {
        Time::from_ns(self.0.now.fetch_add(50, Ordering::Relaxed))
    }
}

/// An event is its time.
impl Device for Instant {
    fn name(&self) -> String {
        "instant".into()
    }
    fn create_event(&self) -> Result<Event, Error> {
        self.0.events.fetch_add(1, Ordering::Relaxed);
        Ok(Event(Box::into_raw(Box::new(AtomicI64::new(0))).cast()))
    }
    unsafe fn destroy_event(&self, event: Event) {
        self.0.events.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: made above.
        drop(unsafe { Box::from_raw(event.0.cast::<AtomicI64>()) });
    }
    unsafe fn record(&self, event: Event, _: Stream) -> Result<(), Error> {
        // SAFETY: made above, alive.
        unsafe { &*event.0.cast::<AtomicI64>() }.store(self.now().ns(), Ordering::Relaxed);
        Ok(())
    }
    unsafe fn query(&self, _: Event) -> Result<Status, Error> {
        Ok(Status::Done)
    }
    unsafe fn elapsed_ns(&self, earlier: Event, later: Event) -> Result<i64, Error> {
        // SAFETY: made above, alive.
        let time = |event: Event| unsafe { &*event.0.cast::<AtomicI64>() }.load(Ordering::Relaxed);
        Ok(time(later) - time(earlier))
    }
    fn create_stream(&self) -> Result<Stream, Error> {
        Ok(Stream(std::ptr::dangling_mut()))
    }
    unsafe fn destroy_stream(&self, _: Stream) {}
}

fn zones(context: &Context) {
    for _ in 0..1_000 {
        let _outer = context.zone(location!("outer"));
        drop(context.zone(location!("inner")));
    }
}

#[test]
fn a_warm_thread_allocates_nothing_and_events_come_back() {
    static NOTHING: Nothing = Nothing;
    zonecast::install(&NOTHING).unwrap();
    let device = Instant::default();
    let collector = Collector::by_hand(Arc::new(device.clone()));
    let gpu = Gpu::with(device.clone(), &collector, DEFAULT_LIMIT).unwrap();
    // SAFETY: this device's streams are nothing.
    let context = unsafe { gpu.context(Stream(std::ptr::dangling_mut()), "stream") };
    for _ in 0..3 {
        zones(&context);
        assert_eq!(collector.settle(), 0);
    }
    let before = ALLOCATIONS.get();
    zones(&context);
    assert_eq!(ALLOCATIONS.get(), before);
    assert_eq!(collector.settle(), 0);
    assert_eq!(context.outcome().recorded, 8_000);

    // Much in flight at once, and then nothing for a while.
    (0..20).for_each(|_| zones(&context));
    let most = device.0.events.load(Ordering::Relaxed);
    for _ in 0..60 {
        device.0.now.fetch_add(100_000_000, Ordering::Relaxed);
        collector.poll();
    }
    assert_eq!(context.outcome().recorded, 48_000);
    assert!(device.0.events.load(Ordering::Relaxed) < most / 4, "the pool shrinks");
    drop(context);
    drop(gpu);
    collector.settle();
    assert_eq!(device.0.events.load(Ordering::Relaxed), 0);
}
