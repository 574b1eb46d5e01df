//! Looking through bytes: what they are, what is in them, and whether that can be read.

use std::ops::Range;
use std::path::Path;
#[cfg(feature = "offload")]
use std::sync::Arc;

#[cfg(feature = "dwarf")]
use super::dwarf;
#[cfg(feature = "elf")]
use super::elf_tables;
#[cfg(feature = "_index")]
use super::index::Indexed;
#[cfg(feature = "cubin")]
use super::ptx;
#[cfg(feature = "spirv")]
use super::spirv;
#[cfg(feature = "triton")]
use super::triton;
#[cfg(feature = "offload")]
use super::unpack::{Packing, unpack};
use super::{Found, Place, Reader, Result, zonecast};
#[cfg(feature = "offload")]
use super::{bitcode, fatbin, offload};
#[cfg(feature = "iree")]
use super::{fatelf, iree_cpu, iree_debug_block, iree_gpu, iree_module, iree_vmvx};
use crate::Error;
#[cfg(any(feature = "iree", feature = "offload"))]
use crate::ErrorKind;

/// How deep containers may lie in containers: a FatELF file in a module is the deepest that is written.
const DEPTH: usize = 4;

#[cfg(any(feature = "iree", feature = "offload"))]
const TOO_DEEP: &str = "containers nested deeper than any compiler nests them";

/// How much is unpacked of one file: it stays in memory.
#[cfg(feature = "offload")]
const MOST_UNPACKED: u64 = 256 << 20;

#[cfg(feature = "offload")]
const TOO_MUCH: &str =
    "a file of which more than 256 MiB have to be unpacked; unpack it with clang-offload-bundler";

/// What a message about unknown contents names as understood.
pub(crate) const UNDERSTOOD: &str = if cfg!(all(feature = "iree", feature = "dwarf")) {
    "zonecast tables; IREE modules (.vmfb) and executables; ELF files and WebAssembly modules with DWARF; \
     with further features of zonecast-embed also offload bundles, fat binaries, PTX, SPIR-V and Triton's cache"
} else if cfg!(feature = "iree") {
    "zonecast tables, alone or in ELF files; IREE modules (.vmfb); IREE executables for CPUs and GPUs"
} else if cfg!(feature = "elf") {
    "zonecast tables, alone or in ELF files (zonecast-embed's feature `iree` adds IREE's formats)"
} else {
    "zonecast tables (zonecast-embed's features `elf` and `iree` add more)"
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
        (b"version ", "perhaps a Git LFS pointer; fetch the file itself"),
    ];
    KINDS.into_iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, kind)| kind)
}

/// All that was found in some bytes.
pub(crate) struct Contents {
    pub(crate) found: Vec<Found>,
    /// Parts of containers that look like executables but could not be read.
    pub(crate) unreadable: Vec<Error>,
}

/// Looks through `bytes`, those of the file at `path` if there is one.
///
/// # Errors
///
/// If nothing in them can be read: then the first reason for that.
pub(crate) fn contents(bytes: &[u8], path: Option<&Path>) -> Result<Contents> {
    let mut finder = Finder::new(bytes, path);
    finder.look(0..bytes.len(), 0)?;
    let mut contents = finder.contents;
    contents.found.sort_by_key(|found| found.place.start());
    contents.or_reason()
}

impl Contents {
    /// Itself, unless all that was met could not be read.
    fn or_reason(mut self) -> Result<Self> {
        if self.found.is_empty() && !self.unreadable.is_empty() {
            return Err(self.unreadable.swap_remove(0));
        }
        Ok(self)
    }
}

/// Looks for zonecast tables in an ELF file, and for nothing else. There are none in any other file.
///
/// # Errors
///
/// If none of those that are there can be read: then the first reason for that.
pub(crate) fn tables_in_elf(bytes: &[u8]) -> Result<Contents> {
    #[cfg(feature = "elf")]
    if elf_tables::is(bytes) {
        let mut finder = Finder::new(bytes, None);
        finder.take_elf_tables(&(0..bytes.len()))?;
        return finder.contents.or_reason();
    }
    Ok(Finder::new(bytes, None).contents)
}

/// How much more may be read. Hostile parts and tables may overlap, and looking at all of them would then
/// take time quadratic in the length of the file; in an honest file they do not, and it never runs out.
pub(crate) struct Budget {
    /// Bytes of parts; each byte is in one part at each level of containers.
    bytes: usize,
    /// Records of exports, stages and sources; each takes more than four bytes.
    records: usize,
}

impl Budget {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len().saturating_mul(DEPTH), records: bytes.len() / 4 }
    }

    #[cfg(feature = "iree")]
    pub(crate) fn unlimited() -> Self {
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

/// Reads every record once, so that whatever is wrong is found.
pub(crate) fn check(reader: &dyn Reader, image: &[u8], budget: &mut Budget) -> Result<()> {
    reader.name(image)?;
    for index in 0..reader.exports(image) {
        let export = reader.export(image, index)?;
        budget.spend_record(export.name)?;
        for stage in 0..export.stages {
            budget.spend_record(reader.stage(image, index, stage)?.name)?;
        }
    }
    for index in 0..reader.sources(image) {
        reader.source(image, index)?;
        budget.spend_record(&[])?;
    }
    Ok(())
}

/// Whether there is more to say of an ELF file than what is in the parts found.
#[cfg(feature = "elf")]
fn is_debug(_file: &[u8]) -> bool {
    #[cfg(feature = "dwarf")]
    return dwarf::Debug::is_there(_file);
    #[cfg(not(feature = "dwarf"))]
    false
}

/// Walks through containers and collects what it finds. Offsets in its errors count from the start of
/// the file, those of readers from their own start.
struct Finder<'a> {
    bytes: &'a [u8],
    #[cfg_attr(not(feature = "dwarf"), allow(dead_code))]
    path: Option<&'a Path>,
    contents: Contents,
    budget: Budget,
    /// How many more bytes may be unpacked.
    #[cfg(feature = "offload")]
    unpacked: u64,
}

impl<'a> Finder<'a> {
    fn new(bytes: &'a [u8], path: Option<&'a Path>) -> Self {
        Self {
            bytes,
            path,
            contents: Contents { found: Vec::new(), unreadable: Vec::new() },
            budget: Budget::of(bytes),
            #[cfg(feature = "offload")]
            unpacked: MOST_UNPACKED,
        }
    }

    /// Looks at one range: an executable, a container, or neither.
    fn look(&mut self, range: Range<usize>, depth: usize) -> Result<()> {
        let bytes = &self.bytes[range.clone()];
        let in_file = |error: Error| error.moved_by(range.start as u64);
        if zonecast::is(bytes) {
            return self.take_tables(range);
        }
        #[cfg(feature = "iree")]
        if iree_debug_block::is(bytes) {
            let library = iree_debug_block::library(bytes).map_err(in_file)?;
            return self.look_inside([Ok(library)].into_iter(), range.start, depth);
        }
        // Before those whose marks are not at the very beginning, where an ELF file may have anything.
        #[cfg(feature = "elf")]
        if elf_tables::is(bytes) {
            return self.look_at_elf(range, depth);
        }
        #[cfg(feature = "offload")]
        if offload::is(bytes) {
            return self.look_at_container(range, depth);
        } else if bitcode::is(bytes) {
            return self.take(Indexed::new(bitcode::Bitcode), range);
        }
        #[cfg(feature = "cubin")]
        if ptx::is(bytes) {
            return self.take(Indexed::new(ptx::Ptx::new(bytes)), range);
        }
        #[cfg(feature = "triton")]
        if let Some(file) = triton::Triton::recognise(bytes, self.path.filter(|_| depth == 0)) {
            return self.take(Indexed::new(file), range);
        }
        #[cfg(feature = "spirv")]
        if spirv::is(bytes) {
            return self.take(Indexed::new(spirv::Spirv::new(bytes).map_err(in_file)?), range);
        }
        #[cfg(feature = "dwarf")]
        if dwarf::is_wasm(bytes) {
            return self.take_debug(range);
        }
        #[cfg(feature = "iree")]
        if fatelf::is(bytes) {
            return self.look_inside(fatelf::parts(bytes).map_err(in_file)?, range.start, depth);
        } else if iree_gpu::is(bytes) {
            return self.take(iree_gpu::Executable::new(bytes).map_err(in_file)?, range);
        } else if iree_module::is(bytes) && depth > 0 {
            // IREE puts a module into a module only as an executable for its bytecode interpreter.
            return self.take(iree_vmvx::Program::new(bytes).map_err(in_file)?, range);
        } else if iree_module::is(bytes) {
            let segments = iree_module::Segments::new(bytes).map_err(in_file)?;
            return self.look_inside(segments, range.start, depth);
        }
        let _ = depth;
        Err(in_file(Error::unknown(bytes)))
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
            return Err(Error::unsupported(base as u64, TOO_DEEP));
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
                Err(error) if !matches!(error.kind(), ErrorKind::Unknown(_)) => {
                    self.contents.unreadable.push(error)
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Looks for tables and for an IREE library, either or both of which may be in an ELF file.
    #[cfg(feature = "elf")]
    fn look_at_elf(&mut self, range: Range<usize>, depth: usize) -> Result<()> {
        let first = self.contents.found.len();
        let has_tables = self.take_elf_tables(&range)?;
        // Such a table says what is in the file; one without exports only adds texts to that.
        let lists_exports = self.contents.found[first..].iter().any(|table| table.reader.exports(&[]) > 0);
        match self.take_library(&range) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) if has_tables => self.contents.unreadable.push(error),
            Err(error) => return Err(error),
        }
        let has_parts = self.look_at_containers(&range, depth)?;
        if lists_exports || (has_tables || has_parts) && !is_debug(&self.bytes[range.clone()]) {
            return Ok(());
        }
        self.take_debug(range)
    }

    #[cfg(feature = "dwarf")]
    fn take_debug(&mut self, range: Range<usize>) -> Result<()> {
        // Only of the file itself other parts may lie beside it.
        let path = self.path.filter(|_| range == (0..self.bytes.len()));
        let debug = dwarf::Debug::new(&self.bytes[range.clone()], path);
        self.take(Indexed::new(debug.map_err(|error| error.moved_by(range.start as u64))?), range)
    }

    /// Looks at the code for GPUs that is in a host file. Whether there is any.
    #[cfg(feature = "offload")]
    fn look_at_containers(&mut self, range: &Range<usize>, depth: usize) -> Result<bool> {
        let before = self.contents.found.len();
        for place in offload::in_elf(&self.bytes[range.clone()]) {
            self.budget.spend_bytes(place.len())?;
            let place = range.start + place.start..range.start + place.end;
            if let Err(error) = self.look_at_container(place, depth + 1) {
                self.contents.unreadable.push(error);
            }
        }
        Ok(self.contents.found.len() > before)
    }

    #[cfg(all(feature = "elf", not(feature = "offload")))]
    fn look_at_containers(&mut self, _range: &Range<usize>, _depth: usize) -> Result<bool> {
        Ok(false)
    }

    #[cfg(feature = "offload")]
    fn look_at_container(&mut self, range: Range<usize>, depth: usize) -> Result<()> {
        let start = range.start as u64;
        if depth >= DEPTH {
            return Err(Error::unsupported(start, TOO_DEEP));
        }
        let bytes = &self.bytes[range.clone()];
        let (parts, length) = offload::parts(bytes).map_err(|error| error.moved_by(start))?;
        if fatbin::is(bytes) {
            self.take(Indexed::new(fatbin::Fatbin), range.start..range.start + length)?;
        }
        for part in parts {
            self.budget.spend_bytes(part.range.len())?;
            let first = self.contents.found.len();
            let place = range.start + part.range.start..range.start + part.range.end;
            let looked = match part.packed {
                None => self.look(place, depth + 1),
                Some((packing, length)) => self.look_at_packed(place, packing, length, depth + 1),
            };
            for found in &mut self.contents.found[first..] {
                found.target = found.target.take().or(part.target.as_deref().map(Box::from));
            }
            match looked {
                Err(error) if !matches!(error.kind(), ErrorKind::Unknown(_)) => {
                    self.contents.unreadable.push(error)
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Unpacks a part, and looks at what was in it.
    #[cfg(feature = "offload")]
    fn look_at_packed(
        &mut self,
        range: Range<usize>,
        packing: Packing,
        length: u64,
        depth: usize,
    ) -> Result<()> {
        let at = range.start;
        self.unpacked = self.unpacked.checked_sub(length).ok_or(Error::unsupported(at as u64, TOO_MUCH))?;
        let unpacked = unpack(&self.bytes[range], packing, length);
        let bytes: Arc<[u8]> = unpacked.map_err(|error| error.at(at as u64))?.into();
        let mut finder = Finder { unpacked: self.unpacked, ..Finder::new(&bytes, None) };
        let looked = finder.look(0..bytes.len(), depth);
        let Finder { contents, unpacked, .. } = finder;
        self.unpacked = unpacked;
        for mut found in contents.found {
            found.place = match found.place {
                Place::File(range) => Place::Unpacked { bytes: bytes.clone(), range, at },
                Place::Unpacked { bytes, range, .. } => Place::Unpacked { bytes, range, at },
                #[cfg(feature = "iree")]
                Place::Memory => Place::Memory,
            };
            self.contents.found.push(found);
        }
        self.contents.unreadable.extend(contents.unreadable.into_iter().map(|error| error.at(at as u64)));
        looked.map_err(|error| error.at(at as u64))
    }

    #[cfg(all(feature = "elf", not(feature = "dwarf")))]
    fn take_debug(&mut self, range: Range<usize>) -> Result<()> {
        let what = "an ELF file with neither a zonecast table nor an IREE executable library in it";
        Err(Error::unsupported(range.start as u64, what))
    }

    /// Whether there are any, readable or not.
    #[cfg(feature = "elf")]
    fn take_elf_tables(&mut self, range: &Range<usize>) -> Result<bool> {
        let base = range.start;
        let regions = elf_tables::regions(&self.bytes[range.clone()]);
        let regions = regions.map_err(|error| error.moved_by(base as u64))?;
        for region in &regions {
            let taken = match region {
                elf_tables::Region::Section(place) => self.take_tables(base + place.start..base + place.end),
                elf_tables::Region::Note(place) => self.take_table(base + place.start..base + place.end),
            };
            if let Err(error) = taken {
                self.contents.unreadable.push(error);
            }
        }
        Ok(!regions.is_empty())
    }

    /// Whether there is one.
    #[cfg(feature = "iree")]
    fn take_library(&mut self, range: &Range<usize>) -> Result<bool> {
        let library = iree_cpu::Library::in_elf(&self.bytes[range.clone()]);
        let Some(library) = library.map_err(|error| error.moved_by(range.start as u64))? else {
            return Ok(false);
        };
        self.take(library, range.clone()).map(|()| true)
    }

    #[cfg(all(feature = "elf", not(feature = "iree")))]
    fn take_library(&mut self, _range: &Range<usize>) -> Result<bool> {
        Ok(false)
    }

    /// Takes all tables that stand behind each other in that range.
    fn take_tables(&mut self, range: Range<usize>) -> Result<()> {
        self.budget.spend_bytes(range.len())?;
        let bytes = &self.bytes[range.clone()];
        for table in zonecast::tables(bytes) {
            let table = table.map_err(|error| error.moved_by(range.start as u64))?;
            self.take_table(range.start + table.start..range.start + table.end)?;
        }
        Ok(())
    }

    fn take_table(&mut self, range: Range<usize>) -> Result<()> {
        let table = zonecast::Table::new(&self.bytes[range.clone()]);
        self.take(table.map_err(|error| error.moved_by(range.start as u64))?, range)
    }

    fn take(&mut self, reader: impl Reader + 'static, range: Range<usize>) -> Result<()> {
        if !reader.is_checked_when_touched() {
            let in_file = |error: Error| error.moved_by(range.start as u64);
            check(&reader, &self.bytes[range.clone()], &mut self.budget).map_err(in_file)?;
        }
        self.contents.found.push(Found::new(reader, Place::File(range)));
        Ok(())
    }
}
