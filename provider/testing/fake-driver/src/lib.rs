//! A GPU that is not there.
//!
//! [`Sim`] is one timeline: streams are queues that run in order, each operation begins some latency after the
//! host asked for it and is seen done some latency after it was. The host's clock is simulated
//! too (every call takes a little of it, and [`Sim::advance`] lets much pass), or is the real one. The
//! device's clock drifts, wanders, ticks and is reset ([`DeviceClock`]).
//!
//! It has [`Memory`] and [`Module`]s, and runs no kernel by itself. It misbehaves as told by [`Faults`], and notes what a driver's user must not do ([`Misuse`]). Times between events
//! are told as drivers tell them: as floats of milliseconds.
//!
//! The packages `cuda` and `hip` beside this one put the faces of the real drivers before it.

mod clock;
pub mod face;
mod launch;
mod memory;
mod module;
mod random;
mod sim;

use std::collections::HashMap;

pub use clock::DeviceClock;
pub use launch::Programs;
pub use memory::{GRANULARITY, Memory};
pub use module::{Function, Kernel, Module};
pub use random::Random;
pub use sim::Sim;

/// Numbers of errors, which CUDA and HIP share.
pub mod code {
    #![allow(missing_docs, reason = "the drivers' own names")]
    pub const SUCCESS: u32 = 0;
    pub const INVALID_VALUE: u32 = 1;
    pub const OUT_OF_MEMORY: u32 = 2;
    pub const DEINITIALIZED: u32 = 4;
    pub const STUB_LIBRARY: u32 = 34;
    pub const NO_DEVICE: u32 = 100;
    pub const INVALID_DEVICE: u32 = 101;
    pub const INVALID_CONTEXT: u32 = 201;
    pub const INVALID_HANDLE: u32 = 400;
    pub const NOT_FOUND: u32 = 500;
    pub const NOT_READY: u32 = 600;
    pub const CONTEXT_IS_DESTROYED: u32 = 709;
    pub const LAUNCH_FAILED: u32 = 719;
    pub const CAPTURE_UNSUPPORTED: u32 = 900;
    pub const CAPTURED_EVENT: u32 = 907;
}

/// How a driver turns nanoseconds into a float of milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// Divided, then rounded.
    #[default]
    Cuda,
    /// Rounded, divided, and rounded again.
    Hip,
    /// As HIP, and nothing is negative.
    HipClamped,
}

/// How the simulated device is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Equal seeds behave equally, unless time is real.
    pub seed: u64,
    /// By how much the device's clock is too fast, in millionths.
    pub ppm: f64,
    /// By how much that wanders in a second.
    pub walk_ppm: f64,
    /// The device's clock counts in steps of so many nanoseconds.
    pub tick: i64,
    /// The device's counter begins anew at so many nanoseconds. 0 for never.
    pub wrap: i64,
    /// Whether the host's clock is the real one.
    pub real_time: bool,
    /// How floats are made.
    pub rounding: Rounding,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            ppm: 50.0,
            walk_ppm: 0.02,
            tick: 32,
            wrap: 0,
            real_time: false,
            rounding: Rounding::Cuda,
        }
    }
}

/// What goes wrong.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Every call of the kind returns this code from its so-manieth on.
    pub fail: HashMap<&'static str, (u64, u32)>,
    /// One event in so many is never done (nor what comes after it on its stream). 0 for none.
    pub never_once_in: u64,
    /// One event in so many takes 50 ms longer to be seen. 0 for none.
    pub late_once_in: u64,
    /// One time in so many between events is anything, even no number. 0 for none.
    pub lies_once_in: u64,
    /// So many queries of an event say that it is not ready after it is.
    pub slow_queries: u64,
    /// One time in so many that the host looks at its clock, its thread is interrupted, for anything up to 3 s.
    /// 0 for never; only where time is simulated.
    pub interrupted_once_in: u64,
    /// The context is destroyed: nothing works any more.
    pub destroyed: bool,
    /// A launch has failed: nothing works any more.
    pub launch_failed: bool,
    /// The driver has shut down, as it does when its process ends.
    pub ended: bool,
}

/// What was done that must not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misuse {
    /// Calls that wait for the device.
    pub blocking: u64,
    /// Events or streams used that are not there.
    pub dead_handles: u64,
    /// Calls that break another thread's capture.
    pub broken_captures: u64,
    /// Times between events before they were done.
    pub early_times: u64,
    /// Events recorded on another device than theirs, or compared with another device's.
    pub wrong_device: u64,
    /// Calls with no context current that need one.
    pub without_context: u64,
}
