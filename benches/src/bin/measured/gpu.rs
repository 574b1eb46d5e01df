//! Zones on a GPU's stream, with a device that answers at once: what they cost the program's thread and the
//! collector beside the driver's calls.

use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use zonecast::gpu::{Begun, Collector, Context, Device, Error, Event, Gpu, HostClock, Status, Stream};
use zonecast::{Time, location};

/// Of the host and of the device.
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

/// Its events are times.
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

const STREAM: Stream = Stream(std::ptr::dangling_mut());

/// # Safety
/// The event was made by the device above, and is alive.
unsafe fn time<'a>(event: Event) -> &'a AtomicI64 {
    // SAFETY: by this function's contract.
    unsafe { &*event.0.cast() }
}

struct Warm {
    device: Arc<dyn Device>,
    collector: Collector,
    context: Mutex<Context>,
}

/// A stream whose pools have grown. It is made by another thread, so that nothing of it is counted.
fn warm() -> &'static Warm {
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
fn trees(context: &Context, zones: u64) {
    for _ in 0..zones / 4 {
        let _step = context.zone(location!("step"));
        drop(context.zone(location!("copy")));
        let _layer = context.zone(location!("layer"));
        drop(context.zone(location!("matmul")));
    }
}

zonecast_benches::loops! {
    /// What a zone calls of the driver: part of the two below.
    fn loop_gpu_driver(n) {
        let device = &*black_box(warm()).device;
        let [begin, end] = [0, 1].map(|_| device.create_event().expect("it always answers"));
        for i in 0..n {
            // SAFETY: the events are the device's, and alive.
            black_box(unsafe { device.begin(begin, STREAM) });
            black_box(i);
            // SAFETY: as above.
            let _ = black_box(unsafe { device.record(end, STREAM) });
        }
        for event in [begin, end] {
            // SAFETY: nobody uses it again.
            unsafe { device.destroy_event(event) };
        }
    }

    fn loop_gpu_zone(n) {
        let context = warm().context.lock().expect("no loop panics");
        for i in 0..n {
            let _zone = context.zone(location!("zone"));
            black_box(i);
        }
    }

    fn loop_gpu_zone_inside(n) {
        let context = warm().context.lock().expect("no loop panics");
        let _outer = context.zone(location!("outer"));
        for i in 0..n {
            let _zone = context.zone(location!("zone"));
            black_box(i);
        }
    }

    /// The collector alone: the zones are another thread's, which is not counted.
    fn loop_gpu_collector(n) {
        let warm = warm();
        thread::scope(|scope| {
            scope.spawn(|| trees(&warm.context.lock().expect("no loop panics"), n));
        });
        warm.collector.settle();
    }
}
