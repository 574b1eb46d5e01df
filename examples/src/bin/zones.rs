//! Every call of zonecast once. Run it under each provider and look at what comes.

use std::sync::Mutex;
use std::thread;

use zonecast::{
    Fiber, Frame, FrameImage, Location, LocationParts, PlotFormat, PlotStyle, Pool, Severity, Zone,
    frame_mark, function_zone, location, lock, message, name, plot, zone, zone_text,
};

/// Memory of a device, for instance.
const DEVICE: Pool = Pool::named(name!("device"));

fn main() {
    let _session = zonecast::start();
    zonecast::app_info("an example: every call once");
    zonecast::set_thread_name("main thread");

    zones();
    messages_and_plots();
    frames();
    memory();
    locks();
    fibers();
}

fn zones() {
    // Named after the function, and with all that a zone can carry.
    let zone = function_zone!();
    zone.text("a text");
    zone_text!(zone, "another text, number {}", 2);
    zone.value(1_000);
    zone.color(0x88_cc_00);

    drop(zone!("in colour", color = 0xff_88_00));
    drop(zone!("with its callers", callstack = 8));
    drop(zone!(name = &format!("layer {}", 3)));

    let renamed = zone!("renamed");
    renamed.name("by another name");
    drop(renamed);

    // One after another, with no time between them.
    let mut steps = zone!("load");
    steps.switch(location!("compute"));
    steps.switch(location!("store"));
    drop(steps);

    // A place that is only known at run time, with its text.
    zonecast::sources::publish("shaders/add.wgsl", "@compute @workgroup_size(64)\nfn add() {}\n".as_bytes());
    let parts = LocationParts { name: "add", function: "add", file: "shaders/add.wgsl", line: 2, color: 0 };
    let place = Location::intern(parts);
    drop(Zone::begin_interned(&place));
}

fn messages_and_plots() {
    let _zone = function_zone!();
    message!("loaded {} weights", 48);
    message!(severity = Severity::Warning, color = 0xff_aa_00, "no source is embedded");

    let style = PlotStyle { format: PlotFormat::Memory, step: true, ..PlotStyle::default() };
    zonecast::plot_style(name!("cache"), style);
    for step in 0..4 {
        plot!("cache", 4_096 * step);
        plot!("loss", 1.0 / f64::from(step + 1));
    }
}

fn frames() {
    let _zone = function_zone!();
    let pixels = [0x40; 4 * 4 * 4];
    zonecast::frame_image(FrameImage { pixels: &pixels, width: 4, height: 4, age: 0, flipped: false });
    frame_mark!();
    frame_mark!("audio");
    let _frame = Frame::begin(name!("now and then"));
}

fn memory() {
    let _zone = function_zone!();
    // Addresses of a device's memory, which this program does not touch. For its own memory there is
    // `TracedAllocator`.
    DEVICE.alloc(0x7000_0000, 4_096);
    DEVICE.alloc(0x7000_1000, 4_096);
    DEVICE.free(0x7000_0000);
    DEVICE.discard();
}

fn locks() {
    let _zone = function_zone!();
    let queue = Mutex::new(Vec::new());
    let shown = lock!("queue");
    thread::scope(|scope| {
        for number in 0..2 {
            let (queue, shown) = (&queue, &shown);
            scope.spawn(move || {
                zonecast::set_thread_name(&format!("producer {number}"));
                let _zone = zone!("produce");
                shown.wait();
                // A poisoned queue is still one that numbers can be put into.
                let mut numbers = queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                shown.obtained();
                numbers.push(number);
                drop(numbers);
                shown.released();
            });
        }
    });
    shown.tried(queue.try_lock().is_ok());
    shown.released();
}

fn fibers() {
    let _fiber = Fiber::enter(name!("task 1"));
    let _zone = function_zone!();
}
