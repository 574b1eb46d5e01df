//! Finding the library record in an ELF file, by its shape.
//!
//! The query function returns the record's address, and that address is only in its code. But the record
//! begins with a pointer to the header, and so is one of the few pointers whose target looks like one: a
//! known version, then a pointer (the name), then no feature bits and a small sanitizer number. In files
//! of IREE's compiler there is exactly one. Should several look so, those that do not lead to whole
//! tables are dropped, and if more than one remains, nothing is guessed.

use super::{Library, Memory, Tables, VERSIONS};
use crate::Error;
use crate::read::Result;
use crate::read::elf::Elf;

/// The function that runtimes look up in a library.
pub(super) const QUERY: &[u8] = b"iree_hal_executable_library_query";

const OTHER_VERSION: &str =
    "an IREE executable library of a version other than 4, 5 and 6, or one whose record cannot be found";

/// More candidates than any file has by chance; each costs a walk through its tables.
const CANDIDATES: usize = 8;

pub(super) fn library(elf: Elf, file: &[u8]) -> Result<Library> {
    let mut candidates = Vec::new();
    for (record, header) in elf.pointers(file) {
        if is_header(&elf, file, header) {
            candidates.push(record);
            if candidates.len() == CANDIDATES {
                break;
            }
        }
    }
    let memory = Memory::File(elf);
    let mut tables = Vec::new();
    let mut error = None;
    for record in candidates {
        match Tables::read(&memory, file, record) {
            Ok(found) => tables.push(found),
            Err(found) => error = error.or(Some(found)),
        }
    }
    match (tables.pop(), error) {
        (Some(only), _) if tables.is_empty() => Ok(Library { memory, tables: only }),
        (Some(_), _) => Err(Error::damaged(0, "one IREE library record, but several look like it")),
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::unsupported(0, OTHER_VERSION)),
    }
}

fn is_header(elf: &Elf, file: &[u8], at: u64) -> bool {
    let number = |at: Option<u64>| at.and_then(|at| elf.u32(file, at).ok());
    let word = elf.word;
    let is_known = number(Some(at)).is_some_and(|version| VERSIONS.contains(&version));
    is_known
        && number(at.checked_add(2 * word)) == Some(0)
        && number(at.checked_add(2 * word + 4)).is_some_and(|sanitizer| sanitizer <= 4)
        && elf.plain(file, at + 2 * word, 8).is_ok()
        && matches!(elf.pointer(file, at + word), Ok(Some(_)))
}
