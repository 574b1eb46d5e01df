//! A kernel's own source, shown once beside its zones: `ZONECAST_SOURCES`.

use super::config::{self, Format};
use super::escape::GROWTH;
use super::event::Context;
use super::fragment::Fragment;
use super::pen::Pen;
use super::{json, text};
use crate::Location;

/// Some lines of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines, each with a newline between it and the next.
    bytes: Box<[u8]>,
    /// The number of the first one.
    first: usize,
    /// The number of the one that the location names.
    marked: usize,
}

/// Longer lines are cut: some compilers write a whole kernel's constants into one.
const LONGEST: usize = 240;

impl Excerpt {
    /// As many lines around the location's as are asked for, if its file is a text that is known.
    pub(super) fn of(location: &Location) -> Option<Self> {
        let wanted = config::get().sources;
        if wanted == 0 || location.line() == 0 {
            return None;
        }
        let text = crate::sources::text(location.file().to_bytes())?;
        Self::around(&text, location.line() as usize, wanted)
    }

    fn around(text: &[u8], line: usize, wanted: usize) -> Option<Self> {
        let count = lines(text.strip_suffix(b"\n").unwrap_or(text)).count();
        if line > count {
            return None;
        }
        // What follows a kernel's entry says more than what stands before it.
        let first = (line.saturating_sub(wanted / 4)).clamp(1, count.saturating_sub(wanted) + 1);
        let shown: Vec<&[u8]> = lines(text).skip(first - 1).take(wanted.min(count)).map(cut).collect();
        Some(Self { bytes: shown.join(&b'\n').into(), first, marked: line })
    }

    /// How long it is at most when written.
    pub(super) fn room(&self, context: Context<'_>, fragment: &Fragment, format: Format) -> usize {
        let around = context.room(format) + fragment.whole(format).len();
        GROWTH * self.bytes.len() + (lines(&self.bytes).count() + 1) * around
    }

    pub(super) fn write(&self, pen: &mut Pen, context: Context<'_>, fragment: &Fragment, format: Format) {
        let lines = (self.first..).zip(lines(&self.bytes));
        match format {
            Format::Text => text::source(pen, context, lines, self.marked),
            Format::Json => json::source(pen, context, fragment, lines, self.first),
        }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// The beginning of a line, at the end of a character.
fn cut(line: &[u8]) -> &[u8] {
    match line.get(..LONGEST) {
        Some(beginning) => match beginning.utf8_chunks().last() {
            // What is left of the last character is not a whole one.
            Some(last) if last.invalid().len() < 4 => &beginning[..LONGEST - last.invalid().len()],
            _ => beginning,
        },
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, line: usize, wanted: usize) -> Option<(usize, String)> {
        let excerpt = Excerpt::around(text.as_bytes(), line, wanted)?;
        assert_eq!(excerpt.marked, line);
        Some((excerpt.first, String::from_utf8(excerpt.bytes.into()).unwrap()))
    }

    #[test]
    fn lines_around_one() {
        let text = "1\n2\r\n3\n4\n5\n6\n7\n8\n9\n";
        assert_eq!(around(text, 5, 4), Some((4, "4\n5\n6\n7".into())));
        assert_eq!(around(text, 1, 3), Some((1, "1\n2\n3".into())));
        assert_eq!(around(text, 9, 3), Some((7, "7\n8\n9".into())));
        assert_eq!(around(text, 2, 1), Some((2, "2".into())));
        assert_eq!(around(text, 3, 100).map(|found| found.0), Some(1));
        assert_eq!(around(text, 3, usize::MAX).map(|found| found.1.len()), Some(17));
        assert_eq!(around(text, 10, 4), None);
        assert_eq!(around("", 1, 4), Some((1, String::new())));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let text = format!("a{}", "µ".repeat(200));
        let (_, line) = around(&text, 1, 1).unwrap();
        assert_eq!(line.len(), LONGEST - 1);
        assert!(text.starts_with(&line));
    }
}
