//! The device: streams, events, graphs.

use std::collections::HashMap;
use std::time::Instant;

use crate::launch::{Graphs, Op, Programs};
use crate::{DeviceClock, Faults, Memory, Misuse, Random, Rounding, Settings, code};

#[derive(Debug, Default)]
struct StreamState {
    /// What was put on it so far ends then, by the host's clock.
    ready: i64,
    /// What is captured of it so far, while it is.
    captured: Option<Vec<Op>>,
    /// An event before is never done.
    stuck: bool,
    device: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct EventState {
    recorded: bool,
    captured: bool,
    never: bool,
    /// When the device passed it, by the host's clock.
    passed: i64,
    stamp: i64,
    /// From when on the host sees it, and how often it does not even then.
    visible: i64,
    unseen: u64,
    device: u64,
}

/// One device.
#[derive(Debug)]
pub struct Sim {
    /// What goes wrong.
    pub faults: Faults,
    /// What was done wrong.
    pub misuse: Misuse,
    /// The memory of all devices.
    pub memory: Memory,
    /// Modules, functions and what kernels do.
    pub programs: Programs,
    /// The device that streams and events are made for.
    pub device: u64,
    settings: Settings,
    clock: DeviceClock,
    random: Random,
    host: i64,
    started: Instant,
    next: u64,
    streams: HashMap<u64, StreamState>,
    events: HashMap<u64, EventState>,
    pub(crate) graphs: Graphs,
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
            memory: Memory::default(),
            programs: Programs::default(),
            device: 0,
            clock: DeviceClock::new(settings.seed, settings.tick, settings.ppm, settings.walk_ppm)
                .wrapping_at(settings.wrap),
            random: Random::new(settings.seed ^ 0xfa4e),
            settings,
            host: 1_000_000_000,
            started: Instant::now(),
            next: 0x1000,
            streams: HashMap::new(),
            events: HashMap::new(),
            graphs: Graphs::default(),
            calls: HashMap::new(),
        }
    }

    /// The host's clock.
    pub fn now(&mut self) -> i64 {
        if self.settings.real_time {
            return self.started.elapsed().as_nanos() as i64 + 1_000_000_000;
        }
        self.host += 20;
        if self.faults.interrupted_once_in != 0 && self.random.once_in(self.faults.interrupted_once_in) {
            self.host += self.random.latency(10_000, 3_000_000_000);
        }
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
    ///
    /// # Errors
    /// As the faults want it.
    pub fn call(&mut self, kind: &'static str) -> Result<(), u32> {
        self.host += 150 + self.random.below(100) as i64;
        let count = self.calls.entry(kind).or_default();
        *count += 1;
        if let Some((from, code)) = self.faults.fail.get(kind)
            && *count >= *from
        {
            return Err(*code);
        }
        match () {
            () if self.faults.ended => Err(code::DEINITIALIZED),
            () if self.faults.destroyed => Err(code::CONTEXT_IS_DESTROYED),
            () if self.faults.launch_failed => Err(code::LAUNCH_FAILED),
            () => Ok(()),
        }
    }

    pub(crate) fn handle(&mut self) -> u64 {
        self.next += 16;
        self.next
    }

    pub(crate) fn event(&mut self, event: u64) -> Result<&mut EventState, u32> {
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
        self.streams.insert(stream, StreamState { device: self.device, ..StreamState::default() });
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
        self.events.insert(event, EventState { device: self.device, ..EventState::default() });
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
    pub(crate) fn run(&mut self, stream: u64, ns: i64) -> Result<i64, u32> {
        let begins = self.now() + self.random.latency(FORWARD.0, FORWARD.1);
        let state = self.streams.entry(stream).or_default();
        if let Some(captured) = &mut state.captured {
            captured.push(Op::Work(ns));
            return Ok(begins);
        }
        state.ready = state.ready.max(begins) + ns;
        Ok(state.ready)
    }

    /// Has a stream wait until an event of another one is passed.
    ///
    /// # Errors
    /// If there is no such event, or as the faults want it.
    pub fn wait_event(&mut self, stream: u64, event: u64) -> Result<(), u32> {
        self.call("wait_event")?;
        let event = self.event(event)?.clone();
        let state = self.streams.entry(stream).or_default();
        state.ready = state.ready.max(event.passed);
        state.stuck |= event.never;
        Ok(())
    }

    /// When all that is on a stream so far will be done, by the host's clock; of all streams, without one.
    #[must_use]
    pub fn busy_until(&self, stream: Option<u64>) -> i64 {
        let streams =
            self.streams.iter().filter(|(handle, _)| stream.is_none_or(|wanted| wanted == **handle));
        streams.map(|(_, state)| state.ready).max().unwrap_or(0)
    }

    /// Puts an event on a stream.
    ///
    /// # Errors
    /// If there is no such event, or as the faults want it.
    pub fn record(&mut self, event: u64, stream: u64) -> Result<(), u32> {
        self.call("record")?;
        let capturing = self.streams.get(&stream).is_some_and(|state| state.captured.is_some());
        let passed = if capturing { 0 } else { self.run(stream, 0)? };
        let never = self.faults.never_once_in != 0 && self.random.once_in(self.faults.never_once_in);
        let late = self.faults.late_once_in != 0 && self.random.once_in(self.faults.late_once_in);
        let back = self.random.latency(BACK.0, BACK.1) + if late { 50_000_000 } else { 0 };
        let stamp = self.clock.read(passed);
        let state = self.streams.entry(stream).or_default();
        state.stuck |= never;
        let (captured, never, device) = (state.captured.is_some(), state.stuck, state.device);
        let (visible, unseen) = (passed + back, self.faults.slow_queries);
        let event = self.event(event)?;
        if event.device != device {
            self.misuse.wrong_device += 1;
            return Err(code::INVALID_HANDLE);
        }
        *event = EventState { recorded: true, captured, never, passed, stamp, visible, unseen, device };
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
            () if event.recorded && event.unseen > 0 => {
                event.unseen -= 1;
                Err(code::NOT_READY)
            }
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
        if from.device != to.device {
            self.misuse.wrong_device += 1;
            return Err(code::INVALID_HANDLE);
        }
        if self.faults.lies_once_in != 0 && self.random.once_in(self.faults.lies_once_in) {
            let any = f32::from_bits(self.random.number() as u32);
            return Ok([any, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0][self.random.below(5) as usize]);
        }
        let ns = to.stamp - from.stamp;
        Ok(match self.settings.rounding {
            Rounding::Cuda => (ns as f64 / 1e6) as f32,
            Rounding::Hip => ns as f32 / 1e6,
            Rounding::HipClamped => ns.max(0) as f32 / 1e6,
        })
    }

    /// Begins the capture of a stream, or ends it and forgets what was captured.
    pub fn capture(&mut self, stream: u64, on: bool) {
        self.streams.entry(stream).or_default().captured = on.then(Vec::new);
    }

    /// Ends the capture of a stream. None if it was not captured.
    pub(crate) fn end_capture(&mut self, stream: u64) -> Option<Vec<Op>> {
        self.streams.get_mut(&stream)?.captured.take()
    }

    /// Whether a stream is captured.
    ///
    /// # Errors
    /// As the faults want it.
    pub fn is_capturing(&mut self, stream: u64) -> Result<bool, u32> {
        self.call("is_capturing")?;
        Ok(self.streams.get(&stream).is_some_and(|state| state.captured.is_some()))
    }

    /// The device of a stream.
    #[must_use]
    pub fn stream_device(&self, stream: u64) -> u64 {
        self.streams.get(&stream).map_or(0, |state| state.device)
    }

    /// Whether any stream is captured.
    #[must_use]
    pub fn is_any_capturing(&self) -> bool {
        self.streams.values().any(|state| state.captured.is_some())
    }
}
