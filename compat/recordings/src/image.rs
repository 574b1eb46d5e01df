//! What kind of device image some bytes are.

use std::fmt;

/// What a device image is, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageKind {
    /// A 64-bit, little-endian ELF file for the machine of that number (`e_machine`).
    Elf(u16),
    /// LLVM bitcode, which is compiled when a program runs.
    Bitcode,
    /// A container of CUDA's with several images.
    Fatbin,
    /// SPIR-V.
    SpirV,
    /// CUDA's assembly text.
    Ptx,
    /// Something else.
    Unknown,
}

const X86_64: u16 = 62;
const AARCH64: u16 = 183;
const CUDA: u16 = 190;
const AMDGPU: u16 = 224;
const RISCV: u16 = 243;

impl ImageKind {
    /// Looks at the first bytes; 64 are enough.
    ///
    /// ```
    /// use zonecast_recordings::ImageKind;
    ///
    /// assert_eq!(ImageKind::of(b"BC\xC0\xDE..."), ImageKind::Bitcode);
    /// ```
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x7F, b'E', b'L', b'F', 2, 1, ..] if bytes.len() >= 20 => {
                Self::Elf(u16::from_le_bytes([bytes[18], bytes[19]]))
            }
            [b'B', b'C', 0xC0, 0xDE, ..] => Self::Bitcode,
            [0x50, 0xED, 0x55, 0xBA, ..] => Self::Fatbin,
            [0x03, 0x02, 0x23, 0x07, ..] => Self::SpirV,
            [b'/', b'/', ..] | [b'.', b'v', b'e', b'r', ..] => Self::Ptx,
            _ => Self::Unknown,
        }
    }

    /// Whether it is an ELF file for the processor that this program runs on.
    pub fn is_for_host(self) -> bool {
        let host = match std::env::consts::ARCH {
            "x86_64" => X86_64,
            "aarch64" => AARCH64,
            "riscv64" => RISCV,
            _ => return false,
        };
        self == Self::Elf(host)
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elf(X86_64) => f.write_str("ELF for x86-64"),
            Self::Elf(AARCH64) => f.write_str("ELF for arm64"),
            Self::Elf(RISCV) => f.write_str("ELF for RISC-V"),
            Self::Elf(CUDA) => f.write_str("ELF for CUDA (cubin)"),
            Self::Elf(AMDGPU) => f.write_str("ELF for AMD GPUs (code object)"),
            Self::Elf(machine) => write!(f, "ELF for machine {machine}"),
            Self::Bitcode => f.write_str("LLVM bitcode"),
            Self::Fatbin => f.write_str("CUDA fat binary"),
            Self::SpirV => f.write_str("SPIR-V"),
            Self::Ptx => f.write_str("PTX text"),
            Self::Unknown => f.write_str("unknown contents"),
        }
    }
}
