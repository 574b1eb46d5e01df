//! What is particular about cubins.
//!
//! (Not documented by NVIDIA; read from files of nvcc 12 and 13 and of Triton.)

use std::borrow::Cow;

#[cfg(feature = "cubin")]
use object::ObjectSection;
use object::elf::{Machine, STT_FUNC};
use object::{FileFlags, Object, ObjectSymbol, SymbolFlags};

use super::relocate;
use super::symbols::Symbol;

/// NVIDIA's GPUs.
pub(crate) const MACHINE: Machine = Machine(190);

/// The bit of a symbol's `st_other` that marks a kernel.
const KERNEL: u8 = 0x10;

/// From this version of the ABI on, the target's number is elsewhere.
const NEW_ABI: u8 = 8;

/// For instance `sm_90`.
pub(crate) fn target(file: &object::File<'_>) -> Option<Vec<u8>> {
    let FileFlags::Elf { e_flags, abi_version, .. } = file.flags() else { return None };
    let number = if abi_version >= NEW_ABI { e_flags.0 >> 8 & 0xffff } else { e_flags.0 & 0xff };
    Some(format!("sm_{number}").into_bytes())
}

pub(crate) fn kernels<'a>(file: &object::File<'a>) -> Vec<Symbol<'a>> {
    let kernel = |symbol: object::Symbol<'a, '_>| {
        let SymbolFlags::Elf { st_info, st_other, .. } = symbol.flags() else { return None };
        let is_kernel = st_info.st_type() == STT_FUNC && st_other.0 & KERNEL != 0 && symbol.is_definition();
        let name = symbol.name_bytes().ok().filter(|name| is_kernel && !name.is_empty())?;
        let address = Some(relocate::address(file, &symbol));
        Some(Symbol { name: Cow::Borrowed(name), address, is_stub: false })
    };
    file.symbols().filter_map(kernel).collect()
}

/// The PTX that the cubin was made of, but for its comments and directives for debuggers. In the file, lines end in
/// NUL.
#[cfg(feature = "cubin")]
pub(crate) fn listing(file: &object::File<'_>) -> Option<Vec<u8>> {
    let section = file.section_by_name(".nv_debug_ptx_txt")?.data().ok()?;
    let text = section.strip_suffix(b"\0").unwrap_or(section);
    Some(text.iter().map(|&byte| if byte == 0 { b'\n' } else { byte }).collect())
}
