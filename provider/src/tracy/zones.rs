//! Zones, through Tracy's C interface.

use tracy_client_sys as sys;

use super::{linked, text};
use crate::{Location, ZoneId};

#[inline(always)]
pub(super) fn begin(location: &'static Location) -> ZoneId {
    if !linked::is_up() {
        return ZoneId::NONE;
    }
    // SAFETY: the client is up; the location lives as long as the program and is laid out as C's.
    linked::zone_id(unsafe { sys::___tracy_emit_zone_begin(linked::location(location), 1) })
}

#[inline]
pub(super) fn begin_callstack(location: &'static Location, depth: u32) -> ZoneId {
    if !linked::is_up() {
        return ZoneId::NONE;
    }
    let (location, depth) = (linked::location(location), text::depth(depth));
    // SAFETY: as for `begin`; the depth is one that Tracy accepts.
    linked::zone_id(unsafe { sys::___tracy_emit_zone_begin_callstack(location, depth, 1) })
}

#[inline(always)]
pub(super) fn end(zone: ZoneId) {
    if linked::is_up() {
        // SAFETY: the client is up, and the zone is one that it began.
        unsafe { sys::___tracy_emit_zone_end(linked::context(zone)) }
    }
}

#[inline]
pub(super) fn text(zone: ZoneId, text: &str) {
    if linked::is_up() {
        let text = text::cut(text);
        // SAFETY: as for `end`; Tracy copies the bytes, of which there are as many as it is told.
        unsafe { sys::___tracy_emit_zone_text(linked::context(zone), text::bytes(text), text.len()) }
    }
}

#[inline]
pub(super) fn name(zone: ZoneId, name: &str) {
    if linked::is_up() {
        let name = text::cut(name);
        // SAFETY: as for `text`.
        unsafe { sys::___tracy_emit_zone_name(linked::context(zone), text::bytes(name), name.len()) }
    }
}

#[inline]
pub(super) fn value(zone: ZoneId, value: u64) {
    if linked::is_up() {
        // SAFETY: as for `end`.
        unsafe { sys::___tracy_emit_zone_value(linked::context(zone), value) }
    }
}

#[inline]
pub(super) fn color(zone: ZoneId, color: u32) {
    if linked::is_up() {
        // SAFETY: as for `end`.
        unsafe { sys::___tracy_emit_zone_color(linked::context(zone), color) }
    }
}
