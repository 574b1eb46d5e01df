//! Zones.
//!
//! Of all functions here the caller promises what the header's types say: texts can be read as far
//! as their lengths, locations and what they point to stay as they are until the program ends.

use std::ffi::c_char;

use zonecast::{Interned, Location, LocationParts, raw};

use crate::guard::guarded;
use crate::{modules, open, text};

/// # Safety
///
/// See the module.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_zone_begin(location: &'static Location) -> u64 {
    open::begin(location)
}

/// # Safety
///
/// See the module.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_zone_begin_callstack(location: &'static Location, depth: u32) -> u64 {
    open::begin_by(location, || begin(location, depth))
}

/// # Safety
///
/// See the module.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_zone_begin_dynamic(
    location: &'static Location,
    name: *const c_char,
    length: usize,
    depth: u32,
) -> u64 {
    guarded(0, || {
        // SAFETY: the caller's promise.
        let name = unsafe { text::counted(name, length) };
        match modules::site(&name) {
            Some(site) => begin_at(&site, depth),
            None => begin_named(location, &name, depth),
        }
    })
}

/// # Safety
///
/// See the module.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_zone_begin_external(
    file: *const c_char,
    file_length: usize,
    line: u32,
    function: *const c_char,
    function_length: usize,
    name: *const c_char,
    name_length: usize,
    depth: u32,
) -> u64 {
    guarded(0, || {
        // SAFETY: the caller's promise.
        let place =
            unsafe { place((file, file_length), line, (function, function_length), (name, name_length)) };
        begin_at(&place, depth)
    })
}

/// The place that C tells of: that of the exported function, if its module is registered.
///
/// # Safety
///
/// Each text can be read as far as its length.
pub(crate) unsafe fn place(
    file: (*const c_char, usize),
    line: u32,
    function: (*const c_char, usize),
    name: (*const c_char, usize),
) -> Interned {
    // SAFETY: the caller's promise.
    let [file, function, name] =
        [file, function, name].map(|(text, length)| unsafe { text::counted(text, length) });
    modules::site(&function).unwrap_or_else(|| {
        Location::intern(LocationParts { name: &name, function: &function, file: &file, line, color: 0 })
    })
}

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_zone_end(zone: u64) {
    open::end(zone);
}

/// # Safety
///
/// See the module.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_zone_text(zone: u64, text: *const c_char, length: usize) {
    guarded((), || {
        if let Some(id) = open::id(zone) {
            // SAFETY: the caller's promise.
            raw::zone_text(id, &unsafe { text::counted(text, length) });
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_zone_value(zone: u64, value: i64) {
    if let Some(id) = open::id(zone) {
        // As it came: who reads it knows whether it is signed.
        raw::zone_value(id, value.cast_unsigned());
    }
}

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_zone_color(zone: u64, color: u32) {
    if let Some(id) = open::id(zone) {
        raw::zone_color(id, color);
    }
}

fn begin(location: &'static Location, depth: u32) -> zonecast::ZoneId {
    match depth {
        0 => raw::zone_begin(location),
        depth => raw::zone_begin_callstack(location, depth),
    }
}

fn begin_at(place: &Interned, depth: u32) -> u64 {
    match place.shared_name() {
        Some(name) => begin_named(place.location(), name, depth),
        None => open::begin_by(place.location(), || begin(place.location(), depth)),
    }
}

/// Begins a zone with a name of its own; an empty one is none.
fn begin_named(location: &'static Location, name: &str, depth: u32) -> u64 {
    let begin = || {
        let id = begin(location, depth);
        if !name.is_empty() {
            raw::zone_name(id, name);
        }
        id
    };
    let number = open::begin_by(location, begin);
    open::remember_name(number, name);
    number
}
