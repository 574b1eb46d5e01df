//! A GPU that is not there.
//!
//! [`Sim`] is one timeline: streams are queues that run in order, each operation begins some latency after the
//! host asked for it and is seen done some latency after it was. The host's clock is simulated
//! too (every call takes a little of it, and [`Sim::advance`] lets much pass), or is the real one. The
//! device's clock drifts, wanders, ticks and is reset ([`DeviceClock`]).
//!
//! It misbehaves as told by [`Faults`], and notes what a driver's user must not do ([`Misuse`]). Times between events
//! are told as drivers tell them: as floats of milliseconds.
//!
//! The packages `cuda` and `hip` beside this one put the faces of the real drivers before it.

mod clock;
pub mod face;
mod random;

use std::collections::HashMap;
use std::time::Instant;

pub use clock::DeviceClock;
pub use random::Random;

/// Numbers of errors, which CUDA and HIP share.
pub mod code {
    #![allow(missing_docs, reason = "the drivers' own names")]
    pub const SUCCESS: u32 = 0;
    pub const INVALID_VALUE: u32 = 1;
    pub const OUT_OF_MEMORY: u32 = 2;
    pub const STUB_LIBRARY: u32 = 34;
    pub const NO_DEVICE: u32 = 100;
    pub const INVALID_DEVICE: u32 = 101;
    pub const INVALID_HANDLE: u32 = 400;
    pub const NOT_READY: u32 = 600;
    pub const CONTEXT_IS_DESTROYED: u32 = 709;
    pub const LAUNCH_FAILED: u32 = 719;
    pub const CAPTURE_UNSUPPORTED: u32 = 900;
    pub const CAPTURED_EVENT: u32 = 907;
}

/// How a driver turns nanoseconds into a float of milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// Divided, then rounded.
    #[default]
    Cuda,
    /// Rounded, divided, and rounded again.
    Hip,
    /// As HIP, and nothing is negative.
    HipClamped,
}

/// How the simulated device is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Equal seeds behave equally, unless time is real.
    pub seed: u64,
    /// By how much the device's clock is too fast, in millionths.
    pub ppm: f64,
    /// By how much that wanders in a second.
    pub walk_ppm: f64,
    /// The device's clock counts in steps of so many nanoseconds.
    pub tick: i64,
    /// Whether the host's clock is the real one.
    pub real_time: bool,
    /// How floats are made.
    pub rounding: Rounding,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 1, ppm: 50.0, walk_ppm: 0.02, tick: 32, real_time: false, rounding: Rounding::Cuda }
    }
}

/// What goes wrong.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Every call of the kind returns this code from its so-manieth on.
    pub fail: HashMap<&'static str, (u64, u32)>,
    /// One event in so many is never done (nor what comes after it on its stream). 0 for none.
    pub never_once_in: u64,
    /// One event in so many takes 50 ms longer to be seen. 0 for none.
    pub late_once_in: u64,
    /// The context is destroyed: nothing works any more.
    pub destroyed: bool,
    /// A launch has failed: nothing works any more.
    pub launch_failed: bool,
}

/// What was done that must not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misuse {
    /// Calls that wait for the device.
    pub blocking: u64,
    /// Events or streams used that are not there.
    pub dead_handles: u64,
    /// Calls that break another thread's capture.
    pub broken_captures: u64,
    /// Times between an event and an event of another device, or before they were done.
    pub early_times: u64,
}

#[derive(Debug, Default)]
struct StreamState {
    /// What was put on it so far ends then, by the host's clock.
    ready: i64,
    capturing: bool,
    /// An event before is never done.
    stuck: bool,
}

#[derive(Clone, Debug, Default)]
struct EventState {
    recorded: bool,
    captured: bool,
    never: bool,
    /// When the device passed it, by the host's clock.
    passed: i64,
    stamp: i64,
    /// From when on the host sees it.
    visible: i64,
}

/// One device. See [the module](self).
#[derive(Debug)]
pub struct Sim {
    /// What goes wrong.
    pub faults: Faults,
    /// What was done wrong.
    pub misuse: Misuse,
    settings: Settings,
    clock: DeviceClock,
    random: Random,
    host: i64,
    started: Instant,
    next: u64,
    streams: HashMap<u64, StreamState>,
    events: HashMap<u64, EventState>,
    graphs: HashMap<u64, Vec<(u64, u64)>>,
    calls: HashMap<&'static str, u64>,
}

/// Latencies in nanoseconds: from the host's asking to the device's doing, and back.
const FORWARD: (i64, i64) = (3_000, 30_000);
const BACK: (i64, i64) = (1_000, 15_000);

impl Sim {
    /// A device.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            faults: Faults::default(),
            misuse: Misuse::default(),
            clock: DeviceClock::new(settings.seed, settings.tick, settings.ppm, settings.walk_ppm),
            random: Random::new(settings.seed ^ 0xfa4e),
            settings,
            host: 1_000_000_000,
            started: Instant::now(),
            next: 0x1000,
            streams: HashMap::new(),
            events: HashMap::new(),
            graphs: HashMap::new(),
            calls: HashMap::new(),
        }
    }

    /// The host's clock.
    pub fn now(&mut self) -> i64 {
        if self.settings.real_time {
            return self.started.elapsed().as_nanos() as i64 + 1_000_000_000;
        }
        self.host += 20;
        self.host
    }

    /// Lets time pass on a simulated host's clock.
    pub fn advance(&mut self, ns: i64) {
        self.host += ns;
    }

    /// The device's counter is set to 0 now.
    pub fn reset_counter(&mut self) {
        let now = self.now();
        self.clock.reset(now);
    }

    /// How many events exist.
    #[must_use]
    pub fn live_events(&self) -> usize {
        self.events.len()
    }

    /// How many streams exist.
    #[must_use]
    pub fn live_streams(&self) -> usize {
        self.streams.len()
    }

    /// How often calls of a kind were made.
    #[must_use]
    pub fn calls(&self, kind: &str) -> u64 {
        self.calls.get(kind).copied().unwrap_or(0)
    }

    /// When the device passes the event, by the host's clock. The truth that nobody else knows.
    #[must_use]
    pub fn truth(&self, event: u64) -> i64 {
        self.events.get(&event).map_or(0, |event| event.passed)
    }

    /// Counts a call, lets it take its time, and fails it if that is wanted.
    fn call(&mut self, kind: &'static str) -> Result<(), u32> {
        self.host += 150 + self.random.below(100) as i64;
        let count = self.calls.entry(kind).or_default();
        *count += 1;
        if let Some((from, code)) = self.faults.fail.get(kind)
            && *count >= *from
        {
            return Err(*code);
        }
        match (self.faults.destroyed, self.faults.launch_failed) {
            (true, _) => Err(code::CONTEXT_IS_DESTROYED),
            (_, true) => Err(code::LAUNCH_FAILED),
            _ => Ok(()),
        }
    }

    fn handle(&mut self) -> u64 {
        self.next += 16;
        self.next
    }

    fn event(&mut self, event: u64) -> Result<&mut EventState, u32> {
        let misuse = &mut self.misuse.dead_handles;
        self.events.get_mut(&event).ok_or_else(|| {
            *misuse += 1;
            code::INVALID_HANDLE
        })
    }

    /// Makes a stream.
    ///
    /// # Errors
    /// As the faults want it.
    pub fn create_stream(&mut self) -> Result<u64, u32> {
        self.call("create_stream")?;
        let stream = self.handle();
        self.streams.insert(stream, StreamState::default());
        Ok(stream)
    }

    /// Destroys a stream.
    ///
    /// # Errors
    /// If there is none of that handle, or as the faults want it.
    pub fn destroy_stream(&mut self, stream: u64) -> Result<(), u32> {
        self.call("destroy_stream")?;
        self.streams.remove(&stream).map(drop).ok_or(code::INVALID_HANDLE)
    }

    /// Makes an event.
    ///
    /// # Errors
    /// As the faults want it.
    pub fn create_event(&mut self) -> Result<u64, u32> {
        self.call("create_event")?;
        let event = self.handle();
        self.events.insert(event, EventState::default());
        Ok(event)
    }

    /// Destroys an event.
    ///
    /// # Errors
    /// If there is none of that handle, or as the faults want it.
    pub fn destroy_event(&mut self, event: u64) -> Result<(), u32> {
        self.call("destroy_event")?;
        self.event(event)?;
        self.events.remove(&event);
        Ok(())
    }

    /// Puts work of some nanoseconds on a stream.
    ///
    /// # Errors
    /// If there is no such stream, or as the faults want it.
    pub fn launch(&mut self, stream: u64, ns: i64) -> Result<(), u32> {
        self.call("launch")?;
        self.run(stream, ns).map(drop)
    }

    /// Returns when it ends.
    fn run(&mut self, stream: u64, ns: i64) -> Result<i64, u32> {
        let begins = self.now() + self.random.latency(FORWARD.0, FORWARD.1);
        let state = self.streams.entry(stream).or_default();
        if state.capturing {
            return Ok(begins);
        }
        state.ready = state.ready.max(begins) + ns;
        Ok(state.ready)
    }

    /// Puts an event on a stream.
    ///
    /// # Errors
    /// If there is no such event, or as the faults want it.
    pub fn record(&mut self, event: u64, stream: u64) -> Result<(), u32> {
        self.call("record")?;
        let passed = self.run(stream, 0)?;
        let never = self.faults.never_once_in != 0 && self.random.once_in(self.faults.never_once_in);
        let late = self.faults.late_once_in != 0 && self.random.once_in(self.faults.late_once_in);
        let back = self.random.latency(BACK.0, BACK.1) + if late { 50_000_000 } else { 0 };
        let stamp = self.clock.read(passed);
        let state = self.streams.entry(stream).or_default();
        state.stuck |= never;
        let (captured, never) = (state.capturing, state.stuck);
        let state = EventState { recorded: true, captured, never, passed, stamp, visible: passed + back };
        *self.event(event)? = state;
        Ok(())
    }

    /// Whether an event is done.
    ///
    /// # Errors
    /// [`code::NOT_READY`] if it is not, [`code::CAPTURED_EVENT`] if it never gets a time, or as the faults want it.
    pub fn query(&mut self, event: u64) -> Result<(), u32> {
        self.call("query")?;
        let now = self.now();
        let event = self.event(event)?;
        match () {
            () if event.captured => Err(code::CAPTURED_EVENT),
            () if event.never || event.recorded && event.visible > now => Err(code::NOT_READY),
            () => Ok(()),
        }
    }

    /// The milliseconds between two events.
    ///
    /// # Errors
    /// If they are not done, or as the faults want it.
    pub fn elapsed(&mut self, from: u64, to: u64) -> Result<f32, u32> {
        self.call("elapsed")?;
        let now = self.now();
        let from = self.event(from)?.clone();
        let to = self.event(to)?.clone();
        if [&from, &to].iter().any(|event| !event.recorded || event.captured) {
            return Err(code::INVALID_HANDLE);
        }
        if [&from, &to].iter().any(|event| event.never || event.passed > now) {
            self.misuse.early_times += 1;
            return Err(code::NOT_READY);
        }
        let ns = to.stamp - from.stamp;
        Ok(match self.settings.rounding {
            Rounding::Cuda => (ns as f64 / 1e6) as f32,
            Rounding::Hip => ns as f32 / 1e6,
            Rounding::HipClamped => ns.max(0) as f32 / 1e6,
        })
    }

    /// Begins or ends the capture of a stream.
    pub fn capture(&mut self, stream: u64, on: bool) {
        self.streams.entry(stream).or_default().capturing = on;
    }

    /// Whether a stream is captured.
    ///
    /// # Errors
    /// As the faults want it.
    pub fn is_capturing(&mut self, stream: u64) -> Result<bool, u32> {
        self.call("is_capturing")?;
        Ok(self.streams.get(&stream).is_some_and(|state| state.capturing))
    }

    /// Whether any stream is captured.
    #[must_use]
    pub fn is_any_capturing(&self) -> bool {
        self.streams.values().any(|state| state.capturing)
    }

    /// Adds an event's node to a graph; returns the node. A graph is any number.
    ///
    /// # Errors
    /// As the faults want it.
    pub fn add_graph_event(&mut self, graph: u64, event: u64) -> Result<u64, u32> {
        self.call("add_graph_event")?;
        self.event(event)?;
        let node = self.handle();
        self.graphs.entry(graph).or_default().push((node, event));
        Ok(node)
    }

    /// Has a node record another event.
    ///
    /// # Errors
    /// If there is no such node, or as the faults want it.
    pub fn set_graph_event(&mut self, graph: u64, node: u64, event: u64) -> Result<(), u32> {
        self.call("set_graph_event")?;
        self.event(event)?;
        let nodes = self.graphs.get_mut(&graph).ok_or(code::INVALID_HANDLE)?;
        let place = nodes.iter_mut().find(|place| place.0 == node).ok_or(code::INVALID_HANDLE)?;
        place.1 = event;
        Ok(())
    }

    /// Launches a graph: its events one after the other, some work after each.
    ///
    /// # Errors
    /// If there is no such graph, or as the faults want it.
    pub fn launch_graph(&mut self, graph: u64, stream: u64, ns: i64) -> Result<(), u32> {
        self.call("launch")?;
        let nodes = self.graphs.get(&graph).cloned().ok_or(code::INVALID_HANDLE)?;
        for (_, event) in nodes {
            self.record(event, stream)?;
            self.run(stream, ns)?;
        }
        Ok(())
    }
}
