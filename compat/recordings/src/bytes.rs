//! Little-endian numbers and ranges out of bytes that nobody vouches for.

use crate::Error;

/// `length` bytes from `at`; the error says that `expected` should have been there.
pub(crate) fn slice<'a>(
    bytes: &'a [u8],
    at: u64,
    length: u64,
    expected: &'static str,
) -> Result<&'a [u8], Error> {
    let range = || {
        let start = usize::try_from(at).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        bytes.get(start..end)
    };
    range().ok_or_else(|| Error::damaged(at, expected))
}

/// `N` bytes from `at`, which the caller knows to be there; zeros where they are not.
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    at.checked_add(N)
        .and_then(|end| bytes.get(at..end))
        .and_then(|range| range.try_into().ok())
        .unwrap_or([0; N])
}

/// A number, read as [`array`] does.
pub(crate) fn u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

/// As [`u16`].
pub(crate) fn u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

/// As [`u16`].
pub(crate) fn u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}
