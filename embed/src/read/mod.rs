//! Finding executables in bytes, and the one trait that every format's reader implements.
//!
//! A reader holds numbers, never references: each call hands it the image's bytes again, and what it
//! returns borrows from those. So an [`Executable`](crate::Executable) can own mapping and readers
//! side by side, and a reader needs no lifetime.
//!
//! A reader checks every bound at every call. Opening makes every call once ([`check`]), so that damage
//! is an error at opening and afterwards nothing fails unless the bytes change underneath.
//!
//! Containers (a module, a fat binary) are not readers. They only name inner byte ranges, which are
//! looked at in turn, up to [`DEPTH`] levels down.

#[cfg(feature = "iree")]
mod bytes;
#[cfg(feature = "iree")]
mod elf;
#[cfg(feature = "iree")]
mod fatelf;
#[cfg(feature = "iree")]
mod flatbuffer;
#[cfg(feature = "iree")]
mod iree_cpu;
#[cfg(feature = "iree")]
mod iree_debug_block;
#[cfg(feature = "iree")]
mod iree_gpu;
#[cfg(feature = "iree")]
mod iree_module;
#[cfg(feature = "iree")]
mod iree_vmvx;
#[cfg(feature = "iree")]
mod relocations;

use std::ops::Range;
use std::sync::OnceLock;

use crate::Error;
#[cfg(feature = "iree")]
use crate::ErrorKind;
use crate::image::{CpuExport, CpuLibrary, Format, SourceLocation, Stage};

type Result<T> = std::result::Result<T, Error>;

/// What a format's reader answers. `image` is always the same bytes, those that it was made from.
///
/// Indices beyond the counts are errors like all other damage. Offsets in errors count from the image.
pub(crate) trait Reader: Send + Sync {
    fn format(&self) -> Format;
    fn name<'a>(&'a self, image: &'a [u8]) -> Result<&'a [u8]>;
    fn target<'a>(&'a self, image: &'a [u8]) -> Option<&'a [u8]>;

    fn exports(&self) -> usize;
    fn export<'a>(&'a self, image: &'a [u8], export: usize) -> Result<RawExport<'a>>;
    fn stage<'a>(&'a self, image: &'a [u8], export: usize, stage: usize) -> Result<Stage<'a>>;

    fn sources(&self) -> usize;
    /// Must not read the text's bytes, only find them.
    fn source<'a>(&'a self, image: &'a [u8], source: usize) -> Result<RawSource<'a>>;

    fn cpu_library(&self) -> Option<CpuLibrary> {
        None
    }
    fn cpu_export(&self, _image: &[u8], _export: usize) -> Option<CpuExport> {
        None
    }
}

/// An export's record; its stages are read one by one.
#[derive(Clone, Copy, Default)]
pub(crate) struct RawExport<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) location: Option<SourceLocation<'a>>,
    pub(crate) stages: usize,
}

/// A source file's record.
#[derive(Clone, Copy)]
pub(crate) struct RawSource<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) text: &'a [u8],
}

/// An image and the reader that understands it.
pub(crate) struct Found {
    pub(crate) reader: Box<dyn Reader>,
    /// Its place in the file; `None` if it is not in a file.
    pub(crate) range: Option<Range<usize>>,
    /// Whether its sources ascend by path, once somebody asked.
    pub(crate) sorted: OnceLock<bool>,
}

#[cfg(feature = "iree")]
impl Found {
    /// # Safety
    ///
    /// As `Executable::from_loaded`.
    pub(crate) unsafe fn loaded(loaded: crate::Loaded) -> Result<Self> {
        // SAFETY: passed on.
        let reader = unsafe { iree_cpu::Library::loaded(loaded) }?;
        check(&reader, &[], &mut Budget::unlimited())?;
        Ok(Self { reader: Box::new(reader), range: None, sorted: OnceLock::new() })
    }
}

/// All that was found in some bytes.
pub(crate) struct Contents {
    pub(crate) found: Vec<Found>,
    /// Parts of containers that look like executables but could not be read.
    pub(crate) unreadable: Vec<Error>,
}

/// Looks through `bytes`.
///
/// # Errors
///
/// If nothing in them can be read: then the first reason for that.
pub(crate) fn contents(bytes: &[u8]) -> Result<Contents> {
    let mut finder = Finder {
        bytes,
        found: Vec::new(),
        unreadable: Vec::new(),
        #[cfg(feature = "iree")]
        budget: Budget::of(bytes),
    };
    finder.look(0..bytes.len(), 0)?;
    let Finder { found, mut unreadable, .. } = finder;
    if found.is_empty() && !unreadable.is_empty() {
        return Err(unreadable.swap_remove(0));
    }
    Ok(Contents { found, unreadable })
}

/// How deep containers may lie in containers. A zipped module in a module needs two.
const DEPTH: usize = 4;

/// What a message about unknown contents names as understood.
pub(crate) const UNDERSTOOD: &str = if cfg!(feature = "iree") {
    "IREE modules (.vmfb), and IREE executables for CPUs (ELF, FatELF) and for GPUs"
} else {
    "nothing, because zonecast-embed was built without its feature `iree`"
};

/// A plain name for well-known contents that are not understood.
pub(crate) fn familiar(start: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 9] = [
        (b"\x7fELF", "an ELF file"),
        (b"MZ", "a Windows executable"),
        (b"\xcf\xfa\xed\xfe", "a Mach-O executable"),
        (b"\0asm", "a WebAssembly module"),
        (b"PK", "a zip archive"),
        (b"!<arch>", "a static library; open the objects in it"),
        (b"ML\xefR", "MLIR bytecode; compile it first"),
        (b"\x03\x02\x23\x07", "SPIR-V"),
        (b"version https://git-lfs", "a Git LFS pointer; fetch the file itself"),
    ];
    KINDS.into_iter().find(|(magic, _)| start.starts_with(&magic[..magic.len().min(8)])).map(|(_, kind)| kind)
}

/// Walks through containers and collects what it finds.
struct Finder<'a> {
    bytes: &'a [u8],
    found: Vec<Found>,
    unreadable: Vec<Error>,
    #[cfg(feature = "iree")]
    budget: Budget,
}

/// How much more may be read. Hostile parts and tables may overlap, and looking at all of them would then
/// take time quadratic in the length of the file; in an honest file they do not, and it never runs out.
#[cfg(feature = "iree")]
struct Budget {
    /// Bytes of parts; each byte is in one part at each level of containers.
    bytes: usize,
    /// Records of exports, stages and sources; each takes more than four bytes.
    records: usize,
}

#[cfg(feature = "iree")]
impl Budget {
    fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len().saturating_mul(DEPTH), records: bytes.len() / 4 }
    }

    fn unlimited() -> Self {
        Self { bytes: usize::MAX, records: usize::MAX }
    }

    fn spend_bytes(&mut self, count: usize) -> Result<()> {
        self.bytes = self.bytes.checked_sub(count).ok_or(Error::damaged(0, "parts that do not overlap"))?;
        Ok(())
    }

    /// For one record with that name, whose end may have been searched for.
    fn spend_record(&mut self, name: &[u8]) -> Result<()> {
        let left = self.records.checked_sub(1 + name.len() / 16);
        self.records = left.ok_or(Error::damaged(0, "records that do not overlap"))?;
        Ok(())
    }
}

impl Finder<'_> {
    /// Looks at one range: an executable, a container, or neither. Offsets in errors count from the
    /// start of the file.
    #[cfg(feature = "iree")]
    fn look(&mut self, range: Range<usize>, depth: usize) -> Result<()> {
        let bytes = &self.bytes[range.clone()];
        let in_file = |error: Error| error.moved_by(range.start as u64);
        if iree_module::is(bytes) && depth > 0 {
            // IREE puts a module into a module only as an executable for its bytecode interpreter.
            self.take(iree_vmvx::Program::new(bytes).map_err(in_file)?, range)
        } else if iree_module::is(bytes) {
            let segments = iree_module::Segments::new(bytes).map_err(in_file)?;
            self.look_inside(segments, range.start, depth)
        } else if iree_gpu::is(bytes) {
            self.take(iree_gpu::Executable::new(bytes).map_err(in_file)?, range)
        } else if iree_debug_block::is(bytes) {
            let library = iree_debug_block::library(bytes).map_err(in_file)?;
            self.look_inside([Ok(library)].into_iter(), range.start, depth)
        } else if fatelf::is(bytes) {
            self.look_inside(fatelf::parts(bytes).map_err(in_file)?, range.start, depth)
        } else if elf::is(bytes) {
            self.take(iree_cpu::Library::in_elf(bytes).map_err(in_file)?, range)
        } else {
            Err(in_file(Error::unknown(bytes)))
        }
    }

    #[cfg(not(feature = "iree"))]
    fn look(&mut self, range: Range<usize>, _depth: usize) -> Result<()> {
        Err(Error::unknown(&self.bytes[range]))
    }

    /// Looks at each part of the container that begins at `base`. Most parts are no executables.
    ///
    /// Fails if the container itself is damaged; what is wrong with a part is put down as unreadable.
    #[cfg(feature = "iree")]
    fn look_inside(
        &mut self,
        parts: impl Iterator<Item = Result<Range<usize>>>,
        base: usize,
        depth: usize,
    ) -> Result<()> {
        if depth == DEPTH {
            let what = "containers nested deeper than any compiler nests them";
            return Err(Error::unsupported(base as u64, what));
        }
        for part in parts {
            let part = part.map_err(|error| error.moved_by(base as u64));
            let looked = match part {
                Ok(part) => {
                    self.budget.spend_bytes(part.len())?;
                    self.look(base + part.start..base + part.end, depth + 1)
                }
                Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) => Err(error),
                Err(error) => return Err(error),
            };
            match looked {
                Err(error) if !matches!(error.kind(), ErrorKind::Unknown(_)) => self.unreadable.push(error),
                _ => {}
            }
        }
        Ok(())
    }

    #[cfg(feature = "iree")]
    fn take(&mut self, reader: impl Reader + 'static, range: Range<usize>) -> Result<()> {
        let in_file = |error: Error| error.moved_by(range.start as u64);
        check(&reader, &self.bytes[range.clone()], &mut self.budget).map_err(in_file)?;
        self.found.push(Found { reader: Box::new(reader), range: Some(range), sorted: OnceLock::new() });
        Ok(())
    }
}

/// Reads every record once, so that whatever is wrong is found at opening.
#[cfg(feature = "iree")]
fn check(reader: &dyn Reader, image: &[u8], budget: &mut Budget) -> Result<()> {
    reader.name(image)?;
    for index in 0..reader.exports() {
        let export = reader.export(image, index)?;
        budget.spend_record(export.name)?;
        for stage in 0..export.stages {
            budget.spend_record(reader.stage(image, index, stage)?.name)?;
        }
    }
    for index in 0..reader.sources() {
        reader.source(image, index)?;
        budget.spend_record(&[])?;
    }
    Ok(())
}
