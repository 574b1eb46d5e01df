//! An ELF file as its loader would lay it out, without loading it.
//!
//! Tables of pointers in a shared library are empty in the file: the loader fills them in from the
//! *relative relocations*, each of which says "at this address put the library's base plus that". With
//! a pretended base of zero a pointer's value is thus the relocation's addend, and an address belongs to
//! a byte of the file through the program headers. That is enough to follow any structure of data
//! (code and symbols are not needed), for any machine, and what is found is the file's own bytes.

use object::LittleEndian;
use object::elf::{self, FileHeader32, FileHeader64, PT_LOAD};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

use super::relocations::{self, Relocations};
use super::{Result, bytes};
use crate::Error;

const WELL_FORMED: &str = "a well-formed little-endian ELF file";
const ORDERED: &str = "loaded segments in ascending order that do not overlap";
const IN_FILE: &str = "an ELF file long enough for its loaded segments";
const IN_SEGMENT: &str = "an address within one loaded segment of the file";
const RELOCATIONS: &str = "a relocation table within one loaded segment of the file";
const PLAIN: &str = "data without pointers in it";

/// The loaded layout of an ELF file.
///
/// Errors of its accessors give addresses; whoever knows what led there says so instead.
pub(crate) struct Elf {
    /// The size of a pointer, 4 or 8.
    pub(crate) word: u64,
    /// `e_machine`.
    pub(crate) machine: u16,
    segments: Vec<Segment>,
    relocations: Relocations,
}

/// A loaded segment; `size` counts only what is in the file, and is in it.
struct Segment {
    address: u64,
    offset: u64,
    size: u64,
    /// Whether there is any pointer in it. Texts usually stand in a segment without.
    has_pointers: bool,
}

impl Elf {
    /// `None` for what is no shared library for a known machine, or one that does not export `name`.
    ///
    /// That is seen before anything is looked through, since a program may have a million relocations.
    pub(crate) fn parse(file: &[u8], name: &[u8]) -> Result<Option<Self>> {
        if let Ok(header) = FileHeader64::<LittleEndian>::parse(file) {
            Self::of(file, header, 8, name)
        } else if let Ok(header) = FileHeader32::<LittleEndian>::parse(file) {
            Self::of(file, header, 4, name)
        } else {
            Err(Error::damaged(0, WELL_FORMED))
        }
    }

    fn of<H: FileHeader<Endian = LittleEndian>>(
        file: &[u8],
        header: &H,
        word: u64,
        name: &[u8],
    ) -> Result<Option<Self>> {
        header.endian().map_err(|_| Error::damaged(0, WELL_FORMED))?;
        let relative = relocations::relative(header.e_machine(LittleEndian));
        match relative {
            Some(relative) if header.e_type(LittleEndian) == elf::ET_DYN => {
                Self::with_header(file, header, word, relative, name)
            }
            _ => Ok(None),
        }
    }

    /// `relative` is the machine's type of relative relocations.
    fn with_header<H: FileHeader<Endian = LittleEndian>>(
        file: &[u8],
        header: &H,
        word: u64,
        relative: u32,
        name: &[u8],
    ) -> Result<Option<Self>> {
        let damaged = |_| Error::damaged(0, WELL_FORMED);
        let endian = LittleEndian;
        let mut segments = Vec::new();
        let mut dynamic: &[_] = &[];
        for program_header in header.program_headers(endian, file).map_err(damaged)? {
            if program_header.p_type(endian) == PT_LOAD {
                let offset = program_header.p_offset(endian).into();
                let size = program_header.p_filesz(endian).into();
                bytes::slice(file, offset, size, IN_FILE).map_err(|_| Error::damaged(0, IN_FILE))?;
                let address = program_header.p_vaddr(endian).into();
                segments.push(Segment { address, offset, size, has_pointers: false });
            } else if let Some(entries) = program_header.dynamic(endian, file).map_err(damaged)? {
                dynamic = entries;
            }
        }
        check_order(&segments)?;
        let machine = header.e_machine(endian).0;
        let relocations = Relocations::default();
        let mut this = Self { word, machine, segments, relocations };
        let tag = |tag| dynamic.iter().find(|entry| entry.tag(endian) == tag).map(|entry| entry.val(endian));
        let names = this.locate(tag(elf::DT_STRTAB), tag(elf::DT_STRSZ));
        let names = names.and_then(|(offset, size)| bytes::range(file, offset, size));
        if !names.is_some_and(|names| has_name(&file[names], name)) {
            return Ok(None);
        }
        let (address, size, with_addend) = match tag(elf::DT_RELASZ) {
            Some(size) => (tag(elf::DT_RELA), size, true),
            None => (tag(elf::DT_REL), tag(elf::DT_RELSZ).unwrap_or(0), false),
        };
        if size > 0 {
            let table = this.locate(address, Some(size)).ok_or(Error::damaged(0, RELOCATIONS))?;
            this.relocations = Relocations::read(&this, file, table, with_addend, relative)?;
        }
        for index in 0..this.segments.len() {
            let Segment { address, size, .. } = this.segments[index];
            this.segments[index].has_pointers = this.has_pointer(file, address, size);
        }
        Ok(Some(this))
    }

    /// The place in the file of something that the dynamic section gives by address and size.
    fn locate(&self, address: Option<u64>, size: Option<u64>) -> Option<(u64, u64)> {
        Some((self.offset_of(address?, size?)?, size?))
    }

    /// The offset in the file of `length` bytes at `address`, if one segment holds them all.
    pub(crate) fn offset_of(&self, address: u64, length: u64) -> Option<u64> {
        let (segment, within) = self.segment_of(address)?;
        let fits = within.checked_add(length)? <= segment.size;
        if fits { segment.offset.checked_add(within) } else { None }
    }

    /// The segment that `address` is in, and how far.
    fn segment_of(&self, address: u64) -> Option<(&Segment, u64)> {
        let after = self.segments.partition_point(|segment| segment.address <= address);
        let segment = &self.segments[after.checked_sub(1)?];
        let within = address - segment.address;
        (within <= segment.size).then_some((segment, within))
    }

    /// Whether there is a pointer in that range.
    fn has_pointer(&self, file: &[u8], address: u64, length: u64) -> bool {
        let next = self.relocations.at_or_after(self, file, address);
        next.is_some_and(|(slot, _)| slot < address.saturating_add(length))
    }

    /// `length` bytes at `address` as they are in the file and in memory.
    ///
    /// Refuses a range with a pointer in it, since memory would hold something else there.
    pub(crate) fn plain<'a>(&self, file: &'a [u8], address: u64, length: u64) -> Result<&'a [u8]> {
        let offset = self.offset_of(address, length).ok_or(Error::damaged(address, IN_SEGMENT))?;
        let slice = bytes::slice(file, offset, length, IN_SEGMENT)?;
        let may_have_one = self.segment_of(address).is_none_or(|(segment, _)| segment.has_pointers);
        if may_have_one && self.has_pointer(file, address, length) {
            return Err(Error::damaged(offset, PLAIN));
        }
        Ok(slice)
    }

    /// The NUL-terminated string at `address`, without its NUL.
    pub(crate) fn name<'a>(&self, file: &'a [u8], address: u64) -> Result<&'a [u8]> {
        let damaged = || Error::damaged(address, IN_SEGMENT);
        let (segment, within) = self.segment_of(address).ok_or_else(damaged)?;
        let offset = segment.offset.checked_add(within).ok_or_else(damaged)?;
        let rest = bytes::slice(file, offset, segment.size - within, IN_SEGMENT)?;
        let length = rest.iter().position(|&byte| byte == 0).ok_or_else(damaged)?;
        self.plain(file, address, length as u64)
    }

    /// A number that is not part of a pointer.
    pub(crate) fn u32(&self, file: &[u8], address: u64) -> Result<u32> {
        let offset = self.offset_of(address, 4).ok_or(Error::damaged(address, IN_SEGMENT))?;
        bytes::u32(file, offset, IN_SEGMENT)
    }

    /// The pointer at `address`; `None` if it is null.
    pub(crate) fn pointer(&self, file: &[u8], address: u64) -> Result<Option<u64>> {
        if let Some((slot, value)) = self.relocations.at_or_after(self, file, address)
            && slot == address
        {
            return Ok(Some(value));
        }
        let offset = self.offset_of(address, self.word).ok_or(Error::damaged(address, IN_SEGMENT))?;
        let is_null = bytes::slice(file, offset, self.word, IN_SEGMENT)?.iter().all(|&byte| byte == 0);
        if is_null { Ok(None) } else { Err(Error::damaged(offset, "a null pointer, or a relocation for it")) }
    }

    /// The slots that hold pointers, with the pointers' values.
    pub(crate) fn pointers<'a>(&'a self, file: &'a [u8]) -> impl Iterator<Item = (u64, u64)> + 'a {
        (0..self.relocations.len()).filter_map(|index| self.relocations.get(self, file, index))
    }
}

/// Whether that name is in a table of names, each of which ends in NUL.
fn has_name(names: &[u8], name: &[u8]) -> bool {
    names.split(|&byte| byte == 0).any(|candidate| candidate == name)
}

/// The format demands the order, and it makes each address belong to one place.
fn check_order(segments: &[Segment]) -> Result<()> {
    let end = |segment: &Segment| segment.address.checked_add(segment.size);
    let disjoint = |pair: &[Segment]| end(&pair[0]).is_some_and(|end| end <= pair[1].address);
    if segments.windows(2).all(disjoint) { Ok(()) } else { Err(Error::damaged(0, ORDERED)) }
}
