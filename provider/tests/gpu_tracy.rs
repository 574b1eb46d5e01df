//! What a Tracy server sees of a program with a (fake) CUDA device: each kernel's zone on the GPU, with its file, line
//! and text, in order, and nothing that the server does not bear.

#![cfg(target_os = "linux")]

mod gpu_fake;
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use gpu_fake::{CREATE_EVENT, Fake};
use support::{expected, open, sha256};
use zonecast::embed::{Executable, Image};
use zonecast::gpu::cuda::Cuda;
#[cfg(feature = "hip")]
use zonecast::gpu::hip::Hip;
use zonecast::gpu::{Collector, Context, Gpu, GraphExec, GraphZones, Stream};
use zonecast::{Lane, LaneZone, Time, dispatch, location, sources};
use zonecast_fake_driver::Random;
use zonecast_tracy_wire::{Capture, GpuSort, child};

/// An on-demand client records nothing before somebody watches.
fn wait_for_server() {
    while !zonecast::is_connected() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether zones say when they were launched. They do not in a build without Tracy's headers, such as one that is told
/// to look for them where nothing is.
fn shows_launches() -> bool {
    std::env::var_os("ZONECAST_TRACY_INCLUDE").is_none_or(|folder| Path::new(&folder).exists())
}

fn assert_times(capture: &Capture) {
    for zone in capture.gpu_zones() {
        let (start, end) = (zone.start_ns().unwrap(), zone.end_ns().unwrap());
        assert!(start < end, "{} takes time", zone.name());
        let launched = !shows_launches() || zone.cpu_start_ns() <= start + 1_000;
        assert!(launched, "{} begins after it was launched", zone.name());
        if let Some(parent) = zone.parent() {
            assert!(parent.start_ns().unwrap() <= start && end <= parent.end_ns().unwrap());
        }
    }
    assert_eq!(capture.violations(), []);
}

/// The PTX that a module for CUDA holds, as a driver gets it.
fn ptx(executable: &Executable) -> String {
    let bytes = executable.image(0).unwrap().bytes().unwrap();
    let start = bytes.windows(9).position(|at| at == b".version ").unwrap();
    let text = bytes[start..].split(|byte| *byte == 0).next().unwrap();
    String::from_utf8(text.to_vec()).unwrap()
}

/// A model compiled for CUDA, run by its own PTX's kernels.
#[test]
fn each_kernel_has_its_own_text_on_the_gpu() {
    const MODULE: &str = "mlp.cuda-sm80.g3";
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let fake = Fake::cuda();
        fake.push();
        let executable = open(MODULE);
        let module = fake.module(&ptx(&executable));
        let names = |image: Image<'_>| -> Vec<String> {
            image.exports().map(|export| String::from_utf8(export.name().to_vec()).unwrap()).collect()
        };
        let kernels: Vec<_> =
            names(executable.image(0).unwrap()).iter().map(|name| fake.kernel(module, name)).collect();
        let registered = sources::register(executable);
        let sites = dispatch::sites(&registered);
        let (context, stream) = fake.context("stream 0");
        let mut params = [std::ptr::null_mut(); 4];
        for _ in 0..50 {
            let _step = context.zone(location!("step"));
            for (site, kernel) in sites.iter().zip(&kernels) {
                assert!(fake.parameters(*kernel) >= 3);
                let _zone = context.dispatch(site);
                fake.launch_kernel(*kernel, 128, stream, &mut params);
            }
        }
        assert_eq!(Collector::running().flush(Duration::from_secs(600)), 0);
        drop(context);
        fake.assert_no_misuse();
    });
    for (kernel, (file, line, hash)) in expected(MODULE, "0.source") {
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

/// A grouped device, and the names of its first streams.
const GROUP: &str = "GPU 0";
const GROUPED: [&str; 4] = ["a", "b", "c", "d"];

/// Zones of several streams overlap in one context, and nest within their own stream's alone.
fn work_together(fake: &Fake, gpu: impl Fn() -> Gpu) {
    let _session = zonecast::start();
    wait_for_server();
    let streams = fake.streams(&gpu().together(GROUP), GROUPED);
    for _ in 0..50 {
        let _outer = streams.each_ref().map(|(context, _)| context.zone(location!("outer")));
        for (context, stream) in &streams {
            let _inner = context.zone(location!("inner"));
            fake.launch(*stream, 50_000);
        }
    }
    assert_eq!(Collector::running().flush(Duration::from_secs(600)), 0);
    // A stream that comes later is one more row.
    let [(late, stream)] = fake.streams(&gpu().together(GROUP), ["late"]);
    {
        let _outer = late.zone(location!("late"));
        fake.launch(stream, 50_000);
    }
    assert_eq!(Collector::running().flush(Duration::from_secs(600)), 0);
    drop((streams, late));
    fake.assert_no_misuse();
}

fn assert_rows(capture: &Capture, sort: GpuSort) {
    let device = capture.gpu_contexts().one();
    assert_eq!((device.name(), device.sort()), (Some(GROUP), sort));
    let mut rows = BTreeMap::<_, Vec<_>>::new();
    for zone in capture.gpu_zones().named("outer") {
        rows.entry(zone.thread()).or_default().push(zone);
    }
    let late = capture.gpu_zones().named("late").one();
    assert!(!rows.contains_key(&late.thread()) && late.parent().is_none());
    assert_eq!(rows.values().map(Vec::len).collect::<Vec<_>>(), [50; GROUPED.len()]);
    let mut inner = 0;
    for zone in capture.gpu_zones().named("inner") {
        let parent = zone.parent().unwrap();
        assert_eq!((parent.name(), parent.thread()), ("outer", zone.thread()));
        inner += 1;
    }
    assert_eq!(inner, 50 * GROUPED.len());
    let [first, second] = [0, 1].map(|row| rows.values().nth(row).unwrap());
    let overlap = first.iter().zip(second).filter(|(first, second)| first.end_ns() > second.start_ns());
    assert!(overlap.count() > 0, "streams run at the same time");
    assert_times(capture);
}

#[test]
fn the_streams_of_a_device_are_rows_of_one_context() {
    let capture = child::capture(|| {
        let fake = Fake::cuda();
        fake.push();
        // SAFETY: the stream is never destroyed.
        work_together(&fake, || Gpu::new(unsafe { Cuda::of_stream(fake.stream()) }.unwrap()).unwrap());
    });
    assert_rows(&capture, GpuSort::Cuda);
}

#[test]
#[cfg(feature = "hip")]
fn so_are_those_of_a_device_of_hips() {
    let capture = child::capture(|| {
        let fake = Fake::hip();
        work_together(&fake, || Gpu::new(Hip::device(0).unwrap()).unwrap());
    });
    assert_rows(&capture, GpuSort::Rocprof);
}

/// Random programs on fake devices: streams, nesting, graphs, late events, drivers without memory.
struct Programs {
    fake: Fake,
    contexts: Vec<(Context, Stream)>,
    graphs: Vec<(GraphZones, GraphExec)>,
    /// Zones of contexts that are closed.
    recorded: u64,
}

impl Programs {
    fn new() -> Self {
        let fake = Fake::cuda();
        fake.push();
        Self { fake, contexts: Vec::new(), graphs: Vec::new(), recorded: 0 }
    }

    fn run(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        self.contexts = match seed % 2 {
            0 => vec![self.fake.context("a"), self.fake.context("b")],
            _ => self.fake.together("device", ["a", "b"]).into(),
        };
        self.graphs = self.contexts.iter().map(|(context, _)| graph(&self.fake, context)).collect();
        self.fake.be_late([0, 0, 9][random.below(3) as usize]);
        self.fake.fail(CREATE_EVENT, [0, 0, 0, 2][random.below(4) as usize]);
        for _ in 0..60 {
            self.step(&mut random);
        }
        self.fake.fail(CREATE_EVENT, 0);
        assert_eq!(Collector::running().flush(Duration::from_secs(600)), 0);
        for ((context, _), (zones, _)) in self.contexts.drain(..).zip(self.graphs.drain(..)) {
            let outcome = context.outcome();
            assert_eq!(outcome.in_flight, 0);
            self.recorded += outcome.recorded;
            // SAFETY: the graph is not launched again.
            unsafe { zones.destroy(&context) };
        }
    }

    fn step(&self, random: &mut Random) {
        let which = random.below(2) as usize;
        let (context, stream) = &self.contexts[which];
        let numbers: Vec<_> = (0..random.below(4)).map(|_| context.begin(location!("random"))).collect();
        if random.once_in(5) {
            let (zones, graph) = &self.graphs[which];
            // SAFETY: the graph is the context's, and launched on its stream.
            unsafe {
                zones.launch(context, *graph, location!("graph"), || self.fake.launch_graph(*graph, *stream));
            }
        }
        self.fake.capture(*stream, numbers.is_empty() && random.once_in(8));
        drop(context.zone(location!("leaf")));
        self.fake.capture(*stream, false);
        self.fake.launch(*stream, random.below(20_000) as i64);
        numbers.iter().rev().for_each(|number| context.end(*number));
    }
}

/// A graph with two zones inside, one in the other.
fn graph(fake: &Fake, context: &Context) -> (GraphZones, GraphExec) {
    let (graph, mut zones) = (fake.graph(), GraphZones::new());
    // SAFETY: the graph is the context's device's.
    unsafe {
        zones.begin(context, graph, &[], location!("graph outer")).unwrap();
        zones.begin(context, graph, &[], location!("graph inner")).unwrap();
        zones.end(context, graph, &[]).unwrap();
        zones.end(context, graph, &[]).unwrap();
    }
    (zones, fake.instantiate(graph))
}

/// `ZONECAST_GPU_RUNS=1000` runs many.
#[test]
fn random_programs_through_a_real_client() {
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let runs = std::env::var("ZONECAST_GPU_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20);
        let mut programs = Programs::new();
        (0..runs).for_each(|seed| programs.run(seed));
        programs.fake.assert_no_misuse();
        // And then the device is lost.
        let (context, stream) = programs.fake.context("lost");
        drop(context.zone(location!("last")));
        programs.fake.launch(stream, 1_000);
        programs.fake.destroy();
        drop(context.zone(location!("lost")));
        assert_eq!(Collector::running().flush(Duration::from_secs(600)), 0);
        programs.recorded += context.outcome().recorded;
        zonecast::message!("recorded {}", programs.recorded);
    });
    let message = capture.messages().find(|m| m.text().starts_with("recorded ")).unwrap();
    assert_eq!(message.text(), format!("recorded {}", capture.gpu_zones().count()));
    assert!(capture.gpu_zones().named("graph inner").count() > 50);
    assert_times(&capture);
}

/// Profilers come and go; none gets a part of a tree.
#[cfg(feature = "tracy-on-demand")]
#[test]
fn each_profiler_gets_whole_trees() {
    let program = child::Case::new().program(|| {
        let mut programs = Programs::new();
        let ends = std::time::Instant::now() + Duration::from_secs(600);
        // The test takes less, and ends this.
        (0..).take_while(|_| std::time::Instant::now() < ends).for_each(|seed| programs.run(seed));
        // SAFETY: it has no preconditions. Tracy's own end would wait for a profiler.
        unsafe { libc::_exit(0) }
    });
    let enough = |capture: &Capture| capture.gpu_zones().count() > 10;
    let mut started =
        program.receiver(move |receiver| receiver.check(true).stop_once(enough)).start().unwrap();
    for _ in 0..5 {
        assert_times(&started.receiver.capture().unwrap());
    }
}
