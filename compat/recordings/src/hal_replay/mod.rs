//! IREE's replays (`.ireereplay`): every call that a program made of its device, with executables and inputs.
//!
//! `iree-run-module --device_replay_output=FILE` writes one. A [`HalReplay`] is its records; [`run`] executes those for
//! CPUs again, in a child process whose program calls [`serve`], and says what each dispatch wrote and how long it took.
//!
//! ```
//! use zonecast_recordings::hal_replay::HalReplay;
//!
//! # let bytes = include_bytes!("../../tests/data/replays/mlp.ireereplay");
//! let replay = HalReplay::read(bytes)?;
//! assert_eq!(replay.records.len(), 70);
//! assert_eq!(replay.executables().next().unwrap().format, "embedded-elf-x86_64");
//! # Ok::<(), zonecast_recordings::Error>(())
//! ```
//!
//! # The format
//!
//! Version 2.0, little-endian: a header of 24 bytes (`IRRP`, two `u16` of version, `u32` header length, `u32` flags, `u64`
//! length of the file), then records: a header of 96 bytes and a payload, whose shape the header names. There are no times,
//! no expected outputs and no thread numbers in it. Source: IREE's `runtime/src/iree/hal/replay/format.h`, as of
//! August 2026.

mod call;
mod file;
mod machine;
mod run;

pub use call::{BufferRange, Dispatch};
pub use file::{Executable, HalReplay, Record, operation_name};
pub use run::{Dispatched, Job, Replayed, RunError, run, serve};
