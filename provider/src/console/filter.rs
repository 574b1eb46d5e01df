//! Which zones have lines: `ZONECAST_FILTER`.

/// Patterns, any of which a zone's title has to match: `*` for any characters, `?` for one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filter(Vec<Vec<u8>>);

impl Filter {
    /// Patterns with commas between them. None at all lets every zone through.
    pub(super) fn new(patterns: &str) -> Self {
        let patterns = patterns.split(',').map(str::trim).filter(|p| !p.is_empty());
        Self(patterns.map(|p| p.as_bytes().to_vec()).collect())
    }

    /// Whether a zone of this title is shown.
    pub(super) fn shows(&self, title: &[u8]) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| matches(pattern, title))
    }
}

/// Goes back to the last `*` only: that is enough, since a later `*` takes whatever an earlier one
/// could have, and it keeps hostile patterns quadratic at worst.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some(b'?') => {
                p += 1;
                t += character(&text[t..]);
            }
            Some(&byte) if byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                (p, t) = (after, from + 1);
                star = Some((after, t));
            }
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// The length of the first character: a whole one where it is UTF-8, else a byte.
fn character(text: &[u8]) -> usize {
    let first = text.utf8_chunks().next();
    first.and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let shows = |filter: &str, title: &str| Filter::new(filter).shows(title.as_bytes());
        for (filter, title) in [
            ("", "x"),
            ("*", ""),
            ("matmul", "matmul"),
            ("mat*", "matmul"),
            ("*mul", "matmul"),
            ("m?t*l", "matmul"),
        ] {
            assert!(shows(filter, title), "{filter} {title}");
        }
        for (filter, title) in [("mat", "matmul"), ("?", ""), ("?", "ab"), ("*x*", "matmul"), ("a*b", "acbc")]
        {
            assert!(!shows(filter, title), "{filter} {title}");
        }
        assert!(shows("load, mat*", "matmul") && shows("load, mat*", "load"));
        assert!(shows("a*b*c", "aXbXbXc") && !shows("a*b*c", "aXbXbX"));
        assert!(shows("?x", "µx"));
        assert!(Filter::new("?").shows(b"\xff"));
    }

    #[test]
    fn a_hostile_pattern_ends() {
        let filter = Filter::new(&"a*".repeat(200));
        assert!(
            !filter.shows(&b"a".repeat(10_000)[..].iter().chain(b"b").copied().collect::<Vec<_>>()[..199])
        );
    }
}
