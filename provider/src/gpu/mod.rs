//! Zones on a GPU's timeline, from pairs of events around what is launched.
//!
//! ```no_run
//! # fn with(device: impl zonecast::gpu::Device + 'static, stream: zonecast::gpu::Stream) -> Result<(), zonecast::gpu::Error> {
//! use zonecast::{gpu::Gpu, location};
//!
//! let gpu = Gpu::new(device)?;
//! // SAFETY: the stream is this device's, and outlives the context.
//! let context = unsafe { gpu.context(stream, "compute") };
//! {
//!     let _zone = context.zone(location!("matmul"));
//!     // … launch on the stream …
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What happens
//!
//! * A [`Context`] is the program's side of one stream, and is shown as a timeline of its own; with
//!   [`Gpu::together`], as a row of its device's. A zone's begin and end each put an event on the
//!   stream, and a line into a log.
//! * The [`Collector`], one thread, asks without waiting whether the end of an outermost zone is done. A tree
//!   that is done is handed to the provider whole, as zones of a [`Lane`]: a zone without both
//!   times is never shown.
//! * A device's clock is compared with the host's four times a second. Times are told when they lie between
//!   two comparisons, so about a second and a half late, and each is within [`Gpu::clock_error`] of the
//!   truth; durations as the device counted them are handed on beside ([`measured_ns`](crate::LaneZone::measured_ns)).
//! * Events come from pools that grow with what is in flight and shrink when a stream is idle. Past
//!   a limit, whole zones are left out and counted: [`Context::outcome`].
//!
//! # What pairs of events cannot see
//!
//! Only launches that are wrapped: not those of libraries that launch on streams of their own, nor what one
//! kernel launches from the device, nor single kernels within a zone or a graph, nor why a
//! kernel waited. An event is passed when everything before it on its stream has ended, so a zone's begin
//! includes the gap since the work before, and the events themselves take a microsecond or two of the
//! stream's time. CUDA promises no better than half a microsecond. Tools built on CUPTI or rocprofiler see
//! every launch: Nsight Systems, Tracy's own `TracyCUDA.hpp`, `rocprofv3`. They can run beside this.
//!
//! # Graphs
//!
//! While a stream is being captured into a graph, an event recorded on it would get no time: such zones
//! are left out and counted. A zone around the launch of a graph works like any other; for zones inside one
//! that is launched again and again, see [`GraphZones`].

mod clock;
mod collector;
mod context;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod device_clock;
mod diagnosis;
#[cfg(any(feature = "cuda", feature = "hip"))]
mod driver;
mod error;
mod graph;
#[cfg(feature = "hip")]
pub mod hip;
pub(crate) mod history;
mod host;
mod log;
mod stream;
mod timeline;

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use collector::Collector;
pub(crate) use collector::finish;
pub use context::{Context, GpuZone, Outcome, ZoneNumber};
pub use device::{Begun, Device, Event, Graph, GraphExec, HostClock, Node, Status, Stream};
pub use device_clock::DeviceClock;
pub use diagnosis::{Diagnosis, diagnose};
pub use error::{Error, ErrorKind};
pub use graph::GraphZones;

use collector::Door;
use context::{Counts, Shared};
use log::Log;

use crate::Lane;

/// How many zones of one stream may be in flight.
pub const DEFAULT_LIMIT: u64 = 2_000_000;

static IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether a device was ever collected by the thread.
fn in_use() -> bool {
    IN_USE.load(Ordering::Relaxed)
}

/// A device whose streams are timed.
#[derive(Clone, Debug)]
pub struct Gpu {
    collected: Option<Arc<Collected>>,
    /// The name that its streams are shown under together.
    group: Option<Arc<str>>,
}

struct Collected {
    device: Arc<dyn Device>,
    collector: Collector,
    door: Arc<Door>,
    limit: u64,
}

impl fmt::Debug for Collected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.device.fmt(f)
    }
}

impl Drop for Collected {
    fn drop(&mut self) {
        self.door.release();
    }
}

impl Gpu {
    /// Has a device's streams timed, by the collector that runs by itself.
    ///
    /// Where there is no provider, the device is left alone.
    ///
    /// # Errors
    /// If the device cannot make events or streams.
    pub fn new(device: impl Device + 'static) -> Result<Self, Error> {
        if !crate::select::is_recording() {
            return Ok(Self::off());
        }
        IN_USE.store(true, Ordering::Relaxed);
        Self::with(device, Collector::running(), DEFAULT_LIMIT)
    }

    /// As [`new`](Self::new), by a collector of the caller's, and with at most `limit` zones in flight on each
    /// stream.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with(device: impl Device + 'static, collector: &Collector, limit: u64) -> Result<Self, Error> {
        if !crate::select::is_recording() || collector.is_forked() {
            return Ok(Self::off());
        }
        let device: Arc<dyn Device> = Arc::new(device);
        let door = collector.add_device(Arc::clone(&device))?;
        let collected = Collected { device, collector: collector.clone(), door, limit };
        Ok(Self { collected: Some(Arc::new(collected)), group: None })
    }

    const fn off() -> Self {
        Self { collected: None, group: None }
    }

    /// Has the device's streams shown together from here on, under this name, each as a row of its own: see
    /// [`Lane::in_group`]. In Tracy, the device is one GPU context then, which takes one of the 240 or so that a
    /// program has, and each stream is a thread in it. The streams' own names are not shown there.
    ///
    /// ```no_run
    /// # fn with(device: impl zonecast::gpu::Device + 'static, [compute, copy]: [zonecast::gpu::Stream; 2]) -> Result<(), zonecast::gpu::Error> {
    /// use zonecast::gpu::Gpu;
    ///
    /// let gpu = Gpu::new(device)?.together("GPU 0");
    /// // SAFETY: the streams are this device's, and outlive the contexts.
    /// let contexts = unsafe { [gpu.context(compute, "compute"), gpu.context(copy, "copy")] };
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn together(self, name: &str) -> Self {
        Self { group: Some(name.into()), ..self }
    }

    /// The zones of one of its streams, which are shown under this name. Nothing is asked of the
    /// stream itself.
    ///
    /// # Safety
    ///
    /// The stream belongs to the device, and is alive whenever a zone of the context begins or ends.
    #[must_use]
    pub unsafe fn context(&self, stream: Stream, name: &str) -> Context {
        let Some(collected) = self.collected.as_ref().filter(|collected| !collected.collector.is_forked())
        else {
            return Context::off();
        };
        let shared = Arc::new(Shared {
            log: Log::new(),
            device: Arc::clone(&collected.device),
            host: Arc::clone(collected.collector.host()),
            stream,
            limit: collected.limit,
            lost: AtomicBool::new(false),
            counts: Counts::default(),
        });
        let kind = collected.device.kind();
        let lane = match &self.group {
            Some(group) => Lane::in_group(group, name, kind),
            None => Lane::of_kind(name, kind),
        };
        collected.door.add_stream(Arc::clone(&shared), lane);
        Context::new(self.clone(), shared)
    }

    /// By how many nanoseconds times may be wrong on the host's clock now. None until the
    /// clocks have been compared for about a second.
    #[must_use]
    pub fn clock_error(&self) -> Option<i64> {
        self.collected.as_ref()?.door.clock_error()
    }
}
