//! Reads what ML runtimes record of their kernels: what they touched, when they ran, and all that is needed to
//! run them again.
//!
//! * [`instruments`]: IREE's dispatch instruments, what each workgroup of a kernel loaded and stored.
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
mod error;
pub mod instruments;

pub use contents::Contents;
pub use error::{Error, ErrorKind};
