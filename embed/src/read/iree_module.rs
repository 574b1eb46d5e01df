//! IREE modules (`.vmfb`): a container, whose read-only data segments may be executables.
//!
//! A module is a FlatBuffer with its size before it, and behind it, from the next multiple of 64 on, the
//! bytes of its larger segments. By default all of that is wrapped as a zip archive so that `unzip` can
//! list it; then a zip local header comes first, and offsets still count from the very beginning.
//! (`iree/schemas/bytecode_module_def.fbs` in IREE's sources; the slot numbers below are its field ids.)
//!
//! Nothing says which segments are executables, so all are handed out to be looked at.

use std::ops::Range;

use super::flatbuffer::{Table, Tables};
use super::{Result, bytes};
use crate::Error;

const IDENTIFIER: &[u8] = b"IREE";
const ZIP: &[u8] = b"PK\x03\x04";
const HEADER: &str = "the header of an IREE module";

const SLOT_SEGMENTS: u64 = 9;
const SLOT_COMPRESSION: u64 = 0;
const SLOT_EMBEDDED: u64 = 2;
const SLOT_OFFSET: u64 = 3;
const SLOT_LENGTH: u64 = 4;

pub(crate) fn is(file: &[u8]) -> bool {
    let identifier = prefix(file).and_then(|prefix| bytes::slice(file, prefix + 8, 4, HEADER));
    identifier.is_ok_and(|identifier| identifier == IDENTIFIER)
}

/// The length of the zip local header, if there is one.
fn prefix(file: &[u8]) -> Result<u64> {
    if !file.starts_with(ZIP) {
        return Ok(0);
    }
    let name = bytes::u16(file, 26, HEADER)?;
    let extra = bytes::u16(file, 28, HEADER)?;
    Ok(30 + u64::from(name) + u64::from(extra))
}

/// The module's FlatBuffer and where it begins.
pub(crate) fn buffer(file: &[u8]) -> Result<(u64, &[u8])> {
    let prefix = prefix(file)?;
    let size = bytes::u32(file, prefix, HEADER)?;
    let contents = bytes::slice(file, prefix + 4, size.into(), HEADER)
        .map_err(|_| Error::damaged(prefix, "the length of an IREE module within the file"))?;
    Ok((prefix + 4, contents))
}

/// The places of a module's data segments.
pub(crate) struct Segments<'a> {
    file: &'a [u8],
    /// Where the FlatBuffer begins.
    buffer: u64,
    /// Where offsets of external segments count from.
    external: u64,
    tables: Tables<'a>,
    next: usize,
}

impl<'a> Segments<'a> {
    pub(crate) fn new(file: &'a [u8]) -> Result<Self> {
        let (buffer, contents) = buffer(file)?;
        let tables = Table::root(contents).and_then(|root| root.tables(SLOT_SEGMENTS));
        let tables = tables.map_err(|error| error.moved_by(buffer))?;
        let external = (buffer + contents.len() as u64).next_multiple_of(64);
        Ok(Self { file, buffer, external, tables, next: 0 })
    }

    fn segment(&self, index: usize) -> Result<Range<usize>> {
        let in_file = |error: Error| error.moved_by(self.buffer);
        let segment = self.tables.get(index).map_err(in_file)?;
        let slice = self.data(segment).map_err(in_file)?;
        let start = slice.as_ptr().addr() - self.file.as_ptr().addr();
        Ok(start..start + slice.len())
    }

    /// A segment's bytes, inside or behind the FlatBuffer. Offsets in errors count from that.
    fn data(&self, segment: Table<'a>) -> Result<&'a [u8]> {
        // 0: the field is absent; 1: stored as it is.
        if segment.u8(SLOT_COMPRESSION)? > 1 {
            let what = "a compressed data segment; compile without compression";
            return Err(Error::unsupported(segment.offset(), what));
        }
        if let Some(embedded) = segment.bytes(SLOT_EMBEDDED)? {
            return Ok(embedded);
        }
        let offset = segment.u64(SLOT_OFFSET)?.saturating_add(self.external);
        bytes::slice(self.file, offset, segment.u64(SLOT_LENGTH)?, HEADER)
            .map_err(|_| Error::damaged(segment.offset(), "a data segment within the file"))
    }
}

impl Iterator for Segments<'_> {
    type Item = Result<Range<usize>>;

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.next;
        self.next += 1;
        (index < self.tables.len()).then(|| self.segment(index))
    }
}
