//! The sections that debug information is in: found, unpacked, and relocated where no linker has done that.

use std::borrow::Cow;
use std::ops::Range;

use gimli::{RunTimeEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection};

use super::super::Result;
use super::super::index::{IndexBuilder, Place};
use super::super::unpack::{self, Packing};
use super::{Slice, relocate};
use crate::Error;

const SECTION: &str = "a section of debug information within the file";

const WANTED: [SectionId; 9] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// Those that there have to be in a package of units besides.
const PACKED: [SectionId; 5] = [
    SectionId::DebugCuIndex,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugMacinfo,
    SectionId::DebugMacro,
];

pub(crate) struct Sections<'a> {
    parts: Vec<(SectionId, Cow<'a, [u8]>)>,
    endian: RunTimeEndian,
}

impl<'a> Sections<'a> {
    pub(crate) fn new(parts: Vec<(SectionId, &'a [u8])>) -> Self {
        let parts = parts.into_iter().map(|(id, bytes)| (id, Cow::Borrowed(bytes))).collect();
        Self { parts, endian: RunTimeEndian::Little }
    }

    /// The section of a name, if it is one of those.
    pub(crate) fn id(name: &[u8]) -> Option<SectionId> {
        WANTED.into_iter().find(|id| id.name().as_bytes() == name)
    }

    pub(crate) fn of_elf(file: &object::File<'a>, bytes: &'a [u8]) -> Result<Self> {
        let named = |id: SectionId| Some((id, id.name()));
        Self::of_elf_named(file, bytes, WANTED.into_iter().filter_map(named))
    }

    /// Those of a file that holds what was split off.
    pub(crate) fn of_split(file: &object::File<'a>, bytes: &'a [u8]) -> Result<Self> {
        let named = |id: SectionId| Some((id, id.dwo_name()?));
        Self::of_elf_named(file, bytes, WANTED.into_iter().chain(PACKED).filter_map(named))
    }

    fn of_elf_named(
        file: &object::File<'a>,
        bytes: &'a [u8],
        wanted: impl Iterator<Item = (SectionId, &'static str)>,
    ) -> Result<Self> {
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let mut parts = Vec::new();
        for (id, name) in wanted {
            if let Some(section) = file.section_by_name(name) {
                let mut part = contents(&section, bytes)?;
                relocate::apply(file, &section, id, &mut part)?;
                parts.push((id, part));
            }
        }
        Ok(Self { parts, endian })
    }

    /// Whether there is nothing in them that leads to a line.
    pub(crate) fn is_empty(&self) -> bool {
        self.get(SectionId::DebugLine).is_empty() && self.get(SectionId::DebugInfo).is_empty()
    }

    /// Their length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    fn get(&self, id: SectionId) -> &[u8] {
        self.parts.iter().find(|(part, _)| *part == id).map(|(_, bytes)| &**bytes).unwrap_or_default()
    }

    pub(crate) fn slice(&self, id: SectionId) -> Slice<'_> {
        gimli::EndianSlice::new(self.get(id), self.endian)
    }

    pub(crate) fn dwarf(&self) -> gimli::Dwarf<Slice<'_>> {
        let load = |id| Ok::<_, std::convert::Infallible>(self.slice(id));
        let Ok(dwarf) = gimli::Dwarf::load(load);
        dwarf
    }

    /// Where texts are, given by path and slice, that were found in these sections of the file.
    pub(crate) fn places(&self, file: &[u8], texts: Vec<(Vec<u8>, &[u8])>) -> Vec<Placed> {
        let home_of = |text: &[u8]| {
            let owned = |(_, bytes): &(SectionId, Cow<'_, [u8]>)| match bytes {
                Cow::Owned(bytes) => within(bytes, text),
                Cow::Borrowed(_) => None,
            };
            let at = |(index, part)| owned(part).map(|range| (Some(index), range));
            let unpacked = self.parts.iter().enumerate().find_map(at);
            unpacked.or_else(|| within(file, text).map(|range| (None, range)))
        };
        let place = |(path, text): (Vec<u8>, &[u8])| home_of(text).map(|(home, range)| (path, home, range));
        texts.into_iter().filter_map(place).collect()
    }

    /// What is kept when they go, as texts are in it.
    pub(crate) fn keep(self, texts: Vec<Placed>) -> Kept {
        let owned = |(_, bytes)| match bytes {
            Cow::Owned(bytes) => Some(bytes),
            Cow::Borrowed(_) => None,
        };
        Kept { texts, unpacked: self.parts.into_iter().map(owned).collect() }
    }
}

/// A text's path, the section that it is in if that is not in the file as it is, and where it is in either.
pub(crate) type Placed = (Vec<u8>, Option<usize>, Range<usize>);

/// Where `part` is in `whole`.
fn within(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// What is kept of sections when they go: the texts' places, and those sections that are not in the file as
/// they are.
pub(crate) struct Kept {
    texts: Vec<Placed>,
    unpacked: Vec<Option<Vec<u8>>>,
}

impl Kept {
    /// `file` is the file's home, if it is not the image.
    pub(crate) fn add_to(mut self, builder: &mut IndexBuilder, file: Option<usize>) {
        let mut homes = vec![None; self.unpacked.len()];
        for (path, section, range) in self.texts {
            let place = match section {
                None => file.map_or(Place::Image(range.clone()), |home| Place::Home {
                    home,
                    range,
                    is_unpacked: false,
                }),
                Some(section) => {
                    if homes[section].is_none() {
                        let bytes = self.unpacked[section].take().unwrap_or_default();
                        homes[section] = Some(builder.home_of(bytes));
                    }
                    let Some(home) = homes[section] else { continue };
                    Place::Home { home, range, is_unpacked: true }
                }
            };
            builder.source(&path, place);
        }
    }
}

fn contents<'a>(section: &object::Section<'a, '_>, file: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    let damaged = |_| Error::damaged(0, SECTION);
    let packed = section.compressed_file_range().map_err(damaged)?;
    let range = super::super::bytes::range(file, packed.offset, packed.compressed_size);
    let bytes = &file[range.ok_or(Error::damaged(0, SECTION))?];
    let packing = match packed.format {
        CompressionFormat::None => return Ok(Cow::Borrowed(bytes)),
        CompressionFormat::Zlib => Packing::Zlib,
        CompressionFormat::Zstandard => Packing::Zstd,
        _ => return Err(Error::unsupported(packed.offset, "a section compressed in an unknown way")),
    };
    let unpacked = unpack::unpack(bytes, packing, packed.uncompressed_size);
    unpacked.map(Cow::Owned).map_err(|error| error.moved_by(packed.offset))
}
