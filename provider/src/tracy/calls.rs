//! Frames, memory, fibers and what describes the program, through Tracy's C interface.

use core::ffi::c_void;

use tracy_client_sys as sys;

use super::c_api::{chars, stack_size};
use super::thread::{Event, may_emit, may_emit_anywhere, may_emit_pair};
use super::{linked, text};
use crate::{FrameImage, Name, PlotFormat, PlotStyle};

/// What an event takes in the queue that all threads share, which doubles when it is full.
pub(super) const SHARED_ITEM: usize = 64;

pub(super) fn is_connected() -> bool {
    // SAFETY: the client is up.
    linked::is_up() && unsafe { sys::___tracy_connected() } != 0
}

pub(super) fn plot_style(plot: Name, style: PlotStyle) {
    let format = match style.format {
        PlotFormat::Number => sys::TracyPlotFormatEnum_TracyPlotFormatNumber,
        PlotFormat::Memory => sys::TracyPlotFormatEnum_TracyPlotFormatMemory,
        PlotFormat::Percentage => sys::TracyPlotFormatEnum_TracyPlotFormatPercentage,
        PlotFormat::Watt => sys::TracyPlotFormatEnum_TracyPlotFormatWatt,
    } as i32;
    let (step, fill) = (i32::from(style.step), i32::from(style.fill));
    if may_emit(Event::Rest, 0) {
        // SAFETY: the client is up, the name lives as long as the program, and the format is one
        // of Tracy's.
        unsafe { sys::___tracy_emit_plot_config(chars(plot), format, step, fill, style.color) }
    }
}

pub(super) fn frame_mark(frame: Option<Name>) {
    if may_emit_anywhere(SHARED_ITEM) {
        // SAFETY: as for `plot_style`; null is the program's own frame.
        unsafe { sys::___tracy_emit_frame_mark(frame.map_or(core::ptr::null(), chars)) }
    }
}

pub(super) fn frame_begin(frame: Name) {
    if may_emit_pair(SHARED_ITEM) {
        // SAFETY: as for `plot_style`.
        unsafe { sys::___tracy_emit_frame_mark_start(chars(frame)) }
    }
}

pub(super) fn frame_end(frame: Name) {
    if may_emit_pair(SHARED_ITEM) {
        // SAFETY: as for `plot_style`.
        unsafe { sys::___tracy_emit_frame_mark_end(chars(frame)) }
    }
}

pub(super) fn frame_image(image: FrameImage<'_>) {
    let FrameImage { pixels, width, height, age, flipped } = image;
    // A provider can be called directly, so the facade's own check is not enough for C.
    let whole = pixels.len() == usize::from(width) * usize::from(height) * 4;
    // Tracy keeps it at an eighth of its size.
    if whole && may_emit_anywhere(SHARED_ITEM + pixels.len() / 8) {
        let pixels = pixels.as_ptr().cast::<c_void>();
        // SAFETY: the client is up; Tracy copies `width * height * 4` bytes, which are there.
        unsafe { sys::___tracy_emit_frame_image(pixels, width, height, age, i32::from(flipped)) }
    }
}

pub(super) fn memory_alloc(pool: Option<Name>, address: usize, size: usize, callstack: u32) {
    let (address, depth) = (core::ptr::without_provenance(address), text::depth(callstack));
    if !may_emit_pair(2 * SHARED_ITEM + stack_size(depth)) {
        return;
    }
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
    let (address, depth) = (core::ptr::without_provenance(address), text::depth(callstack));
    if !may_emit_pair(2 * SHARED_ITEM + stack_size(depth)) {
        return;
    }
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
    let depth = text::depth(callstack);
    if !may_emit_pair(2 * SHARED_ITEM + stack_size(depth)) {
        return;
    }
    // SAFETY: as for `memory_alloc`.
    unsafe {
        match depth {
            0 => sys::___tracy_emit_memory_discard(chars(pool)),
            _ => sys::___tracy_emit_memory_discard_callstack(chars(pool), depth),
        }
    }
}

pub(super) fn fiber_enter(fiber: Name) {
    if may_emit(Event::Rest, 0) {
        linked::fiber_enter(chars(fiber));
    }
}

pub(super) fn fiber_leave() {
    if may_emit(Event::Rest, 0) {
        linked::fiber_leave();
    }
}

pub(super) fn thread_name(name: &str) {
    if may_emit_anywhere(0) {
        // SAFETY: the client is up, and Tracy copies the name.
        text::with_c_str(name, |name| unsafe { sys::___tracy_set_thread_name(name.as_ptr()) });
    }
}

pub(super) fn app_info(text: &str) {
    let text = text::cut(text);
    if may_emit(Event::Other, SHARED_ITEM + text.len()) {
        #[cfg(tracy_shim)]
        if linked::ON_DEMAND {
            return super::app_info::add(text, super::thread::own_queue());
        }
        // SAFETY: the client is up; Tracy copies the bytes, of which there are as many as it is told.
        unsafe { sys::___tracy_emit_message_appinfo(text::bytes(text), text.len()) }
    }
}
