//! Foreign texts on a line: nothing in a name ends the line, or gives a terminal an order.
//!
//! Control characters, line separators, marks that turn the direction of writing and bytes that are
//! not UTF-8 are spelt out. Most texts hold none of these and are copied as they are.

use super::pen::Put;

/// How a text is escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As in Rust's literals, bytes that are not UTF-8 as `\xff`.
    Text,
    /// As JSON asks, bytes that are not UTF-8 as U+FFFD.
    Json,
}

/// An escaped text is at most this many times as long.
pub(super) const GROWTH: usize = 6;

/// Appends `text`.
pub(super) fn escape(pen: &mut impl Put, text: &[u8], style: Style) {
    if text.iter().all(|&byte| is_plain(byte, style)) {
        return pen.put(text);
    }
    for chunk in text.utf8_chunks() {
        valid(pen, chunk.valid(), style);
        match style {
            Style::Json if !chunk.invalid().is_empty() => pen.put("\u{fffd}".as_bytes()),
            _ => chunk.invalid().iter().for_each(|&byte| code(pen, b"\\x", byte.into(), 2)),
        }
    }
}

#[inline]
fn is_plain(byte: u8, style: Style) -> bool {
    matches!(byte, b' '..=b'~') && (style == Style::Text || !matches!(byte, b'"' | b'\\'))
}

fn valid(pen: &mut impl Put, text: &str, style: Style) {
    let mut from = 0;
    for (at, c) in text.char_indices().filter(|&(_, c)| is_special(c, style)) {
        pen.put(&text.as_bytes()[from..at]);
        special(pen, c);
        from = at + c.len_utf8();
    }
    pen.put(&text.as_bytes()[from..]);
}

fn is_special(c: char, style: Style) -> bool {
    match c {
        '"' | '\\' => style == Style::Json,
        // What turns the direction of writing would let a name look like another one.
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

fn special(pen: &mut impl Put, c: char) {
    match c {
        '\n' => pen.put(b"\\n"),
        '\r' => pen.put(b"\\r"),
        '\t' => pen.put(b"\\t"),
        '"' => pen.put(b"\\\""),
        '\\' => pen.put(b"\\\\"),
        // All of these are below U+10000, so JSON needs no pair.
        c => code(pen, b"\\u", c.into(), 4),
    }
}

fn code(pen: &mut impl Put, introduction: &[u8], code: u32, digits: u32) {
    pen.put(introduction);
    for place in (0..digits).rev() {
        pen.put(&[b"0123456789abcdef"[(code >> (4 * place) & 15) as usize]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &[u8], style: Style) -> String {
        let mut bytes = Vec::new();
        escape(&mut bytes, text, style);
        assert!(bytes.len() <= GROWTH * text.len());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn plain_and_foreign_letters_stay() {
        for style in [Style::Text, Style::Json] {
            assert_eq!(escaped(b"", style), "");
            assert_eq!(escaped("matmul µ 漢字 🦀".as_bytes(), style), "matmul µ 漢字 🦀");
        }
        assert_eq!(escaped(br#"a "b" \c"#, Style::Text), r#"a "b" \c"#);
    }

    #[test]
    fn what_breaks_a_line_or_a_terminal_is_spelt_out() {
        let hostile = "a\nb\r\t\x1b[31m\0\x7f\u{85}\u{2028}\u{202e}".as_bytes();
        let spelt = r"a\nb\r\t\u001b[31m\u0000\u007f\u0085\u2028\u202e";
        assert_eq!(escaped(hostile, Style::Text), spelt);
        assert_eq!(escaped(hostile, Style::Json), spelt);
        assert_eq!(escaped(br#"a "b" \c"#, Style::Json), r#"a \"b\" \\c"#);
    }

    #[test]
    fn bytes_that_are_not_utf8_break_nothing() {
        assert_eq!(escaped(b"a\xffb\xe2\x82", Style::Text), r"a\xffb\xe2\x82");
        assert_eq!(escaped(b"a\xffb\xe2\x82", Style::Json), "a\u{fffd}b\u{fffd}");
        assert_eq!(escaped(b"\xff\xff", Style::Json), "\u{fffd}\u{fffd}");
    }
}
