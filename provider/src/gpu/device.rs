//! What a backend has to do: make, record and compare events.

use core::ffi::c_void;
use core::fmt;

use crate::{LaneKind, Time};

use super::Error;

/// An event of a backend's, which marks a moment on a stream. Opaque to everyone else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event(pub *mut c_void);

/// A stream (or queue) of a backend's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(pub *mut c_void);

// SAFETY: handles are numbers to this crate; what may be done with them is the trait's contract.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}
// SAFETY: as above.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Event {
    pub(super) const NONE: Self = Self(core::ptr::null_mut());

    pub(super) fn is_none(self) -> bool {
        self.0.is_null()
    }
}

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The device has passed it: its time is known.
    Done,
    /// The device has not got there.
    Pending,
    /// It cannot be asked about now, because of a graph that is being captured. Ask again later;
    /// one that was itself captured never gets a time.
    Captured,
}

/// Whether an event was recorded at a zone's begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It was.
    Yes,
    /// The stream is being captured into a graph: it would have got no time.
    InCapture,
    /// The driver failed.
    Failed,
}

/// A device whose streams can be timed by pairs of events.
///
/// Backends implement it: `gpu::cuda`, `gpu::hip`, and anybody else who has events.
///
/// # Safety contract of its calls
///
/// The events given come from [`create_event`](Self::create_event) of the same device and have not
/// been destroyed; the streams are alive and the device's. No call may wait for the device, leave
/// another context or device current on the calling thread than it found, or panic.
pub trait Device: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> String;

    /// What its streams are.
    fn kind(&self) -> LaneKind {
        LaneKind::Custom
    }

    /// The calling thread, which launches nothing, is about to make the calls below. Calls
    /// `collect` in between, and restores what it changed.
    ///
    /// # Errors
    /// If the device cannot be used; `collect` has not been called then.
    fn with_collector(&self, collect: &mut dyn FnMut()) -> Result<(), Error> {
        collect();
        Ok(())
    }

    /// Makes an event that takes the time.
    ///
    /// # Errors
    /// What the driver reports.
    fn create_event(&self) -> Result<Event, Error>;

    /// Destroys an event. What the driver reports is of no use any more.
    ///
    /// # Safety
    /// See [the trait](Self).
    unsafe fn destroy_event(&self, event: Event);

    /// Puts an event at the end of a stream's work.
    ///
    /// # Errors
    /// What the driver reports.
    ///
    /// # Safety
    /// See [the trait](Self).
    unsafe fn record(&self, event: Event, stream: Stream) -> Result<(), Error>;

    /// Where the event is.
    ///
    /// # Errors
    /// What the driver reports, if it is neither done nor pending nor about a capture. The events of
    /// the same stream are given up then.
    ///
    /// # Safety
    /// See [the trait](Self).
    unsafe fn query(&self, event: Event) -> Result<Status, Error>;

    /// The nanoseconds from one event to a later one, both done, by the device's clock. May be
    /// negative or 0 where the later one was in fact earlier.
    ///
    /// # Errors
    /// What the driver reports.
    ///
    /// # Safety
    /// See [the trait](Self).
    unsafe fn elapsed_ns(&self, earlier: Event, later: Event) -> Result<i64, Error>;

    /// By how much [`elapsed_ns`](Self::elapsed_ns) may be wrong where it says `elapsed_ns`.
    fn rounding_ns(&self, elapsed_ns: i64) -> i64 {
        let _ = elapsed_ns;
        0
    }

    /// Whether the stream's work is being captured into a graph, so that an event recorded now would
    /// get no time.
    ///
    /// # Errors
    /// What the driver reports.
    ///
    /// # Safety
    /// See [the trait](Self).
    unsafe fn is_capturing(&self, stream: Stream) -> Result<bool, Error> {
        let _ = stream;
        Ok(false)
    }

    /// Puts an event at the end of a stream's work, unless the stream is being captured. What every
    /// zone begins with.
    ///
    /// # Safety
    /// See [the trait](Self).
    unsafe fn begin(&self, event: Event, stream: Stream) -> Begun {
        // SAFETY: by this function's contract.
        match unsafe { self.is_capturing(stream) } {
            // SAFETY: as above.
            Ok(false) if unsafe { self.record(event, stream) }.is_ok() => Begun::Yes,
            Ok(true) => Begun::InCapture,
            _ => Begun::Failed,
        }
    }

    /// Makes a stream that no work of the program's waits for, for comparing clocks.
    ///
    /// # Errors
    /// What the driver reports.
    fn create_stream(&self) -> Result<Stream, Error>;

    /// Destroys such a stream.
    ///
    /// # Safety
    /// See [the trait](Self).
    unsafe fn destroy_stream(&self, stream: Stream);

    /// Adds a node to a graph that records the event. Returns the node.
    ///
    /// # Errors
    /// What the driver reports, or that it cannot.
    ///
    /// # Safety
    /// See [the trait](Self); `graph` and the nodes it depends on are alive.
    unsafe fn add_graph_event(&self, graph: Graph, after: &[Node], event: Event) -> Result<Node, Error> {
        let _ = (graph, after, event);
        Err(Error::unsupported("event nodes in graphs"))
    }

    /// Has a node of an instantiated graph record another event at its next launches.
    ///
    /// # Errors
    /// What the driver reports, or that it cannot.
    ///
    /// # Safety
    /// See [the trait](Self); `graph` was instantiated from the one that `node` was added to.
    unsafe fn set_graph_event(&self, graph: GraphExec, node: Node, event: Event) -> Result<(), Error> {
        let _ = (graph, node, event);
        Err(Error::unsupported("event nodes in graphs"))
    }
}

/// A graph that is being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graph(pub *mut c_void);

/// A graph that can be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphExec(pub *mut c_void);

/// A node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(pub *mut c_void);

/// The host's clock, which can be replaced so that days are simulated in seconds.
pub trait HostClock: Send + Sync {
    /// A count that only ever grows, as cheap as can be. Program threads take it.
    fn stamp(&self) -> u64;
    /// Whether stamps are the processor's time stamp counter, which can then be read without asking.
    fn is_processor_count(&self) -> bool {
        false
    }
    /// A stamp in nanoseconds, by a rate that never changes. (That of the system's clock may be changed at any
    /// moment, by those who set it.)
    fn steady(&self, stamp: u64) -> i64 {
        stamp as i64
    }
    /// This moment.
    fn now(&self) -> Time;
}

impl fmt::Debug for dyn Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
