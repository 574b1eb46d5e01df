//! Texts from C.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};

use zonecast::Name;

/// The bytes of a text; none if it is null.
///
/// # Safety
///
/// `text` is null, or `length` bytes can be read there and stay as they are during `'a`.
pub(crate) unsafe fn bytes<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    if text.is_null() || length == 0 || isize::try_from(length).is_err() {
        return &[];
    }
    // SAFETY: not null, and the caller vouches for the bytes.
    unsafe { std::slice::from_raw_parts(text.cast(), length) }
}

/// A text of that length. What is not UTF-8 is replaced.
///
/// # Safety
///
/// As [`bytes`].
pub(crate) unsafe fn counted<'a>(text: *const c_char, length: usize) -> Cow<'a, str> {
    // SAFETY: passed on.
    String::from_utf8_lossy(unsafe { bytes(text, length) })
}

/// A text with a NUL at its end.
///
/// # Safety
///
/// `text` is null, or a C string that stays as it is during `'a`.
pub(crate) unsafe fn c_str<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not null, and the caller vouches for the rest.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// A name that is kept by reference.
///
/// # Safety
///
/// `text` is null, or a C string that stays as it is until the program ends.
pub(crate) unsafe fn name(text: *const c_char) -> Option<Name> {
    // SAFETY: passed on.
    unsafe { c_str(text) }.map(Name::new)
}
