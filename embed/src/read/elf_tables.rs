//! Where an ELF file may hold zonecast tables: sections `.zonecast`, and notes of owner `zonecast`.
//!
//! Any machine will do, and objects as well as linked files, so this is apart from [`elf`](super::elf),
//! which needs a file that can be loaded. What cannot be understood of a file's headers holds no table.

use std::ops::Range;

use object::LittleEndian;
use object::elf::{ELFMAG, FileHeader32, FileHeader64, NoteType, SHF_COMPRESSED};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, SectionHeader};

use super::{Result, bytes};
use crate::Error;

const SECTION: &[u8] = b".zonecast";
const OWNER: &[u8] = b"zonecast";
const NOTE_TYPE: NoteType = NoteType(1);

/// More segments or sections of notes than any file has; all of them are walked through.
const NOTE_REGIONS: usize = 64;

/// The header of a 32-bit file.
const SMALLEST: usize = 52;

pub(crate) fn is(bytes: &[u8]) -> bool {
    bytes.len() >= SMALLEST && bytes.starts_with(&ELFMAG)
}

/// A range of the file that holds tables.
pub(crate) enum Region {
    /// Any number of them.
    Section(Range<usize>),
    /// One.
    Note(Range<usize>),
}

pub(crate) fn regions(file: &[u8]) -> Result<Vec<Region>> {
    if let Ok(header) = FileHeader64::<LittleEndian>::parse(file) {
        regions_of(file, header)
    } else if let Ok(header) = FileHeader32::<LittleEndian>::parse(file) {
        regions_of(file, header)
    } else {
        Ok(Vec::new())
    }
}

fn regions_of<H: FileHeader<Endian = LittleEndian>>(file: &[u8], header: &H) -> Result<Vec<Region>> {
    let mut regions = Vec::new();
    if header.endian().is_err() {
        return Ok(regions);
    }
    let sections = header.sections(LittleEndian, file).unwrap_or_default();
    for section in sections.iter() {
        if sections.section_name(LittleEndian, section) != Ok(SECTION) {
            continue;
        }
        let offset: u64 = section.sh_offset(LittleEndian).into();
        if section.sh_flags(LittleEndian).contains(SHF_COMPRESSED) {
            let offset = offset.min(file.len() as u64);
            return Err(Error::unsupported(offset, "a compressed section `.zonecast`"));
        }
        let place = section.file_range(LittleEndian).and_then(|(at, size)| bytes::range(file, at, size));
        let place = place.ok_or(Error::damaged(0, "a section `.zonecast` within the file"))?;
        regions.push(Region::Section(place));
    }
    let segments = header.program_headers(LittleEndian, file).unwrap_or_default();
    let mut in_notes = |notes: NoteIterator<'_, H>| regions.extend(tables_in(file, notes).map(Region::Note));
    if segments.is_empty() {
        // An object: its notes are in sections only.
        let notes = sections.iter().filter_map(|section| section.notes(LittleEndian, file).ok()?);
        notes.take(NOTE_REGIONS).for_each(&mut in_notes);
    } else {
        let notes = segments.iter().filter_map(|segment| segment.notes(LittleEndian, file).ok()?);
        notes.take(NOTE_REGIONS).for_each(&mut in_notes);
    }
    Ok(regions)
}

fn tables_in<H: FileHeader<Endian = LittleEndian>>(
    file: &[u8],
    mut notes: NoteIterator<'_, H>,
) -> impl Iterator<Item = Range<usize>> {
    let next = move || {
        while let Ok(Some(note)) = notes.next() {
            if note.name() == OWNER && note.n_type(LittleEndian) == NOTE_TYPE {
                let start = note.desc().as_ptr().addr() - file.as_ptr().addr();
                return Some(start..start + note.desc().len());
            }
        }
        None
    };
    std::iter::from_fn(next)
}
