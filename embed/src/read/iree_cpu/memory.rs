//! Following pointers, in a file that is not loaded or in this process.

use super::{NAME, TABLE, TEXT};
use crate::Error;
use crate::read::elf::Elf;
use crate::read::{Result, bytes};

/// Where addresses lead.
pub(crate) enum Memory {
    /// Into an ELF file, as if it were loaded at zero. The `image` parameters below are that file.
    File(Elf),
    /// Into this process. Whoever makes this value promises that the library's tables are well formed
    /// and stay (see `Executable::from_loaded`), and reads through it only what those tables lead to.
    Loaded,
}

impl Memory {
    /// The size of a pointer.
    pub(crate) fn word(&self) -> u64 {
        match self {
            Self::File(elf) => elf.word,
            Self::Loaded => size_of::<usize>() as u64,
        }
    }

    pub(crate) fn machine(&self) -> Option<u16> {
        match self {
            Self::File(elf) => Some(elf.machine),
            Self::Loaded => None,
        }
    }

    /// An error about what stands at that address, by its place in the file: the file's beginning if that
    /// address is nowhere in it.
    pub(crate) fn damaged(&self, address: u64, expected: &'static str) -> Error {
        match self {
            Self::File(elf) => Error::damaged(elf.offset_of(address, 0).unwrap_or(0), expected),
            Self::Loaded => Error::damaged(address, expected),
        }
    }

    /// Bytes without pointers in them.
    pub(crate) fn plain<'a>(&'a self, image: &'a [u8], address: u64, length: u64) -> Result<&'a [u8]> {
        match self {
            Self::File(elf) => elf.plain(image, address, length).map_err(|_| self.damaged(address, TABLE)),
            Self::Loaded => loaded(address, length),
        }
    }

    pub(crate) fn u32(&self, image: &[u8], address: u64) -> Result<u32> {
        match self {
            Self::File(elf) => elf.u32(image, address).map_err(|_| self.damaged(address, TABLE)),
            Self::Loaded => bytes::u32(loaded(address, 4)?, 0, TABLE),
        }
    }

    fn pointer(&self, image: &[u8], address: u64) -> Result<Option<u64>> {
        match self {
            Self::File(elf) => elf.pointer(image, address).map_err(|_| self.damaged(address, TABLE)),
            Self::Loaded => {
                let cell = std::ptr::with_exposed_provenance::<*const u8>(address as usize);
                // SAFETY: by the promise on `Loaded`, a well-formed library has a pointer here.
                let pointer = unsafe { cell.read_unaligned() };
                Ok((!pointer.is_null()).then(|| pointer.expose_provenance() as u64))
            }
        }
    }

    /// Follows the pointer at `pointer` to a table of `count` records. A table of none is `None`, since a
    /// pointer to that may lead anywhere.
    pub(crate) fn table(&self, image: &[u8], pointer: u64, count: u32, size: u64) -> Result<Option<u64>> {
        if count == 0 {
            return Ok(None);
        }
        let table = self.pointer(image, pointer)?;
        let fits = match (self, table) {
            (Self::File(elf), Some(table)) => elf.offset_of(table, u64::from(count) * size).is_some(),
            _ => true,
        };
        if fits { Ok(table) } else { Err(self.damaged(pointer, TABLE)) }
    }

    /// As [`table`](Self::table), but refuses a null pointer. Zero, which nobody follows, if `count` is zero.
    pub(crate) fn required_table(&self, image: &[u8], pointer: u64, count: u32, size: u64) -> Result<u64> {
        match self.table(image, pointer, count, size)? {
            None if count > 0 => Err(self.damaged(pointer, TABLE)),
            table => Ok(table.unwrap_or_default()),
        }
    }

    /// The bytes at the pointer at `pointer`, as many as the number at `length` says.
    pub(crate) fn text<'a>(&'a self, image: &'a [u8], length: u64, pointer: u64) -> Result<&'a [u8]> {
        let length = self.u32(image, length)?;
        if length == 0 {
            return Ok(&[]);
        }
        let address = self.pointer(image, pointer)?.ok_or(self.damaged(pointer, TEXT))?;
        self.plain(image, address, length.into()).map_err(|_| self.damaged(pointer, TEXT))
    }

    /// The NUL-terminated string at the pointer at `pointer`, without its NUL.
    pub(crate) fn name<'a>(&'a self, image: &'a [u8], pointer: u64) -> Result<&'a [u8]> {
        let address = self.pointer(image, pointer)?.ok_or(self.damaged(pointer, NAME))?;
        match self {
            Self::File(elf) => elf.name(image, address).map_err(|_| self.damaged(pointer, NAME)),
            Self::Loaded => {
                let start = std::ptr::with_exposed_provenance(address as usize);
                // SAFETY: by the promise on `Loaded`, names are NUL-terminated and stay as long as `self`.
                Ok(unsafe { std::ffi::CStr::from_ptr(start) }.to_bytes())
            }
        }
    }
}

/// Bytes of this process, for as long as the caller borrows a `Memory::Loaded`.
fn loaded<'a>(address: u64, length: u64) -> Result<&'a [u8]> {
    let start = std::ptr::with_exposed_provenance(address as usize);
    // SAFETY: by the promise on `Memory::Loaded`, whoever follows a well-formed library's tables comes
    // to that many readable bytes, which nobody writes to while they are borrowed.
    Ok(unsafe { std::slice::from_raw_parts(start, length as usize) })
}
