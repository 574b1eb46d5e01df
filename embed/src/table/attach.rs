//! Adding a section to a finished ELF file.
//!
//! Nothing that is there moves, so no address, offset or relocation has to be changed, and code for any
//! machine is left exactly as it was: the table, a longer copy of the section names and a longer copy of the
//! section headers go to the file's end, and the file's header is pointed at those. Loaders do not look at
//! section headers; a table that is added in this way is read from the file, not from memory.

use super::TableError;
use crate::read::bytes;
use crate::{Error, read};

const SECTION: &[u8] = b".zonecast\0";
const SHT_PROGBITS: u64 = 1;
const SHT_STRTAB: u64 = 3;
const SHF_ALLOC: u64 = 2;
/// From this number of sections on, the count is kept elsewhere.
const MOST_SECTIONS: u64 = 0xff00;
const ALIGNMENT: usize = 8;

/// A number in a header: where it is, and how wide.
type Field = (u64, u64);

/// Where the numbers are, in 32-bit and in 64-bit files (the ELF standard, chapters 1 and 2).
struct Class {
    sections_at: Field,
    section_size: Field,
    section_count: Field,
    names_index: Field,
    header_size: u64,
    name: Field,
    kind: Field,
    flags: Field,
    offset: Field,
    size: Field,
    alignment: Field,
}

#[rustfmt::skip]
const CLASS_32: Class = Class {
    sections_at: (32, 4), section_size: (46, 2), section_count: (48, 2), names_index: (50, 2),
    header_size: 40, name: (0, 4), kind: (4, 4), flags: (8, 4), offset: (16, 4), size: (20, 4), alignment: (32, 4),
};

#[rustfmt::skip]
const CLASS_64: Class = Class {
    sections_at: (40, 8), section_size: (58, 2), section_count: (60, 2), names_index: (62, 2),
    header_size: 64, name: (0, 4), kind: (4, 4), flags: (8, 8), offset: (24, 8), size: (32, 8), alignment: (48, 8),
};

/// Appends a section `.zonecast` with that table to an ELF file: a shared library, an executable, an object,
/// a cubin or an AMDGPU code object, of any machine. Tables that the file has already stay.
///
/// # Errors
///
/// [`TableError::File`] if `file` is no little-endian ELF file, contradicts itself, or ends in something that
/// must stay at the end; if `table` is not what [`TableBuilder::build`](super::TableBuilder::build) gives.
///
/// # Examples
///
/// ```
/// use zonecast_embed::Executable;
/// use zonecast_embed::table::{Export, TableBuilder, attach};
///
/// let library = std::fs::read("tests/data/elf/saxpy_c22_noembed.so")?;
/// let mut table = TableBuilder::new();
/// table.source("saxpy.c", "void saxpy()\n")?.export(Export::new("saxpy").at("saxpy.c", 1))?;
///
/// let with_table = attach(&library, &table.build()?)?;
/// let executable = Executable::from_bytes(with_table, "saxpy")?;
/// assert_eq!(executable.image(0).unwrap().sources().find("saxpy.c"), Some(&b"void saxpy()\n"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn attach(file: &[u8], table: &[u8]) -> Result<Vec<u8>, TableError> {
    if !read::is_table(table) {
        return Err(TableError::File("what is to be attached is not a zonecast table"));
    }
    let class = match file.get(..7) {
        Some(b"\x7fELF\x01\x01\x01") => CLASS_32,
        Some(b"\x7fELF\x02\x01\x01") => CLASS_64,
        Some(b"\x7fELF\x01\x02\x01" | b"\x7fELF\x02\x02\x01") => {
            return Err(TableError::File("it is a big-endian ELF file"));
        }
        _ => return Err(TableError::File("it is not an ELF file")),
    };
    if read::has_footer(file) {
        return Err(TableError::File(
            "it ends in a debug block of IREE's; attach the table to the library within",
        ));
    }
    if get(file, class.sections_at).is_ok_and(|at| at == 0) {
        // Tools take a file with a few section headers for damaged, one with none for stripped.
        return Err(TableError::File("its section headers have been stripped"));
    }
    class.attach(file, table)
}

impl Class {
    fn attach(&self, file: &[u8], table: &[u8]) -> Result<Vec<u8>, TableError> {
        let damaged = TableError::File("its section headers are damaged");
        let Ok((mut sections, names_index, mut names)) = self.sections(file) else { return Err(damaged) };
        if sections.len() as u64 / self.header_size + 1 >= MOST_SECTIONS {
            return Err(TableError::File("it has as many sections as an ELF file can have"));
        }
        let mut out = file.to_vec();
        let table_at = append(&mut out, table);
        if names.last() != Some(&0) {
            names.push(0);
        }
        let section_name = names.len() as u64;
        names.extend_from_slice(SECTION);
        let names_at = append(&mut out, &names);

        let header = (names_index * self.header_size) as usize;
        set(&mut sections[header..], self.offset, names_at);
        set(&mut sections[header..], self.size, names.len() as u64);
        let mut section = vec![0; self.header_size as usize];
        set(&mut section, self.name, section_name);
        set(&mut section, self.kind, SHT_PROGBITS);
        set(&mut section, self.offset, table_at);
        set(&mut section, self.size, table.len() as u64);
        set(&mut section, self.alignment, ALIGNMENT as u64);
        sections.extend(section);

        let sections_at = append(&mut out, &sections);
        if self.sections_at.1 == 4 && out.len() > u32::MAX as usize {
            return Err(TableError::TooLarge);
        }
        set(&mut out, self.sections_at, sections_at);
        set(&mut out, self.section_size, self.header_size);
        set(&mut out, self.section_count, sections.len() as u64 / self.header_size);
        set(&mut out, self.names_index, names_index);
        // Whatever else may be wrong with the file must not be found out when somebody misses the table.
        if read::has_table_at(&out, table_at) { Ok(out) } else { Err(damaged) }
    }

    /// All section headers, the index of the one for the names, and the names.
    fn sections(&self, file: &[u8]) -> Result<(Vec<u8>, u64, Vec<u8>), Error> {
        let at = get(file, self.sections_at)?;
        let count = get(file, self.section_count)?;
        let names_index = get(file, self.names_index)?;
        if get(file, self.section_size)? != self.header_size || names_index >= count {
            return Err(Error::damaged(at, "section headers"));
        }
        let sections = bytes::slice(file, at, count * self.header_size, "section headers")?.to_vec();
        let header = &sections[(names_index * self.header_size) as usize..];
        if get(header, self.kind)? != SHT_STRTAB || get(header, self.flags)? & SHF_ALLOC != 0 {
            return Err(Error::damaged(at, "section names, which are not loaded"));
        }
        let names = bytes::slice(file, get(header, self.offset)?, get(header, self.size)?, "section names")?;
        for header in sections.chunks_exact(self.header_size as usize) {
            // Another name outside would be inside the longer names, and could become this section's.
            if get(header, self.name)? >= names.len().max(1) as u64 {
                return Err(Error::damaged(at, "section names"));
            }
        }
        Ok((sections, names_index, names.to_vec()))
    }
}

/// Appends `part`, aligned, and returns where it begins.
fn append(out: &mut Vec<u8>, part: &[u8]) -> u64 {
    out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
    let at = out.len() as u64;
    out.extend_from_slice(part);
    at
}

fn get(header: &[u8], (at, width): Field) -> Result<u64, Error> {
    let mut number = [0; 8];
    number[..width as usize].copy_from_slice(bytes::slice(header, at, width, "a field of an ELF header")?);
    Ok(u64::from_le_bytes(number))
}

/// Writes a field of a header that is known to be all there.
fn set(header: &mut [u8], (at, width): Field, value: u64) {
    let (at, width) = (at as usize, width as usize);
    header[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}
