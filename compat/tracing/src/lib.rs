#![doc = include_str!("../README.md")]
//!
//! # How it is put together
//!
//! * `layer` is the [`ZonecastLayer`], `subscriber` the [`ZonecastSubscriber`]; `zones` is what
//!   they have in common, and `text` formats fields.
//! * `callsite` makes one location for each callsite.
//! * The layer's `spans` remembers which callsite a span is of, so that entering one asks the
//!   registry nothing. The subscriber's `ids` say so themselves, and `extras` keeps the rest.
//! * `open` keeps each thread's zones in order, whatever order spans are left in.
//! * `future` puts futures into zones.

mod callsite;
mod extras;
mod future;
mod ids;
mod layer;
mod open;
mod spans;
mod subscriber;
mod text;
mod zones;

pub use future::{FutureExt, InZone};
pub use layer::ZonecastLayer;
pub use subscriber::ZonecastSubscriber;
