//! The simulated device as a backend of `zonecast::gpu`, and a provider that keeps what it is given.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use libtest_mimic::Trial;
use zonecast::gpu::{Device, Error, Event, Graph, GraphExec, HostClock, Node, Status, Stream};
use zonecast::{LaneId, LaneInfo, LaneZone, Provider, Time};
use zonecast_fake_driver::{Settings, Sim, code};

/// A simulation that device, clock and test share.
#[derive(Clone)]
pub(crate) struct Simulated(Arc<Shared>);

struct Shared {
    sim: Mutex<Sim>,
    /// The last stamp that a program's thread took, and what became of the record after it.
    stamp: AtomicU64,
    /// The stream for comparing clocks.
    own: AtomicU64,
    passed: Mutex<BTreeMap<u64, i64>>,
}

impl Simulated {
    pub(crate) fn new(settings: Settings) -> Self {
        let sim = Mutex::new(Sim::new(settings));
        Self(Arc::new(Shared {
            sim,
            stamp: AtomicU64::new(0),
            own: AtomicU64::new(0),
            passed: Mutex::default(),
        }))
    }

    pub(crate) fn sim(&self) -> MutexGuard<'_, Sim> {
        self.0.sim.lock().unwrap()
    }

    /// When the event recorded after this stamp was passed, by the host's clock. Known once.
    pub(crate) fn truth(&self, stamp: Time) -> Option<i64> {
        self.0.passed.lock().unwrap().remove(&(stamp.ns() as u64))
    }

    /// When all that was recorded after stamps was passed, in the order of the stamps.
    pub(crate) fn truths(&self) -> Vec<i64> {
        self.0.passed.lock().unwrap().values().copied().collect()
    }

    pub(crate) fn stream(&self) -> Stream {
        Stream(self.sim().create_stream().unwrap() as *mut c_void)
    }

    pub(crate) fn launch(&self, stream: Stream, ns: i64) {
        let _ = self.sim().launch(stream.0 as u64, ns);
    }
}

impl HostClock for Simulated {
    fn stamp(&self) -> u64 {
        let now = self.sim().now() as u64;
        self.0.stamp.store(now, Ordering::Relaxed);
        now
    }

    fn now(&self) -> Time {
        Time::from_ns(self.sim().now())
    }
}

fn checked<T>(call: &'static str, result: Result<T, u32>) -> Result<T, Error> {
    result.map_err(|code| Error::call(call, code, "as wanted"))
}

impl Device for Simulated {
    fn name(&self) -> String {
        "simulated device".into()
    }

    fn create_event(&self) -> Result<Event, Error> {
        checked("create_event", self.sim().create_event()).map(|event| Event(event as *mut c_void))
    }

    unsafe fn destroy_event(&self, event: Event) {
        let _ = self.sim().destroy_event(event.0 as u64);
    }

    unsafe fn record(&self, event: Event, stream: Stream) -> Result<(), Error> {
        let mut sim = self.sim();
        let result = checked("record", sim.record(event.0 as u64, stream.0 as u64));
        let stamp = self.0.stamp.swap(0, Ordering::Relaxed);
        if stamp != 0 && stream.0 as u64 != self.0.own.load(Ordering::Relaxed) {
            self.0.passed.lock().unwrap().insert(stamp, sim.truth(event.0 as u64));
        }
        result
    }

    unsafe fn query(&self, event: Event) -> Result<Status, Error> {
        match self.sim().query(event.0 as u64) {
            Ok(()) => Ok(Status::Done),
            Err(code::NOT_READY) => Ok(Status::Pending),
            Err(code::CAPTURED_EVENT) => Ok(Status::Captured),
            Err(code) => Err(Error::call("query", code, "as wanted")),
        }
    }

    unsafe fn elapsed_ns(&self, earlier: Event, later: Event) -> Result<i64, Error> {
        let ms = checked("elapsed", self.sim().elapsed(earlier.0 as u64, later.0 as u64))?;
        Ok((f64::from(ms) * 1e6).round() as i64)
    }

    fn rounding_ns(&self, elapsed_ns: i64) -> i64 {
        if elapsed_ns.abs() < 16_000_000 { 0 } else { (elapsed_ns.abs() >> 24) * 2 + 1 }
    }

    unsafe fn is_capturing(&self, stream: Stream) -> Result<bool, Error> {
        checked("is_capturing", self.sim().is_capturing(stream.0 as u64))
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        let stream = checked("create_stream", self.sim().create_stream())?;
        self.0.own.store(stream, Ordering::Relaxed);
        Ok(Stream(stream as *mut c_void))
    }

    unsafe fn destroy_stream(&self, stream: Stream) {
        let _ = self.sim().destroy_stream(stream.0 as u64);
    }

    unsafe fn add_graph_event(&self, graph: Graph, _: &[Node], event: Event) -> Result<Node, Error> {
        let node = checked("add", self.sim().add_graph_event(graph.0 as u64, event.0 as u64))?;
        Ok(Node(node as *mut c_void))
    }

    unsafe fn set_graph_event(&self, graph: GraphExec, node: Node, event: Event) -> Result<(), Error> {
        checked("set", self.sim().set_graph_event(graph.0 as u64, node.0 as u64, event.0 as u64))
    }
}

/// A zone as the provider got it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) lane: u64,
    pub(crate) title: String,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) launched: (Time, Time),
    pub(crate) measured: i64,
    pub(crate) error: i64,
    pub(crate) depth: u32,
}

/// Keeps the zones of lanes.
#[derive(Default)]
pub(crate) struct Keeper {
    lanes: AtomicU64,
    pub(crate) seen: Mutex<Vec<Seen>>,
}

impl Keeper {
    pub(crate) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

impl Provider for Keeper {
    fn lane_create(&self, _: LaneInfo<'_>) -> LaneId {
        LaneId(self.lanes.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn lane_zones(&self, lane: LaneId, tree: &[LaneZone<'_>]) {
        let seen = |zone: &LaneZone<'_>| Seen {
            lane: lane.0,
            title: zone.location.title().to_string_lossy().into_owned(),
            start: zone.start.ns(),
            end: zone.end.ns(),
            launched: zone.launched.unwrap(),
            measured: zone.measured_ns,
            error: zone.error_ns,
            depth: zone.depth,
        };
        self.seen.lock().unwrap().extend(tree.iter().map(seen));
    }
}

/// The provider of this process, for one test at a time.
pub(crate) fn keeper() -> MutexGuard<'static, &'static Keeper> {
    static KEEPER: LazyLock<Keeper> = LazyLock::new(Keeper::default);
    static TURN: LazyLock<Mutex<&'static Keeper>> = LazyLock::new(|| {
        zonecast::install(&*KEEPER).unwrap();
        Mutex::new(&*KEEPER)
    });
    let keeper = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    keeper.take();
    keeper
}

/// A number from the environment, for long runs.
pub(crate) fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// A test of something that a machine may lack, and what it lacks: then the test is ignored, which is
/// counted and said, unless `ZONECAST_GPU_NEEDS` names it.
pub(crate) fn trial(name: &'static str, lacks: Option<String>, test: fn()) -> Trial {
    let needs = std::env::var("ZONECAST_GPU_NEEDS").unwrap_or_default();
    let is_needed = needs.split(',').any(|needed| needed == name);
    if let Some(lacks) = &lacks {
        println!("{name}: skipped: {lacks}");
    }
    let is_ignored = lacks.is_some() && !is_needed;
    let run = move || {
        if let Some(lacks) = lacks {
            return Err(lacks.into());
        }
        test();
        Ok(())
    };
    Trial::test(name, run).with_ignored_flag(is_ignored)
}
