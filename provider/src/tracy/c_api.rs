//! Zones, plots and messages through Tracy's C interface: wherever `inline` is not valid, and as its
//! way out.

use core::ffi::c_char;

use tracy_client_sys as sys;

use super::thread::{Event, may_emit};
use super::{linked, text};
use crate::{Location, Message, Name, Severity, ZoneId};

/// What one event of a thread's queue takes, in bytes. Where each thread has one, the bound counts
/// these events twice, there and here, so it holds with room to spare.
const ITEM: usize = 32;

#[inline(always)]
pub(super) fn begin(location: &'static Location) -> ZoneId {
    if !may_emit(Event::Zone, 2 * ITEM) {
        return ZoneId::NONE;
    }
    // SAFETY: the client is up; the location lives as long as the program and is laid out as C's.
    linked::zone_id(unsafe { sys::___tracy_emit_zone_begin(linked::location(location), 1) })
}

pub(super) fn begin_callstack(location: &'static Location, depth: u32) -> ZoneId {
    let depth = text::depth(depth);
    if !may_emit(Event::Zone, 3 * ITEM + stack_size(depth)) {
        return ZoneId::NONE;
    }
    // SAFETY: as for `begin`; the depth is one that Tracy accepts.
    linked::zone_id(unsafe { sys::___tracy_emit_zone_begin_callstack(linked::location(location), depth, 1) })
}

#[inline(always)]
pub(super) fn end(zone: ZoneId) {
    if may_emit(Event::Rest, 0) {
        // SAFETY: the client is up, and the zone is one that it began.
        unsafe { sys::___tracy_emit_zone_end(linked::context(zone)) }
    }
}

#[inline(always)]
pub(super) fn switch(zone: ZoneId, location: &'static Location) -> ZoneId {
    if zone.is_recorded() {
        end(zone);
    }
    begin(location)
}

pub(super) fn text(zone: ZoneId, text: &str) {
    let text = text::cut(text);
    if may_emit(Event::Other, ITEM + text.len()) {
        // SAFETY: as for `end`; Tracy copies the bytes, of which there are as many as it is told.
        unsafe { sys::___tracy_emit_zone_text(linked::context(zone), text::bytes(text), text.len()) }
    }
}

pub(super) fn name(zone: ZoneId, name: &str) {
    let name = text::cut(name);
    if may_emit(Event::Other, ITEM + name.len()) {
        // SAFETY: as for `text`.
        unsafe { sys::___tracy_emit_zone_name(linked::context(zone), text::bytes(name), name.len()) }
    }
}

pub(super) fn value(zone: ZoneId, value: u64) {
    if may_emit(Event::Other, ITEM) {
        // SAFETY: as for `end`.
        unsafe { sys::___tracy_emit_zone_value(linked::context(zone), value) }
    }
}

pub(super) fn color(zone: ZoneId, color: u32) {
    if may_emit(Event::Other, ITEM) {
        // SAFETY: as for `end`.
        unsafe { sys::___tracy_emit_zone_color(linked::context(zone), color) }
    }
}

pub(super) fn plot_i64(plot: Name, value: i64) {
    if may_emit(Event::Other, ITEM) {
        // SAFETY: the client is up, and the name lives as long as the program.
        unsafe { sys::___tracy_emit_plot_int(chars(plot), value) }
    }
}

pub(super) fn plot_f64(plot: Name, value: f64) {
    if may_emit(Event::Other, ITEM) {
        // SAFETY: as for `plot_i64`.
        unsafe { sys::___tracy_emit_plot(chars(plot), value) }
    }
}

pub(super) fn plot_f32(plot: Name, value: f32) {
    if may_emit(Event::Other, ITEM) {
        // SAFETY: as for `plot_i64`.
        unsafe { sys::___tracy_emit_plot_float(chars(plot), value) }
    }
}

pub(super) fn message(message: Message<'_>) {
    let (text, depth) = (text::cut(message.text), text::depth(message.callstack));
    if may_emit(Event::Other, 2 * ITEM + text.len() + stack_size(depth)) {
        log(text, severity(message.severity), message.color, depth);
    }
}

/// Records a message whatever waits. `text` is cut, and the client up.
pub(super) fn log(text: &str, severity: i8, color: u32, depth: i32) {
    // SAFETY: the client is up; Tracy copies the bytes, of which there are as many as it is told.
    unsafe { sys::___tracy_emit_logString(severity, color as i32, depth, text.len(), text::bytes(text)) }
}

/// The bytes that a call stack takes.
pub(super) fn stack_size(depth: i32) -> usize {
    size_of::<u64>() * depth.unsigned_abs() as usize
}

pub(super) const fn severity(severity: Severity) -> i8 {
    (match severity {
        Severity::Trace => sys::TracyMessageSeverity_TracyMessageSeverityTrace,
        Severity::Debug => sys::TracyMessageSeverity_TracyMessageSeverityDebug,
        Severity::Info => sys::TracyMessageSeverity_TracyMessageSeverityInfo,
        Severity::Warning => sys::TracyMessageSeverity_TracyMessageSeverityWarning,
        Severity::Error => sys::TracyMessageSeverity_TracyMessageSeverityError,
        Severity::Fatal => sys::TracyMessageSeverity_TracyMessageSeverityFatal,
    }) as i8
}

/// Tracy keeps the names of plots, frames, pools and fibers by address.
#[inline(always)]
pub(super) fn chars(name: Name) -> *const c_char {
    name.as_c_str().as_ptr()
}
