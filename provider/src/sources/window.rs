//! A text too long for a viewer, cut to the lines that matter with every line in its place.
//!
//! Line numbers are what ties a zone to a text, so no line may move: a line that is left out
//! becomes an empty one, which still costs its newline.

use std::ops::Range;

/// What the first line says before the numbers of the lines kept.
const NOTICE: &str = "zonecast: too long to show whole; kept are the lines around each kernel. \
                      `zonecast sources --extract` gives the whole text.";

/// At most `limit` bytes of `text`: whole lines around each of `lines` (1-based), and the rest empty.
///
/// Should even the empty lines not fit, the lines before the first location are dropped and the
/// first line says by how much the numbers are off.
pub(super) fn around(text: &[u8], lines: &[u32], limit: usize, hash_comments: bool) -> Vec<u8> {
    let ranges = line_ranges(text);
    let comment = if hash_comments { "#" } else { "//" };
    let targets = targets(lines, ranges.len());
    let dropped = dropped(&targets, ranges.len(), limit);
    let mut notice = format!("{comment} {NOTICE}");
    if dropped > 0 {
        notice += &format!(" The first {dropped} lines are gone, so add {dropped} to every line number.");
    }
    let shown = &ranges[dropped..];
    let room = limit.saturating_sub(notice.len() + shown.len());
    let keep = choose(shown, &targets.iter().map(|t| t - dropped).collect::<Vec<_>>(), room);
    assemble(text, shown, &keep, notice.as_bytes(), limit)
}

/// The byte range of each line, without its newline.
fn line_ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut ranges = Vec::new();
    for line in text.split_inclusive(|&b| b == b'\n') {
        let end = start + line.len();
        ranges.push(start..end - usize::from(line.ends_with(b"\n")));
        start = end;
    }
    ranges
}

/// The lines to stay near, 0-based, in order; the first line if no location says one.
fn targets(lines: &[u32], count: usize) -> Vec<usize> {
    let last = count.saturating_sub(1);
    let mut targets: Vec<usize> = lines.iter().map(|&l| (l.max(1) as usize - 1).min(last)).collect();
    targets.sort_unstable();
    targets.dedup();
    if targets.is_empty() { vec![0] } else { targets }
}

/// How many leading lines must go because their newlines alone leave less than half of the room.
fn dropped(targets: &[usize], count: usize, limit: usize) -> usize {
    let too_many = count.saturating_sub(limit / 2);
    too_many.min(targets.first().copied().unwrap_or_default())
}

/// Which lines to keep: growing outwards from every target alike until the room is used.
fn choose(ranges: &[Range<usize>], targets: &[usize], mut room: usize) -> Vec<bool> {
    let mut keep = vec![false; ranges.len()];
    // For each target, the next line to try above and below it.
    let mut fronts: Vec<(Option<usize>, Option<usize>)> =
        targets.iter().map(|&t| (t.checked_sub(1), Some(t))).collect();
    let mut take = |line: usize, keep: &mut [bool]| {
        let Some(range) = ranges.get(line) else { return false };
        if keep[line] {
            return true;
        }
        let fits = range.len() <= room;
        if fits {
            room -= range.len();
            keep[line] = true;
        }
        fits
    };
    while fronts.iter().any(|(above, below)| above.is_some() || below.is_some()) {
        for (above, below) in &mut fronts {
            *below = below.filter(|&line| take(line, &mut keep)).map(|line| line + 1);
            *above = above.filter(|&line| take(line, &mut keep)).and_then(|line| line.checked_sub(1));
        }
    }
    keep
}

fn assemble(text: &[u8], ranges: &[Range<usize>], keep: &[bool], notice: &[u8], limit: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(limit.min(text.len()));
    out.extend_from_slice(notice);
    for (index, (range, keep)) in ranges.iter().zip(keep).enumerate() {
        if index > 0 {
            out.push(b'\n');
        } else if *keep {
            out.push(b' ');
        }
        if *keep {
            out.extend_from_slice(&text[range.clone()]);
        }
    }
    out.truncate(limit);
    out
}

#[cfg(test)]
mod tests {
    use super::around;

    fn numbered(count: usize) -> String {
        (1..=count).map(|n| format!("line {n}\n")).collect()
    }

    fn line(text: &[u8], number: usize) -> &str {
        std::str::from_utf8(text).unwrap().split('\n').nth(number - 1).unwrap()
    }

    #[test]
    fn lines_keep_their_numbers_and_the_first_says_why() {
        let text = numbered(10_000);
        let cut = around(text.as_bytes(), &[2_000, 9_000], 20_000, false);
        assert!(cut.len() <= 20_000);
        for number in [1_990, 2_000, 2_010, 8_990, 9_000, 9_010] {
            assert_eq!(line(&cut, number), format!("line {number}"));
        }
        assert_eq!(line(&cut, 5_500), "");
        assert!(line(&cut, 1).starts_with("// zonecast: too long"));
    }

    #[test]
    fn all_the_room_is_used() {
        let text = numbered(10_000);
        let cut = around(text.as_bytes(), &[5_000], 40_000, false);
        assert!(cut.len() > 39_900, "{}", cut.len());
    }

    #[test]
    fn a_python_text_gets_a_python_comment() {
        assert!(around(numbered(1_000).as_bytes(), &[3], 2_000, true).starts_with(b"# zonecast"));
    }

    #[test]
    fn a_line_that_is_too_long_alone_is_left_out() {
        let text = format!("a\n{}\nc\n", "x".repeat(5_000));
        let cut = around(text.as_bytes(), &[2], 1_000, false);
        assert!(cut.len() <= 1_000);
        assert_eq!(line(&cut, 2), "");
    }

    #[test]
    fn when_the_newlines_alone_are_too_many_the_first_line_says_the_shift() {
        let text = "x\n".repeat(3_000) + "here\n";
        let cut = around(text.as_bytes(), &[3_001], 2_000, false);
        assert!(cut.len() <= 2_000);
        let first = line(&cut, 1);
        let dropped: usize =
            first.split("The first ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert_eq!(line(&cut, 3_001 - dropped), "here");
    }

    #[test]
    fn odd_texts_stay_within_the_limit() {
        for (text, lines, limit) in [
            (&b""[..], &[][..], 10),
            (b"\n\n\n", &[9][..], 1),
            (&[0xff; 500], &[0][..], 400),
            (&[b'\n'; 500], &[1, 400][..], 50),
        ] {
            assert!(around(text, lines, limit, false).len() <= limit);
        }
    }
}
