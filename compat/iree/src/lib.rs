#![doc = include_str!("../README.md")]
//!
//! # How it is put together
//!
//! `include/zonecast_iree.h` has the macros; they keep locations in statics of the C side and call
//! the functions here, one module for each part of the header:
//!
//! * `zones` begins and ends zones, on the stacks that `open` keeps: C says nothing of threads,
//!   forgets ends, and ends zones elsewhere, and none of that may break the nesting;
//! * `app`, `events`, `memory` and `locks` are what their names say;
//! * `devices` puts together zones on devices, whose times come late;
//! * `modules` knows the executables registered, `sources` the texts that the runtime publishes.
//!
//! No panic gets into C: what could panic is wrapped, and then does nothing.

mod app;
mod devices;
mod events;
mod guard;
mod locks;
mod memory;
mod modules;
mod open;
mod say;
mod sources;
mod text;
mod zones;
