//! The calls that are not zones: each is one line to the provider chosen.
//!
//! The macros of the same names format, make names from literals, and are nothing in builds
//! without a provider.

use core::fmt;

use crate::select::provider;
use crate::{FrameImage, Message, Name, PlotStyle, Severity};

/// Whether anybody is watching now: a profiler is connected, or the console writes.
#[must_use]
#[inline]
pub fn is_connected() -> bool {
    provider!(|p| p.is_connected())
}

/// Bounds what is kept while no profiler has connected, in bytes: 256 MiB unless this or the
/// environment variable `ZONECAST_MEMORY` (in MiB) says otherwise.
///
/// Past it zones are dropped whole and counted; the counts are messages in the trace once a profiler
/// has come. With more than 64 recording threads it can be exceeded by up to 2 MiB for each of them.
///
/// ```
/// zonecast::limit_memory(64 << 20);
/// ```
#[inline]
pub fn limit_memory(bytes: usize) {
    provider!(|p| p.limit_memory(bytes));
}

/// Records a message. See [`message!`](crate::message!).
#[inline]
pub fn message(message: Message<'_>) {
    provider!(|p| p.message(message));
}

/// Records a message made from `arguments`, of a severity and a colour (`0xRRGGBB`, 0 for none).
#[inline]
pub fn message_fmt(severity: Severity, color: u32, arguments: fmt::Arguments<'_>) {
    crate::format::with(arguments, |text| message(Message { text, severity, color, callstack: 0 }));
}

/// A number that can be plotted: an integer, a float or a truth value.
///
/// Integers are plotted as `i64`; larger ones as `i64::MAX`.
pub trait PlotValue: sealed::Sealed {
    /// Adds this number to the plot.
    fn plot(self, plot: Name);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! plot_values {
    ($($type:ty: |$p:ident, $plot:ident, $value:ident| $call:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl PlotValue for $type {
            #[inline]
            fn plot(self, $plot: Name) {
                let $value = self;
                provider!(|$p| $call);
            }
        }
    )*};
}

plot_values! {
    f64: |p, plot, v| p.plot_f64(plot, v);
    f32: |p, plot, v| p.plot_f32(plot, v);
    i64: |p, plot, v| p.plot_i64(plot, v);
    i32: |p, plot, v| p.plot_i64(plot, i64::from(v));
    i16: |p, plot, v| p.plot_i64(plot, i64::from(v));
    i8: |p, plot, v| p.plot_i64(plot, i64::from(v));
    u64: |p, plot, v| p.plot_i64(plot, i64::try_from(v).unwrap_or(i64::MAX));
    u32: |p, plot, v| p.plot_i64(plot, i64::from(v));
    u16: |p, plot, v| p.plot_i64(plot, i64::from(v));
    u8: |p, plot, v| p.plot_i64(plot, i64::from(v));
    usize: |p, plot, v| p.plot_i64(plot, i64::try_from(v).unwrap_or(i64::MAX));
    isize: |p, plot, v| p.plot_i64(plot, v as i64);
    bool: |p, plot, v| p.plot_i64(plot, i64::from(v));
}

/// Says how a plot is drawn. Call it before the plot's first point.
///
/// ```
/// use zonecast::{PlotFormat, PlotStyle, name, plot, plot_style};
///
/// plot_style(name!("device memory"), PlotStyle { format: PlotFormat::Memory, step: true, ..PlotStyle::default() });
/// plot!("device memory", 4096);
/// ```
#[inline]
pub fn plot_style(plot: Name, style: PlotStyle) {
    provider!(|p| p.plot_style(plot, style));
}

/// Ends a frame of the program. See [`frame_mark!`](crate::frame_mark!).
#[inline]
pub fn frame_mark() {
    provider!(|p| p.frame_mark(None));
}

/// Ends a frame of the sequence named.
#[inline]
pub fn frame_mark_named(frame: Name) {
    provider!(|p| p.frame_mark(Some(frame)));
}

/// A frame of a sequence that has gaps; it ends when this is dropped.
///
/// ```
/// let _frame = zonecast::Frame::begin(zonecast::name!("decode"));
/// ```
#[derive(Debug)]
#[must_use = "a frame ends when its guard is dropped"]
pub struct Frame(Name);

impl Frame {
    /// Begins a frame.
    #[inline]
    pub fn begin(frame: Name) -> Self {
        provider!(|p| p.frame_begin(frame));
        Self(frame)
    }
}

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        provider!(|p| p.frame_end(self.0));
    }
}

/// Adds a picture to a frame.
///
/// A picture whose `pixels` are not `width * height * 4` bytes, or whose sides are not divisible
/// by 4, is left out.
#[inline]
pub fn frame_image(image: FrameImage<'_>) {
    let FrameImage { pixels, width, height, .. } = image;
    let fits = pixels.len() == usize::from(width) * usize::from(height) * 4;
    if fits && width % 4 == 0 && height % 4 == 0 && !pixels.is_empty() {
        provider!(|p| p.frame_image(image));
    }
}

/// Names this thread.
#[inline]
pub fn set_thread_name(name: &str) {
    provider!(|p| p.thread_name(name));
}

/// Adds a line on the program as a whole: its version, its model, its command line.
#[inline]
pub fn app_info(text: &str) {
    provider!(|p| p.app_info(text));
}

/// A fiber that this thread runs until this is dropped.
///
/// Zones begun on a fiber belong to it, whichever thread it runs on. Tracy needs the feature
/// `fibers` for it; without, the zones stay on the thread.
#[derive(Debug)]
#[must_use = "a fiber is left when its guard is dropped"]
pub struct Fiber {
    on_its_thread: core::marker::PhantomData<*const ()>,
}

impl Fiber {
    /// Enters the fiber of this name.
    #[inline]
    pub fn enter(fiber: Name) -> Self {
        provider!(|p| p.fiber_enter(fiber));
        Self { on_its_thread: core::marker::PhantomData }
    }
}

impl Drop for Fiber {
    #[inline]
    fn drop(&mut self) {
        provider!(|p| p.fiber_leave());
    }
}
