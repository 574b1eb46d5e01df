//! Messages, plots and frames.

use std::ffi::c_char;

use zonecast::{Message, PlotFormat, PlotStyle, PlotValue, Severity, raw};

use crate::guard::guarded;
use crate::text;

/// # Safety
///
/// As the functions of `zones`.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_message(severity: u32, color: u32, text: *const c_char, length: usize) {
    guarded((), || {
        let severity = match severity {
            0 => Severity::Trace,
            1 => Severity::Debug,
            2 => Severity::Info,
            3 => Severity::Warning,
            _ => Severity::Error,
        };
        // SAFETY: the caller's promise.
        let text = unsafe { text::counted(text, length) };
        zonecast::message(Message { text: &text, severity, color, callstack: 0 });
    });
}

/// # Safety
///
/// `plot` is null or a C string that stays as it is until the program ends.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_plot_style(
    plot: *const c_char,
    kind: u32,
    step: bool,
    fill: bool,
    color: u32,
) {
    guarded((), || {
        let format = match kind {
            1 => PlotFormat::Memory,
            2 => PlotFormat::Percentage,
            _ => PlotFormat::Number,
        };
        // SAFETY: the caller's promise.
        if let Some(plot) = unsafe { text::name(plot) } {
            zonecast::plot_style(plot, PlotStyle { format, step, fill, color: color & 0xff_ffff });
        }
    });
}

/// # Safety
///
/// As [`zonecast_iree_plot_style`].
unsafe fn plot(plot: *const c_char, value: impl PlotValue) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let Some(plot) = unsafe { text::name(plot) } {
            value.plot(plot);
        }
    });
}

/// # Safety
///
/// As [`zonecast_iree_plot_style`].
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_plot_i64(name: *const c_char, value: i64) {
    // SAFETY: the caller's promise.
    unsafe { plot(name, value) }
}

/// # Safety
///
/// As [`zonecast_iree_plot_style`].
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_plot_f32(name: *const c_char, value: f32) {
    // SAFETY: the caller's promise.
    unsafe { plot(name, value) }
}

/// # Safety
///
/// As [`zonecast_iree_plot_style`].
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_plot_f64(name: *const c_char, value: f64) {
    // SAFETY: the caller's promise.
    unsafe { plot(name, value) }
}

/// # Safety
///
/// As [`zonecast_iree_plot_style`]; null is the program's own frame.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_frame_mark(frame: *const c_char) {
    // SAFETY: the caller's promise.
    let frame = unsafe { text::name(frame) };
    guarded((), || frame.map_or_else(zonecast::frame_mark, zonecast::frame_mark_named));
}

/// # Safety
///
/// As [`zonecast_iree_plot_style`].
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_frame_begin(frame: *const c_char) {
    // SAFETY: the caller's promise.
    guarded((), || unsafe { text::name(frame) }.map_or((), raw::frame_begin));
}

/// # Safety
///
/// As [`zonecast_iree_plot_style`].
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_frame_end(frame: *const c_char) {
    // SAFETY: the caller's promise.
    guarded((), || unsafe { text::name(frame) }.map_or((), raw::frame_end));
}
