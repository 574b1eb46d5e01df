//! Kernel launches that LLVM's offload runtime has recorded (`LIBOMPTARGET_RECORD`).
//!
//! A recording is one kernel launch: a JSON description beside files with the device memory before and after
//! it, the global variables and the device image. None of the forms that LLVM has released has a version number or
//! a magic; [`Recording::open`] tells them apart by their keys and file names:
//!
//! | [`Generation`] | LLVM | named after | files beside `.json` |
//! |---|---|---|---|
//! | [`First`](Generation::First) | 16 | kernel | `.memory`, `.original.output` |
//! | [`Second`](Generation::Second) | 18 to 22 | kernel | also `.globals`, `.image` |
//! | [`Third`](Generation::Third) | since April 2026 | hashes | `.record_input`, `.record_output`, `.globals`, `.image`, perhaps `.bc` |
//!
//! Between the last two, revisions of a pull request wrote another form; it was never released, and is refused by name.
//! All numbers are little-endian. The layouts are those of LLVM's sources (`offload/plugins-nextgen/common`).
//!
//! Files are taken to be hostile: no name in them is ever opened, lengths are checked against the files', and
//! nothing is run. [`replay`](crate::replay) runs, in a process of its own.
//!
//! ```
//! use zonecast_recordings::llvm::{Generation, Pointee, Recording};
//!
//! let recording = Recording::open("tests/data/llvm/third")?;
//! assert_eq!(recording.generation(), Generation::Third);
//! assert_eq!(recording.description().kernel, "__omp_offloading_fe00_9d4762_main_l14");
//! assert_eq!(recording.description().teams, 2);
//!
//! // Which arguments point into the memory that was recorded?
//! let pointees: Vec<_> = recording.arguments().map(|argument| argument.pointee).collect();
//! assert_eq!(pointees[2..], [Some(Pointee { buffer: 1, offset: 64 }), Some(Pointee { buffer: 0, offset: 0 })]);
//! # Ok::<(), zonecast_recordings::Error>(())
//! ```

mod description;
mod find;
mod globals;
mod name;
mod recording;
mod report;

pub use description::{Description, Limits};
pub use find::{find, find_all};
pub use globals::{Global, globals, write_globals};
pub use name::{Stem, stable_name};
pub use recording::{Argument, Generation, Note, Part, Pointee, Recording};
pub use report::{Report, ReportLine};
