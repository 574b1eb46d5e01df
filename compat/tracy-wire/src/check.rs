//! The real server's rules, as a judge that names what broke them.
//!
//! Tracy's server trusts its client. What it cannot bear it answers in one of four ways, each an
//! [`Effect`]: it ends the capture with a message, it asserts (and in a release build, where
//! asserts are compiled out, corrupts the capture or dies), it waits for ever, or it shows
//! something untrue. A [`Checker`] reports each as a [`Violation`] with the item that broke the
//! rule, and goes on.
//!
//! The rules were read in `TracyWorker.cpp` of Tracy 0.14. A checker runs on a live stream
//! ([`Receiver::check`](crate::Receiver::check)), on bytes ([`Engine::check`](crate::Engine::check)),
//! or on items handed to it:
//!
//! ```
//! use zonecast_tracy_wire::{Checker, Item, Rule, Welcome};
//!
//! let mut checker = Checker::new(&Welcome::default());
//! checker.item(&Item::ThreadContext { thread: 1 });
//! checker.item(&Item::ZoneEnd { time: 5 });
//! let violations = checker.finish();
//! assert_eq!(violations[0].rule, Rule::ZoneEndWithoutBegin);
//! assert_eq!(violations[0].item, Some(1), "the second item");
//! ```

mod answers;
mod cpu;
mod frames;
mod gpu;
mod locks;
mod memory;
mod payload;
mod rule;
mod system;

use crate::ask::Question;
use crate::item::Item;
use crate::welcome::Welcome;

pub use rule::{Detail, Effect, Payload, Rule, Violation};

/// How many violations are kept; further ones are only counted.
const KEPT: usize = 10_000;

/// Times that a server can store: it keeps 48 bits of them.
const TIME_RANGE: std::ops::Range<i64> = -(1 << 47)..1 << 47;

/// Where rules report to.
#[derive(Debug)]
struct Report {
    violations: Vec<Violation>,
    total: u64,
    /// The number of the item that is being looked at; `None` at the end.
    item: Option<u64>,
    text: String,
}

impl Report {
    fn add(&mut self, rule: Rule) {
        self.total += 1;
        if self.violations.len() < KEPT {
            self.violations.push(Violation { rule, item: self.item, text: self.text.clone() });
        }
    }

    /// Reports a rule unless it is kept.
    fn require(&mut self, kept: bool, rule: Rule) {
        if !kept {
            self.add(rule);
        }
    }
}

/// Facts of the welcome message that decide between rules.
#[derive(Debug)]
struct Leniency {
    /// An end of a frame without its start is no fault.
    frame_ends: bool,
    /// A free without its allocation is no fault.
    frees: bool,
    /// An allocation of what is allocated is no fault.
    allocations: bool,
}

/// Watches a stream for what the real server does not bear.
#[derive(Debug)]
pub struct Checker {
    welcome: Welcome,
    leniency: Leniency,
    report: Report,
    items: u64,
    terminated: bool,
    excused: bool,
    payload: payload::Payloads,
    cpu: cpu::CpuRules,
    gpu: gpu::GpuRules,
    memory: memory::MemoryRules,
    locks: locks::LockRules,
    frames: frames::FrameRules,
    system: system::SystemRules,
    answers: answers::AnswerRules,
}

impl Checker {
    /// A checker for the stream of the client that said `welcome`.
    #[must_use]
    pub fn new(welcome: &Welcome) -> Self {
        use crate::protocol::welcome_flags::IGNORE_MEMORY_FAULTS;
        let ignores = welcome.flags & IGNORE_MEMORY_FAULTS != 0;
        Self {
            leniency: Leniency {
                frame_ends: welcome.is_on_demand(),
                frees: welcome.is_on_demand() || ignores,
                allocations: ignores,
            },
            welcome: welcome.clone(),
            report: Report { violations: Vec::new(), total: 0, item: None, text: String::new() },
            items: 0,
            terminated: false,
            excused: false,
            payload: payload::Payloads::default(),
            cpu: cpu::CpuRules::default(),
            gpu: gpu::GpuRules::default(),
            memory: memory::MemoryRules::default(),
            locks: locks::LockRules::default(),
            frames: frames::FrameRules::default(),
            system: system::SystemRules::default(),
            answers: answers::AnswerRules::default(),
        }
    }

    /// Looks at the next item of the stream.
    pub fn item(&mut self, item: &Item<'_>) {
        let before = self.report.total;
        let first_new = self.report.violations.len();
        self.report.item = Some(self.items);
        self.items += 1;
        self.check(item);
        if self.report.total != before {
            let text = readable(item);
            self.report.violations[first_new..].iter_mut().for_each(|new| new.text.clone_from(&text));
        }
    }

    fn check(&mut self, item: &Item<'_>) {
        let Self { payload, cpu, report, welcome, .. } = self;
        match *item {
            Item::ThreadContext { thread } => cpu.enter_thread(thread),
            Item::Terminate => self.terminated = true,
            Item::Crash => self.excused = true,
            Item::ZoneBegin { .. }
            | Item::ZoneEnd { .. }
            | Item::ZoneValidation { .. }
            | Item::ZoneText
            | Item::ZoneName
            | Item::ZoneColor { .. }
            | Item::ZoneValue { .. }
            | Item::FiberEnter { .. }
            | Item::FiberLeave { .. }
            | Item::Message { .. }
            | Item::Plot { .. }
            | Item::Callstack
            | Item::CallstackAlloc
            | Item::CrashReport { .. } => cpu.check(item, payload, welcome, report),
            Item::GpuNewContext { .. }
            | Item::GpuZoneBegin { .. }
            | Item::GpuZoneEnd { .. }
            | Item::GpuTime { .. }
            | Item::GpuCalibration { .. }
            | Item::GpuTimeSync { .. }
            | Item::GpuContextName { .. }
            | Item::GpuAnnotationName { .. }
            | Item::GpuZoneAnnotation { .. } => {
                let location = match *item {
                    Item::GpuZoneBegin { location, .. } => location,
                    _ => None,
                };
                if let Some(pointer) = location {
                    cpu.static_location(pointer, report);
                }
                if let Item::GpuZoneBegin { serial: false, callstack: true, .. } = *item {
                    cpu.use_callstack(report);
                }
                self.gpu.check(item, payload, welcome, report);
            }
            _ => self.check_rarer(item),
        }
    }

    fn check_rarer(&mut self, item: &Item<'_>) {
        let Self { payload, report, welcome, leniency, .. } = self;
        match *item {
            Item::MemAlloc { .. } | Item::MemFree { .. } | Item::MemDiscard { .. } => {
                self.memory.check(item, payload, leniency, report);
                let (Item::MemAlloc { thread, .. }
                | Item::MemFree { thread, .. }
                | Item::MemDiscard { thread, .. }) = *item
                else {
                    return;
                };
                self.cpu.notice_thread(thread);
            }
            Item::LockAnnounce { .. }
            | Item::LockTerminate { .. }
            | Item::LockWait { .. }
            | Item::LockObtain { .. }
            | Item::LockRelease { .. }
            | Item::LockMark { .. }
            | Item::LockName { .. } => {
                if let Item::LockAnnounce { location, .. } | Item::LockMark { location, .. } = *item {
                    self.cpu.static_location(location, report);
                }
                self.locks.check(item, payload, report);
            }
            Item::FrameMark { .. }
            | Item::FrameVsync { .. }
            | Item::FrameImage { .. }
            | Item::FrameImageData { .. } => self.frames.check(item, payload, welcome, leniency, report),
            Item::LocationPayload(ref location) => {
                self.cpu.allocated_location(location, report);
                payload.set(Payload::Location, report);
            }
            Item::ThreadGroupHint { thread, .. } => {
                report.require(self.cpu.knows_thread(thread), Rule::HintOfUnknownThread { thread });
            }
            Item::CallstackSample { thread, .. } => {
                payload.take(Payload::Callstack, report);
                self.cpu.notice_thread(thread);
            }
            _ => {
                payload.check(item, report);
                self.system.check(item, payload, report);
                self.answers.check(item, payload, report);
            }
        }
    }

    /// Tells the checker that the client was asked `question`. Once anything was asked, answers to
    /// what was not are violations.
    pub fn asked(&mut self, question: Question) {
        if question == Question::Disconnect {
            // A server that ends the capture itself waits for no zone.
            self.excused = true;
        }
        self.answers.asked(question);
    }

    /// What was found so far, in the order of the stream.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.report.violations
    }

    /// How many violations there were, kept or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.report.total
    }

    /// Ends the stream, and adds what only its end shows.
    #[must_use]
    pub fn finish(mut self) -> Vec<Violation> {
        self.report.item = None;
        self.report.text = "the end of the stream".into();
        if !self.excused {
            if self.terminated {
                self.cpu.finish(&mut self.report);
            }
            self.gpu.finish(&mut self.report);
        }
        self.report.violations
    }
}

/// The item in words; texts in it may be long, and are cut.
fn readable(item: &Item<'_>) -> String {
    const LIMIT: usize = 200;
    let mut text = match item {
        Item::SingleString(bytes) | Item::SecondString(bytes) => {
            format!("a string of {} bytes", bytes.len())
        }
        Item::FrameImageData { image } => format!("an image of {} bytes", image.len()),
        Item::SourceCode { id, text } => format!("SourceCode {{ id: {id} }} of {} bytes", text.len()),
        Item::SymbolCode { symbol, code } => {
            format!("SymbolCode {{ symbol: {symbol} }} of {} bytes", code.len())
        }
        Item::CallstackPayload { frames } => format!("a callstack of {} frames", frames.len() / 8),
        _ => format!("{item:?}"),
    };
    if text.len() > LIMIT {
        let cut = (0..=LIMIT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(cut);
        text.push('…');
    }
    text
}
