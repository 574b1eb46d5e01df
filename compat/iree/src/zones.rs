//! Zones.
//!
//! Of all functions here the caller promises what the header's types say: texts can be read as far
//! as their lengths, locations and what they point to stay as they are until the program ends.

use std::ffi::c_char;

use zonecast::{Interned, Location, LocationParts, raw};

use crate::guard::guarded;
use crate::open::here;
use crate::{modules, text};

/// # Safety
///
/// See the module.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_zone_begin(location: &'static Location) -> u64 {
    here(|stack| stack.begin(location, || raw::zone_begin(location))).unwrap_or_default()
}

/// # Safety
///
/// See the module.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_zone_begin_callstack(location: &'static Location, depth: u32) -> u64 {
    here(|stack| stack.begin(location, || begin(location, depth))).unwrap_or_default()
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
        let (file, function, name) = unsafe {
            let function = text::counted(function, function_length);
            (text::counted(file, file_length), function, text::counted(name, name_length))
        };
        let place = modules::site(&function).unwrap_or_else(|| {
            Location::intern(LocationParts { name: &name, function: &function, file: &file, line, color: 0 })
        });
        begin_at(&place, depth)
    })
}

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_zone_end(zone: u64) {
    here(|stack| stack.end(zone));
}

/// # Safety
///
/// See the module.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_zone_text(zone: u64, text: *const c_char, length: usize) {
    guarded((), || {
        if let Some(id) = here(|stack| stack.id(zone)).flatten() {
            // SAFETY: the caller's promise.
            raw::zone_text(id, &unsafe { text::counted(text, length) });
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_zone_value(zone: u64, value: i64) {
    if let Some(id) = here(|stack| stack.id(zone)).flatten() {
        // As it came: who reads it knows whether it is signed.
        raw::zone_value(id, value.cast_unsigned());
    }
}

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_zone_color(zone: u64, color: u32) {
    if let Some(id) = here(|stack| stack.id(zone)).flatten() {
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
        None => {
            here(|stack| stack.begin(place.location(), || begin(place.location(), depth))).unwrap_or_default()
        }
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
    let begun = here(|stack| {
        let number = stack.begin(location, begin);
        stack.remember_name(number, name);
        number
    });
    begun.unwrap_or_default()
}
