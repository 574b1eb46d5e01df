//! The one thread that asks devices how far they have got.
//!
//! It polls; it never waits for a device. While zones are on their way it looks about every
//! millisecond, else seldom. Its calls are made under the device's own precautions
//! ([`Device::with_collector`]), so that nobody's graph capture is broken.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use crate::Lane;

use super::context::Shared;
use super::host::{Moments, SystemClock};
use super::stream::{Clocks, StreamState};
use super::timeline::{self, Timeline};
use super::{Device, Error, ErrorKind, HostClock};

/// How long a device without zones is still asked for the time.
const WARM: i64 = 3_000_000_000;
const BUSY_PAUSE: Duration = Duration::from_millis(1);
const IDLE_PAUSE: Duration = Duration::from_millis(20);

/// Collects the zones of any number of devices. Most programs use the one that runs by itself,
/// [`Collector::running`].
#[derive(Clone)]
pub struct Collector(Arc<Inner>);

struct Inner {
    host: Arc<dyn HostClock>,
    /// The process in which it works. A forked child has no thread of it.
    process: u32,
    /// Devices that the collector has not seen yet. Never held for long, unlike the state.
    arrived: Mutex<Vec<DeviceState>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    devices: Vec<DeviceState>,
    moments: Moments,
}

/// What the program's side of a device shares with the collector's. The program never waits for it.
#[derive(Default)]
pub(super) struct Door {
    /// No program has a handle to the device any more.
    released: AtomicBool,
    /// The clock's error, plus 1; 0 while it is not known.
    clock_error: AtomicI64,
    /// Streams that the collector has not seen yet. Never held for long.
    arrived: Mutex<Vec<StreamState>>,
}

impl Door {
    pub(super) fn add_stream(&self, shared: Arc<Shared>, lane: Lane) {
        lock(&self.arrived).push(StreamState::new(shared, lane));
    }

    pub(super) fn release(&self) {
        self.released.store(true, Ordering::Release);
    }

    pub(super) fn clock_error(&self) -> Option<i64> {
        self.clock_error.load(Ordering::Relaxed).checked_sub(1).filter(|error| *error >= 0)
    }
}

struct DeviceState {
    name: String,
    timeline: Timeline,
    streams: Vec<StreamState>,
    door: Arc<Door>,
    busy_at: i64,
    lost: bool,
}

impl Collector {
    /// The collector with a thread of its own, started at the first call.
    pub fn running() -> &'static Self {
        static RUNNING: OnceLock<Collector> = OnceLock::new();
        RUNNING.get_or_init(|| {
            let collector = Self::by_hand(Arc::new(SystemClock::new()));
            let own = collector.clone();
            let started = thread::Builder::new().name("zonecast gpu".into()).spawn(move || own.run());
            if let Err(error) = started {
                crate::say::sentence(format_args!("no thread for GPU zones ({error}); there are none"));
            }
            collector
        })
    }

    /// A collector that works only when it is told to, by [`poll`](Self::poll), with a clock that may
    /// be any.
    #[must_use]
    pub fn by_hand(host: Arc<dyn HostClock>) -> Self {
        let mut state = State::default();
        state.moments.compare(&*host);
        let process = std::process::id();
        Self(Arc::new(Inner { host, process, arrived: Mutex::default(), state: Mutex::new(state) }))
    }

    fn run(&self) {
        loop {
            let pause = if self.poll() { BUSY_PAUSE } else { IDLE_PAUSE };
            thread::sleep(pause);
        }
    }

    /// Looks at every device once. Returns whether zones are on their way. In a forked child it does nothing.
    pub fn poll(&self) -> bool {
        self.look(false) > 0
    }

    /// Waits until all zones that have ended are handed to the provider, at most so long. Returns
    /// how many are still on their way.
    pub fn flush(&self, at_most: Duration) -> u64 {
        let started = std::time::Instant::now();
        loop {
            let left = self.settle();
            if left == 0 || started.elapsed() >= at_most {
                return left;
            }
            thread::sleep(BUSY_PAUSE);
        }
    }

    /// Hands on what is done, without waiting for the clocks to be known better. Returns how many
    /// zones are still on their way.
    pub fn settle(&self) -> u64 {
        self.look(true)
    }

    fn look(&self, settle: bool) -> u64 {
        if self.is_forked() {
            return 0;
        }
        let mut state = lock(&self.0.state);
        let State { devices, moments } = &mut *state;
        devices.append(&mut lock(&self.0.arrived));
        let host = &*self.0.host;
        let now = moments.sample(host);
        for device in devices.iter_mut() {
            device.poll(moments, host, now, settle);
        }
        devices.retain(|device| !device.is_over());
        devices.iter().map(DeviceState::in_flight).sum()
    }

    /// Whether this is a child of the process it was made in.
    pub(super) fn is_forked(&self) -> bool {
        std::process::id() != self.0.process
    }

    pub(super) fn host(&self) -> &Arc<dyn HostClock> {
        &self.0.host
    }

    pub(super) fn add_device(&self, device: Arc<dyn Device>) -> Result<Arc<Door>, Error> {
        let mut timeline = Err(Error::unsupported("device"));
        device.with_collector(&mut || timeline = Timeline::new(Arc::clone(&device)))?;
        let door = Arc::<Door>::default();
        lock(&self.0.arrived).push(DeviceState {
            name: device.name(),
            timeline: timeline?,
            streams: Vec::new(),
            door: Arc::clone(&door),
            busy_at: timeline::now(&*self.0.host),
            lost: false,
        });
        Ok(door)
    }
}

/// Nothing panics that holds one of these locks but a provider, and what they hold is whole between any two
/// calls.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DeviceState {
    fn poll(&mut self, moments: &mut Moments, host: &dyn HostClock, now: i64, settle: bool) {
        let streams = self.streams.len();
        self.streams.append(&mut lock(&self.door.arrived));
        if self.streams.len() > streams || self.in_flight() > 0 {
            self.busy_at = now;
        }
        let closing = self.is_released() || self.streams.iter().any(StreamState::is_over);
        if self.lost {
            self.streams.iter_mut().for_each(StreamState::give_up);
            self.destroy_streams();
        } else if closing || now - self.busy_at <= WARM {
            let device = Arc::clone(&self.timeline.device);
            let mut result = Ok(());
            let used = device.with_collector(&mut || result = self.collect(moments, host, now, settle));
            if let Err(error) = used.and(result) {
                self.lose(&error);
            }
        }
    }

    fn in_flight(&self) -> u64 {
        self.streams.iter().map(StreamState::in_flight).sum()
    }

    fn collect(
        &mut self,
        moments: &mut Moments,
        host: &dyn HostClock,
        now: i64,
        settle: bool,
    ) -> Result<(), Error> {
        let Self { timeline, streams, busy_at, door, .. } = self;
        timeline.keep_time(host, now)?;
        for stream in &mut *streams {
            stream.watch(timeline, host)?;
        }
        if settle && streams.iter().any(StreamState::has_done) {
            timeline.settle(host, now)?;
            moments.compare(host);
        }
        let clocks = Clocks { timeline, host, moments };
        for stream in &mut *streams {
            stream.hand_on(clocks, settle);
            if now - *busy_at > WARM / 2 {
                stream.shrink();
            }
        }
        let error = timeline.clock.error_ns().map_or(0, |error| error + 1);
        door.clock_error.store(error, Ordering::Relaxed);
        self.destroy_streams();
        if self.is_over() {
            self.timeline.destroy();
        }
        Ok(())
    }

    fn destroy_streams(&mut self) {
        let mut index = 0;
        while index < self.streams.len() {
            if self.streams[index].is_over() {
                self.streams.swap_remove(index).destroy();
            } else {
                index += 1;
            }
        }
    }

    #[cold]
    fn lose(&mut self, error: &Error) {
        self.lost = true;
        self.streams.iter_mut().for_each(StreamState::give_up);
        // A driver that has ended does so with the program.
        if !matches!(error.kind(), ErrorKind::Ended { .. }) {
            crate::say::sentence(format_args!(
                "GPU zones of {} end here: {error}; the program goes on",
                self.name
            ));
        }
    }

    fn is_released(&self) -> bool {
        self.door.released.load(Ordering::Acquire)
    }

    /// Nothing will come any more.
    fn is_over(&self) -> bool {
        self.is_released() && self.streams.is_empty() && lock(&self.door.arrived).is_empty()
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").finish_non_exhaustive()
    }
}

/// Hands on what is on its way, if anything ever was. For the end of a session.
pub(crate) fn finish(at_most: Duration) {
    if super::in_use() {
        let left = Collector::running().flush(at_most);
        if left > 0 {
            crate::say::sentence(format_args!("{left} GPU zones were not done in time and are left out"));
        }
    }
}
