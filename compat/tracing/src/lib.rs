#![doc = include_str!("../README.md")]
//!
//! # How it is put together
//!
//! * `layer` is the [`ZonecastLayer`]; `text` formats fields.
//! * `callsite` makes one location for each callsite, `spans` remembers which callsite a span is
//!   of, so that entering one asks the registry nothing.
//! * `open` keeps each thread's zones in order, whatever order spans are left in.
//! * `future` puts futures into zones.

mod callsite;
mod future;
mod layer;
mod open;
mod spans;
mod text;

pub use future::{FutureExt, InZone};
pub use layer::ZonecastLayer;
