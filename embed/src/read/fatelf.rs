//! FatELF: one file with an ELF file for each of several machines, as IREE's loader accepts it.
//!
//! ```text
//! header  u32 magic, u16 version (1), u8 number of records, u8 0
//! record  u16 machine, u8 ABI, u8 ABI version, u8 word size, u8 byte order, u16 0, u64 offset, u64 size
//! ```
//!
//! (`runtime/src/iree/hal/local/elf/fatelf.h` in IREE's sources.) Offsets count from the header. What a
//! record says of its file is there again in the file's own header, and taken from that.

use std::ops::Range;

use super::{Result, bytes};
use crate::Error;

const MAGIC: &[u8] = b"\xfa\x70\x0e\x1f";
const HEADER: &str = "the header of a FatELF file";
const RECORD: &str = "a FatELF record of an ELF file within the file";
const RECORD_SIZE: u64 = 24;

pub(crate) fn is(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// The places of the ELF files.
pub(crate) fn parts(file: &[u8]) -> Result<impl Iterator<Item = Result<Range<usize>>>> {
    if bytes::u16(file, 4, HEADER)? != 1 {
        return Err(Error::unsupported(4, "a FatELF file of a version other than 1"));
    }
    let count = u64::from(bytes::slice(file, 6, 1, HEADER)?[0]);
    bytes::slice(file, 8, count * RECORD_SIZE, HEADER).map_err(|_| Error::damaged(6, HEADER))?;
    Ok((0..count).map(|index| {
        let record = 8 + index * RECORD_SIZE;
        let offset = bytes::u64(file, record + 8, RECORD)?;
        bytes::range(file, offset, bytes::u64(file, record + 16, RECORD)?)
            .ok_or(Error::damaged(record, RECORD))
    }))
}
