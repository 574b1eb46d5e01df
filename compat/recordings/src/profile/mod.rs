//! IREE's profiles (`.ireeprof`): when dispatches and queue operations ran, and what memory they took.
//!
//! `iree-run-module --device_profiling_mode=… --device_profiling_output=FILE` writes one. A [`Profile`] is its
//! tables; [`Profile::timeline`] puts them at their times, with [`Places`](crate::places::Places) for the kernels'
//! own sources.
//!
//! ```
//! use zonecast_recordings::executions::Executions;
//! use zonecast_recordings::places::Places;
//! use zonecast_recordings::profile::Profile;
//!
//! # let bytes = include_bytes!("../../tests/data/profiles/mlp_task_all.ireeprof");
//! let profile = Profile::read(bytes)?;
//! let timeline = profile.timeline(&Places::default(), &Executions::default());
//! let names: Vec<&str> = timeline.rows[0].zones.iter().map(|zone| zone.name.as_str()).collect();
//! assert_eq!(names[2..4], ["execute", "mlp_dispatch_0_matmul_8x16x16_f32"]);
//! # Ok::<(), zonecast_recordings::Error>(())
//! ```
//!
//! # The format
//!
//! Version 1.6, little-endian: a header of 24 bytes (`IRPF`, two `u16` of version, `u32` header length, `u32` flags,
//! `u64` length of the file, which is 0 until it is finished), then records without alignment. A record has a header of
//! 104 bytes, a content type, a name and a payload; a payload is an array of rows of that type, each of which
//! begins with its own length, so that a reader skips what a later version appends. Source: IREE's
//! `runtime/src/iree/hal/profile_schema.h` and `hal/utils/profile_file.h`, as of August 2026.

mod clock;
mod file;
mod rows;
mod timeline;

pub use clock::{Clock, Correlation};
pub use file::Profile;
pub use rows::{
    Counter, CounterSample, DeviceSpan, Function, HostSpan, MemoryEvent, Operation, QueueEvent, Region,
    counter_unit_name, memory_event_name, operation_name,
};
