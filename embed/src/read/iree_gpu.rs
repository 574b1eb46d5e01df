//! IREE's executables for GPUs: CUDA, HIP, AMDGPU, Vulkan and Metal.
//!
//! (`runtime/src/iree/schemas/*_executable_def.fbs` and `executable_debug_info.fbs` in IREE's sources.)
//! Each begins with a header of 64 bytes (identifier, version, length), then comes a FlatBuffer with the
//! same identifier. They hold the device's code, the exports, and below them the same tables of locations,
//! stages and sources; they differ only in the numbers of the slots, so one reader serves all.
//!
//! An export's debug record is absent below debug level 1, stages and sources are absent below level 3, and
//! so is the location of what has none.

use super::flatbuffer::Table;
use super::{RawExport, RawSource, Reader, Result, Text, bytes};
use crate::Error;
use crate::image::{Format, SourceLocation, Stage};

const HEADER_SIZE: u64 = 64;
const HEADER: &str = "the header of an IREE GPU executable";

/// What differs between the formats.
struct Kind {
    identifier: [u8; 4],
    format: Format,
    /// Slots of the root table.
    exports: u64,
    sources: u64,
    target: Option<u64>,
    /// Slots of an export's table.
    name: u64,
    debug: u64,
}

#[rustfmt::skip]
const KINDS: [Kind; 5] = [
    Kind { identifier: *b"CDA1", format: Format::IreeCuda, exports: 0, sources: 2, target: None, name: 1, debug: 6 },
    Kind { identifier: *b"HIP1", format: Format::IreeHip, exports: 0, sources: 2, target: None, name: 1, debug: 6 },
    Kind { identifier: *b"AMD1", format: Format::IreeAmdgpu, exports: 1, sources: 3, target: Some(0), name: 0, debug: 4 },
    Kind { identifier: *b"VKE1", format: Format::IreeVulkan, exports: 0, sources: 4, target: None, name: 1, debug: 4 },
    Kind { identifier: *b"MTL1", format: Format::IreeMetal, exports: 0, sources: 2, target: None, name: 1, debug: 7 },
];

const DEBUG_LOCATION: u64 = 1;
const DEBUG_STAGES: u64 = 2;
const LOCATION_FILE: u64 = 0;
const LOCATION_LINE: u64 = 1;
const STAGE_NAME: u64 = 0;
const STAGE_LOCATION: u64 = 1;
const SOURCE_PATH: u64 = 0;
const SOURCE_TEXT: u64 = 1;

pub(crate) fn is(image: &[u8]) -> bool {
    image.len() as u64 > HEADER_SIZE && kind(image).is_some()
}

fn kind(image: &[u8]) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| image.starts_with(&kind.identifier))
}

pub(crate) struct Executable {
    kind: &'static Kind,
    /// The length of the FlatBuffer.
    length: u64,
    exports: usize,
    sources: usize,
}

impl Executable {
    pub(crate) fn new(image: &[u8]) -> Result<Self> {
        let kind = kind(image).ok_or(Error::damaged(0, HEADER))?;
        if bytes::u32(image, 4, HEADER)? != 0 {
            return Err(Error::unsupported(4, "a GPU executable of a header version other than 0"));
        }
        let length = bytes::u64(image, 8, HEADER)?;
        let mut this = Self { kind, length, exports: 0, sources: 0 };
        let buffer = bytes::slice(image, HEADER_SIZE, length, HEADER)
            .map_err(|_| Error::damaged(8, "the length of a FlatBuffer within the executable"))?;
        if buffer.get(4..8) != Some(&kind.identifier) {
            return Err(Error::damaged(HEADER_SIZE, "a FlatBuffer with the header's identifier"));
        }
        (this.exports, this.sources) = this
            .read(image, |root| Ok((root.tables(kind.exports)?.len(), root.tables(kind.sources)?.len())))?;
        Ok(this)
    }

    /// Reads something below the root table.
    fn read<'a, T>(&self, image: &'a [u8], read: impl FnOnce(Table<'a>) -> Result<T>) -> Result<T> {
        let buffer = bytes::slice(image, HEADER_SIZE, self.length, HEADER)?;
        Table::root(buffer).and_then(read).map_err(|error| error.moved_by(HEADER_SIZE))
    }
}

fn location(location: Option<Table<'_>>) -> Result<Option<SourceLocation<'_>>> {
    let Some(location) = location else { return Ok(None) };
    let file = location.bytes(LOCATION_FILE)?.unwrap_or_default();
    let line = location.i32(LOCATION_LINE)?.try_into().unwrap_or(0);
    Ok((!file.is_empty()).then_some(SourceLocation { file, line }))
}

impl Reader for Executable {
    fn format(&self) -> Format {
        self.kind.format
    }

    /// The format has no name for the whole.
    fn name<'a>(&'a self, _image: &'a [u8]) -> Result<&'a [u8]> {
        Ok(b"")
    }

    fn target<'a>(&'a self, image: &'a [u8]) -> Option<&'a [u8]> {
        let slot = self.kind.target?;
        self.read(image, |root| root.bytes(slot)).ok()?
    }

    fn exports(&self, _image: &[u8]) -> usize {
        self.exports
    }

    fn export<'a>(&'a self, image: &'a [u8], export: usize) -> Result<RawExport<'a>> {
        self.read(image, |root| {
            let export = root.tables(self.kind.exports)?.get(export)?;
            let name = export.bytes(self.kind.name)?.unwrap_or_default();
            let Some(debug) = export.table(self.kind.debug)? else {
                return Ok(RawExport { name, location: None, stages: 0 });
            };
            let location = location(debug.table(DEBUG_LOCATION)?)?;
            Ok(RawExport { name, location, stages: debug.tables(DEBUG_STAGES)?.len() })
        })
    }

    fn stage<'a>(&'a self, image: &'a [u8], export: usize, stage: usize) -> Result<Stage<'a>> {
        self.read(image, |root| {
            let export = root.tables(self.kind.exports)?.get(export)?;
            let debug =
                export.table(self.kind.debug)?.ok_or(Error::damaged(export.offset(), "a debug record"))?;
            let stage = debug.tables(DEBUG_STAGES)?.get(stage)?;
            let name = stage.bytes(STAGE_NAME)?.unwrap_or_default();
            Ok(Stage { name, location: location(stage.table(STAGE_LOCATION)?)? })
        })
    }

    fn sources(&self, _image: &[u8]) -> usize {
        self.sources
    }

    fn source<'a>(&'a self, image: &'a [u8], source: usize) -> Result<RawSource<'a>> {
        self.read(image, |root| {
            let source = root.tables(self.kind.sources)?.get(source)?;
            let path = source.bytes(SOURCE_PATH)?.unwrap_or_default();
            Ok(RawSource { path, text: Text::Plain(source.bytes(SOURCE_TEXT)?.unwrap_or_default()) })
        })
    }
    fn source_path<'a>(&'a self, image: &'a [u8], source: usize) -> Result<&'a [u8]> {
        self.read(image, |root| {
            let source = root.tables(self.kind.sources)?.get(source)?;
            Ok(source.bytes(SOURCE_PATH)?.unwrap_or_default())
        })
    }
}
