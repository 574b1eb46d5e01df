//! What the example programs share. Start from the programs in `src/bin`.
//!
//! * [`mlp`] is a compiled model: its kernels, its shapes, and the same sums in plain Rust;
//! * [`watch`] puts each dispatch into its kernel's zone;
//! * [`listing`] tells what is in a module that the examples cannot run.

pub mod listing;
pub mod mlp;
mod wait;
pub mod watch;

pub use wait::{is_broken_pipe, wait_for_profiler};
