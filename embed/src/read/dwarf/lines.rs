//! Line tables: the names of files, and the rows that say where code is from.

use gimli::{DebugLineOffset, Dwarf, IncompleteLineProgram, LineProgramHeader, Reader, Section};

use super::super::Result;
use super::subprograms::Exports;
use super::{Slice, Work};
use crate::Error;

const READABLE: &str = "debug information that can be read";
const HEADER: &str = "the header of a line table within its section";

/// A longer list of files is not one that a compiler wrote. It is unpacked in memory, to some hundred bytes for each.
const LONGEST_HEADER: usize = 1 << 20;

pub(crate) fn readable() -> Error {
    Error::damaged(0, READABLE)
}

/// What stands before everything else in a line table.
pub(crate) struct Start<'a> {
    /// Where the next table begins.
    pub(crate) next: usize,
    pub(crate) version: u16,
    pub(crate) format: gimli::Format,
    /// From behind `header_length` to the end of the header.
    pub(crate) header: Slice<'a>,
}

impl<'a> Start<'a> {
    pub(crate) fn read(section: Slice<'a>, offset: usize) -> Result<Self> {
        Self::try_read(section, offset).ok().flatten().ok_or(Error::damaged(0, HEADER))
    }

    fn try_read(section: Slice<'a>, offset: usize) -> gimli::Result<Option<Self>> {
        if offset >= section.len() {
            return Ok(None);
        }
        let mut input = section.range_from(offset..);
        let (length, format) = input.read_initial_length()?;
        let mut input = input.split(length)?;
        let next = input.offset_from(section) + input.len();
        let version = input.read_u16()?;
        if version >= 5 {
            // The sizes of an address and of a segment selector.
            input.skip(2)?;
        }
        let header_length = input.read_length(format)?;
        Ok(Some(Self { next, version, format, header: input.split(header_length)? }))
    }
}

/// Pays for the list of files of the table at that offset.
pub(crate) fn check_header(section: Slice<'_>, offset: usize, work: &mut Work) -> Result<()> {
    let length = Start::read(section, offset)?.header.len();
    if length > LONGEST_HEADER {
        return Err(Error::unsupported(0, "a line table with more than 1 MiB of file names"));
    }
    work.spend(length)
}

/// Takes the line of each export's first instruction from the rows of a line table, for those not found otherwise.
pub(crate) fn search_rows<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    program: IncompleteLineProgram<Slice<'a>>,
    exports: &mut Exports<'_>,
    work: &mut Work,
) -> Result<()> {
    let mut rows = program.rows();
    // Of the rows of one address the first, and after it the first that has a line.
    let mut last: Option<(u64, u64, Option<u32>)> = None;
    while let Some((header, row)) = rows.next_row().map_err(|_| readable())? {
        work.spend(1)?;
        if let Some((address, file, line)) = last
            && row.address() > address
            && let Some(line) = line
            && exports.wants(address, row.address())
        {
            let path = file_path(dwarf, header, file, work)?;
            exports.found_row(address, row.address(), &path, line);
        }
        let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
        let is_same = last.is_some_and(|(address, _, line)| address == row.address() && line.is_some());
        if row.end_sequence() {
            last = None;
        } else if !is_same {
            last = Some((row.address(), row.file_index(), line));
        }
    }
    Ok(())
}

/// As [`search_rows`], in all tables: for files whose lines stand without units.
pub(crate) fn search_all<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    address_size: u8,
    exports: &mut Exports<'_>,
    work: &mut Work,
) -> Result<()> {
    let section = *dwarf.debug_line.reader();
    let mut offset = 0;
    while offset < section.len() {
        let start = Start::read(section, offset)?;
        check_header(section, offset, work)?;
        let program = dwarf.debug_line.program(DebugLineOffset(offset), address_size, None, None);
        search_rows(dwarf, program.map_err(|_| readable())?, exports, work)?;
        offset = start.next;
    }
    Ok(())
}

/// The path of a file by its number.
pub(crate) fn file_path<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    header: &LineProgramHeader<Slice<'a>>,
    file: u64,
    work: &mut Work,
) -> Result<Vec<u8>> {
    let Some(entry) = header.file(file) else { return Ok(Vec::new()) };
    let mut string = |value| -> Result<&'a [u8]> {
        let string = dwarf.attr_line_string(value).map_err(|_| readable())?.slice();
        work.spend(string.len() / 8)?;
        Ok(string)
    };
    let name = string(entry.path_name())?;
    let mut folder = |index| header.directory(index).map_or(Ok(&[][..]), &mut string);
    let compiled_in = folder(0)?;
    let folder = if entry.directory_index() == 0 { &[] } else { folder(entry.directory_index())? };
    Ok(join(compiled_in, folder, name))
}

/// A file's path: each part counts from the one before it, unless it is absolute.
pub(crate) fn join(compiled_in: &[u8], folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::new();
    for part in [compiled_in, folder, name] {
        if is_absolute(part) {
            path.clear();
        }
        // As debuggers do it: nothing is tidied up but what is nothing.
        let part = part.strip_prefix(b"./").unwrap_or(part);
        if part.is_empty() || part == b"." {
            continue;
        }
        if !path.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(part);
    }
    path
}

fn is_absolute(path: &[u8]) -> bool {
    // On Windows there is a drive first.
    path.starts_with(b"/") || path.starts_with(b"\\") || path.get(1..3).is_some_and(|rest| rest == b":\\")
}
