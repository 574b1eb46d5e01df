//! Random programs on a simulated device that misbehaves: whatever happens, zones are whole, in order,
//! where they should be, and accounted for.
//!
//! `ZONECAST_GPU_SCHEDULES=1000000` runs many, `ZONECAST_GPU_ZONES=1000000` has as many in flight.

mod gpu_sim;

use std::sync::Arc;

use gpu_sim::{Keeper, Seen, Simulated, from_env, keeper};
use zonecast::gpu::{Collector, Context, Gpu, Graph, GraphExec, GraphZones, Stream, ZoneNumber};
use zonecast::location;
use zonecast_fake_driver::{Misuse, Random, Rounding, Settings, code};

/// What a schedule wants to go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    None,
    Late,
    Never,
    Lost,
    Destroyed,
    NoMemory,
    NoTimes,
    Reset,
    Ended,
    Slow,
    Lies,
    Interrupted,
}

const TROUBLES: [Trouble; 12] = [
    Trouble::None,
    Trouble::Late,
    Trouble::Never,
    Trouble::Lost,
    Trouble::Destroyed,
    Trouble::NoMemory,
    Trouble::NoTimes,
    Trouble::Reset,
    Trouble::Ended,
    Trouble::Slow,
    Trouble::Lies,
    Trouble::Interrupted,
];

struct Program {
    simulated: Simulated,
    collector: Collector,
    gpu: Gpu,
    random: Random,
    trouble: Trouble,
    is_wrapping: bool,
    begun: u64,
}

struct Lane {
    context: Context,
    stream: Stream,
    open: Vec<ZoneNumber>,
    graph: Option<GraphZones>,
}

impl Program {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let tick = [1, 32, 1_000][random.below(3) as usize];
        let rounding = [Rounding::Cuda, Rounding::Hip, Rounding::HipClamped][random.below(3) as usize];
        let wrap = if random.once_in(8) { 1 << (28 + random.below(4)) } else { 0 };
        let simulated = Simulated::new(Settings { seed, tick, rounding, wrap, ..Settings::default() });
        let collector = Collector::by_hand(Arc::new(simulated.clone()));
        let limit = [4, 64, 100_000][random.below(3) as usize];
        let gpu = Gpu::with(simulated.clone(), &collector, limit).unwrap();
        let trouble = TROUBLES[random.below(TROUBLES.len() as u64) as usize];
        Self { simulated, collector, gpu, random, trouble, is_wrapping: wrap != 0, begun: 0 }
    }

    fn lane(&mut self) -> Lane {
        let stream = self.simulated.stream();
        // SAFETY: the stream is the device's and outlives the context.
        let context = unsafe { self.gpu.context(stream, "stream") };
        let graph = self.random.once_in(3).then(|| self.graph(&context, stream));
        Lane { context, stream, open: Vec::new(), graph }
    }

    /// A graph of two zones, one in the other. Its handle is the stream's.
    fn graph(&self, context: &Context, stream: Stream) -> GraphZones {
        let mut zones = GraphZones::new();
        let graph = Graph(stream.0);
        // SAFETY: the simulation takes any number for a graph.
        unsafe {
            zones.begin(context, graph, &[], location!("graph outer")).unwrap();
            zones.begin(context, graph, &[], location!("graph inner")).unwrap();
            zones.end(context, graph, &[]).unwrap();
            zones.end(context, graph, &[]).unwrap();
        }
        zones
    }

    fn make_trouble(&self) {
        let mut sim = self.simulated.sim();
        match self.trouble {
            Trouble::None => {}
            Trouble::Late => sim.faults.late_once_in = 20,
            Trouble::Never => sim.faults.never_once_in = 60,
            Trouble::Lost => sim.faults.launch_failed = true,
            Trouble::Destroyed => sim.faults.destroyed = true,
            Trouble::NoMemory => {
                sim.faults.fail.insert("create_event", (0, code::OUT_OF_MEMORY));
            }
            Trouble::NoTimes => {
                sim.faults.fail.insert("elapsed", (0, code::INVALID_HANDLE));
            }
            Trouble::Reset => sim.reset_counter(),
            Trouble::Ended => sim.faults.ended = true,
            Trouble::Slow => sim.faults.slow_queries = 5,
            Trouble::Lies => sim.faults.lies_once_in = 3,
            Trouble::Interrupted => sim.faults.interrupted_once_in = 200,
        }
    }

    fn step(&mut self, lane: &mut Lane) {
        match self.random.below(12) {
            0..=3 => {
                self.begun += 1;
                lane.open.push(lane.context.begin(location!("zone")));
            }
            4..=6 => {
                if let Some(zone) = lane.open.pop() {
                    lane.context.end(zone);
                }
            }
            7 => {
                // Ends all that is open within it, too; ending those again does nothing.
                lane.open.drain(..).for_each(|zone| lane.context.end(zone));
            }
            8 | 9 => self.simulated.launch(lane.stream, self.random.latency(2_000, 400_000_000)),
            10 => self.replay(lane),
            _ => {
                let on = self.random.once_in(4) && lane.open.is_empty();
                self.simulated.sim().capture(lane.stream.0 as u64, on);
            }
        }
        self.simulated.sim().advance(self.random.below(3_000_000) as i64);
        if self.random.once_in(6) {
            self.collector.poll();
        }
    }

    fn replay(&mut self, lane: &Lane) {
        let Some(graph) = &lane.graph else { return };
        let before = total(&lane.context);
        let handle = lane.stream.0;
        // SAFETY: the simulation's graphs are launched as they were built.
        unsafe {
            graph.launch(&lane.context, GraphExec(handle), location!("replay"), || {
                let _ = self.simulated.sim().launch_graph(handle as u64, handle as u64);
            });
        }
        // The zones of the graph count if the one around it is recorded.
        self.begun += if lane.open.is_empty() { total(&lane.context) - before } else { 0 };
    }
}

fn total(context: &Context) -> u64 {
    let outcome = context.outcome();
    outcome.recorded + outcome.failed + outcome.over_limit + outcome.in_capture + outcome.in_flight
}

fn run(seed: u64, keeper: &Keeper) -> usize {
    let mut program = Program::new(seed);
    let mut lanes: Vec<Lane> = (0..1 + program.random.below(3)).map(|_| program.lane()).collect();
    let steps = 20 + program.random.below(60);
    let trouble_at = program.random.below(steps);
    for step in 0..steps {
        if step == trouble_at {
            program.make_trouble();
        }
        let lane = program.random.below(lanes.len() as u64) as usize;
        program.step(&mut lanes[lane]);
    }
    let with_graphs = lanes.iter().any(|lane| lane.graph.is_some());
    let mut counted = 0;
    for lane in &mut lanes {
        program.simulated.sim().capture(lane.stream.0 as u64, false);
        lane.open.drain(..).rev().for_each(|zone| lane.context.end(zone));
    }
    // A slow device needs five looks for each tree.
    let looks = if program.trouble == Trouble::Slow { 400 } else { 40 };
    for _ in 0..looks {
        program.simulated.sim().advance(100_000_000);
        program.collector.settle();
    }
    let stuck = program.trouble == Trouble::Never;
    let seen = keeper.take();
    let mut recorded = 0;
    for lane in lanes {
        let outcome = lane.context.outcome();
        assert!(stuck || outcome.in_flight == 0, "{outcome:?} {:?}", program.trouble);
        counted += total(&lane.context);
        recorded += outcome.recorded;
        if let Some(graph) = lane.graph {
            // SAFETY: the graph is not launched again.
            unsafe { graph.destroy(&lane.context) };
        }
    }
    if !with_graphs {
        assert_eq!(counted, program.begun, "{:?}", program.trouble);
    }
    assert_eq!(recorded as usize, seen.len());
    check(&program, &seen);
    let Program { simulated, collector, gpu, trouble, .. } = program;
    drop(gpu);
    for _ in 0..3 {
        collector.settle();
    }
    let gone = matches!(
        trouble,
        Trouble::Lost
            | Trouble::Destroyed
            | Trouble::NoTimes
            | Trouble::Never
            | Trouble::NoMemory
            | Trouble::Ended
    );
    assert!(gone || simulated.sim().live_events() == 0, "{} events left", simulated.sim().live_events());
    assert_eq!(simulated.sim().misuse, Misuse::default());
    seen.len()
}

fn check(program: &Program, seen: &[Seen]) {
    let mut lanes: Vec<u64> = seen.iter().map(|zone| zone.lane).collect();
    lanes.sort_unstable();
    lanes.dedup();
    for lane in lanes {
        // The end of the last zone at each depth, and the zones that are open.
        let mut ends: Vec<i64> = Vec::new();
        let mut open: Vec<&Seen> = Vec::new();
        for zone in seen.iter().filter(|zone| zone.lane == lane) {
            let depth = zone.depth as usize;
            open.truncate(depth);
            assert_eq!(open.len(), depth, "each zone follows its parent");
            ends.truncate(depth + 1);
            ends.resize(depth + 1, i64::MIN);
            assert!(zone.start < zone.end && ends[depth] <= zone.start, "siblings are in order");
            ends[depth] = zone.end;
            if let Some(parent) = open.last() {
                assert!(
                    parent.start <= zone.start && zone.end <= parent.end,
                    "children lie in their parents"
                );
            }
            open.push(zone);
            // Where the driver's times contradict each other, only the order can be kept.
            let is_causal = zone.launched.0.ns() <= zone.start || program.trouble == Trouble::Lies;
            assert!(is_causal, "{zone:?} in {open:?} {:?}", program.trouble);
            let graph = zone.title.starts_with("graph");
            let is_true = matches!(program.trouble, Trouble::None | Trouble::Slow | Trouble::Late);
            if !graph && is_true && !program.is_wrapping {
                let (start, end) =
                    (program.simulated.truth(zone.launched.0), program.simulated.truth(zone.launched.1));
                let (start, end) = (start.unwrap(), end.unwrap());
                // Zones may be moved to be in order, each by a nanosecond at least.
                let error = zone.error + 200;
                assert!(
                    (zone.start - start).abs() <= error,
                    "{} ns off, {error} allowed",
                    zone.start - start
                );
                assert!((zone.end - end).abs() <= error, "{} ns off, {error} allowed", zone.end - end);
            }
        }
    }
}

#[test]
fn any_program_on_any_device() {
    let keeper = keeper();
    let schedules = from_env("ZONECAST_GPU_SCHEDULES", 1_500);
    let first = from_env("ZONECAST_GPU_SEED", 0);
    let mut zones = 0;
    for seed in first..first + schedules {
        match std::panic::catch_unwind(|| run(seed, &keeper)) {
            Ok(seen) => zones += seen,
            Err(_) => panic!("schedule {seed}: ZONECAST_GPU_SEED={seed} ZONECAST_GPU_SCHEDULES=1 repeats it"),
        }
    }
    println!("{schedules} schedules, {zones} zones");
    assert!(zones as u64 > schedules, "schedules that record nothing prove nothing");
}

#[test]
fn many_zones_in_flight() {
    let keeper = keeper();
    let simulated = Simulated::new(Settings::default());
    let collector = Collector::by_hand(Arc::new(simulated.clone()));
    let gpu = Gpu::with(simulated.clone(), &collector, zonecast::gpu::DEFAULT_LIMIT).unwrap();
    let stream = simulated.stream();
    // SAFETY: the stream is the device's and outlives the context.
    let context = unsafe { gpu.context(stream, "stream") };
    // The device is busy for longer than it takes to launch them all.
    simulated.launch(stream, 3_600_000_000_000);
    let zones = from_env("ZONECAST_GPU_ZONES", 50_000);
    for _ in 0..zones {
        drop(context.zone(location!("zone")));
    }
    collector.poll();
    assert_eq!(context.outcome().in_flight, zones);
    simulated.sim().advance(3_600_000_000_000);
    simulated.sim().advance(60_000_000_000);
    collector.settle();
    let outcome = context.outcome();
    assert_eq!((outcome.recorded, outcome.in_flight), (zones, 0));
    assert_eq!(keeper.take().len() as u64, zones);
    drop(context);
    collector.poll();
    drop(gpu);
    collector.settle();
    assert_eq!(simulated.sim().live_events(), 0);
}
