//! What this build of zonecast has in it, put down in the program's file, where `zonecast doctor` finds it.
//!
//! An ELF note of owner `zonecast` and type 2. It is 8 bytes: the version, as three bytes and a 0, and the
//! flags below as a little-endian number.

pub(crate) const TRACY: u32 = 1 << 0;
pub(crate) const CONSOLE: u32 = 1 << 1;
pub(crate) const CUSTOM: u32 = 1 << 2;
/// A profiler gets source texts, since Tracy's headers were there.
pub(crate) const TRACY_SOURCES: u32 = 1 << 3;

pub(crate) const fn flag(is_set: bool, flag: u32) -> u32 {
    if is_set { flag } else { 0 }
}

#[repr(C, align(4))]
struct Note {
    name_size: u32,
    description_size: u32,
    kind: u32,
    owner: [u8; 12],
    version: [u8; 4],
    features: [u8; 4],
}

#[cfg(not(any(windows, target_vendor = "apple", target_family = "wasm")))]
#[used]
#[unsafe(link_section = ".note.zonecast")]
static NOTE: Note = Note {
    name_size: 9,
    description_size: 8,
    kind: 2,
    owner: *b"zonecast\0\0\0\0",
    version: [
        number(env!("CARGO_PKG_VERSION_MAJOR")),
        number(env!("CARGO_PKG_VERSION_MINOR")),
        number(env!("CARGO_PKG_VERSION_PATCH")),
        0,
    ],
    features: crate::select::FEATURES.to_le_bytes(),
};

#[cfg(not(any(windows, target_vendor = "apple", target_family = "wasm")))]
const fn number(digits: &str) -> u8 {
    let (digits, mut number, mut at) = (digits.as_bytes(), 0_u8, 0);
    while at < digits.len() {
        number = number * 10 + (digits[at] - b'0');
        at += 1;
    }
    number
}

/// Has a C program's linker take the note in from a static library. Costs nothing.
pub(crate) fn keep() {
    #[cfg(not(any(windows, target_vendor = "apple", target_family = "wasm")))]
    core::hint::black_box(&NOTE);
}
