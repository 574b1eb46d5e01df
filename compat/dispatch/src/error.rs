//! Why an executable could not be loaded, or a kernel not run.

use std::fmt;
use std::io;

use zonecast_embed::Format;

use crate::{Buffer, host_target};

/// What went wrong, with which library or which of its exports. `Display` says it in a sentence.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The image is for another kind of device.
    NotForCpus {
        /// The image's name.
        library: String,
        /// What it is.
        format: Format,
    },
    /// The image is for another architecture than this host's.
    Target {
        /// The image's name.
        library: String,
        /// What it is for.
        target: String,
    },
    /// This crate cannot load executables on this operating system.
    System,
    /// The image is in memory only, so that there is no file to load.
    NoFile {
        /// The image's name.
        library: String,
    },
    /// The library as a whole wants constants.
    LibraryConstants {
        /// The library's name.
        library: String,
        /// How many.
        count: u32,
    },
    /// No memory file could be made to load from.
    Memory(io::Error),
    /// The system's loader refused the file, for instance since a symbol is undefined.
    Loader {
        /// The library's name.
        library: String,
        /// What the loader says.
        message: String,
    },
    /// What was loaded is not what the file said it is.
    Contradiction {
        /// The library's name.
        library: String,
        /// What does not fit.
        what: &'static str,
    },
    /// The library calls functions that its host must provide.
    Imports {
        /// The library's name.
        library: String,
        /// The functions' names.
        names: Vec<String>,
    },
    /// There is no such export.
    NoExport {
        /// The library's name.
        library: String,
        /// The ordinal asked for.
        ordinal: usize,
        /// How many exports there are.
        exports: usize,
    },
    /// The kernel takes another number of constants or bindings.
    Count {
        /// The export's name.
        export: String,
        /// Which of the two.
        of: Count,
        /// How many it takes; at most as many as this, if the library does not say.
        takes: usize,
        /// Whether the library says so, or it is the limit of the interface.
        recorded: bool,
        /// How many were given.
        given: usize,
    },
    /// There are more workgroups than the interface can express: 2^32 in x and y, 2^16 in z, 2^64 in all.
    Workgroups {
        /// The export's name.
        export: String,
        /// How many were asked for.
        workgroups: [u32; 3],
    },
    /// The kernel leaves the size of its workgroups to the caller, and none was given; or the size has
    /// more than 16 bits in z.
    WorkgroupSize {
        /// The export's name.
        export: String,
    },
    /// A binding does not start at a multiple of [`Buffer::ALIGNMENT`].
    Misaligned {
        /// The export's name.
        export: String,
        /// The binding's number.
        binding: usize,
        /// Where it starts.
        address: usize,
    },
    /// A workgroup returned something other than 0. Its dispatch's results are of no use.
    Failed {
        /// The export's name.
        export: String,
        /// What it returned.
        code: i32,
        /// Which workgroup it was.
        workgroup: [u32; 3],
    },
}

/// What there can be too many or too few of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// 32-bit constants.
    Constants,
    /// Buffers.
    Bindings,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Constants => "constants",
            Self::Bindings => "bindings",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotForCpus { library, format } => {
                write!(f, "{library} is of format {format}; only {} can be run here", Format::IreeCpu)
            }
            Self::Target { library, target } => {
                write!(f, "{library} is for {target}; this host is {}", host_target())
            }
            Self::System => {
                write!(f, "executables can be loaded on Linux only; this host runs {}", std::env::consts::OS)
            }
            Self::NoFile { library } => write!(f, "{library} is already loaded; open its file instead"),
            Self::LibraryConstants { library, count } => {
                write!(f, "{library} wants {count} constants when it is loaded, which is not supported")
            }
            Self::Memory(error) => write!(f, "cannot make a memory file to load from: {error}"),
            Self::Loader { library, message } => {
                write!(f, "the system's loader refuses {library}: {message}")
            }
            Self::Contradiction { library, what } => {
                write!(f, "{library} is not what its file said once it is loaded: {what}")
            }
            Self::Imports { library, names } => {
                write!(f, "{library} calls functions that its host must provide, and this one has none: ")?;
                f.write_str(&names.join(", "))
            }
            Self::NoExport { library, ordinal, exports } => {
                write!(f, "{library} has no export {ordinal}; it has {exports}, counted from 0")
            }
            Self::Count { export, of, takes, recorded, given } => {
                let at_most = if *recorded { "" } else { "at most " };
                write!(f, "{export} takes {at_most}{takes} {of}; {given} were given")
            }
            Self::Workgroups { export, workgroups: [x, y, z] } => {
                write!(f, "{export}: {x} x {y} x {z} workgroups are too many; z has 16 bits, the product 64")
            }
            Self::WorkgroupSize { export } => {
                write!(f, "{export} needs a workgroup size from its caller, with at most 16 bits in z")
            }
            Self::Misaligned { export, binding, address } => write!(
                f,
                "{export}: binding {binding} starts at {address:#x}, which is no multiple of {}; \
                 kernels rely on that",
                Buffer::ALIGNMENT
            ),
            Self::Failed { export, code, workgroup: [x, y, z] } => {
                write!(f, "{export} returned {code} in workgroup {x},{y},{z}; its results are of no use")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Memory(error) => Some(error),
            _ => None,
        }
    }
}
