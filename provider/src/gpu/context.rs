//! The program's side of a stream: where zones begin and end.

use core::cell::{Cell, UnsafeCell};
use core::fmt;
use core::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::dispatch::Site;
use crate::{Interned, Location};

use super::graph::{Part, Parts};
use super::host::Halves;
use super::log::{Entry, Full, Log, Writer};
use super::{Begun, Device, Error, Event, Gpu, GraphExec, HostClock, Stream};

/// What the two sides of a stream share, beside the log.
pub(super) struct Shared {
    pub(super) log: Log,
    pub(super) device: Arc<dyn Device>,
    pub(super) host: Arc<dyn HostClock>,
    pub(super) stream: Stream,
    pub(super) limit: u64,
    /// The device has failed.
    pub(super) lost: AtomicBool,
    pub(super) counts: Counts,
}

/// Counts of whole zones.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) recorded: AtomicU64,
    pub(super) over_limit: AtomicU64,
    pub(super) in_capture: AtomicU64,
    pub(super) failed: AtomicU64,
}

/// Adds to a count.
pub(super) fn add(count: &AtomicU64, zones: u64) {
    count.fetch_add(zones, Ordering::Relaxed);
}

/// What became of a stream's zones. Each zone is counted once, when its fate is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Handed to the provider with both times.
    pub recorded: u64,
    /// Not recorded because too many were in flight.
    pub over_limit: u64,
    /// Not recorded because the stream was being captured into a graph.
    pub in_capture: u64,
    /// Not recorded because the driver failed, or gave times that cannot be true.
    pub failed: u64,
    /// Begun, and no time is known yet.
    pub in_flight: u64,
}

impl Shared {
    pub(super) fn outcome(&self) -> Outcome {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Outcome {
            recorded: get(&self.counts.recorded),
            over_limit: get(&self.counts.over_limit),
            in_capture: get(&self.counts.in_capture),
            failed: get(&self.counts.failed),
            in_flight: self.log.in_flight(),
        }
    }
}

/// The zones of one stream.
///
/// It belongs to whoever launches on the stream, one thread at a time, as launching itself has to be
/// ordered. Beginning or ending a zone costs the driver's own calls (an event each, and one question
/// whether the stream is being captured) and a few dozen instructions; it never waits.
///
/// ```no_run
/// # fn launch() {}
/// # fn with(context: zonecast::gpu::Context) {
/// let _step = context.zone(zonecast::location!("step"));
/// {
///     let _zone = context.zone(zonecast::location!("matmul"));
///     launch();
/// }
/// # }
/// ```
pub struct Context {
    writer: Writer,
    innermost: Cell<*mut Entry>,
    /// What outermost zones lie in, so that nobody need ask whether there is a parent.
    ground: *mut Entry,
    /// The device, without the way there. None where nothing is recorded.
    device: Option<NonNull<dyn Device>>,
    stream: Stream,
    /// Stamps can be read from the processor.
    is_processor_count: bool,
    rest: Option<Rest>,
}

/// What beginning and ending zones does not look at.
struct Rest {
    shared: Arc<Shared>,
    gpu: Gpu,
    /// Holds the ground.
    _ground: Box<UnsafeCell<Entry>>,
}

// SAFETY: the raw pointers are into the log, whose writer moves along, and into what `rest` owns; nothing is bound to
// a thread. (It cannot be shared, because of its cells.)
unsafe impl Send for Context {}

/// No zone has this number; nor has it 0.
const GROUND: u64 = u64::MAX;

/// A zone on a GPU's stream, which ends when this is dropped.
#[must_use = "a zone ends when its guard is dropped; bind it: `let _zone = …`"]
pub struct GpuZone<'a> {
    context: &'a Context,
    /// 0 if it is not recorded.
    number: u64,
}

impl Drop for GpuZone<'_> {
    #[inline]
    fn drop(&mut self) {
        self.context.end_number(self.number);
    }
}

impl fmt::Debug for GpuZone<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuZone").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Context {
    /// The context that records nothing: for programs that go on without a device.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            writer: Writer::none(),
            innermost: Cell::new(ptr::null_mut()),
            ground: ptr::null_mut(),
            device: None,
            stream: Stream(ptr::null_mut()),
            is_processor_count: false,
            rest: None,
        }
    }

    /// What was made, or else the context that records nothing, and a sentence on standard error that
    /// says why: the first time, for each reason. For programs that go on without a device.
    ///
    /// ```no_run
    /// # #[cfg(feature = "cuda")]
    /// # fn with(stream: &cudarc::driver::CudaStream) {
    /// use zonecast::gpu::{Context, Gpu, cuda::Cuda};
    ///
    /// // SAFETY: the stream is alive, and outlives the context.
    /// let made = unsafe { Cuda::of_stream(stream.into()) }
    ///     .and_then(Gpu::new)
    ///     .map(|gpu| unsafe { gpu.context(stream.into(), "compute") });
    /// let context = Context::or_off(made);
    /// # drop(context);
    /// # }
    /// ```
    #[must_use]
    pub fn or_off(made: Result<Self, Error>) -> Self {
        static SAID: Mutex<Vec<Error>> = Mutex::new(Vec::new());
        made.unwrap_or_else(|error| {
            let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
            if crate::select::is_recording() && !said.contains(&error) {
                crate::say::sentence(format_args!("there are no GPU zones: {error}"));
                said.push(error);
            }
            Self::off()
        })
    }

    pub(super) fn new(gpu: Gpu, shared: Arc<Shared>) -> Self {
        let ground = Box::new(UnsafeCell::new(Entry { number: GROUND, ..Entry::new() }));
        Self {
            writer: Writer::new(&shared.log),
            innermost: Cell::new(ground.get()),
            ground: ground.get(),
            device: Some(NonNull::from(&*shared.device)),
            stream: shared.stream,
            is_processor_count: shared.host.is_processor_count(),
            rest: Some(Rest { shared, gpu, _ground: ground }),
        }
    }

    /// Begins a zone: what is launched on the stream from here on, until the guard is dropped.
    #[inline]
    pub fn zone(&self, location: &'static Location) -> GpuZone<'_> {
        GpuZone { context: self, number: self.begin_with(location, None) }
    }

    /// Begins a zone at a place learnt at run time.
    #[inline]
    pub fn zone_interned(&self, place: &Interned) -> GpuZone<'_> {
        GpuZone { context: self, number: self.begin_with(place.location(), place.shared_name()) }
    }

    /// Begins a zone for one dispatch of a kernel.
    #[inline]
    pub fn dispatch(&self, site: &Site) -> GpuZone<'_> {
        self.zone_interned(site.place())
    }

    /// Begins a zone that is ended by [`end`](Self::end), for code that cannot keep a guard. Zones
    /// end in the reverse order of their beginning.
    #[inline]
    pub fn begin(&self, location: &'static Location) -> ZoneNumber {
        ZoneNumber(self.begin_with(location, None))
    }

    /// Ends a zone that was begun by [`begin`](Self::begin), and those begun within it. One that
    /// has ended already stays as it is.
    #[inline]
    pub fn end(&self, zone: ZoneNumber) {
        self.end_number(zone.0);
    }

    /// By how many nanoseconds the times of zones may be wrong on the host's clock now. None until
    /// the clocks have been compared for about a second.
    #[must_use]
    pub fn clock_error(&self) -> Option<i64> {
        self.rest.as_ref()?.gpu.clock_error()
    }

    /// What became of its zones.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.rest.as_ref().map(|rest| rest.shared.outcome()).unwrap_or_default()
    }

    // Into every call, so that what is in registers there need not be saved and fetched again.
    #[inline(always)]
    fn begin_with(&self, location: &'static Location, name: Option<&str>) -> u64 {
        if !crate::ENABLED {
            return 0;
        }
        let Some(entry) = self.writer.next().or_else(|| self.refill()) else { return 0 };
        // SAFETY: the entry is this side's until it is published, and nobody else refers to it.
        let entry = unsafe { &mut *entry };
        entry.launched = self.stamp();
        // SAFETY: there is an entry, so there is a device, which made its events; whoever made the
        // context vouches for the stream.
        match unsafe { self.device().begin(entry.begin, self.stream) } {
            Begun::Yes => {}
            Begun::InCapture => return self.left_out(Fate::InCapture),
            Begun::Failed => return self.left_out(Fate::Failed),
        }
        if let Some(name) = name {
            entry.name = Some(name.into());
        }
        self.open(entry, location)
    }

    /// # Safety
    /// There is a device: an entry was found.
    #[inline(always)]
    unsafe fn device(&self) -> &dyn Device {
        // SAFETY: by this function's contract; `rest` keeps it alive.
        unsafe { self.device.unwrap_unchecked().as_ref() }
    }

    #[inline(always)]
    fn stamp(&self) -> Halves {
        if self.is_processor_count { Halves::of_processor() } else { self.foreign_stamp() }
    }

    #[cold]
    #[inline(never)]
    fn foreign_stamp(&self) -> Halves {
        Halves::new(self.rest.as_ref().map_or(0, |rest| rest.shared.host.stamp()))
    }

    /// Sees to a next entry, or counts a zone that gets none.
    #[cold]
    #[inline(never)]
    fn refill(&self) -> Option<*mut Entry> {
        let shared = &*self.rest.as_ref()?.shared;
        if shared.lost.load(Ordering::Relaxed) {
            self.left_out(Fate::Failed);
            return None;
        }
        let make_events = |entry: &mut Entry| {
            for event in [&mut entry.begin, &mut entry.end] {
                if event.is_none() {
                    let Ok(made) = shared.device.create_event() else { return false };
                    *event = made;
                }
            }
            true
        };
        match self.writer.refill(&shared.log, shared.limit, make_events) {
            Ok(entry) => return Some(entry),
            Err(Full::Limit) => self.left_out(Fate::OverLimit),
            Err(Full::NoEvents) => self.left_out(Fate::Failed),
        };
        None
    }

    /// Makes an entry the innermost one. Returns its number.
    #[inline(always)]
    fn open(&self, entry: &mut Entry, location: &'static Location) -> u64 {
        entry.location = Some(location);
        entry.parent = self.innermost.get();
        entry.number = self.writer.advance();
        self.innermost.set(entry);
        entry.number
    }

    /// Returns 0, the number of zones that are not recorded.
    #[cold]
    #[inline(never)]
    fn left_out(&self, fate: Fate) -> u64 {
        if let Some(rest) = &self.rest {
            let counts = &rest.shared.counts;
            let count = match fate {
                Fate::OverLimit => &counts.over_limit,
                Fate::InCapture => &counts.in_capture,
                Fate::Failed => &counts.failed,
            };
            add(count, 1);
        }
        0
    }

    #[inline(always)]
    fn end_number(&self, number: u64) {
        if !crate::ENABLED {
            return;
        }
        // SAFETY: null, the ground, or an open entry, which is this side's.
        match unsafe { self.innermost.get().as_mut() } {
            Some(entry) if entry.number == number => self.end_innermost(entry),
            _ => self.end_within(number),
        }
    }

    /// Ends a zone that is not the innermost one, and those within it.
    #[cold]
    #[inline(never)]
    fn end_within(&self, number: u64) {
        if number != 0 {
            self.end_from(number);
        }
    }

    /// Ends all zones from this number on.
    fn end_from(&self, number: u64) {
        // SAFETY: as in `end_number`.
        while let Some(entry) = unsafe { self.innermost.get().as_mut() } {
            if entry.number < number || entry.number == GROUND {
                return;
            }
            self.end_innermost(entry);
        }
    }

    #[inline(always)]
    fn end_innermost(&self, entry: &mut Entry) {
        entry.launched_end = self.stamp();
        // SAFETY: as in `begin_with`.
        if let Err(error) = unsafe { self.device().record(entry.end, self.stream) } {
            Self::cannot_end(entry, error);
        }
        self.close(entry);
    }

    #[cold]
    #[inline(never)]
    fn cannot_end(entry: &mut Entry, error: Error) {
        drop(error);
        entry.broken = true;
    }

    #[inline(always)]
    fn close(&self, entry: &mut Entry) {
        entry.last = self.writer.appended();
        self.innermost.set(entry.parent);
        if entry.parent == self.ground
            && let Some(rest) = &self.rest
        {
            self.writer.publish(&rest.shared.log);
        }
    }

    pub(super) fn existing_device(&self) -> Option<&dyn Device> {
        // SAFETY: `rest` keeps it alive.
        self.device.map(|device| unsafe { device.as_ref() })
    }

    /// A zone around the launch of a graph, with the zones inside of it.
    pub(super) fn replay(&self, location: &'static Location, parts: &Parts<'_>, launch: impl FnOnce()) {
        let outer = self.begin_with(location, None);
        for zone in parts.zones {
            if outer == 0 || !self.open_part(parts.graph, zone, outer) {
                // The events of the launch before may yet be waited for: they must not be recorded again.
                self.set_events(parts.graph, zone, zone.own);
            }
        }
        if outer != 0 {
            self.close_parts(outer, 0);
        }
        launch();
        self.end_number(outer);
    }

    fn set_events(&self, graph: GraphExec, zone: &Part, [begin, end]: [Event; 2]) -> bool {
        let Some(device) = self.existing_device() else { return false };
        let set = |node, event| {
            // SAFETY: whoever made the parts vouches for the graph and its nodes.
            unsafe { device.set_graph_event(graph, node, event) }.is_ok()
        };
        set(zone.begin, begin) && set(zone.end, end)
    }

    /// Appends a zone that the graph itself begins and ends, within the zone `outer`.
    fn open_part(&self, graph: GraphExec, zone: &Part, outer: u64) -> bool {
        self.close_parts(outer, zone.depth);
        let Some(entry) = self.writer.next().or_else(|| self.refill()) else { return false };
        // SAFETY: as in `begin_with`.
        let entry = unsafe { &mut *entry };
        if !self.set_events(graph, zone, [entry.begin, entry.end]) {
            self.left_out(Fate::Failed);
            return false;
        }
        entry.launched = self.stamp();
        entry.launched_end = entry.launched;
        entry.depth = zone.depth;
        self.open(entry, zone.location);
        true
    }

    /// Closes the zones of a graph that lie in `depth` others or more. No event: the graph has them.
    fn close_parts(&self, outer: u64, depth: u32) {
        // SAFETY: as in `end_number`.
        while let Some(entry) = unsafe { self.innermost.get().as_mut() } {
            if entry.number <= outer || entry.depth < depth {
                return;
            }
            self.close(entry);
        }
    }
}

/// A zone begun by [`Context::begin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneNumber(u64);

/// Why a zone is left out.
#[derive(Clone, Copy)]
enum Fate {
    OverLimit,
    InCapture,
    Failed,
}

impl Drop for Context {
    fn drop(&mut self) {
        // Every zone has a larger number than 0, so all that are open end.
        self.end_from(0);
        if let Some(rest) = &self.rest {
            rest.shared.log.closed.store(true, Ordering::Release);
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("outcome", &self.outcome()).finish_non_exhaustive()
    }
}
