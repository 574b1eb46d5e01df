//! SPIR-V modules: entry points, their lines, and the text that shader compilers put into debug builds.
//!
//! Text is in `OpSource` and `OpSourceContinued`, or in `DebugSource` and `DebugSourceContinued` of the extended
//! instruction sets `NonSemantic.Shader.DebugInfo.100` and `OpenCL.DebugInfo.100`. One instruction holds at most
//! 65,535 words, so longer texts are in pieces, and are joined here.

mod debug;
mod instructions;

use std::ops::Range;

use self::debug::{Module, Text};
use super::Result;
use super::index::{Build, Index, IndexBuilder, Place};
use crate::image::Format;
use crate::{Error, Remark};

const MAGIC: &[u8] = b"\x03\x02\x23\x07";
const SWAPPED: &[u8] = b"\x07\x23\x02\x03";

/// Where the instructions begin.
const HEADER: usize = 20;

/// What glslang puts before the text, for Vulkan 1.0: comments on how it was compiled, and then a line that says that
/// the text begins.
const PREAMBLE: &[u8] = b"// OpModuleProcessed";
const PREAMBLE_END: &[u8] = b"#line 1\n";

/// What llvm-spirv puts in place of a text.
const CHECKSUM: &[u8] = b"//__CSK_";

pub(crate) fn is(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(SWAPPED)
}

pub(crate) struct Spirv;

impl Spirv {
    /// Checks that the instructions end where the module does.
    pub(crate) fn new(module: &[u8]) -> Result<Self> {
        if module.starts_with(SWAPPED) {
            return Err(Error::unsupported(0, "a SPIR-V module in big-endian order"));
        }
        if module.len() < HEADER {
            return Err(Error::damaged(0, "the header of a SPIR-V module"));
        }
        for instruction in instructions::all(module) {
            instruction?;
        }
        Ok(Self)
    }
}

impl Build for Spirv {
    fn format(&self) -> Format {
        Format::Spirv
    }

    fn target(&self) -> Option<&[u8]> {
        None
    }

    fn build(&self, image: &[u8]) -> Index {
        let mut builder = IndexBuilder::default();
        let module = Module::read(image);
        let texts: Vec<_> = module.texts().iter().map(|text| Source::of(image, &module, text)).collect();
        for entry in module.entries() {
            let location = module.location(entry.function);
            let of_text = |path: &[u8]| texts.iter().find(|text| text.path == path).map(Source::text);
            let location = location.map(|(path, line)| {
                let line = of_text(path).map_or(line, |text| declaration(&text, entry.name, line));
                (path, line)
            });
            builder.export(entry.name, location);
        }
        let lines = module.entries().iter().any(|entry| module.location(entry.function).is_some());
        if !texts.iter().any(Source::is_there) {
            builder.remark(if lines { Remark::NoTexts } else { Remark::NoLines });
        }
        for text in texts.into_iter().filter(Source::is_there) {
            let Source { path, place, .. } = text;
            let place = match place {
                Ok(range) => Place::Image(range),
                Err(joined) => builder.unpacked(joined),
            };
            builder.source(path, place);
        }
        builder.finish()
    }
}

/// A text of the module.
struct Source<'a> {
    image: &'a [u8],
    path: &'a [u8],
    /// Where it is, or, if it is in pieces, what they give.
    place: std::result::Result<Range<usize>, Vec<u8>>,
}

impl<'a> Source<'a> {
    fn of(image: &'a [u8], module: &Module<'a>, text: &Text) -> Self {
        let piece = |range: &Range<usize>| image.get(range.clone()).unwrap_or_default();
        let place = match &text.pieces[..] {
            [] => Ok(0..0),
            [whole] => Ok(whole.start + preamble(piece(whole))..whole.end),
            pieces => {
                let mut joined: Vec<u8> = pieces.iter().flat_map(piece).copied().collect();
                joined.drain(..preamble(&joined));
                Err(joined)
            }
        };
        Self { image, path: module.path(text), place }
    }

    fn text(&self) -> std::borrow::Cow<'_, [u8]> {
        match &self.place {
            Ok(range) => self.image.get(range.clone()).unwrap_or_default().into(),
            Err(joined) => joined.into(),
        }
    }

    fn is_there(&self) -> bool {
        let text = self.text();
        !self.path.is_empty() && !text.is_empty() && !text.starts_with(CHECKSUM)
    }
}

/// How many bytes come before the text that lines count in.
fn preamble(text: &[u8]) -> usize {
    if !text.starts_with(PREAMBLE) {
        return 0;
    }
    let mut at = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        if line == PREAMBLE_END {
            return at;
        }
    }
    0
}

/// The line of a function's declaration, where only the first line in its body is known: the nearest line at or
/// above it that has the function's name.
fn declaration(text: &[u8], name: &[u8], line: u32) -> u32 {
    /// Attributes and arguments take fewer lines.
    const NEAR: usize = 16;
    let until = line as usize;
    let lines = text.split(|&byte| byte == b'\n').enumerate().take(until).skip(until.saturating_sub(NEAR));
    let named = lines.filter(|(_, line)| has_word(line, name)).last();
    named.map_or(line, |(index, _)| index as u32 + 1)
}

fn has_word(line: &[u8], word: &[u8]) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let at = |start: usize| {
        let before = start.checked_sub(1).and_then(|before| line.get(before));
        line[start..].starts_with(word) && !is_part(before) && !is_part(line.get(start + word.len()))
    };
    !word.is_empty() && (0..line.len()).any(at)
}
