//! Loads IREE executables for CPUs and calls their kernels, without IREE's runtime.
//!
//! A compiled module holds machine code for each of its kernels, as a small shared library. This crate
//! loads that library and calls a kernel the way IREE's runtime would: with buffers (*bindings*), 32-bit
//! *constants* and a grid of *workgroups*, on one thread or several.
//!
//! ```
//! # #[cfg(all(target_os = "linux", target_arch = "x86_64"))] {
//! use zonecast_dispatch::{Binding, Buffer, Dispatch, Library, Workers};
//! use zonecast_embed::Executable;
//!
//! let executable = Executable::open("tests/data/scale.cpu.g3.vmfb")?;
//! // SAFETY: the file was compiled by IREE's own compiler and is part of this crate.
//! let library = unsafe { Library::load(executable.image(0).unwrap()) }?;
//!
//! let (a, b) = (Buffer::from_slice(&[3.0_f32; 1024]), Buffer::from_slice(&[0.5_f32; 1024]));
//! let mut product = Buffer::zeroed(1024 * size_of::<f32>());
//! let dispatch = Dispatch {
//!     workgroups: [1, 1, 1],
//!     bindings: &mut [Binding::read(&a), Binding::read(&b), Binding::write(&mut product)],
//!     ..Dispatch::of(0)
//! };
//! // SAFETY: this kernel reads 1,024 floats from bindings 0 and 1 and writes as many to binding 2.
//! unsafe { library.dispatch(dispatch, &Workers::none(), &()) }?;
//!
//! assert_eq!(product.as_slice_of::<f32>(), [1.5; 1024]);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the caller must know
//!
//! The shape of a kernel's buffers and the size of its grid are not in the library: IREE's compiler puts
//! them into the module's bytecode. So whoever calls a kernel must know both, and that is why
//! [`Library::dispatch`] is `unsafe`. What the library does record is checked: how many constants and
//! bindings there are, and whom it was compiled for.
//!
//! # Watching
//!
//! The crate records no trace itself. An [`Observer`] is told when a dispatch begins and, for each
//! workgroup, on which thread it runs; what it returns is dropped when that ends. A zone guard fits.
//!
//! # Platforms
//!
//! Linux, on the architectures that IREE compiles for; x86-64 is tested, arm64 has been run under emulation.
//! Elsewhere the crate builds, and [`Library::load`] says that it cannot.

mod abi;
mod buffer;
mod dispatch;
mod error;
mod host;
mod job;
mod library;
mod load;
mod observer;
mod workers;

pub use buffer::Buffer;
pub use dispatch::{Binding, Dispatch};
pub use error::{Count, Error};
pub use host::{check, host_target};
pub use library::Library;
pub use observer::{Observer, Running, Workgroup};
pub use workers::Workers;
