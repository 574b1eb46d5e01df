#![doc = include_str!("../README.md")]
//!
//! # How it is put together
//!
//! * The macros ([`zone!`], [`function_zone!`], [`message!`], [`plot!`], …) are thin; they call
//!   functions that a debugger can step into.
//! * The functions hand each call to the provider chosen by cargo feature. [`Provider`] is what a
//!   destination has to do; all its calls do nothing by default.
//! * A [`Location`] is made once and never again: see its module for why.
//! * A [`Lane`] is a timeline that is not a thread, for zones whose times are known afterwards.
//! * [`raw`] has begins and ends without guards, for bridges from other interfaces.
//! * [`gpu`] times what runs on GPUs, by pairs of events.
//! * [`sources`] keeps the texts that executables carry, [`dispatch`] ties each of their kernels to
//!   its own.

mod built;
mod calls;
pub mod dispatch;

mod format;
pub mod gpu;
mod lane;
mod location;
mod lock;
mod macros;
mod memory;
mod name;
mod null;
mod provider;
pub mod raw;
mod say;
mod select;
mod session;
mod settings;
pub mod sources;
mod time;
mod zone;

pub use calls::{
    Fiber, Frame, PlotValue, app_info, frame_image, frame_mark, frame_mark_named, is_connected, limit_memory,
    message, message_fmt, plot_style, set_thread_name,
};
pub use lane::Lane;
pub use location::{Interned, Location, LocationParts};
pub use lock::Lock;
pub use macros::__private;
pub use memory::{Pool, TracedAllocator};
pub use name::Name;
pub use null::Null;
pub use provider::{
    FrameImage, LaneId, LaneInfo, LaneKind, LaneZone, LockId, Message, PlotFormat, PlotStyle, Provider,
    Severity, ZoneId,
};
pub use select::ENABLED;
#[cfg(feature = "custom")]
pub use select::custom::{InstallError, install};
pub use session::{Session, start, start_with};
pub use time::Time;
pub use zone::Zone;
pub use zonecast_embed as embed;
