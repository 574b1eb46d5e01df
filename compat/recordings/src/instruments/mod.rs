//! IREE's dispatch instruments: what every workgroup of a kernel loaded, stored and computed.
//!
//! A module compiled with `--iree-hal-instrument-dispatches=SIZE` writes records into a ring in memory, and
//! `iree-run-module --instrument_file=FILE` saves it with a table of the kernels and their texts.
//!
//! * A [`Stream`] is a file: [`Module`]s, each with its [`Metadata`] and [`Ring`]s, and what was odd about it.
//! * A ring's [`records`](Ring::records) come in the order in which they were written, also after the ring has
//!   wrapped; what was overwritten is counted, what is torn or stale is told apart.
//! * An [`AccessMap`] sums them up: which memory each dispatch site touched, and how.
//! * An [`InstrumentRing`] writes the same stream from any Rust program.
//!
//! ```
//! use zonecast_recordings::instruments::{Event, Stream};
//!
//! # let bytes = include_bytes!("../../tests/data/instruments/v313_mul4.bin");
//! let stream = Stream::read(bytes)?;
//! let module = &stream.modules()[0];
//! let loads = module.records().filter(|record| matches!(record.event, Event::Load(_)));
//! assert_eq!(module.metadata().site_name(0), b"mul4_dispatch_0_elementwise_4_f32");
//! assert_eq!(loads.count(), 2);
//! # Ok::<(), zonecast_recordings::Error>(())
//! ```
//!
//! # The format
//!
//! Chunks follow one another at multiples of 16 bytes: a header of 16 bytes (`u32` magic `0IDB`, `u16` type, `u16`
//! version 0, `u64` length of the content), and the content. Type 0 is a module's metadata, a FlatBuffer;
//! type 1 a ring, which belongs to the metadata before it. Source: IREE's `schemas/instruments`, as of
//! August 2026; its author calls it unstable, and all versions in it are still 0.

mod buffers;
mod executions;
mod fix_ir;
mod iree;
mod json;
mod map;
mod metadata;
mod pages;
mod plot;
mod record;
mod report;
mod ring;
mod runs;
mod stream;
mod write;

pub use buffers::{Buffer, Site, Use};
pub use executions::{Execution, Executions, Touched};
pub use fix_ir::{FixError, fix_ir};
pub use iree::write_iree;
pub use json::write_json;
pub use map::{AccessMap, Filter};
pub use metadata::{Function, Metadata};
pub use pages::Overlap;
pub use plot::write_svg;
pub use record::{Access, Event, Print, Probe, Record, Value, Workgroup};
pub use report::write_text;
pub use ring::{Records, Ring};
pub use stream::{Chunk, Module, Reader, Stream};
pub use write::{InstrumentRing, Key};
