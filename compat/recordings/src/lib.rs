//! Reads what ML runtimes record of their kernels: what they touched, when they ran, and all that is needed to
//! run them again.
//!
//! * [`instruments`]: IREE's dispatch instruments, what each workgroup of a kernel loaded and stored.
//! * [`profile`]: IREE's profiles, when dispatches and queue operations ran, as a [`timeline`].
//! * [`hal_replay`]: IREE's replays, every call of a device, and running those for CPUs again.
//! * [`executions`]: what a run's instruments and its replay say of each dispatch of its profile.
//! * [`places`]: where kernels come from, out of modules and dumped files.
//! * [`llvm`] reads kernel launches that LLVM's offload runtime has recorded.
//! * [`diff`] compares what two runs computed, number by number.
//! * [`recorder`] records launches itself, whole, into files that can grow.
//! * [`replay`] runs recorded kernels again.
//! * [`child`] runs what is not trusted in a process of its own, with limits.
//!
//! # Trust
//!
//! Recordings are taken to be hostile: every offset and count is checked, what is wrong becomes an [`Error`]
//! with its place or a partial result that says so, and nothing is allocated on a file's word. Running what
//! a recording holds is another matter: see [`child`].

mod bytes;
pub mod child;
mod contents;
pub mod diff;
mod error;
pub mod executions;
pub mod hal_replay;
mod image;
pub mod instruments;
pub mod llvm;
mod note;
pub mod places;
pub mod profile;
pub mod recorder;
pub mod replay;
pub mod timeline;

pub use contents::Contents;
pub use error::{Error, ErrorKind};
pub use image::ImageKind;
pub use note::Note;
