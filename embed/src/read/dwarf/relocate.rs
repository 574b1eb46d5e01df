//! Relocating debug information that no linker has seen, or, in cubins, that is relocated when it is loaded.
//!
//! In such files the sections of code all begin at address 0. Here each gets a pretended address of its own, so
//! that an address says which function it is in.

use std::borrow::Cow;

use gimli::SectionId;
use object::{
    Object, ObjectSection, ObjectSymbol, Relocation, RelocationFlags, RelocationKind, RelocationTarget,
    SectionFlags, SectionIndex, elf,
};

use super::super::Result;
use super::binary::machine;
use super::cubin;
use crate::Error;

/// Where the pretended address of a section is in it.
const SECTION_SHIFT: u32 = 32;

const UNKNOWN: &str = "relocations of debug information on this machine; link the file";
const TARGET: &str = "a relocation of debug information within its section";

/// The address of a symbol; in unlinked files, the pretended one.
pub(crate) fn address(file: &object::File<'_>, symbol: &object::Symbol<'_, '_>) -> u64 {
    symbol.address().wrapping_add(symbol.section_index().map_or(0, |index| base(file, index)))
}

/// The pretended address of a section: none in linked files, in files for 32-bit machines, and for sections that
/// are not loaded.
fn base(file: &object::File<'_>, index: SectionIndex) -> u64 {
    let Ok(section) = file.section_by_index(index) else { return 0 };
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return 0 };
    let is_placed = section.address() != 0 || !sh_flags.contains(elf::SHF_ALLOC);
    if is_placed || !file.is_64() { 0 } else { (index.0 as u64) << SECTION_SHIFT }
}

/// Applies a section's relocations to its contents, which are copied if there are any.
pub(crate) fn apply(
    file: &object::File<'_>,
    section: &object::Section<'_, '_>,
    id: SectionId,
    contents: &mut Cow<'_, [u8]>,
) -> Result<()> {
    for (offset, relocation) in section.relocations() {
        let Some((size, value)) = value(file, &relocation) else {
            // In units there are those for thread-local variables, too, which are of no interest.
            match id {
                SectionId::DebugInfo => continue,
                _ => return Err(Error::unsupported(0, UNKNOWN)),
            }
        };
        let start = usize::try_from(offset).ok().filter(|&start| start <= contents.len());
        let start = start.ok_or(Error::damaged(0, TARGET))?;
        let slot = contents.to_mut().get_mut(start..start.saturating_add(size));
        let slot = slot.ok_or(Error::damaged(0, TARGET))?;
        write(file, slot, value, relocation.has_implicit_addend());
    }
    Ok(())
}

/// The number of bytes to write, and what.
fn value(file: &object::File<'_>, relocation: &Relocation) -> Option<(usize, u64)> {
    let size = match (relocation.kind(), relocation.flags(), file.architecture()) {
        (RelocationKind::Absolute, _, _) => usize::from(relocation.size() / 8),
        // The numbers of Linux' BPF and of NVIDIA's machine code, which are written down nowhere: read from files.
        (_, RelocationFlags::Elf { r_type }, object::Architecture::Bpf) => match r_type.0 {
            2 => 8,
            3 => 4,
            _ => return None,
        },
        (_, RelocationFlags::Elf { r_type }, _) if machine(file) == Some(cubin::MACHINE) => match r_type.0 {
            1 => 4,
            2 => 8,
            _ => return None,
        },
        _ => return None,
    };
    let (address, base) = match relocation.target() {
        RelocationTarget::Symbol(index) => {
            let symbol = file.symbol_by_index(index).ok()?;
            (symbol.address(), symbol.section_index().map_or(0, |index| base(file, index)))
        }
        RelocationTarget::Section(index) => (0, base(file, index)),
        RelocationTarget::Absolute => (0, 0),
        _ => return None,
    };
    // An offset of 32 bits has no room for a pretended address, and needs none: it leads into another section.
    let base = if size == 8 { base } else { 0 };
    Some((size, address.wrapping_add(base).wrapping_add_signed(relocation.addend())))
}

fn write(file: &object::File<'_>, slot: &mut [u8], value: u64, has_implicit_addend: bool) {
    let mut number = [0; 8];
    let is_little = file.is_little_endian();
    let place = if is_little { 0..slot.len().min(8) } else { 8 - slot.len().min(8)..8 };
    let mut value = value;
    if has_implicit_addend {
        number[place.clone()].copy_from_slice(slot);
        value = value.wrapping_add(if is_little {
            u64::from_le_bytes(number)
        } else {
            u64::from_be_bytes(number)
        });
    }
    let bytes = if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
    slot.copy_from_slice(&bytes[place]);
}
