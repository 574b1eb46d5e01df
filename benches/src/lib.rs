//! What a zone costs, beside its peers.
//!
//! Three ways to look at it, and none of them is a bare time, which says more of the machine than
//! of the code:
//!
//! * `cargo run --release -p zonecast-benches --bin cost` counts **instructions**: it builds one
//!   measured program per feature set, runs each of its loops under callgrind, and prints one line
//!   per item. `--check` compares with the [gates](items::Gate).
//! * `cargo run --release -p zonecast-benches --bin ratio` compares **times**: loops take turns in
//!   one process, and what is printed is the median of the ratios.
//! * `cargo bench -p zonecast-benches --features console` runs every call through criterion, to see
//!   whether a change made it slower.
//!
//! # How it is put together
//!
//! * [`items`] is the list of what is measured: name, feature set, loop, gate.
//! * `src/bin/measured` holds the loops, built anew for each feature set, because cargo unifies the
//!   features of what it builds at once. `peers/` is a workspace with the loops of peers that bring
//!   another Tracy or need a newer compiler. Both are told what to run by [`program`].
//! * [`instant`] is a GPU for the loops over zones on one, and for `src/bin/collector.rs`.
//! * [`build`] calls cargo, [`callgrind`] counts, [`turns`] compares times.

#[cfg(feature = "tools")]
pub mod build;
#[cfg(feature = "tools")]
pub mod callgrind;
#[cfg(feature = "tools")]
mod error;
pub mod instant;
#[cfg(feature = "tools")]
pub mod items;
pub mod program;
#[cfg(feature = "tools")]
mod server;
#[cfg(feature = "tools")]
pub mod turns;

#[cfg(feature = "tools")]
pub use error::Error;
