//! The zonecast table, which any compiler can write. `FORMAT.md` specifies it.
//!
//! Opening checks the header and that the arrays are within the table, whatever its size. All else is
//! checked when it is touched.

use std::ops::Range;

use super::{RawExport, RawSource, Reader, Result, Text, bytes, find};
use crate::Error;
use crate::image::{Format, SourceLocation, Stage};
use crate::table::layout::{self, export, header, location, source, stage};

const HEADER: &str = "the header of a zonecast table";
const SIZE: &str = "the size of a zonecast table within the file";
const ARRAY: &str = "an array within the zonecast table";
const RECORD: &str = "a record within its array";
const STRING: &str = "a string within the zonecast table";
const TEXT: &str = "a text within the zonecast table";
const STAGES: &str = "stages within the table's, at most 1,024 of them";

pub(crate) fn is(bytes: &[u8]) -> bool {
    bytes.starts_with(layout::MAGIC)
}

/// The size of the table that `bytes` begin with.
pub(crate) fn size(bytes: &[u8]) -> Result<u64> {
    if !is(bytes) || bytes.len() < layout::HEADER_SIZE as usize {
        return Err(Error::damaged(0, HEADER));
    }
    if bytes::u32(bytes, header::VERSION, HEADER)? != layout::VERSION {
        return Err(Error::unsupported(header::VERSION, "a zonecast table of a version other than 1"));
    }
    Ok(bytes::u32(bytes, header::TABLE_SIZE, HEADER)?.into())
}

/// The places of the tables that stand one behind the other in a file or section.
pub(crate) fn tables(bytes: &[u8]) -> impl Iterator<Item = Result<Range<usize>>> {
    let alignment = u64::from(layout::ALIGNMENT);
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let mut at = next.take()?;
        while bytes::slice(bytes, at, alignment, HEADER).is_ok_and(|unit| unit.iter().all(|&byte| byte == 0))
        {
            at += alignment;
        }
        let rest = bytes.get(at as usize..).filter(|rest| rest.iter().any(|&byte| byte != 0))?;
        let table = size(rest).and_then(|size| {
            let table =
                bytes::range(bytes, at, size).filter(|table| table.len() >= layout::HEADER_SIZE as usize);
            table.ok_or(Error::damaged(header::TABLE_SIZE, SIZE))
        });
        if let Ok(table) = &table {
            next = Some((table.end as u64).next_multiple_of(alignment));
        }
        Some(table.map_err(|error| error.moved_by(at)))
    })
}

/// One table.
pub(crate) struct Table {
    exports: Array,
    stages: Array,
    sources: Array,
}

#[derive(Clone, Copy)]
struct Array {
    at: u64,
    count: u32,
}

impl Array {
    /// The array whose offset and count are at `field` of the header.
    fn read(table: &[u8], field: u64, size: u64) -> Result<Self> {
        let at = bytes::u32(table, field, HEADER)?.into();
        let count = bytes::u32(table, field + 4, HEADER)?;
        if count > 0 && bytes::range(table, at, u64::from(count) * size).is_none() {
            return Err(Error::damaged(field, ARRAY));
        }
        Ok(Self { at, count })
    }

    fn record(self, index: usize, size: u64) -> Result<u64> {
        if index < self.count as usize {
            Ok(self.at + index as u64 * size)
        } else {
            Err(Error::damaged(self.at, RECORD))
        }
    }
}

impl Table {
    pub(crate) fn new(table: &[u8]) -> Result<Self> {
        let size = size(table)?;
        if bytes::u32(table, header::HEADER_SIZE, HEADER)? < layout::HEADER_SIZE {
            return Err(Error::damaged(header::HEADER_SIZE, HEADER));
        }
        if bytes::range(table, 0, size).is_none() {
            return Err(Error::damaged(header::TABLE_SIZE, SIZE));
        }
        Ok(Self {
            exports: Array::read(table, header::EXPORTS, export::SIZE)?,
            stages: Array::read(table, header::STAGES, stage::SIZE)?,
            sources: Array::read(table, header::SOURCES, source::SIZE)?,
        })
    }

    /// The place of an export's stages among all.
    fn stages_of(&self, table: &[u8], export: usize) -> Result<(u32, u32)> {
        let at = self.exports.record(export, export::SIZE)?;
        let first = bytes::u32(table, at + export::FIRST_STAGE, RECORD)?;
        let count = bytes::u32(table, at + export::STAGE_COUNT, RECORD)?;
        let fits = first.checked_add(count).is_some_and(|end| end <= self.stages.count);
        if count > 0 && (!fits || count > export::MOST_STAGES) {
            return Err(Error::damaged(at + export::FIRST_STAGE, STAGES));
        }
        Ok((first, count))
    }
}

/// The string whose offset and length are at `at`.
fn string<'a>(table: &'a [u8], at: u64, expected: &'static str) -> Result<&'a [u8]> {
    let offset = bytes::u32(table, at, RECORD)?;
    let length = bytes::u32(table, at + 4, RECORD)?;
    if length == 0 {
        return Ok(&[]);
    }
    bytes::slice(table, offset.into(), length.into(), expected).map_err(|_| Error::damaged(at, expected))
}

fn location(table: &[u8], at: u64) -> Result<Option<SourceLocation<'_>>> {
    let file = string(table, at + location::FILE, STRING)?;
    let line = bytes::u32(table, at + location::LINE, RECORD)?;
    Ok((!file.is_empty()).then_some(SourceLocation { file, line }))
}

impl Reader for Table {
    fn format(&self) -> Format {
        Format::Zonecast
    }

    fn is_checked_when_touched(&self) -> bool {
        true
    }

    fn verify(&self, table: &[u8]) -> Result<()> {
        find::check(self, table, &mut find::Budget::of(table))
    }

    fn name<'a>(&'a self, table: &'a [u8]) -> Result<&'a [u8]> {
        string(table, header::NAME, STRING)
    }

    fn target<'a>(&'a self, table: &'a [u8]) -> Option<&'a [u8]> {
        string(table, header::TARGET, STRING).ok().filter(|target| !target.is_empty())
    }

    fn exports(&self, _table: &[u8]) -> usize {
        self.exports.count as usize
    }

    fn export<'a>(&'a self, table: &'a [u8], export: usize) -> Result<RawExport<'a>> {
        let at = self.exports.record(export, export::SIZE)?;
        Ok(RawExport {
            name: string(table, at + export::NAME, STRING)?,
            location: location(table, at + export::LOCATION)?,
            stages: self.stages_of(table, export)?.1 as usize,
        })
    }

    fn stage<'a>(&'a self, table: &'a [u8], export: usize, stage: usize) -> Result<Stage<'a>> {
        let (first, count) = self.stages_of(table, export)?;
        if stage >= count as usize {
            return Err(Error::damaged(self.stages.at, RECORD));
        }
        let at = self.stages.record(first as usize + stage, stage::SIZE)?;
        Ok(Stage {
            name: string(table, at + stage::NAME, STRING)?,
            location: location(table, at + stage::LOCATION)?,
        })
    }

    fn sources(&self, _table: &[u8]) -> usize {
        self.sources.count as usize
    }

    fn source<'a>(&'a self, table: &'a [u8], source: usize) -> Result<RawSource<'a>> {
        let at = self.sources.record(source, source::SIZE)?;
        let stored = string(table, at + source::TEXT, TEXT)?;
        let length = bytes::u32(table, at + source::LENGTH, RECORD)?;
        let is_packed = bytes::u32(table, at + source::FLAGS, RECORD)? & source::FLAG_ZSTD != 0;
        let text = match is_packed {
            true if length > source::MOST_UNPACKED => {
                return Err(Error::damaged(at + source::LENGTH, "a compressed text of at most 64 MiB"));
            }
            true => Text::Zstd { packed: stored, length },
            false if length as usize != stored.len() => {
                return Err(Error::damaged(
                    at + source::LENGTH,
                    "the stored length, as the text is not compressed",
                ));
            }
            false => Text::Plain(stored),
        };
        Ok(RawSource { path: string(table, at + source::PATH, STRING)?, text })
    }
    fn source_path<'a>(&'a self, table: &'a [u8], source: usize) -> Result<&'a [u8]> {
        string(table, self.sources.record(source, source::SIZE)? + source::PATH, STRING)
    }
}
