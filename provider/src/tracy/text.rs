//! What texts Tracy can carry.

use core::ffi::{CStr, c_char};

/// The longest text of a zone, a message or an application info, in bytes: Tracy counts them in
/// 16 bits and keeps the largest count for itself.
pub(super) const LONGEST: usize = u16::MAX as usize - 1;

/// The deepest call stack that Tracy records.
const DEEPEST: u32 = 62;

/// The text, cut between two characters where it is too long.
#[inline(always)]
pub(super) fn cut(text: &str) -> &str {
    if text.len() <= LONGEST { text } else { cut_to(text, LONGEST) }
}

#[cold]
fn cut_to(text: &str, longest: usize) -> &str {
    let mut end = longest;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A text's first byte as C has it. What follows is told by a length, not by a NUL.
#[inline(always)]
pub(super) fn bytes(text: &str) -> *const c_char {
    text.as_ptr().cast()
}

/// How many frames of the call stack to ask for.
#[inline(always)]
pub(super) fn depth(frames: u32) -> i32 {
    frames.min(DEEPEST) as i32
}

/// Calls `f` with the text up to its first NUL as a C string. One of 64 bytes or more is cut,
/// between two characters: systems show less of a thread's name.
pub(super) fn with_c_str(text: &str, f: impl FnOnce(&CStr)) {
    let mut buffer = [0; 64];
    let text = text.split('\0').next().unwrap_or_default();
    let text = if text.len() < buffer.len() { text } else { cut_to(text, buffer.len() - 1) };
    buffer[..text.len()].copy_from_slice(text.as_bytes());
    f(CStr::from_bytes_until_nul(&buffer).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_end_between_characters() {
        assert_eq!(cut("short"), "short");
        let full = "x".repeat(LONGEST);
        assert_eq!(cut(&full), full);
        assert_eq!(cut(&format!("{full}y")), full);
        // Two bytes each, so that the limit, an even number, falls between two after one 'x'.
        let odd = format!("x{}", "é".repeat(LONGEST));
        assert_eq!(cut(&odd).len(), LONGEST - 1);
        assert!(odd.starts_with(cut(&odd)));
    }

    #[test]
    fn names_become_c_strings() {
        with_c_str("worker 1", |name| assert_eq!(name, c"worker 1"));
        with_c_str("a\0b", |name| assert_eq!(name, c"a"));
        with_c_str("", |name| assert_eq!(name, c""));
        with_c_str(&"é".repeat(40), |name| assert_eq!(name.to_str().unwrap(), "é".repeat(31)));
    }

    #[test]
    fn call_stacks_have_a_bottom() {
        assert_eq!((depth(0), depth(12), depth(u32::MAX)), (0, 12, 62));
    }
}
