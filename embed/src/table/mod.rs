//! Writing zonecast tables: what any compiler can put into its output so that programs show its kernels' source.
//!
//! [`TableBuilder`] makes the bytes; their format is specified in `FORMAT.md` beside this crate's manifest.
//! Where they go is up to the compiler: into a section or note of an object file that it writes anyway, into a
//! file of its own, or, with [`attach`], into a finished ELF file.
//!
//! ```
//! use zonecast_embed::Executable;
//! use zonecast_embed::table::{Export, TableBuilder};
//!
//! let mut table = TableBuilder::new();
//! table.name("saxpy").target("gfx942");
//! table.source("saxpy.0.source.mlir", "func @saxpy\n")?;
//! table.export(Export::new("saxpy").at("saxpy.py", 12).stage("0.source", "saxpy.0.source.mlir", 1))?;
//! let bytes = table.build()?;
//!
//! let executable = Executable::from_bytes(bytes, "saxpy")?;
//! let image = executable.image(0).unwrap();
//! let stage = image.export(0).unwrap().stage("0.source").unwrap().location.unwrap();
//! assert_eq!(image.sources().find(stage.file), Some(&b"func @saxpy\n"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A Rust program that has kernels of its own, in WGSL for instance, writes a table in its build script,
//!
//! ```no_run
//! # use zonecast_embed::table::{Export, TableBuilder};
//! println!("cargo:rerun-if-changed=src/blur.wgsl");
//! let mut table = TableBuilder::new();
//! table.source_file("src/blur.wgsl")?;
//! table.export(Export::new("blur").at("src/blur.wgsl", 7))?;
//! table.write(format!("{}/kernels.zonecast", std::env::var("OUT_DIR")?))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! and takes it in with [`embed_table!`](crate::embed_table).

#[cfg(feature = "elf")]
mod attach;
mod builder;
pub(crate) mod layout;
mod located;

use std::fmt;

/// Puts a table that was written beforehand into this program, as a note of the ELF file.
///
/// Takes the table's path as `include_bytes!` does. The linker keeps it even if it drops what nothing refers to.
/// [`Executable::open`](crate::Executable::open) finds it in the finished program, or shared library.
/// On platforms whose files are not ELF, it does nothing.
///
/// ```
/// // In a program, OUT_DIR, where its build script has written the table.
/// zonecast_embed::embed_table!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tables/example.zonecast"));
/// ```
#[macro_export]
macro_rules! embed_table {
    ($path:expr $(,)?) => {
        #[cfg(not(any(windows, target_vendor = "apple", target_family = "wasm")))]
        const _: () = {
            const SIZE: usize = include_bytes!($path).len();
            #[used]
            #[unsafe(link_section = ".note.zonecast")]
            static NOTE: $crate::table::Note<SIZE> = $crate::table::Note::new(*include_bytes!($path));
        };
    };
}

/// An ELF note with a table of `SIZE` bytes, as it stands in memory and file. [`embed_table!`](crate::embed_table)
/// makes them.
#[doc(hidden)]
#[repr(C, align(4))]
pub struct Note<const SIZE: usize> {
    name_size: u32,
    description_size: u32,
    kind: u32,
    owner: [u8; 12],
    table: [u8; SIZE],
}

impl<const SIZE: usize> Note<SIZE> {
    #[doc(hidden)]
    pub const fn new(table: [u8; SIZE]) -> Self {
        let owner = *b"zonecast\0\0\0\0";
        Self { name_size: 9, description_size: SIZE as u32, kind: 1, owner, table }
    }
}

#[cfg(feature = "elf")]
pub use self::attach::attach;
pub use self::builder::{Export, TableBuilder};
pub use self::located::{Skipped, SkippedReason};

/// Why a table cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// An export or a stage without a name, or a source without a path.
    Nameless,
    /// Two sources of this path have different texts. Locations could not tell them apart.
    Ambiguous {
        /// The path.
        path: Vec<u8>,
    },
    /// An export has two stages of the same name, or more than 1,024.
    Stages {
        /// The export's name.
        export: Vec<u8>,
    },
    /// All of it would be larger than 4 GiB.
    TooLarge,
    /// The file to attach to is not an ELF file that can be extended; the text says why.
    #[cfg(feature = "elf")]
    File(&'static str),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nameless => write!(f, "an export, a stage or a source has an empty name"),
            Self::Ambiguous { path } => {
                write!(f, "two sources with different texts have the path {}", String::from_utf8_lossy(path))
            }
            Self::Stages { export } => {
                let export = String::from_utf8_lossy(export);
                write!(f, "export {export} has more than 1,024 stages, or two of the same name")
            }
            Self::TooLarge => write!(f, "the table would be larger than 4 GiB; split it into several"),
            #[cfg(feature = "elf")]
            Self::File(why) => write!(f, "cannot attach a table to this file: {why}"),
        }
    }
}

impl std::error::Error for TableError {}
