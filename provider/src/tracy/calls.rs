//! Messages, plots, frames, memory, fibers and the rest, through Tracy's C interface.
//!
//! Tracy keeps the names of plots, frames, pools and fibers by address; a [`Name`] lives as long
//! as the program.

use core::ffi::{c_char, c_void};

use tracy_client_sys as sys;

use super::{linked, text};
use crate::{FrameImage, Message, Name, PlotFormat, PlotStyle, Severity};

pub(super) fn is_connected() -> bool {
    // SAFETY: the client is up.
    linked::is_up() && unsafe { sys::___tracy_connected() } != 0
}

pub(super) fn message(message: Message<'_>) {
    if linked::is_up() {
        let text = text::cut(message.text);
        let (severity, color, depth) =
            (severity(message.severity), message.color as i32, text::depth(message.callstack));
        // SAFETY: the client is up; Tracy copies the bytes, of which there are as many as it is told.
        unsafe { sys::___tracy_emit_logString(severity, color, depth, text.len(), text::bytes(text)) }
    }
}

const fn severity(severity: Severity) -> i8 {
    (match severity {
        Severity::Trace => sys::TracyMessageSeverity_TracyMessageSeverityTrace,
        Severity::Debug => sys::TracyMessageSeverity_TracyMessageSeverityDebug,
        Severity::Info => sys::TracyMessageSeverity_TracyMessageSeverityInfo,
        Severity::Warning => sys::TracyMessageSeverity_TracyMessageSeverityWarning,
        Severity::Error => sys::TracyMessageSeverity_TracyMessageSeverityError,
        Severity::Fatal => sys::TracyMessageSeverity_TracyMessageSeverityFatal,
    }) as i8
}

fn chars(name: Name) -> *const c_char {
    name.as_c_str().as_ptr()
}

pub(super) fn plot_i64(plot: Name, value: i64) {
    if linked::is_up() {
        // SAFETY: the client is up, and the name lives as long as the program.
        unsafe { sys::___tracy_emit_plot_int(chars(plot), value) }
    }
}

pub(super) fn plot_f64(plot: Name, value: f64) {
    if linked::is_up() {
        // SAFETY: as for `plot_i64`.
        unsafe { sys::___tracy_emit_plot(chars(plot), value) }
    }
}

pub(super) fn plot_f32(plot: Name, value: f32) {
    if linked::is_up() {
        // SAFETY: as for `plot_i64`.
        unsafe { sys::___tracy_emit_plot_float(chars(plot), value) }
    }
}

pub(super) fn plot_style(plot: Name, style: PlotStyle) {
    let format = match style.format {
        PlotFormat::Number => sys::TracyPlotFormatEnum_TracyPlotFormatNumber,
        PlotFormat::Memory => sys::TracyPlotFormatEnum_TracyPlotFormatMemory,
        PlotFormat::Percentage => sys::TracyPlotFormatEnum_TracyPlotFormatPercentage,
        PlotFormat::Watt => sys::TracyPlotFormatEnum_TracyPlotFormatWatt,
    } as i32;
    let (step, fill) = (i32::from(style.step), i32::from(style.fill));
    if linked::is_up() {
        // SAFETY: as for `plot_i64`; the format is one of Tracy's.
        unsafe { sys::___tracy_emit_plot_config(chars(plot), format, step, fill, style.color) }
    }
}

pub(super) fn frame_mark(frame: Option<Name>) {
    if linked::is_up() {
        // SAFETY: as for `plot_i64`; null is the program's own frame.
        unsafe { sys::___tracy_emit_frame_mark(frame.map_or(core::ptr::null(), chars)) }
    }
}

pub(super) fn frame_begin(frame: Name) {
    if linked::is_up() {
        // SAFETY: as for `plot_i64`.
        unsafe { sys::___tracy_emit_frame_mark_start(chars(frame)) }
    }
}

pub(super) fn frame_end(frame: Name) {
    if linked::is_up() {
        // SAFETY: as for `plot_i64`.
        unsafe { sys::___tracy_emit_frame_mark_end(chars(frame)) }
    }
}

pub(super) fn frame_image(image: FrameImage<'_>) {
    let FrameImage { pixels, width, height, age, flipped } = image;
    // A provider can be called directly, so the facade's own check is not enough for C.
    let whole = pixels.len() == usize::from(width) * usize::from(height) * 4;
    if linked::is_up() && whole {
        let pixels = pixels.as_ptr().cast::<c_void>();
        // SAFETY: the client is up; Tracy copies `width * height * 4` bytes, which are there.
        unsafe { sys::___tracy_emit_frame_image(pixels, width, height, age, i32::from(flipped)) }
    }
}

pub(super) fn memory_alloc(pool: Option<Name>, address: usize, size: usize, callstack: u32) {
    if !linked::is_up() {
        return;
    }
    let (address, depth) = (core::ptr::without_provenance(address), text::depth(callstack));
    // SAFETY: the client is up, a pool's name lives as long as the program, and the address is
    // sent, not followed.
    unsafe {
        match (pool.map(chars), depth) {
            (None, 0) => sys::___tracy_emit_memory_alloc(address, size),
            (None, _) => sys::___tracy_emit_memory_alloc_callstack(address, size, depth),
            (Some(pool), 0) => sys::___tracy_emit_memory_alloc_named(address, size, pool),
            (Some(pool), _) => sys::___tracy_emit_memory_alloc_callstack_named(address, size, depth, pool),
        }
    }
}

pub(super) fn memory_free(pool: Option<Name>, address: usize, callstack: u32) {
    if !linked::is_up() {
        return;
    }
    let (address, depth) = (core::ptr::without_provenance(address), text::depth(callstack));
    // SAFETY: as for `memory_alloc`.
    unsafe {
        match (pool.map(chars), depth) {
            (None, 0) => sys::___tracy_emit_memory_free(address),
            (None, _) => sys::___tracy_emit_memory_free_callstack(address, depth),
            (Some(pool), 0) => sys::___tracy_emit_memory_free_named(address, pool),
            (Some(pool), _) => sys::___tracy_emit_memory_free_callstack_named(address, depth, pool),
        }
    }
}

pub(super) fn memory_discard(pool: Name, callstack: u32) {
    if !linked::is_up() {
        return;
    }
    // SAFETY: as for `memory_alloc`.
    unsafe {
        match text::depth(callstack) {
            0 => sys::___tracy_emit_memory_discard(chars(pool)),
            depth => sys::___tracy_emit_memory_discard_callstack(chars(pool), depth),
        }
    }
}

pub(super) fn fiber_enter(fiber: Name) {
    if linked::is_up() {
        linked::fiber_enter(chars(fiber));
    }
}

pub(super) fn fiber_leave() {
    if linked::is_up() {
        linked::fiber_leave();
    }
}

pub(super) fn thread_name(name: &str) {
    if linked::is_up() {
        // SAFETY: the client is up, and Tracy copies the name.
        text::with_c_str(name, |name| unsafe { sys::___tracy_set_thread_name(name.as_ptr()) });
    }
}

pub(super) fn app_info(text: &str) {
    if linked::is_up() {
        let text = text::cut(text);
        // SAFETY: the client is up; Tracy copies the bytes, of which there are as many as it is told.
        unsafe { sys::___tracy_emit_message_appinfo(text::bytes(text), text.len()) }
    }
}
