//! Executables as bytes: which kernels they export, where those came from, and the source text that they
//! carry.
//!
//! Some compilers put the text of each kernel into the executable, as they saw it at one or more stages of
//! compilation, and a table that says at which line of which file each kernel stands. This crate reads
//! such tables: from files, from bytes and from loaded libraries, without running them, and for machines
//! other than this one.
//!
//! * An [`Executable`] is a file or a range of bytes. What is in it is found by content.
//! * It has [`Image`]s, one for each executable found: a module may hold several.
//! * An image has [`Export`]s, each with the [`SourceLocation`] that its author would know and one for
//!   each [`Stage`] of compilation,
//! * and [`Sources`], a table of texts by path, in which the stages' files are looked up.
//!
//! Everything borrows. A model's executables may carry hundreds of megabytes of text of which a person
//! looks at one page, so opening reads tables only, a look-up is a binary search, and a text is a slice of
//! the mapped file. Names, paths and texts are bytes (`&[u8]`), since nothing makes them UTF-8.
//!
#![cfg_attr(feature = "iree", doc = "```")]
#![cfg_attr(not(feature = "iree"), doc = "```no_run")]
//! let executable = zonecast_embed::Executable::open("tests/data/iree/many.cpu.g3.vmfb")?;
//! let image = executable.image(0).unwrap();
//! let f11 = image.exports().find(|export| export.name().starts_with(b"f11_")).unwrap();
//! assert_eq!(f11.location().unwrap().file, b"src/many.mlir");
//!
//! let stage = f11.stage("0.source").unwrap().location.unwrap();
//! let text = image.sources().find(stage.file).unwrap();
//! let line = text.split(|&byte| byte == b'\n').nth(stage.line as usize - 1).unwrap();
//! assert!(line.trim_ascii_start().starts_with(b"func.func @f11_"));
//! # Ok::<(), zonecast_embed::Error>(())
//! ```
//!
//! # What is understood
//!
//! | contents | feature | notes |
//! |---|---|---|
//! | zonecast tables, several of them one behind the other, in a file or in memory | – | any compiler can write them, see [`table`] |
//! | zonecast tables in ELF files | `elf` | objects, libraries, programs, cubins, AMDGPU code objects |
//! | IREE modules, `.vmfb`, zipped or bare | `iree` | all executables in them |
//! | IREE bytecode for its interpreter (VMVX) | `iree` | said to be there; it carries no sources |
//! | IREE executable libraries for CPUs (ELF), interface versions 4, 5, 6 | `iree` | any x86, ARM or RISC-V machine; embedded or system linked, alone, in FatELF, or with a debug block |
//! | IREE executables for CUDA, HIP, AMDGPU, Vulkan and Metal | `iree` | debug levels 0 to 3 |
//! | ELF files with DWARF: objects, libraries, programs, BPF | `dwarf` | lines of DWARF 2 to 5; text if embedded (clang's `-gdwarf-5 -gembed-source`, rustc's `-Z embed-source`); also compressed, split, or stripped into a file beside it |
//! | AMDGPU code objects with DWARF | `dwarf` | of HIP, OpenCL and others |
//! | WebAssembly modules with DWARF | `dwarf` | |
//! | clang's offload bundles, compressed (CCOB 1 to 3) or not; packaged offload files; all of them also in host files | `offload` | each image with its target; also LLVM bitcode, as objects have it for code that is linked later |
//! | NVIDIA's fat binaries, also in host files | `offload` | cubins and PTX, LZ4 and zstd |
//! | cubins, of nvcc, NVRTC and Triton | `cubin` | lines (`-lineinfo`, `-G`); the PTX in them as a [listing](Image::listings) |
//! | PTX | `cubin` | lines; the text is a [listing](Image::listings) |
//! | SPIR-V modules | `spirv` | text of `OpSource` and `DebugSource`, whole; lines of `DebugFunction`, `OpLine`, or the first in the body |
//! | a folder of Triton's cache, and the texts and metadata in it | `triton` | lines; TTIR, TTGIR, LLVM IR and PTX are [listings](Image::listings) |
//!
//! In a file with DWARF the exports are the functions that a loader would find: those of the table of dynamic
//! symbols, or all global ones if that has none. An ELF file that has an IREE library, or a zonecast table that
//! lists exports, is not looked at for DWARF: those say better what is in it.
//!
//! # Trust
//!
//! Files are taken to be hostile. In formats made for programs, every offset and count that leads to something is checked at opening,
//! and what is wrong becomes an [`Error`] with its place. (Of a zonecast table only the header is checked then,
//! and the rest when it is touched; a damaged record reads as empty, and is a [`Note`]. Debug information is looked
//! through when something in it is first asked for, in time linear in its size; where that ends early, a note says
//! so.) Nothing panics, allocates more than a small
//! multiple of the file's tables, or reads outside the bytes. The exception is a library that is already
//! loaded: [`Executable::from_loaded`] has to trust it, and is `unsafe`.
//!
//! # Features
//!
//! `mmap` (default) maps files instead of reading them; `elf` finds and attaches zonecast tables in ELF files;
//! `iree` (default, with `elf`) reads IREE's formats; `dwarf` reads debug information, `offload` with it
//! code for GPUs in containers, and `cubin` that of NVIDIA;
//! `spirv` and `triton` read what their names say; `zstd` packs and unpacks
//! texts in zonecast tables. Without features this crate depends on nothing.

mod error;
mod executable;
mod image;
mod note;
mod origin;
mod read;
mod storage;
pub mod table;
#[cfg(any(feature = "zstd", feature = "dwarf"))]
mod zstd;

pub use error::{Error, ErrorKind, Magic};
#[cfg(feature = "iree")]
pub use executable::IreeQuery;
pub use executable::{Executable, Loaded};
pub use image::{
    CpuExport, CpuLibrary, Export, Exports, Format, Image, Images, Source, SourceLocation, Sources, Stage,
    Stages,
};
pub use note::{Note, Remark};
pub use origin::{DiskText, Origin};
#[cfg(feature = "iree")]
pub use read::flatbuffer;
