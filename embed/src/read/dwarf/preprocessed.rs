//! Texts that are not what somebody wrote, but what the preprocessor made of it.
//!
//! Compiler caches and distributed compilers preprocess a file and compile the result. The compiler then embeds
//! that result as the text of every file, while lines still count in the original ones.

/// Whether the text begins as preprocessors begin theirs.
pub(crate) fn is(text: &[u8]) -> bool {
    text.starts_with(b"# 1 \"") || text.starts_with(b"# 0 \"")
}

/// The path for the preprocessed text of a file: with the extension that is usual for it.
pub(crate) fn path(path: &[u8]) -> Vec<u8> {
    let name = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let dot = path[name..].iter().rposition(|&byte| byte == b'.').map_or(path.len(), |dot| name + dot);
    let extension: &[u8] = if &path[dot..] == b".c" { b".i" } else { b".ii" };
    [&path[..dot], extension].concat()
}

/// The line of the preprocessed text that was line `line` of the file at `path`.
pub(crate) fn line(text: &[u8], path: &[u8], line: u32) -> Option<u32> {
    // Where the next line of the text came from: whether from that file, and from which line of it.
    let (mut is_here, mut original) = (false, 1_u64);
    for (index, content) in text.split(|&byte| byte == b'\n').enumerate() {
        if let Some((at, file)) = marker(content) {
            (is_here, original) = (is_same(path, file), at);
        } else {
            if is_here && original == u64::from(line) {
                return u32::try_from(index + 1).ok();
            }
            original += 1;
        }
    }
    None
}

/// The line and file of a marker: `# 12 "saxpy.c" 2`.
fn marker(line: &[u8]) -> Option<(u64, &[u8])> {
    let rest = line.strip_prefix(b"# ")?;
    let space = rest.iter().position(|&byte| byte == b' ')?;
    let number = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
    let file = rest[space..].strip_prefix(b" \"")?;
    let quote = file.iter().position(|&byte| byte == b'"')?;
    Some((number, &file[..quote]))
}

/// Whether a marker's file, which may be relative, is that of the path.
fn is_same(path: &[u8], file: &[u8]) -> bool {
    let file = file.strip_prefix(b"./").unwrap_or(file);
    path.strip_suffix(file).is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"# 1 \"saxpy.c\"\n# 1 \"<built-in>\" 1\n# 1 \"saxpy.c\" 2\nint a;\n# 1 \"./scale.h\" 1\nint b;\n\
        # 3 \"saxpy.c\" 2\nint c;\nint d;\n";

    #[test]
    fn lines_are_found_again() {
        assert!(is(TEXT));
        assert_eq!(line(TEXT, b"/src/saxpy.c", 1), Some(4));
        assert_eq!(line(TEXT, b"/src/scale.h", 1), Some(6));
        assert_eq!(line(TEXT, b"/src/saxpy.c", 4), Some(9));
        assert_eq!(line(TEXT, b"/src/saxpy.c", 2), None);
        assert_eq!(line(TEXT, b"/src/other_saxpy.c", 1), None);
    }

    #[test]
    fn paths_are_named_as_is_usual() {
        assert_eq!(path(b"/src/saxpy.c"), b"/src/saxpy.i");
        assert_eq!(path(b"/src.d/fill.hip"), b"/src.d/fill.ii");
        assert_eq!(path(b"/src.d/fill"), b"/src.d/fill.ii");
    }
}
