//! Little-endian numbers and ranges out of bytes that nobody vouches for.

use std::ops::Range;

use crate::Error;

/// The range of `length` bytes from `at`, if all of it is in `bytes`.
pub(crate) fn range(bytes: &[u8], at: u64, length: u64) -> Option<Range<usize>> {
    let start = usize::try_from(at).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    (end <= bytes.len()).then_some(start..end)
}

/// `length` bytes from `at`; the error says that `expected` should have been there, or at the end if that comes first.
pub(crate) fn slice<'a>(
    bytes: &'a [u8],
    at: u64,
    length: u64,
    expected: &'static str,
) -> Result<&'a [u8], Error> {
    let missing = || Error::damaged(at.min(bytes.len() as u64), expected);
    range(bytes, at, length).map(|range| &bytes[range]).ok_or_else(missing)
}

fn array<const N: usize>(bytes: &[u8], at: u64, expected: &'static str) -> Result<[u8; N], Error> {
    let slice = slice(bytes, at, N as u64, expected)?;
    slice.try_into().map_err(|_| Error::damaged(at, expected))
}

#[cfg(any(feature = "iree", feature = "offload"))]
pub(crate) fn u16(bytes: &[u8], at: u64, expected: &'static str) -> Result<u16, Error> {
    array(bytes, at, expected).map(u16::from_le_bytes)
}

pub(crate) fn u32(bytes: &[u8], at: u64, expected: &'static str) -> Result<u32, Error> {
    array(bytes, at, expected).map(u32::from_le_bytes)
}

#[cfg(any(feature = "iree", feature = "offload"))]
pub(crate) fn u64(bytes: &[u8], at: u64, expected: &'static str) -> Result<u64, Error> {
    array(bytes, at, expected).map(u64::from_le_bytes)
}
