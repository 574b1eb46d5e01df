//! The one thread that asks devices how far they have got.
//!
//! It polls; it never waits for a device. While zones are on their way it looks about every
//! millisecond, else seldom. Its calls are made under the device's own precautions
//! ([`Device::with_collector`]), so that nobody's graph capture is broken.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use crate::Lane;

use super::context::Shared;
use super::host::{Stamps, SystemClock};
use super::stream::StreamState;
use super::timeline::Timeline;
use super::{Device, Error, HostClock};

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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    devices: Vec<DeviceState>,
    stamps: Stamps,
    next: u64,
}

struct DeviceState {
    id: u64,
    timeline: Timeline,
    streams: Vec<StreamState>,
    busy_at: i64,
    lost: bool,
    /// No program has a handle to it any more.
    released: bool,
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
        Self(Arc::new(Inner { host, state: Mutex::default() }))
    }

    fn run(&self) {
        loop {
            let pause = if self.poll() { BUSY_PAUSE } else { IDLE_PAUSE };
            thread::sleep(pause);
        }
    }

    /// Looks at every device once. Returns whether zones are on their way.
    pub fn poll(&self) -> bool {
        let mut state = self.state();
        let State { devices, stamps, .. } = &mut *state;
        let host = &*self.0.host;
        let now = stamps.sample(host);
        let mut busy = false;
        for device in devices.iter_mut() {
            busy |= device.poll(stamps, host, now.ns(), false);
        }
        devices.retain(|device| !device.is_over());
        busy
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
        let mut state = self.state();
        let State { devices, stamps, .. } = &mut *state;
        let host = &*self.0.host;
        let now = stamps.sample(host);
        for device in devices.iter_mut() {
            device.poll(stamps, host, now.ns(), true);
        }
        let left = devices.iter().flat_map(|device| &device.streams).map(|s| s.shared.log.in_flight()).sum();
        devices.retain(|device| !device.is_over());
        left
    }

    pub(super) fn host(&self) -> &Arc<dyn HostClock> {
        &self.0.host
    }

    pub(super) fn add_device(&self, device: Arc<dyn Device>) -> Result<u64, Error> {
        let mut timeline = Err(Error::unsupported("device"));
        device.with_collector(&mut || timeline = Timeline::new(Arc::clone(&device)))?;
        let mut state = self.state();
        state.stamps.sample(&*self.0.host);
        state.next += 1;
        let id = state.next;
        state.devices.push(DeviceState {
            id,
            timeline: timeline?,
            streams: Vec::new(),
            busy_at: self.0.host.now().ns(),
            lost: false,
            released: false,
        });
        Ok(id)
    }

    pub(super) fn add_stream(&self, id: u64, shared: Arc<Shared>, lane: Lane) {
        let mut state = self.state();
        if let Some(device) = state.devices.iter_mut().find(|device| device.id == id) {
            device.busy_at = self.0.host.now().ns();
            device.streams.push(StreamState::new(shared, lane));
        }
    }

    pub(super) fn release_device(&self, id: u64) {
        if let Some(device) = self.state().devices.iter_mut().find(|device| device.id == id) {
            device.released = true;
        }
    }

    pub(super) fn clock_error(&self, id: u64) -> Option<i64> {
        self.state().devices.iter().find(|device| device.id == id)?.timeline.clock.error_ns()
    }

    // Nothing here panics while it holds the lock, and a state is whole between any two calls.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DeviceState {
    fn poll(&mut self, stamps: &Stamps, host: &dyn HostClock, now: i64, settle: bool) -> bool {
        let busy = self.streams.iter().any(StreamState::is_busy);
        if busy {
            self.busy_at = now;
        }
        let closing = self.streams.iter().any(StreamState::is_over);
        if self.lost {
            self.streams.iter_mut().for_each(StreamState::give_up);
            self.destroy_streams();
            return false;
        }
        if !busy && !closing && now - self.busy_at > WARM {
            return false;
        }
        let device = Arc::clone(&self.timeline.device);
        let mut result = Ok(());
        let used = device.with_collector(&mut || result = self.collect(stamps, host, now, settle));
        if let Err(error) = used.and(result) {
            self.lose(&error);
        }
        self.streams.iter().any(StreamState::is_busy)
    }

    fn collect(
        &mut self,
        stamps: &Stamps,
        host: &dyn HostClock,
        now: i64,
        settle: bool,
    ) -> Result<(), Error> {
        let Self { timeline, streams, busy_at, .. } = self;
        timeline.clock.slack_ns = slack(&*timeline.device, stamps);
        timeline.keep_time(host, now)?;
        for stream in &mut *streams {
            stream.watch(timeline, stamps, host)?;
        }
        if settle && streams.iter().any(StreamState::is_busy) {
            timeline.settle(host, now)?;
        }
        for stream in &mut *streams {
            stream.hand_on(timeline, stamps, settle);
            if now - *busy_at > WARM / 2 {
                stream.shrink();
            }
        }
        self.destroy_streams();
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
        self.timeline.lost = true;
        crate::say::sentence(format_args!(
            "GPU zones of {} end here: {error}; the program goes on",
            self.timeline.device.name()
        ));
        self.streams.iter_mut().for_each(StreamState::give_up);
    }

    fn is_over(&self) -> bool {
        self.released && self.streams.is_empty()
    }
}

/// What positions and stamps may be wrong by: the rounding of each anchor within a window, and how far
/// apart the host's two clocks were read.
fn slack(device: &dyn Device, stamps: &Stamps) -> i64 {
    const ANCHORS: i64 = 8;
    ANCHORS * device.rounding_ns(super::timeline::BURST_EVERY) + stamps.error_ns
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
