//! Every call, through criterion: `cargo bench -p zonecast-benches --features console`, or
//! `tracy`, `tracy-on-demand`, `null`.
//!
//! The console writes nowhere, unless `ZONECAST_FILE` says where.
//!
//! The times are short on purpose: Tracy keeps what nobody fetches, some hundred megabytes a second.
//! A profiler may be connected meanwhile.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use zonecast::{
    Fiber, Frame, FrameImage, Lane, Location, LocationParts, Name, Pool, Severity, Time, TracedAllocator,
    Zone, frame_mark, function_zone, location, lock, message, name, plot, zone, zone_text,
};

const PROVIDER: &str = if cfg!(feature = "tracy-on-demand") {
    "tracy-on-demand"
} else if cfg!(feature = "tracy") {
    "tracy"
} else if cfg!(feature = "console") {
    "console"
} else {
    "null"
};

const NOWHERE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

fn start(_: &mut Criterion) {
    // The session is over when the process is.
    std::mem::forget(zonecast::start_with(&[("ZONECAST_FILE", NOWHERE)]));
}

fn zones(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("{PROVIDER}/zone"));
    group.bench_function("static", |b| b.iter(|| zone!("zone")));
    group.bench_function("coloured", |b| b.iter(|| zone!("zone", color = 0xff_8800)));
    group.bench_function("function", |b| b.iter(|| function_zone!()));
    group.bench_function("named at run time", |b| b.iter(|| zone!(name = "layer 3")));
    group.bench_function("call stack", |b| b.iter(|| zone!("zone", callstack = 8)));
    let place = Location::intern(parts("kernel"));
    group.bench_function("interned", |b| b.iter(|| Zone::begin_interned(&place)));
    group.bench_function("text", |b| b.iter(|| zone!("zone").text("batch 7 of 1000")));
    group.bench_function("formatted text", |b| b.iter(|| zone_text!(zone!("zone"), "batch {}", 7)));
    group.bench_function("value", |b| b.iter(|| zone!("zone").value(7)));
    group.bench_function("name", |b| b.iter(|| zone!("zone").name("layer 3")));
    group.bench_function("colour", |b| b.iter(|| zone!("zone").color(0xff_8800)));
    group.bench_function("switch", |b| {
        let mut zone = zone!("zone");
        b.iter(|| zone.switch(location!("next")));
    });
    group.bench_function("on a lane", |b| {
        let mut lane = Lane::new("decoder");
        b.iter(|| {
            let start = Time::now();
            lane.zone_at(location!("frame"), start, Time::now());
        });
    });
}

fn events(c: &mut Criterion) {
    let mut group = c.benchmark_group(PROVIDER);
    group.bench_function("message/literal", |b| b.iter(|| message!("weights are loaded")));
    group.bench_function("message/formatted", |b| b.iter(|| message!("{} weights", 48)));
    group.bench_function("message/warning", |b| {
        b.iter(|| message!(severity = Severity::Warning, color = 0xff_0000, "no source is embedded"));
    });
    group.bench_function("plot/integer", |b| b.iter(|| plot!("queue length", 17)));
    group.bench_function("plot/f64", |b| b.iter(|| plot!("loss", 0.25)));
    group.bench_function("plot/f32", |b| b.iter(|| plot!("loss", 0.25_f32)));
    group.bench_function("frame/mark", |b| b.iter(|| frame_mark!()));
    group.bench_function("frame/named", |b| b.iter(|| frame_mark!("step")));
    group.bench_function("frame/with gaps", |b| b.iter(|| Frame::begin(name!("decode"))));
    let pixels = [0; 16 * 16 * 4];
    let image = FrameImage { pixels: &pixels, width: 16, height: 16, age: 0, flipped: false };
    group.bench_function("frame/image", |b| b.iter(|| zonecast::frame_image(image)));
    group.bench_function("thread name", |b| b.iter(|| zonecast::set_thread_name("worker 3")));
    group.bench_function("app info", |b| b.iter(|| zonecast::app_info("model 3")));
    group.bench_function("is connected", |b| b.iter(zonecast::is_connected));
}

fn resources(c: &mut Criterion) {
    let mut group = c.benchmark_group(PROVIDER);
    for (name, pool) in [("main", Pool::MAIN), ("named", Pool::named(name!("device")))] {
        group.bench_function(format!("memory/{name}"), |b| {
            b.iter(|| {
                pool.alloc(0x7000_0000, 4096);
                pool.free(0x7000_0000);
            });
        });
    }
    let traced = TracedAllocator::new(System, Pool::MAIN);
    let layout = Layout::new::<[u64; 8]>();
    group.bench_function("memory/allocator", |b| {
        // SAFETY: the layout has a size, and each block is given back once, with that layout.
        b.iter(|| unsafe { traced.dealloc(black_box(traced.alloc(layout)), layout) });
    });
    let queue = lock!("queue");
    group.bench_function("lock", |b| {
        b.iter(|| {
            queue.wait();
            queue.obtained();
            queue.released();
        });
    });
    group.bench_function("fiber", |b| b.iter(|| Fiber::enter(name!("request"))));
    group.bench_function("location/intern", |b| b.iter(|| Location::intern(parts("kernel"))));
    group.bench_function("name/intern", |b| b.iter(|| Name::intern("queue 3")));
}

fn parts(name: &str) -> LocationParts<'_> {
    LocationParts { name, function: name, file: "model.mlir", line: 8, color: 0 }
}

criterion_group! {
    name = calls;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(80))
        .without_plots();
    targets = start, zones, events, resources
}
criterion_main!(calls);
