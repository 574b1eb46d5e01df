//! Finding executables in bytes, and the one trait that every format's reader implements.
//!
//! A reader holds numbers, never references: each call hands it the image's bytes again, and what it
//! returns borrows from those. So an [`Executable`](crate::Executable) can own mapping and readers
//! side by side, and a reader needs no lifetime.
//!
//! A reader checks every bound at every call. Opening makes every call once (`find::check`), so that damage
//! is an error at opening and afterwards nothing fails unless the bytes change underneath. The exception is
//! the zonecast table, which a program opens for itself at every start, and of which only the header is
//! checked then.
//!
//! Containers (a module, a fat binary) are not readers. They only name inner byte ranges, which are
//! looked at in turn, to a bounded depth.

pub(crate) mod bytes;
mod find;
mod zonecast;

#[cfg(feature = "offload")]
mod bitcode;
#[cfg(feature = "dwarf")]
mod dwarf;
#[cfg(feature = "offload")]
mod fatbin;
#[cfg(feature = "_index")]
mod index;
#[cfg(feature = "offload")]
mod offload;
#[cfg(feature = "cubin")]
mod ptx;
#[cfg(feature = "spirv")]
mod spirv;
#[cfg(feature = "triton")]
pub(crate) mod triton;
#[cfg(feature = "dwarf")]
mod unpack;

#[cfg(feature = "elf")]
mod elf_tables;

#[cfg(feature = "iree")]
mod elf;
#[cfg(feature = "iree")]
mod fatelf;
#[cfg(feature = "iree")]
pub mod flatbuffer;
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
#[cfg(feature = "offload")]
use std::sync::Arc;
use std::sync::OnceLock;

pub(crate) use self::find::{Contents, UNDERSTOOD, contents, familiar, tables_in_elf};
use crate::image::{CpuExport, CpuLibrary, Format, SourceLocation, Stage};
use crate::{Error, Remark};

type Result<T> = std::result::Result<T, Error>;

/// What a format's reader answers. `image` is always the same bytes, those that it was made from.
///
/// Indices beyond the counts are errors like all other damage. Offsets in errors count from the image.
pub(crate) trait Reader: Send + Sync {
    fn format(&self) -> Format;

    /// Whether opening leaves the records unchecked.
    fn is_checked_when_touched(&self) -> bool {
        false
    }

    /// Whether the first question goes through all of the image.
    fn is_looked_through(&self) -> bool {
        false
    }

    fn name<'a>(&'a self, image: &'a [u8]) -> Result<&'a [u8]>;
    fn target<'a>(&'a self, image: &'a [u8]) -> Option<&'a [u8]>;

    fn exports(&self, image: &[u8]) -> usize;
    fn export<'a>(&'a self, image: &'a [u8], export: usize) -> Result<RawExport<'a>>;
    /// The first export of that name.
    fn find_export(&self, image: &[u8], name: &[u8]) -> Option<usize> {
        (0..self.exports(image))
            .find(|&index| self.export(image, index).is_ok_and(|export| export.name == name))
    }
    fn stage<'a>(&'a self, image: &'a [u8], export: usize, stage: usize) -> Result<Stage<'a>>;

    fn sources(&self, image: &[u8]) -> usize;
    /// How many listings there are. Their indices as sources follow those of the sources.
    fn listings(&self, _image: &[u8]) -> usize {
        0
    }
    /// Must not read the text's bytes, only find them.
    fn source<'a>(&'a self, image: &'a [u8], source: usize) -> Result<RawSource<'a>>;

    /// The path alone, for look-ups.
    fn source_path<'a>(&'a self, image: &'a [u8], source: usize) -> Result<&'a [u8]>;

    /// What is wrong with records that opening leaves unchecked.
    fn verify(&self, _image: &[u8]) -> Result<()> {
        Ok(())
    }
    /// False if a file beside the image, from which it has read, was written to since.
    fn unchanged(&self) -> bool {
        true
    }
    /// What is worth telling about it.
    fn remarks<'a>(&'a self, _image: &'a [u8]) -> &'a [Remark] {
        &[]
    }

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
    pub(crate) text: Text<'a>,
}

/// A source's text as it is stored.
#[derive(Clone, Copy)]
pub(crate) enum Text<'a> {
    Plain(&'a [u8]),
    /// As it is in a part of the file that was unpacked.
    #[cfg(feature = "_index")]
    Unpacked(&'a [u8]),
    /// A zstd frame that gives `length` bytes.
    Zstd {
        packed: &'a [u8],
        length: u32,
    },
}

/// Where an image's bytes are.
pub(crate) enum Place {
    File(Range<usize>),
    /// In what was unpacked from the part of the file at `at`.
    #[cfg(feature = "offload")]
    Unpacked {
        bytes: Arc<[u8]>,
        range: Range<usize>,
        at: usize,
    },
    /// Not in a file: it was loaded already.
    #[cfg(feature = "iree")]
    Memory,
}

impl Place {
    /// Where in the file it, or what it was unpacked from, begins.
    pub(crate) fn start(&self) -> usize {
        match self {
            Self::File(range) => range.start,
            #[cfg(feature = "offload")]
            Self::Unpacked { at, .. } => *at,
            #[cfg(feature = "iree")]
            Self::Memory => 0,
        }
    }
}

/// An image and the reader that understands it.
pub(crate) struct Found {
    pub(crate) reader: Box<dyn Reader>,
    pub(crate) place: Place,
    /// What the container says that it is for.
    pub(crate) target: Option<Box<[u8]>>,
    /// Whether its sources ascend by path, once somebody asked.
    pub(crate) sorted: OnceLock<bool>,
    /// The texts that had to be unpacked, one place for each source, once one of them was asked for.
    #[cfg(feature = "zstd")]
    pub(crate) unpacked: OnceLock<Unpacked>,
}

/// A text for each source.
#[cfg(feature = "zstd")]
type Unpacked = Box<[OnceLock<Box<[u8]>>]>;

impl Found {
    pub(crate) fn new(reader: impl Reader + 'static, place: Place) -> Self {
        Self {
            reader: Box::new(reader),
            place,
            target: None,
            sorted: OnceLock::new(),
            #[cfg(feature = "zstd")]
            unpacked: OnceLock::new(),
        }
    }

    /// # Safety
    ///
    /// As `Executable::from_loaded`.
    #[cfg(feature = "iree")]
    pub(crate) unsafe fn loaded(loaded: crate::Loaded) -> Result<Self> {
        // SAFETY: passed on.
        let reader = unsafe { iree_cpu::Library::loaded(loaded) }?;
        find::check(&reader, &[], &mut find::Budget::unlimited())?;
        Ok(Self::new(reader, Place::Memory))
    }
}

/// The size of the zonecast table that begins with `header`.
pub(crate) fn table_size(header: &[u8]) -> Result<u64> {
    zonecast::size(header)
}

/// Whether the bytes are one whole zonecast table.
#[cfg(feature = "elf")]
pub(crate) fn is_table(bytes: &[u8]) -> bool {
    zonecast::Table::new(bytes).is_ok() && zonecast::size(bytes).is_ok_and(|size| size == bytes.len() as u64)
}

/// Whether the ELF file has a section of tables that begins there.
#[cfg(feature = "elf")]
pub(crate) fn has_table_at(file: &[u8], offset: u64) -> bool {
    let begins_there = |region: &elf_tables::Region| matches!(region, elf_tables::Region::Section(place) if place.start as u64 == offset);
    elf_tables::regions(file).is_ok_and(|regions| regions.iter().any(begins_there))
}

/// Whether the file ends in something that is found from its end.
#[cfg(feature = "elf")]
pub(crate) fn has_footer(_file: &[u8]) -> bool {
    #[cfg(feature = "iree")]
    return iree_debug_block::is(_file);
    #[cfg(not(feature = "iree"))]
    false
}
