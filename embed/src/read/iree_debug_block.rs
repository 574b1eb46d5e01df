//! The block that IREE may append to a system library: the debug database that belongs to it, and a footer.
//!
//! ```text
//! footer  "IREEDBG\0", u32 version (0), u32 flags, u64 library offset, size, u64 debug offset, size
//! ```
//!
//! (`runtime/src/iree/hal/local/loaders/system_library_loader.c` in IREE's sources.) The library itself is
//! handed out; the database, for instance a PDB file, is for debuggers and left alone.

use std::ops::Range;

use super::{Result, bytes};
use crate::Error;

const MAGIC: &[u8] = b"IREEDBG\0";
const FOOTER: &str = "the footer of an IREE debug block";
const FOOTER_SIZE: u64 = 48;

pub(crate) fn is(file: &[u8]) -> bool {
    footer(file).is_ok_and(|at| file[at as usize..].starts_with(MAGIC))
}

fn footer(file: &[u8]) -> Result<u64> {
    (file.len() as u64).checked_sub(FOOTER_SIZE).ok_or(Error::damaged(0, FOOTER))
}

/// The place of the library.
pub(crate) fn library(file: &[u8]) -> Result<Range<usize>> {
    let footer = footer(file)?;
    if bytes::u32(file, footer + 8, FOOTER)? != 0 {
        return Err(Error::unsupported(footer + 8, "an IREE debug block of a version other than 0"));
    }
    let offset = bytes::u64(file, footer + 16, FOOTER)?;
    let library = bytes::range(file, offset, bytes::u64(file, footer + 24, FOOTER)?);
    library.ok_or(Error::damaged(footer + 16, "an IREE library within the file"))
}
