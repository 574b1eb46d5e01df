//! Reads what ML runtimes record of their kernels: what they touched, when they ran, and all that is needed to
//! run them again.
//!
//! * [`llvm`] reads kernel launches that LLVM's offload runtime has recorded.
//! * [`diff`] compares what two runs computed, number by number.
//! * [`replay`] runs recorded kernels again.
//! * [`child`] runs what is not trusted in a process of its own, with limits.

pub mod child;
pub mod diff;
mod error;
mod image;
pub mod llvm;
pub mod replay;

pub use error::{Error, ErrorKind};
pub use image::ImageKind;
