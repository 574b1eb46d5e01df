//! A headless receiver for Tracy's protocol: capture a live stream and ask questions about it.
//!
//! A program that is traced with Tracy is a *client*; the
//! profiler that connects to it is a *server*. This crate is a server without a window. It speaks
//! protocol 82, that of Tracy 0.14, and needs no C++.
//!
//! * [`Receiver`] captures a running program; [`child`] captures one that a test starts.
//! * [`Capture`] holds what came: zones, GPU zones, messages, plots, frames, memory, locks, fibers,
//!   source files. Its questions read like sentences: `capture.zones().named("matmul").one()`.
//! * [`Checker`] is the judge: it knows what the real server does not bear.
//! * [`Recording`] is a stream that was kept ([`Receiver::record_to`]), and [`Server`] serves it to
//!   the profiler, or to anything else that speaks the protocol.
//! * A [`Composer`] makes a recording of what somebody else measured.
//! * [`Engine`] makes a capture of bytes that came some other way; [`Decoder`] and [`Encoder`] turn
//!   bytes into [`Item`]s and back.
//!
//! Peers are not trusted. Whatever they send, nothing panics, no memory is set aside on their word,
//! and every wait has an end; what came before a fault is kept.

mod answers;
mod ask;
mod builder;
mod capture;
mod check;
pub mod child;
mod compose;
mod decode;
mod discover;
mod encode;
mod engine;
mod error;
mod frame;
mod gpu_clock;
mod item;
mod model;
mod names;
pub mod protocol;
mod receiver;
mod record;
mod recording;
mod select;
mod serve;
mod stats;
mod view;
mod welcome;

pub use ask::Question;
pub use builder::Keep;
pub use capture::{Capture, Summary};
pub use check::{Checker, Detail, Effect, Payload, Rule, Violation};
pub use compose::Composer;
pub use decode::{Decoder, measure};
pub use encode::Encoder;
pub use engine::Engine;
pub use error::{DecodeError, Error, ErrorKind};
pub use frame::{FrameDecoder, check_size, encode_frame};
pub use item::{Color, FrameSort, HwCounter, Item, Location, PlotValue};
pub use model::{FrameImage, FrameMark, LockAction, LockEvent, MemoryEvent, PlotLook};
pub use names::UNKNOWN;
pub use receiver::Receiver;
pub use recording::Recording;
pub use select::Select;
pub use serve::Server;
pub use stats::Distribution;
pub use view::{
    CodeLocation, Crash, FiberRun, GpuContext, GpuSort, GpuZone, Located, Lock, Message, Named, Section,
    Severity, StackFrame, Thread, Zone,
};
pub use welcome::{OnDemand, Welcome};
