//! The files that DWARF is in.

use object::elf::{EM_AARCH64, EM_AMDGPU, EM_BPF, EM_RISCV, EM_X86_64, Machine};

use object::read::elf::FileHeader;
use object::{Object, ObjectSection, elf};

use super::super::Result;
use super::sections::Sections;
use super::symbols::{self, Symbol};
use super::{amdgpu, cubin, wasm};
use crate::Error;
use crate::image::Format;

const WELL_FORMED: &str = "a well-formed ELF file";

/// A file that may have DWARF.
pub(crate) enum Binary<'a> {
    Elf { file: Box<object::File<'a>>, bytes: &'a [u8], machine: Machine },
    Wasm(wasm::Module<'a>),
}

impl<'a> Binary<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self> {
        if wasm::is(bytes) {
            return wasm::Module::parse(bytes).map(Self::Wasm);
        }
        let file = object::File::parse(bytes).map_err(|_| Error::damaged(0, WELL_FORMED))?;
        let machine = machine(&file).ok_or(Error::damaged(0, WELL_FORMED))?;
        Ok(Self::Elf { file: Box::new(file), bytes, machine })
    }

    pub(crate) fn format(&self) -> Format {
        match self {
            Self::Elf { machine: EM_AMDGPU, .. } => Format::Amdgpu,
            Self::Elf { machine: cubin::MACHINE, .. } => Format::Cubin,
            Self::Elf { .. } | Self::Wasm(_) => Format::Dwarf,
        }
    }

    /// What it is for. Machines of hosts are named as IREE names them.
    pub(crate) fn target(&self) -> Option<Vec<u8>> {
        let Self::Elf { file, machine, .. } = self else { return Some(b"wasm32".to_vec()) };
        let name: &[u8] = match *machine {
            EM_AMDGPU => return self.note().and_then(amdgpu::target),
            cubin::MACHINE => return cubin::target(file),
            EM_X86_64 => b"x86_64",
            elf::EM_386 => b"x86_32",
            EM_AARCH64 => b"arm_64",
            elf::EM_ARM => b"arm_32",
            EM_RISCV if file.is_64() => b"riscv_64",
            EM_RISCV => b"riscv_32",
            EM_BPF => b"bpf",
            _ => return None,
        };
        Some(name.to_vec())
    }

    fn note(&self) -> Option<&'a [u8]> {
        let Self::Elf { file, .. } = self else { return None };
        file.section_by_name(".note")?.data().ok()
    }

    pub(crate) fn exports(&self) -> Vec<Symbol<'a>> {
        match self {
            Self::Elf { file, machine, .. } => symbols::of_elf(file, *machine),
            Self::Wasm(module) => module.exports(),
        }
    }

    pub(crate) fn has_debug(&self) -> bool {
        match self {
            Self::Elf { file, .. } => {
                [".debug_info", ".debug_line"].iter().any(|name| file.section_by_name(name).is_some())
            }
            Self::Wasm(module) => !module.sections().is_empty(),
        }
    }

    pub(crate) fn sections(&self) -> Result<Sections<'a>> {
        match self {
            Self::Elf { file, bytes, .. } => Sections::of_elf(file, bytes),
            Self::Wasm(module) => Ok(module.sections()),
        }
    }

    /// What a cubin has of the text that it was made of.
    #[cfg(feature = "cubin")]
    pub(crate) fn ptx(&self) -> Option<Vec<u8>> {
        match self {
            Self::Elf { file, machine: cubin::MACHINE, .. } => cubin::listing(file),
            _ => None,
        }
    }

    /// The file that its debug information was put into: a name and a checksum.
    pub(crate) fn debug_link(&self) -> Option<(&'a [u8], u32)> {
        let Self::Elf { file, .. } = self else { return None };
        file.gnu_debuglink().ok()?
    }

    pub(crate) fn build_id(&self) -> Option<&'a [u8]> {
        let Self::Elf { file, .. } = self else { return None };
        file.build_id().ok()?
    }
}

pub(crate) fn machine(file: &object::File<'_>) -> Option<Machine> {
    Some(match file {
        object::File::Elf32(file) => file.elf_header().e_machine(file.endian()),
        object::File::Elf64(file) => file.elf_header().e_machine(file.endian()),
        _ => return None,
    })
}
