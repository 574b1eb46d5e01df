//! A GPU that answers at once, for what its zones cost beside the driver's calls.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use zonecast::gpu::{Begun, Collector, Context, Device, Error, Event, Gpu, HostClock, Status, Stream};
use zonecast::{Time, location};

/// Of the host and of the device.
#[derive(Debug)]
struct Clock;

impl Clock {
    /// The processor's own count, where programs' threads read it too.
    #[cfg(target_arch = "x86_64")]
    fn count() -> i64 {
        // SAFETY: every x86-64 processor has this instruction.
        unsafe { std::arch::x86_64::_rdtsc() as i64 }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn count() -> i64 {
        Time::now().ns()
    }
}

impl HostClock for Clock {
    fn stamp(&self) -> u64 {
        Self::count() as u64
    }
    fn is_processor_count(&self) -> bool {
        cfg!(target_arch = "x86_64")
    }
    fn now(&self) -> Time {
        Time::from_ns(Self::count())
    }
}

/// A device that answers at once: its events are times.
#[derive(Debug)]
struct Instant;

impl Device for Instant {
    fn name(&self) -> String {
        "instant".into()
    }
    fn create_event(&self) -> Result<Event, Error> {
        Ok(Event(Box::into_raw(Box::new(AtomicI64::new(0))).cast()))
    }
    unsafe fn destroy_event(&self, event: Event) {
        // SAFETY: made above, and destroyed once.
        drop(unsafe { Box::from_raw(event.0.cast::<AtomicI64>()) });
    }
    unsafe fn record(&self, event: Event, _: Stream) -> Result<(), Error> {
        // SAFETY: made above, alive.
        unsafe { time(event) }.store(Clock::count(), Ordering::Relaxed);
        Ok(())
    }
    unsafe fn begin(&self, event: Event, _: Stream) -> Begun {
        // SAFETY: as above.
        unsafe { time(event) }.store(Clock::count(), Ordering::Relaxed);
        Begun::Yes
    }
    unsafe fn query(&self, _: Event) -> Result<Status, Error> {
        Ok(Status::Done)
    }
    unsafe fn elapsed_ns(&self, earlier: Event, later: Event) -> Result<i64, Error> {
        // SAFETY: as above.
        let [earlier, later] = [earlier, later].map(|event| unsafe { time(event) }.load(Ordering::Relaxed));
        Ok(later - earlier)
    }
    fn create_stream(&self) -> Result<Stream, Error> {
        Ok(STREAM)
    }
    unsafe fn destroy_stream(&self, _: Stream) {}
}

/// The one stream that the device has.
pub const STREAM: Stream = Stream(std::ptr::dangling_mut());

/// # Safety
/// The event was made by the device above, and is alive.
unsafe fn time<'a>(event: Event) -> &'a AtomicI64 {
    // SAFETY: by this function's contract.
    unsafe { &*event.0.cast() }
}

/// The device, what collects its zones, and its stream's context.
#[allow(missing_debug_implementations, reason = "devices have none")]
pub struct Warm {
    /// As the driver that a collector calls.
    pub device: Arc<dyn Device>,
    /// It works when it is told to.
    pub collector: Collector,
    /// For whoever makes zones.
    pub context: Mutex<Context>,
}

/// A stream whose pools have grown. It is made by another thread, so that nothing of it is counted.
///
/// # Panics
/// If the machine has no thread to spare.
pub fn warm() -> &'static Warm {
    static WARM: OnceLock<Warm> = OnceLock::new();
    WARM.get_or_init(|| thread::spawn(make_warm).join().expect("nothing fails in it"))
}

/// More than any loop has.
const IN_FLIGHT: u64 = 16_000;

fn make_warm() -> Warm {
    let collector = Collector::by_hand(Arc::new(Clock));
    let gpu = Gpu::with(Instant, &collector, IN_FLIGHT * 2).expect("it always answers");
    // SAFETY: this device's streams are nothing.
    let context = unsafe { gpu.context(STREAM, "stream") };
    for _ in 0..3 {
        trees(&context, IN_FLIGHT);
        collector.settle();
    }
    Warm { device: Arc::new(Instant), collector, context: Mutex::new(context) }
}

/// So many zones, in trees of four.
pub fn trees(context: &Context, zones: u64) {
    for _ in 0..zones / 4 {
        let _step = context.zone(location!("step"));
        drop(context.zone(location!("copy")));
        let _layer = context.zone(location!("layer"));
        drop(context.zone(location!("matmul")));
    }
}
