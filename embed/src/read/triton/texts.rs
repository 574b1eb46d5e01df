//! Triton's texts, and the lines in them.
//!
//! In MLIR a location stands behind what it is of, by an alias that is defined elsewhere: `} loc(#loc)` ends a function,
//! and `#loc = loc("tri.py":7:1)` says where that is. In LLVM IR a function has the number of a description.

use std::collections::HashMap;

use super::super::ptx::Kernel;

/// How much is searched for what makes a text Triton's.
const SEARCHED: usize = 1 << 20;

/// Aliases of aliases: of a name, of a call, of several places made into one.
const LONGEST_CHAIN: usize = 8;

/// The stage that a text is of.
pub(super) fn stage(text: &[u8]) -> Option<&'static str> {
    if text.starts_with(b"; ModuleID = 'LLVMDialectModule'") {
        return Some("llir");
    }
    if !text.starts_with(b"#") && !text.starts_with(b"module") {
        return None;
    }
    let start = &text[..text.len().min(SEARCHED)];
    let is_for_gpu = || has(start, b"ttg.num-warps") || has(start, b"#ttg.");
    has(start, b"tt.func").then(|| if is_for_gpu() { "ttgir" } else { "ttir" })
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The kernels in a text of either kind.
pub(super) fn kernels(text: &[u8]) -> Vec<Kernel> {
    if text.starts_with(b";") { in_llvm_ir(text) } else { in_mlir(text) }
}

fn lines(text: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let lines = text.split(|&byte| byte == b'\n').enumerate();
    lines.map(|(index, line)| (u32::try_from(index + 1).unwrap_or(0), line))
}

/// What stands between two parts of a line, the first after the last.
fn between<'a>(line: &'a [u8], before: &[u8], after: u8) -> Option<&'a [u8]> {
    let at = line.windows(before.len()).position(|window| window == before)? + before.len();
    let rest = &line[at..];
    Some(&rest[..rest.iter().position(|&byte| byte == after)?])
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn in_mlir(text: &[u8]) -> Vec<Kernel> {
    let mut aliases = HashMap::new();
    let mut kernels: Vec<Kernel> = Vec::new();
    // The alias behind each kernel, and how far its function is indented.
    let mut ends: Vec<Option<&[u8]>> = Vec::new();
    let mut indent = None;
    for (number, line) in lines(text) {
        let spaces = line.iter().take_while(|&&byte| byte == b' ').count();
        if let Some(name) = between(line, b"tt.func public @", b'(') {
            let name = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name);
            kernels.push(Kernel { name: name.to_vec(), location: None, line: number });
            ends.push(None);
            indent = Some(spaces);
        } else if indent == Some(spaces) && line[spaces..].starts_with(b"}") {
            if let Some(end) = ends.last_mut() {
                *end = between(line, b"loc(", b')');
            }
            indent = None;
        } else if line.starts_with(b"#loc")
            && let Some(equals) = line.windows(3).position(|window| window == b" = ")
        {
            aliases.entry(&line[..equals]).or_insert(&line[equals + 3..]);
        }
    }
    for (kernel, end) in kernels.iter_mut().zip(ends) {
        kernel.location = end.and_then(|end| resolve(end, &aliases));
    }
    kernels
}

/// The place that a location stands for: `"tri.py":7:1`, or an alias that leads there.
fn resolve(location: &[u8], aliases: &HashMap<&[u8], &[u8]>) -> Option<(Vec<u8>, u32)> {
    let mut location = location;
    for _ in 0..LONGEST_CHAIN {
        if let Some(place) = place(location) {
            return Some(place);
        }
        let alias = location.iter().position(|&byte| byte == b'#')?;
        let rest = &location[alias..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'_');
        let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        location = aliases.get(&rest[..end])?;
    }
    None
}

fn place(location: &[u8]) -> Option<(Vec<u8>, u32)> {
    let path = between(location, b"\"", b'"')?;
    let rest = between(location, b"\":", b':')?;
    Some((path.to_vec(), number(rest)?))
}

fn in_llvm_ir(text: &[u8]) -> Vec<Kernel> {
    let mut described = HashMap::new();
    let mut kernels = Vec::new();
    let mut numbers = Vec::new();
    for (line_number, line) in lines(text) {
        if line.starts_with(b"!") {
            if let Some(equals) = line.windows(3).position(|window| window == b" = ") {
                described.entry(&line[..equals]).or_insert(&line[equals + 3..]);
            }
        } else if line.starts_with(b"define ")
            && let Some(name) = between(line, b"@", b'(')
        {
            kernels.push(Kernel { name: name.to_vec(), location: None, line: line_number });
            numbers.push(between(line, b"!dbg ", b' '));
        }
    }
    let location = |number: &[u8]| {
        let function = described.get(number)?;
        let line = self::number(between(function, b", line: ", b',')?)?;
        let file = described.get(between(function, b"file: ", b',')?)?;
        let name = between(file, b"filename: \"", b'"')?;
        let folder = between(file, b"directory: \"", b'"').unwrap_or_default();
        let is_whole = folder.is_empty() || name.starts_with(b"/");
        Some((if is_whole { name.to_vec() } else { [folder, b"/", name].concat() }, line))
    };
    for (kernel, number) in kernels.iter_mut().zip(numbers) {
        kernel.location = number.and_then(location);
    }
    kernels
}
