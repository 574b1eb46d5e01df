//! Handles on what a capture holds. Each is an index and a reference, and is cheap to copy.

mod gpu;

use std::fmt;

use crate::capture::{Capture, ended};
use crate::item::Color;
use crate::model::{
    GpuContextData, GpuZoneData, LockData, LockEvent, MemoryEvent, MessageData, NONE, ThreadData, ZoneData,
    ZoneExtra,
};
use crate::names::{CallstackEntry, CallstackId, Frame, LocationData, LocationId, UNKNOWN};

pub use gpu::GpuSort;

/// A place in the code.
#[derive(Clone, Copy)]
pub struct CodeLocation<'a> {
    capture: &'a Capture,
    data: &'a LocationData,
}

impl<'a> CodeLocation<'a> {
    fn new(capture: &'a Capture, id: LocationId) -> Self {
        Self { capture, data: capture.names.locations.get(id) }
    }

    /// The name that the location gives to its zones, if it gives one.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        self.capture.names.text(self.data.name)
    }

    /// The function.
    #[must_use]
    pub fn function(&self) -> &'a str {
        self.capture.names.text(self.data.function).unwrap_or(UNKNOWN)
    }

    /// The file's path.
    #[must_use]
    pub fn file(&self) -> &'a str {
        self.capture.names.text(self.data.file).unwrap_or(UNKNOWN)
    }

    /// The line in the file.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.data.line
    }

    /// The colour, if it has one.
    #[must_use]
    pub fn color(&self) -> Option<Color> {
        (self.data.color != 0).then_some(self.data.color)
    }
}

/// What lies at a place in the code.
pub trait Located<'a> {
    /// The place.
    fn location(&self) -> CodeLocation<'a>;
}

/// What has a name, and can be selected by it.
pub trait Named {
    /// The name.
    fn name(&self) -> &str;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $handle:ident: $data:ident in $table:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $handle<'a> {
            pub(crate) capture: &'a Capture,
            pub(crate) index: usize,
        }

        impl<'a> $handle<'a> {
            fn data(&self) -> &'a $data {
                &self.capture.tables.$table[self.index]
            }
        }

        impl PartialEq for $handle<'_> {
            fn eq(&self, other: &Self) -> bool {
                std::ptr::eq(self.capture, other.capture) && self.index == other.index
            }
        }

        impl fmt::Debug for $handle<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {} {:?}", stringify!($handle), self.index, Named::name(self))
            }
        }
    )*};
}

handles! {
    /// A thread of the program, or a fiber.
    Thread: ThreadData in threads;
    /// A zone on a thread.
    Zone: ZoneData in zones;
    /// A timeline of a GPU.
    GpuContext: GpuContextData in gpu_contexts;
    /// A zone on a GPU.
    GpuZone: GpuZoneData in gpu_zones;
    /// A message.
    Message: MessageData in messages;
    /// A lock.
    Lock: LockData in locks;
}

impl<'a> Thread<'a> {
    /// The thread's or fiber's name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        let data = self.data();
        if data.fiber { self.capture.names.fiber(data.id) } else { self.capture.names.thread(data.id) }
    }

    /// The system's number of the thread; for a fiber, the pointer to its name.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.data().id
    }

    /// Its place among [`Capture::threads`].
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether it is a fiber.
    #[must_use]
    pub fn is_fiber(&self) -> bool {
        self.data().fiber
    }

    /// Threads with the same hint are drawn together; 0 is none.
    #[must_use]
    pub fn group_hint(&self) -> i32 {
        self.data().group
    }

    /// Its zones, in the order of their beginning.
    pub fn zones(&self) -> impl Iterator<Item = Zone<'a>> + use<'a> {
        let this = *self;
        (0..this.capture.tables.zones.len())
            .map(move |index| Zone { capture: this.capture, index })
            .filter(move |zone| zone.data().thread as usize == this.index)
    }
}

impl<'a> Zone<'a> {
    fn extra(&self) -> Option<&'a ZoneExtra> {
        self.capture.tables.extras.get(self.data().extra as usize)
    }

    /// The zone's name: its own, or else its location's, or else its function.
    #[must_use]
    pub fn name(&self) -> &'a str {
        match self.extra().and_then(|extra| extra.name) {
            Some(name) => self.capture.names.texts.get(name),
            None => self.location().name().unwrap_or_else(|| self.location().function()),
        }
    }

    /// The name that it was given besides its location's.
    #[must_use]
    pub fn own_name(&self) -> Option<&'a str> {
        self.extra()?.name.map(|name| self.capture.names.texts.get(name))
    }

    /// The function it lies in.
    #[must_use]
    pub fn function(&self) -> &'a str {
        self.location().function()
    }

    /// The file it lies in.
    #[must_use]
    pub fn file(&self) -> &'a str {
        self.location().file()
    }

    /// The line in the file.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.location().line()
    }

    /// The thread or fiber it ran on.
    #[must_use]
    pub fn thread(&self) -> Thread<'a> {
        Thread { capture: self.capture, index: self.data().thread as usize }
    }

    /// How many zones enclose it.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.data().depth
    }

    /// The zone around it.
    #[must_use]
    pub fn parent(&self) -> Option<Zone<'a>> {
        let parent = self.data().parent;
        (parent != NONE).then_some(Zone { capture: self.capture, index: parent as usize })
    }

    /// The zones directly inside it, in the order of their beginning.
    pub fn children(&self) -> impl Iterator<Item = Zone<'a>> + use<'a> {
        let this = *self;
        let (thread, depth) = (this.data().thread, this.data().depth);
        (this.index + 1..this.capture.tables.zones.len())
            .map(move |index| Zone { capture: this.capture, index })
            .filter(move |zone| zone.data().thread == thread)
            .take_while(move |zone| zone.data().depth > depth)
            .filter(move |zone| zone.data().depth == depth + 1)
    }

    /// When it began.
    #[must_use]
    pub fn start_ns(&self) -> i64 {
        self.data().start
    }

    /// When it ended, if it did.
    #[must_use]
    pub fn end_ns(&self) -> Option<i64> {
        ended(self.data().end)
    }

    /// How long it took, if it ended.
    #[must_use]
    pub fn duration_ns(&self) -> Option<i64> {
        Some(self.end_ns()?.saturating_sub(self.start_ns()))
    }

    /// Its texts, in the order given.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let names = &self.capture.names;
        let texts = self.extra().map_or(&[][..], |extra| &extra.texts);
        texts.iter().map(|text| names.texts.get(*text))
    }

    /// Its numbers, in the order given.
    #[must_use]
    pub fn values(&self) -> &'a [u64] {
        self.extra().map_or(&[], |extra| &extra.values)
    }

    /// Its own colour, or else its location's.
    #[must_use]
    pub fn color(&self) -> Option<Color> {
        self.extra().and_then(|extra| extra.color).or_else(|| self.location().color())
    }

    /// Where it was called from, innermost first; empty if it was not asked to say.
    #[must_use]
    pub fn callstack(&self) -> Vec<StackFrame<'a>> {
        callstack(self.capture, self.extra().and_then(|extra| extra.callstack))
    }
}

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the usual scale")]
pub enum Severity {
    Trace,
    Debug,
    Info,
    Warning,
    Error,
    Fatal,
}

impl Severity {
    pub(crate) fn from_metadata(metadata: u8) -> Option<Self> {
        const KNOWN: [Severity; 6] = [
            Severity::Trace,
            Severity::Debug,
            Severity::Info,
            Severity::Warning,
            Severity::Error,
            Severity::Fatal,
        ];
        KNOWN.get(usize::from(metadata >> 4)).copied()
    }
}

impl<'a> Message<'a> {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.capture.names.text(self.data().text).unwrap_or("")
    }

    /// When it was said.
    #[must_use]
    pub fn time_ns(&self) -> i64 {
        self.data().time
    }

    /// How much it matters; `None` for a number that Tracy does not know.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        Severity::from_metadata(self.data().metadata)
    }

    /// Whether Tracy said it, and not the program.
    #[must_use]
    pub fn is_from_tracy(&self) -> bool {
        self.data().metadata & 0x0F == 1
    }

    /// Its colour, if it has one.
    #[must_use]
    pub fn color(&self) -> Option<Color> {
        self.data().color
    }

    /// Who said it.
    #[must_use]
    pub fn thread(&self) -> Thread<'a> {
        Thread { capture: self.capture, index: self.data().thread as usize }
    }

    /// Where it was said, innermost first; empty if it was not asked to say.
    #[must_use]
    pub fn callstack(&self) -> Vec<StackFrame<'a>> {
        callstack(self.capture, self.data().callstack)
    }
}

impl<'a> Lock<'a> {
    /// Its name: its own, or else its location's, or else its function.
    #[must_use]
    pub fn name(&self) -> &'a str {
        match self.data().name {
            Some(name) => self.capture.names.texts.get(name),
            None => self.location().name().unwrap_or_else(|| self.location().function()),
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.data().id
    }

    /// Whether it has readers and writers.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.data().shared
    }

    /// When it came to be.
    #[must_use]
    pub fn announced_ns(&self) -> i64 {
        self.data().announced
    }

    /// When it was destroyed, if it was.
    #[must_use]
    pub fn terminated_ns(&self) -> Option<i64> {
        ended(self.data().terminated)
    }

    /// What happened to it.
    #[must_use]
    pub fn events(&self) -> &'a [LockEvent] {
        &self.data().events
    }

    /// Where in the code `event` of this lock happened, if the program said so.
    #[must_use]
    pub fn place_of(&self, event: &LockEvent) -> Option<CodeLocation<'a>> {
        event.mark.map(|id| CodeLocation::new(self.capture, id))
    }
}

impl MemoryEvent {
    /// Where in `capture` it happened, innermost first; empty if it was not asked to say.
    #[must_use]
    pub fn callstack<'a>(&self, capture: &'a Capture) -> Vec<StackFrame<'a>> {
        callstack(capture, self.callstack)
    }
}

impl<'a> Located<'a> for CodeLocation<'a> {
    fn location(&self) -> CodeLocation<'a> {
        *self
    }
}

macro_rules! located {
    ($($handle:ident),*) => {$(
        impl<'a> $handle<'a> {
            /// The place in the code that it lies at.
            #[must_use]
            pub fn location(&self) -> CodeLocation<'a> {
                CodeLocation::new(self.capture, self.data().location)
            }
        }

        impl<'a> Located<'a> for $handle<'a> {
            fn location(&self) -> CodeLocation<'a> {
                $handle::location(self)
            }
        }
    )*};
}
located!(Zone, GpuZone, Lock);

macro_rules! named {
    ($($handle:ident by $method:ident;)*) => {$(
        impl Named for $handle<'_> {
            fn name(&self) -> &str {
                $handle::$method(self)
            }
        }
    )*};
}
named! {
    Thread by name;
    Zone by name;
    GpuZone by name;
    Lock by name;
    Message by text;
}

impl Named for GpuContext<'_> {
    fn name(&self) -> &str {
        GpuContext::name(self).unwrap_or("")
    }
}

/// One place that a callstack leads through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame<'a> {
    /// The return address; 0 in an interpreted language.
    pub address: u64,
    /// The function.
    pub function: &'a str,
    /// The file.
    pub file: &'a str,
    /// The line in the file.
    pub line: u32,
}

fn callstack(capture: &Capture, id: Option<CallstackId>) -> Vec<StackFrame<'_>> {
    let Some(id) = id else { return Vec::new() };
    let names = &capture.names;
    let readable = |address: u64, frame: &Frame| StackFrame {
        address,
        function: names.texts.get(frame.function),
        file: names.texts.get(frame.file),
        line: frame.line,
    };
    let mut frames = Vec::new();
    for entry in names.callstacks.entries(id) {
        match entry {
            CallstackEntry::Interpreted(frame) => frames.push(readable(0, frame)),
            CallstackEntry::Address(address) => match names.callstacks.frames(*address) {
                [] => {
                    frames.push(StackFrame { address: *address, function: UNKNOWN, file: UNKNOWN, line: 0 })
                }
                known => frames.extend(known.iter().map(|frame| readable(*address, frame))),
            },
        }
    }
    frames
}

/// A stretch of time in which a thread ran a fiber.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiberRun<'a> {
    /// The fiber.
    pub fiber: Thread<'a>,
    /// The thread that ran it.
    pub carrier: Thread<'a>,
    /// From when.
    pub start_ns: i64,
    /// Until when, if it ended.
    pub end_ns: Option<i64>,
}

/// A section of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// What it is.
    pub text: &'a str,
    /// The sort of section, if it has a name.
    pub category: Option<&'a str>,
    /// From when.
    pub start_ns: i64,
    /// Until when, if it ended.
    pub end_ns: Option<i64>,
}

/// How a program crashed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crash<'a> {
    /// When.
    pub time_ns: i64,
    /// On which thread.
    pub thread: Thread<'a>,
    /// Why, in words.
    pub text: &'a str,
}
