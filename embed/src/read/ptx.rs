//! PTX, NVIDIA's assembly language for a machine that does not exist, as text.
//!
//! A kernel is a directive `.entry NAME(`; the first `.loc FILE LINE COLUMN` behind it is the line of its
//! declaration, and `.file N "PATH"` says which file that is ("Debugging Directives" in NVIDIA's "PTX ISA").
//! The text itself is a listing: not what somebody wrote, but something to look at.

use std::collections::HashMap;

use super::index::{Build, Index, IndexBuilder, Place};
use crate::image::Format;

/// The stage of which a listing in PTX is the text.
const STAGE: &[u8] = b"ptx";

/// Before the first directive there are only comments, and not many.
const COMMENTS: usize = 4096;

pub(crate) fn is(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(COMMENTS)];
    let mut lines = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"//"));
    first.is_some_and(|line| line.starts_with(b".version "))
}

/// A file with PTX, or one that was in a fat binary.
pub(crate) struct Ptx {
    target: Option<Vec<u8>>,
}

impl Ptx {
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut lines = text.split(|&byte| byte == b'\n');
        let target = lines.find_map(|line| line.trim_ascii().strip_prefix(b".target "));
        let name =
            |line: &[u8]| line.split(|&byte| byte == b',').next().unwrap_or_default().trim_ascii().to_vec();
        Self { target: target.map(name) }
    }
}

impl Build for Ptx {
    fn format(&self) -> Format {
        Format::Ptx
    }

    fn target(&self) -> Option<&[u8]> {
        self.target.as_deref()
    }

    fn build(&self, image: &[u8]) -> Index {
        let mut builder = IndexBuilder::default();
        // In a fat binary, zeros follow.
        let end = image.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let text = &image[..end];
        let kernels = kernels(text);
        let exports = kernels.iter().map(|kernel| {
            let location = kernel.location.as_ref().map(|(path, line)| (&**path, *line));
            builder.export(&kernel.name, location)
        });
        let exports: Vec<_> = exports.collect();
        let path = path(kernels.first(), self.target.as_deref());
        builder.listing(&path, Place::Image(0..text.len()));
        for (export, kernel) in exports.into_iter().zip(&kernels) {
            builder.stage(export, STAGE, Some((&path, kernel.line)));
        }
        builder.finish()
    }
}

/// A kernel in a text that a compiler wrote.
pub(crate) struct Kernel {
    pub(crate) name: Vec<u8>,
    /// The line in that text.
    pub(crate) line: u32,
    /// The path and line that it was compiled from.
    pub(crate) location: Option<(Vec<u8>, u32)>,
}

/// Adds the listing in PTX of an image whose exports, by name, are there already.
pub(crate) fn add_listing(
    builder: &mut IndexBuilder,
    exports: &HashMap<&[u8], usize>,
    text: Vec<u8>,
    path: &[u8],
) {
    for kernel in kernels(&text) {
        if let Some(&export) = exports.get(&*kernel.name) {
            builder.stage(export, STAGE, Some((path, kernel.line)));
        }
    }
    let place = builder.unpacked(text);
    builder.listing(path, place);
}

/// The path of a listing: after the file that the kernel was compiled from, or the kernel.
pub(crate) fn listing_path(base: &[u8], target: Option<&[u8]>) -> Vec<u8> {
    let name = base.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let name = if name.is_empty() { b"module" } else { name };
    match target {
        Some(target) => [name, b".", target, b".ptx"].concat(),
        None => [name, b".ptx"].concat(),
    }
}

fn path(first: Option<&Kernel>, target: Option<&[u8]>) -> Vec<u8> {
    let base = first.map(|kernel| kernel.location.as_ref().map_or(&*kernel.name, |(path, _)| path));
    listing_path(base.unwrap_or_default(), target)
}

pub(crate) fn kernels(text: &[u8]) -> Vec<Kernel> {
    let mut files = HashMap::new();
    let mut kernels = Vec::new();
    // The numbers behind each kernel's first `.loc`.
    let mut locations = Vec::<Option<(u32, u32)>>::new();
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if let Some(name) = entry(line) {
            kernels.push((name.to_vec(), u32::try_from(index + 1).unwrap_or(0)));
            locations.push(None);
        } else if let Some(rest) = line.strip_prefix(b".loc") {
            if let Some(location) = locations.last_mut() {
                *location = location.or(numbers(rest));
            }
        } else if let Some((number, path)) = line.strip_prefix(b".file").and_then(file) {
            files.entry(number).or_insert(path);
        }
    }
    let path = |(file, line): (u32, u32)| Some((files.get(&file)?.to_vec(), line));
    let locations = locations.into_iter().map(|at| at.and_then(path));
    kernels
        .into_iter()
        .zip(locations)
        .map(|((name, line), location)| Kernel { name, line, location })
        .collect()
}

/// The name behind `.entry`, with or without linking directives before it.
fn entry(line: &[u8]) -> Option<&[u8]> {
    if !line.starts_with(b".") {
        return None;
    }
    let mut words =
        line.split(|byte| byte.is_ascii_whitespace() || *byte == b'(').filter(|word| !word.is_empty());
    words.find(|word| *word == b".entry")?;
    words.next()
}

/// The file and line of a `.loc`.
fn numbers(rest: &[u8]) -> Option<(u32, u32)> {
    let mut words = rest.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse().ok();
    Some((number()?, number()?))
}

/// The number and path of a `.file`.
fn file(rest: &[u8]) -> Option<(u32, &[u8])> {
    let quote = rest.iter().position(|&byte| byte == b'"')?;
    let number = std::str::from_utf8(rest[..quote].trim_ascii()).ok()?.parse().ok()?;
    let path = &rest[quote + 1..];
    Some((number, &path[..path.iter().position(|&byte| byte == b'"')?]))
}
