//! What a destination of trace calls has to do.
//!
//! Every call has a default that does nothing: the null provider is `impl Provider for Null {}`,
//! and a provider says only what it has something to say about. The calls mean what Tracy's mean;
//! where another destination has no like (a frame image on a console), it leaves the call out.
//!
//! Calls come from any thread, before [`start`](crate::start) and after its guard has gone. They
//! must not panic, block on input or output while holding a lock that another thread needs, or
//! allocate once they are warm.

use crate::{Location, Name, Time};

/// What a provider needs to know again at a zone's end. Opaque to everyone else.
///
/// [`ZoneId::NONE`] says that the zone was not recorded: no provider is asked about it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneId {
    /// Whether the zone was recorded (not 0), and whatever else fits.
    pub mark: u64,
    /// More of the provider's own.
    pub data: u64,
}

impl ZoneId {
    /// A zone that was not recorded.
    pub const NONE: Self = Self { mark: 0, data: 0 };

    /// Whether the zone was recorded.
    #[must_use]
    #[inline(always)]
    pub const fn is_recorded(self) -> bool {
        self.mark != 0
    }
}

/// What a provider needs to know of a lock after its announcement. 0 for a lock not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockId(pub u64);

/// How loud a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Of use when chasing one fault.
    Trace,
    /// Of use to the program's authors.
    Debug,
    /// Of use to its users.
    Info,
    /// Something to look at.
    Warning,
    /// Something failed.
    Error,
    /// The program cannot go on.
    Fatal,
}

/// A message at this moment on this thread.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The text.
    pub text: &'a str,
    /// How loud.
    pub severity: Severity,
    /// `0xRRGGBB`; 0 for none.
    pub color: u32,
    /// How many frames of the call stack to record; 0 for none.
    pub callstack: u32,
}

/// How the values of a plot are to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlotFormat {
    /// As plain numbers.
    #[default]
    Number,
    /// As bytes.
    Memory,
    /// As parts of 100.
    Percentage,
    /// As watts.
    Watt,
}

/// How a plot is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlotStyle {
    /// How its values are read.
    pub format: PlotFormat,
    /// As stairs rather than slopes.
    pub step: bool,
    /// With the area below it filled.
    pub fill: bool,
    /// `0xRRGGBB`; 0 for the viewer's choice.
    pub color: u32,
}

/// A picture that belongs to the frame before the last [`frame_mark`](Provider::frame_mark).
#[derive(Clone, Copy, Debug)]
pub struct FrameImage<'a> {
    /// `width * height` pixels of 4 bytes: red, green, blue, alpha.
    pub pixels: &'a [u8],
    /// In pixels; divisible by 4.
    pub width: u16,
    /// In pixels; divisible by 4.
    pub height: u16,
    /// How many frames ago it was drawn.
    pub age: u8,
    /// Whether its rows go upwards.
    pub flipped: bool,
}

/// What a provider needs to know of a lane after its creation. 0 for a lane not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneId(pub u64);

/// What a lane is a timeline of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LaneKind {
    /// Anything.
    #[default]
    Custom,
    /// A stream of CUDA's.
    Cuda,
    /// A stream of HIP's.
    Hip,
    /// A queue of OpenCL's.
    OpenCl,
    /// A queue of Vulkan's.
    Vulkan,
    /// A queue of Metal's.
    Metal,
    /// A queue of WebGPU's.
    WebGpu,
}

/// A lane that is about to be created.
#[derive(Clone, Copy, Debug)]
pub struct LaneInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is a timeline of.
    pub kind: LaneKind,
    /// What it belongs to, if it is one of several that are shown together: a device, of whose streams it is one.
    pub group: Option<&'a str>,
}

/// A zone of a lane, with its times.
#[derive(Clone, Copy, Debug)]
pub struct LaneZone<'a> {
    /// Where it is.
    pub location: &'static Location,
    /// Another name than the location's.
    pub name: Option<&'a str>,
    /// When it began.
    pub start: Time,
    /// When it ended.
    pub end: Time,
    /// When the program asked for its begin and for its end, if it did so ahead of time.
    pub launched: Option<(Time, Time)>,
    /// How long it took in nanoseconds by the clock that measured it, such as a GPU's own.
    pub measured_ns: i64,
    /// By how many nanoseconds start and end may be wrong at most, where clocks had to be compared.
    pub error_ns: i64,
    /// How many zones it lies in.
    pub depth: u32,
}

impl<'a> LaneZone<'a> {
    /// An outermost zone.
    #[must_use]
    pub fn new(location: &'static Location, start: Time, end: Time) -> Self {
        Self {
            location,
            name: None,
            start,
            end,
            launched: None,
            measured_ns: end - start,
            error_ns: 0,
            depth: 0,
        }
    }

    /// The same zone, within `depth` others.
    #[must_use]
    pub const fn at_depth(self, depth: u32) -> Self {
        Self { depth, ..self }
    }

    /// The same zone under another name than its location's.
    #[must_use]
    pub const fn named(self, name: &'a str) -> Self {
        Self { name: Some(name), ..self }
    }
}

/// A destination of trace calls.
#[allow(unused_variables, reason = "the defaults do nothing with what they are given")]
pub trait Provider: Sync {
    /// Gets ready early, if that is of use. Calls may come before it.
    fn start(&self) {}
    /// Writes out what is held back. Does not wait for a viewer.
    fn flush(&self) {}
    /// The traced part of the program is over: as [`flush`](Self::flush), and waits for a viewer
    /// that was asked for. Calls may come after it.
    fn finish(&self) {
        self.flush();
    }
    /// Bounds what is kept for a viewer that has not come, in bytes.
    fn limit_memory(&self, bytes: usize) {}
    /// Whether anybody is watching now.
    fn is_connected(&self) -> bool {
        false
    }
    /// Whether a zone begun now would be recorded.
    fn is_recording(&self) -> bool {
        true
    }

    /// Begins a zone on this thread.
    fn zone_begin(&self, location: &'static Location) -> ZoneId {
        ZoneId::NONE
    }
    /// Begins a zone if that is a matter of a few instructions. None if [`zone_begin`](Self::zone_begin) is
    /// to be called, since nothing has begun yet. See [`raw::try_zone_begin`](crate::raw::try_zone_begin).
    fn try_zone_begin(&self, location: &'static Location) -> Option<ZoneId> {
        Some(self.zone_begin(location))
    }
    /// Begins a zone and records up to `depth` frames of the call stack.
    fn zone_begin_callstack(&self, location: &'static Location, depth: u32) -> ZoneId {
        self.zone_begin(location)
    }
    /// Ends the zone.
    fn zone_end(&self, zone: ZoneId) {}
    /// Ends the zone if that is a matter of a few instructions. False if [`zone_end`](Self::zone_end) is to be
    /// called, since nothing has ended yet. See [`raw::try_zone_end`](crate::raw::try_zone_end).
    fn try_zone_end(&self, zone: ZoneId) -> bool {
        self.zone_end(zone);
        true
    }
    /// Ends the zone and begins the next one at the same moment.
    fn zone_switch(&self, zone: ZoneId, location: &'static Location) -> ZoneId {
        if zone.is_recorded() {
            self.zone_end(zone);
        }
        self.zone_begin(location)
    }
    /// Adds a text to the zone.
    fn zone_text(&self, zone: ZoneId, text: &str) {}
    /// Gives the zone another name than its location's.
    fn zone_name(&self, zone: ZoneId, name: &str) {}
    /// Adds a number to the zone.
    fn zone_value(&self, zone: ZoneId, value: u64) {}
    /// Gives the zone another colour than its location's: `0xRRGGBB`.
    fn zone_color(&self, zone: ZoneId, color: u32) {}

    /// Records a message.
    fn message(&self, message: Message<'_>) {}

    /// Adds a point to a plot of integers.
    fn plot_i64(&self, plot: Name, value: i64) {}
    /// Adds a point to a plot of doubles.
    fn plot_f64(&self, plot: Name, value: f64) {}
    /// Adds a point to a plot of floats.
    fn plot_f32(&self, plot: Name, value: f32) {
        self.plot_f64(plot, f64::from(value));
    }
    /// Says how a plot is drawn.
    fn plot_style(&self, plot: Name, style: PlotStyle) {}

    /// Ends a frame: of the program, or of the sequence named.
    fn frame_mark(&self, frame: Option<Name>) {}
    /// Begins a frame that does not follow its predecessor at once.
    fn frame_begin(&self, frame: Name) {}
    /// Ends such a frame.
    fn frame_end(&self, frame: Name) {}
    /// Adds a picture to a frame.
    fn frame_image(&self, image: FrameImage<'_>) {}

    /// Records that memory was taken. `callstack` as in [`Message`].
    fn memory_alloc(&self, pool: Option<Name>, address: usize, size: usize, callstack: u32) {}
    /// Records that memory is given back; call it before it can be taken again.
    fn memory_free(&self, pool: Option<Name>, address: usize, callstack: u32) {}
    /// Records that all memory of a pool was given back at once.
    fn memory_discard(&self, pool: Name, callstack: u32) {}

    /// Announces a lock.
    fn lock_announce(&self, location: &'static Location) -> LockId {
        LockId(0)
    }
    /// Gives the lock a name of its own.
    fn lock_name(&self, lock: LockId, name: &str) {}
    /// This thread begins to wait for the lock.
    fn lock_wait(&self, lock: LockId) {}
    /// This thread has the lock, after waiting.
    fn lock_obtain(&self, lock: LockId) {}
    /// This thread tried to take the lock without waiting.
    fn lock_try_obtain(&self, lock: LockId, obtained: bool) {}
    /// This thread has released the lock.
    fn lock_release(&self, lock: LockId) {}
    /// The lock is gone.
    fn lock_terminate(&self, lock: LockId) {}

    /// From here on, this thread runs the fiber.
    fn fiber_enter(&self, fiber: Name) {}
    /// From here on, this thread runs no fiber.
    fn fiber_leave(&self) {}

    /// Creates a timeline that is not a thread.
    fn lane_create(&self, lane: LaneInfo<'_>) -> LaneId {
        LaneId(0)
    }
    /// Records a tree of zones on a lane: each zone before its children, in order (see
    /// [`Lane`](crate::Lane)), and after all zones recorded on it before. Not from two threads at
    /// once for one lane.
    fn lane_zones(&self, lane: LaneId, tree: &[LaneZone<'_>]) {}
    /// No more zones come on the lane.
    fn lane_close(&self, lane: LaneId) {}

    /// Names this thread.
    fn thread_name(&self, name: &str) {}
    /// Adds a line on the program as a whole.
    fn app_info(&self, text: &str) {}

    /// A text can be asked for from here on: [`sources::text`](crate::sources::text) has it.
    fn sources_ready(&self) {}
}
