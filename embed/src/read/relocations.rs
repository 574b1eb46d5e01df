//! The relative relocations of an ELF file: which slots hold pointers, and to where.
//!
//! Linkers put them first in the table and sort them by slot, so they are looked up by binary search in
//! the file itself. For a file whose linker did not, a sorted copy is made.

use super::elf::Elf;
use super::{Result, bytes};
use crate::Error;

const ENTRY: &str = "a relocation table within the file";
const SLOT: &str = "a relocation of an address within one loaded segment of the file";

#[derive(Default)]
pub(crate) struct Relocations {
    /// The table's offset in the file.
    table: u64,
    /// How many relative entries there are: all at the table's beginning and ascending, or else in `sorted`.
    count: usize,
    /// Whether the value is in the entry (`RELA`) or in the slot (`REL`).
    with_addend: bool,
    sorted: Option<Vec<(u64, u64)>>,
}

impl Relocations {
    /// Reads the table at (offset, size) and finds out how its entries of type `relative` are ordered.
    pub(crate) fn read(
        elf: &Elf,
        file: &[u8],
        (table, size): (u64, u64),
        with_addend: bool,
        relative: u32,
    ) -> Result<Self> {
        bytes::slice(file, table, size, ENTRY).map_err(|_| Error::damaged(0, ENTRY))?;
        let mut this = Self { table, count: 0, with_addend, sorted: None };
        let total = (size / this.entry_size(elf)) as usize;
        let mut last = None;
        while this.count < total {
            let (kind, slot) = this.kind_and_slot(elf, file, this.count)?;
            if kind != relative || last.is_some_and(|last| slot <= last) {
                break;
            }
            last = Some(slot);
            this.count += 1;
        }
        let is_relative =
            |index| matches!(this.kind_and_slot(elf, file, index), Ok((kind, _)) if kind == relative);
        if (this.count..total).any(is_relative) {
            let all = (0..total).filter(|&index| is_relative(index));
            let mut sorted = all.map(|index| this.entry(elf, file, index)).collect::<Result<Vec<_>>>()?;
            sorted.sort_unstable();
            sorted.dedup_by_key(|(slot, _)| *slot);
            this.count = sorted.len();
            this.sorted = Some(sorted);
        }
        Ok(this)
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Slot and value, by index in the order of slots.
    pub(crate) fn get(&self, elf: &Elf, file: &[u8], index: usize) -> Option<(u64, u64)> {
        match &self.sorted {
            Some(sorted) => sorted.get(index).copied(),
            None => self.entry(elf, file, index).ok(),
        }
    }

    /// The first pointer whose slot is not below `address`.
    pub(crate) fn at_or_after(&self, elf: &Elf, file: &[u8], address: u64) -> Option<(u64, u64)> {
        let below = |index| self.slot(elf, file, index).is_some_and(|slot| slot < address);
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if below(middle) { low = middle + 1 } else { high = middle }
        }
        if low < self.count { self.get(elf, file, low) } else { None }
    }

    fn slot(&self, elf: &Elf, file: &[u8], index: usize) -> Option<u64> {
        match &self.sorted {
            Some(sorted) => sorted.get(index).map(|(slot, _)| *slot),
            None => word(elf, file, self.entry_offset(elf, index)).ok(),
        }
    }

    fn entry_size(&self, elf: &Elf) -> u64 {
        elf.word * if self.with_addend { 3 } else { 2 }
    }

    fn entry_offset(&self, elf: &Elf, index: usize) -> u64 {
        self.table.saturating_add((index as u64).saturating_mul(self.entry_size(elf)))
    }

    fn kind_and_slot(&self, elf: &Elf, file: &[u8], index: usize) -> Result<(u32, u64)> {
        let at = self.entry_offset(elf, index);
        let slot = word(elf, file, at)?;
        let info = bytes::u32(file, at.saturating_add(elf.word), ENTRY)?;
        Ok((if elf.word == 8 { info } else { info & 0xff }, slot))
    }

    fn entry(&self, elf: &Elf, file: &[u8], index: usize) -> Result<(u64, u64)> {
        let at = self.entry_offset(elf, index);
        let slot = word(elf, file, at)?;
        let value = if self.with_addend {
            word(elf, file, at.saturating_add(2 * elf.word))?
        } else {
            let offset = elf.offset_of(slot, elf.word).ok_or(Error::damaged(at, SLOT))?;
            word(elf, file, offset)?
        };
        Ok((slot, value))
    }
}

fn word(elf: &Elf, file: &[u8], at: u64) -> Result<u64> {
    if elf.word == 8 { bytes::u64(file, at, ENTRY) } else { bytes::u32(file, at, ENTRY).map(u64::from) }
}

/// The type of relative relocations on that machine (the processor supplements of the ELF standard).
pub(crate) fn relative(machine: object::elf::Machine) -> Option<u32> {
    use object::elf::*;
    let relative = match machine {
        EM_386 => R_386_RELATIVE,
        EM_X86_64 => R_X86_64_RELATIVE,
        EM_ARM => R_ARM_RELATIVE,
        EM_AARCH64 => R_AARCH64_RELATIVE,
        EM_RISCV => R_RISCV_RELATIVE,
        _ => return None,
    };
    Some(relative.0)
}
