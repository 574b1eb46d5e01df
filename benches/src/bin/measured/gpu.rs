//! Zones on a GPU's stream, with a device that answers at once: what they cost the program's thread and the
//! collector beside the driver's calls.

use std::hint::black_box;
use std::thread;

use zonecast::location;
use zonecast_benches::instant::{STREAM, trees, warm};

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
