//! IREE's executable library for CPUs, versions 4, 5 and 6: tables of C structures.
//!
//! (`runtime/src/iree/hal/local/executable_library.h` in IREE's sources.) A library is an ELF file with
//! one entry point, a query function that returns a *library record*:
//!
//! ```text
//! header   u32 version, char* name, u32 features, u32 sanitizer
//! library  header*,
//!          imports    u32 count, char** names
//!          exports    u32 count, fn**, attributes*, (6: parameters**, occupancy*,) char** names,
//!                     char** tags, (6: char** parameter names,) location*, stage table*
//!          constants  u32 count
//!          sources    u32 count, source*
//! location u32 line, u32 path length, char* path
//! stages   u32 count, char** names, location*
//! source   u32 path length, char* path, u32 content length, u8* content
//! ```
//!
//! Every member of the library record fills a cell the size of a pointer. There is no pointer to the
//! record in the file that could be followed without running the query function, so [`search`] finds it
//! by its shape.
//!
//! What the tables say is only what their counts and lengths cover: a stage table of count 0 points at
//! nothing, and a location without a path has an uninitialised line.

mod memory;
mod search;

use std::ptr::NonNull;

use self::memory::Memory;
use super::elf::Elf;
use super::{RawExport, RawSource, Reader, Result, Text};
use crate::image::{CpuExport, CpuLibrary, Format, SourceLocation, Stage};
use crate::{Error, Loaded};

const TABLE: &str = "a pointer to as many records as counted";
const TEXT: &str = "a pointer to as many bytes as given";
const NAME: &str = "a pointer to a name that ends in NUL";
const VERSION: &str = "version 4, 5 or 6";

/// The newest version first: the order in which a query function is asked.
const VERSIONS: [u32; 3] = [6, 5, 4];

/// Where members are in the library record, in cells, and what else differs by version.
struct Layout {
    names: u64,
    locations: u64,
    stages: u64,
    constants: u64,
    sources: u64,
    attributes_size: u64,
    /// Where pages, constants and bindings begin in an attributes record.
    pages_at: u64,
    workgroup_size_at: Option<u64>,
}

const CELL_IMPORTS: u64 = 1;
const CELL_EXPORTS: u64 = 3;
const CELL_ATTRIBUTES: u64 = 5;

impl Layout {
    fn of(version: u32) -> Option<Self> {
        let (names, locations, stages, constants, sources) =
            if version == 6 { (8, 11, 12, 13, 14) } else { (6, 8, 9, 10, 11) };
        let (attributes_size, pages_at, workgroup_size_at) = match version {
            4 => (4, 0, None),
            5 => (72, 0, None),
            6 => (64, 8, Some(12)),
            _ => return None,
        };
        Some(Self {
            names,
            locations,
            stages,
            constants,
            sources,
            attributes_size,
            pages_at,
            workgroup_size_at,
        })
    }
}

/// A library, in a file or loaded.
pub(crate) struct Library {
    memory: Memory,
    tables: Tables,
}

/// Where its tables are. All numbers but counts are addresses.
struct Tables {
    header: u64,
    about: CpuLibrary,
    layout: Layout,
    exports: usize,
    names: u64,
    attributes: Option<u64>,
    locations: Option<u64>,
    stages: Option<u64>,
    sources: usize,
    source_table: u64,
}

impl Tables {
    /// Reads the library record at that address, and checks that its tables are all there.
    fn read(memory: &Memory, image: &[u8], record: u64) -> Result<Self> {
        let word = memory.word();
        let header = memory.required_table(image, record, 1, 2 * word + 8)?;
        let version = memory.u32(image, header)?;
        let layout = Layout::of(version).ok_or(memory.damaged(header, VERSION))?;
        let cell = |index: u64| record.saturating_add(index * word);
        let exports = memory.u32(image, cell(CELL_EXPORTS))?;
        let per_export = |index: u64, size: u64| memory.table(image, cell(index), exports, size);
        let sources = memory.u32(image, cell(layout.sources))?;
        Ok(Self {
            header,
            about: CpuLibrary {
                abi_version: version,
                machine: memory.machine(),
                pointer_size: word as u8,
                features: memory.u32(image, header + 2 * word)?,
                sanitizer: memory.u32(image, header + 2 * word + 4)?,
                imports: memory.u32(image, cell(CELL_IMPORTS))?,
                constants: memory.u32(image, cell(layout.constants))?,
            },
            exports: exports as usize,
            names: memory.required_table(image, cell(layout.names), exports, word)?,
            attributes: per_export(CELL_ATTRIBUTES, layout.attributes_size)?,
            locations: per_export(layout.locations, 8 + word)?,
            stages: per_export(layout.stages, 3 * word)?,
            sources: sources as usize,
            source_table: memory.required_table(image, cell(layout.sources + 1), sources, 4 * word)?,
            layout,
        })
    }
}

impl Library {
    /// The library in an ELF file, if there is one.
    pub(crate) fn in_elf(file: &[u8]) -> Result<Option<Self>> {
        let Some(elf) = Elf::parse(file, search::QUERY)? else { return Ok(None) };
        search::library(elf, file).map(Some)
    }

    /// The library behind a query function or pointer.
    ///
    /// # Safety
    ///
    /// As `Executable::from_loaded`.
    pub(crate) unsafe fn loaded(loaded: Loaded) -> Result<Self> {
        let record = match loaded {
            Loaded::IreeLibrary(record) => Some(record),
            Loaded::IreeQuery(query) => VERSIONS.into_iter().find_map(|version| {
                // SAFETY: the caller says that it is such a function; it takes any version, and null for the
                // environment, which it does not read.
                NonNull::new(unsafe { query(version, std::ptr::null()) }.cast_mut())
            }),
            Loaded::Table(_) => None,
        };
        let what = "an executable library that answers to none of the versions 4, 5 and 6";
        let record = record.ok_or(Error::unsupported(0, what))?;
        let memory = Memory::Loaded;
        let tables = Tables::read(&memory, &[], record.as_ptr().expose_provenance() as u64)?;
        Ok(Self { memory, tables })
    }

    /// The location at that address; `None` if it has no path, whatever its line.
    fn location<'a>(&'a self, image: &'a [u8], at: u64) -> Result<Option<SourceLocation<'a>>> {
        let file = self.memory.text(image, at + 4, at + 8)?;
        let line = self.memory.u32(image, at)?;
        Ok((!file.is_empty()).then_some(SourceLocation { file, line }))
    }

    /// Where record `index` is of a table of that many; an error if there is none.
    fn record(&self, table: u64, index: usize, count: usize, size: u64) -> Result<u64> {
        if index < count { Ok(table + index as u64 * size) } else { Err(self.memory.damaged(table, TABLE)) }
    }
}

impl Reader for Library {
    fn format(&self) -> Format {
        Format::IreeCpu
    }

    fn name<'a>(&'a self, image: &'a [u8]) -> Result<&'a [u8]> {
        self.memory.name(image, self.tables.header + self.memory.word())
    }

    /// By the names that IREE uses in its format strings.
    fn target<'a>(&'a self, _image: &'a [u8]) -> Option<&'a [u8]> {
        use object::elf::*;
        let wide = self.memory.word() == 8;
        Some(match Machine(self.memory.machine()?) {
            EM_X86_64 => b"x86_64",
            EM_386 => b"x86_32",
            EM_AARCH64 => b"arm_64",
            EM_ARM => b"arm_32",
            EM_RISCV if wide => b"riscv_64",
            EM_RISCV => b"riscv_32",
            _ => return None,
        })
    }

    fn exports(&self, _image: &[u8]) -> usize {
        self.tables.exports
    }

    fn export<'a>(&'a self, image: &'a [u8], export: usize) -> Result<RawExport<'a>> {
        let word = self.memory.word();
        let record = |table, size| self.record(table, export, self.tables.exports, size);
        let name = self.memory.name(image, record(self.tables.names, word)?)?;
        let location = match self.tables.locations {
            Some(table) => self.location(image, record(table, 8 + word)?)?,
            None => None,
        };
        let stages = match self.tables.stages {
            Some(table) => self.memory.u32(image, record(table, 3 * word)?)? as usize,
            None => 0,
        };
        Ok(RawExport { name, location, stages })
    }

    fn stage<'a>(&'a self, image: &'a [u8], export: usize, stage: usize) -> Result<Stage<'a>> {
        let word = self.memory.word();
        let table = self.tables.stages.ok_or(self.memory.damaged(self.tables.header, TABLE))?;
        let at = self.record(table, export, self.tables.exports, 3 * word)?;
        let count = self.memory.u32(image, at)?;
        let column = |pointer: u64, size: u64| {
            let table = self.memory.required_table(image, pointer, count, size)?;
            self.record(table, stage, count as usize, size)
        };
        let name = self.memory.name(image, column(at + word, word)?)?;
        let location = self.location(image, column(at + 2 * word, 8 + word)?)?;
        Ok(Stage { name, location })
    }

    fn sources(&self, _image: &[u8]) -> usize {
        self.tables.sources
    }

    fn source<'a>(&'a self, image: &'a [u8], source: usize) -> Result<RawSource<'a>> {
        let word = self.memory.word();
        let at = self.record(self.tables.source_table, source, self.tables.sources, 4 * word)?;
        let text = self.memory.text(image, at + 2 * word, at + 3 * word)?;
        Ok(RawSource { path: self.memory.text(image, at, at + word)?, text: Text::Plain(text) })
    }

    fn source_path<'a>(&'a self, image: &'a [u8], source: usize) -> Result<&'a [u8]> {
        let word = self.memory.word();
        let at = self.record(self.tables.source_table, source, self.tables.sources, 4 * word)?;
        self.memory.text(image, at, at + word)
    }

    fn cpu_library(&self) -> Option<CpuLibrary> {
        Some(self.tables.about)
    }

    fn cpu_export(&self, image: &[u8], export: usize) -> Option<CpuExport> {
        let size = self.tables.layout.attributes_size;
        let at = self.record(self.tables.attributes?, export, self.tables.exports, size).ok()?;
        let record = self.memory.plain(image, at, size).ok()?;
        let u16 = |at: u64| super::bytes::u16(record, at, TABLE).ok();
        let u32 = |at: u64| super::bytes::u32(record, at, TABLE).ok();
        let pages_at = self.tables.layout.pages_at;
        let [constants, bindings] = u16(pages_at + 2)?.to_le_bytes();
        Some(CpuExport {
            flags: if pages_at == 8 { super::bytes::u64(record, 0, TABLE).ok()? } else { 0 },
            local_memory_pages: u16(pages_at)?,
            constants,
            bindings,
            workgroup_size: match self.tables.layout.workgroup_size_at {
                Some(at) => Some([u32(at)?, u32(at + 4)?, u16(at + 8)?.into()]),
                None => None,
            },
        })
    }
}
