//! What a Tracy server sees of a program with a (fake) CUDA device: each kernel's zone on the GPU, with its file, line
//! and text, in order, and nothing that the server does not bear.

#![cfg(target_os = "linux")]

mod support;

use std::ffi::c_void;
use std::time::Duration;

use libloading::Library;
use support::{expected, open, sha256};
use zonecast::gpu::cuda::Cuda;
use zonecast::gpu::{Collector, Context, Gpu, Stream};
use zonecast::{Lane, LaneZone, Time, dispatch, location, sources};
use zonecast_fake_driver::Random;
use zonecast_tracy_wire::{Capture, GpuSort, child};

struct Fake(Library);

impl Fake {
    fn load() -> Self {
        let path = std::env::current_exe().unwrap().with_file_name("libzonecast_fake_cuda.so");
        // SAFETY: it is our own, and has no initialisers.
        let fake = Self(unsafe { Library::new(path) }.unwrap());
        // SAFETY: the function has this type.
        unsafe { fake.0.get::<extern "C" fn(u64) -> u32>("cuCtxPushCurrent_v2").unwrap()(0xc0c0) };
        fake
    }

    fn context(&self, name: &str) -> (Context, Stream) {
        let mut stream = std::ptr::null_mut();
        // SAFETY: the function has this type; the stream is never destroyed.
        unsafe {
            let create = self.0.get::<extern "C" fn(*mut *mut c_void, u32) -> u32>("cuStreamCreate").unwrap();
            assert_eq!(create(&mut stream, 0), 0);
            let gpu = Gpu::new(Cuda::of_stream(Stream(stream)).unwrap()).unwrap();
            (gpu.context(Stream(stream), name), Stream(stream))
        }
    }

    fn launch(&self, stream: Stream, ns: i64) {
        // SAFETY: the function has this type.
        unsafe { self.0.get::<extern "C" fn(*mut c_void, i64) -> u32>("fake_launch").unwrap()(stream.0, ns) };
    }
}

/// An on-demand client records nothing before somebody watches.
fn wait_for_server() {
    while !zonecast::is_connected() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn assert_times(capture: &Capture) {
    for zone in capture.gpu_zones() {
        let (start, end) = (zone.start_ns().unwrap(), zone.end_ns().unwrap());
        assert!(start < end, "{} takes time", zone.name());
        assert!(zone.cpu_start_ns() <= start + 1_000, "{} begins after it was launched", zone.name());
        if let Some(parent) = zone.parent() {
            assert!(parent.start_ns().unwrap() <= start && end <= parent.end_ns().unwrap());
        }
    }
    assert_eq!(capture.violations(), []);
}

#[test]
fn each_kernel_has_its_own_text_on_the_gpu() {
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let fake = Fake::load();
        let module = sources::register(open("mlp.cpu.g3"));
        let sites = dispatch::sites(&module);
        let (context, stream) = fake.context("stream 0");
        for _ in 0..50 {
            let _step = context.zone(location!("step"));
            for site in sites.iter() {
                let _zone = context.dispatch(site);
                fake.launch(stream, 200_000);
            }
        }
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(Collector::running().flush(Duration::from_secs(5)), 0);
    });
    for (kernel, (file, line, hash)) in expected("mlp.cpu.g3", "0.source") {
        let zones: Vec<_> = capture.gpu_zones().named(&kernel).in_file(&file).collect();
        assert_eq!(zones.len(), 50, "{kernel}");
        assert!(zones.iter().all(|zone| zone.line() == line && zone.parent().unwrap().name() == "step"));
        assert_eq!(sha256(capture.source(&file).unwrap()), hash, "{kernel}");
    }
    assert_eq!(capture.gpu_zones().named("step").count(), 50);
    let context = capture.gpu_contexts().named("stream 0").one();
    assert_eq!(context.sort(), GpuSort::Cuda);
    assert_times(&capture);
}

#[test]
fn lanes_are_contexts_and_share_the_last_ids() {
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let beginning = Time::now();
        std::thread::sleep(Duration::from_millis(5));
        let mut lanes: Vec<Lane> = (0..300).map(|lane| Lane::new(&format!("lane {lane}"))).collect();
        let at = |ns: i64| beginning.plus(ns);
        for (lane, place) in lanes.iter_mut().zip(0_i64..) {
            lane.zones(&mut [
                LaneZone::new(location!("outer"), at(place * 1_000), at(place * 1_000 + 3_000_000)),
                LaneZone::new(location!("inner"), at(place * 1_000), at(place * 1_000)).at_depth(1),
                LaneZone::new(location!("inner"), at(place * 1_000), at(2_000_000))
                    .at_depth(1)
                    .named("renamed"),
            ]);
        }
        // Hours later on one row, then back on another: no counter has wrapped.
        lanes[298].zone_at(location!("late"), at(9_000_000_000), at(9_000_000_100));
        lanes[299].zone_at(location!("early"), at(4_000_000), at(4_000_100));
        // A closed lane's id goes to the next of its name.
        drop(lanes.remove(0));
        Lane::new("lane 0").zone_at(location!("again"), at(5_000_000), at(5_000_100));
    });
    assert_eq!(capture.gpu_zones().named("outer").count(), 300);
    assert_eq!(capture.gpu_zones().named("renamed").count(), 300);
    for zone in capture.gpu_zones().named("outer") {
        let duration = zone.duration_ns().unwrap();
        // The profiler's nanoseconds are off the system's by some millionths.
        assert!((duration - 3_000_000).abs() < 3_000, "{duration}");
    }
    assert_eq!(capture.gpu_contexts().count(), 240);
    let again = capture.gpu_zones().named("again").one();
    assert_eq!(again.context().name(), Some("lane 0"));
    assert_eq!(capture.violations(), []);
}

/// `ZONECAST_GPU_RUNS=1000` runs many.
#[test]
fn random_programs_through_a_real_client() {
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let fake = Fake::load();
        let runs = std::env::var("ZONECAST_GPU_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20);
        let mut begun = 0;
        for run in 0..runs {
            let mut random = Random::new(run);
            let contexts = [fake.context("a"), fake.context("b")];
            for _ in 0..60 {
                let (context, stream) = &contexts[random.below(2) as usize];
                let depth = 1 + random.below(4);
                let place = location!("random");
                let numbers: Vec<_> = (0..depth).map(|_| context.begin(place)).collect();
                fake.launch(*stream, random.below(20_000) as i64);
                numbers.iter().rev().for_each(|number| context.end(*number));
                begun += depth;
            }
        }
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(Collector::running().flush(Duration::from_secs(10)), 0);
        zonecast::message!("begun {begun}");
    });
    let message = capture.messages().find(|m| m.text().starts_with("begun ")).unwrap();
    assert_eq!(message.text(), format!("begun {}", capture.gpu_zones().named("random").count()));
    assert_times(&capture);
}
