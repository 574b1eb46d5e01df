//! The calls that are not zones: what each of them counts and says.

use super::counts::Counts;
use super::event::{Event, Value};
use super::fragment::{Fragment, Kind};
use super::lines::Own;
use super::locks::Record;
use super::table::{Entry, Key};
use super::thread::Thread;
use crate::{FrameImage, Location, Message, Name, PlotFormat, PlotStyle, Severity};

/// The frames of the program as a whole.
const FRAME: Name = Name::new(c"frame");
/// The program's own memory.
const MAIN_POOL: Name = Name::new(c"main");

impl Own {
    pub(super) fn message(&mut self, message: Message<'_>, thread: &'static Thread) {
        let severity = severity(message.severity);
        self.count(Kind::Message, severity, 0, thread);
        let fields = [("severity", Value::Kind(as_str(severity))), ("color", Value::Color(message.color))];
        self.say("message", Some(("text", message.text.as_bytes())), &fields, thread);
    }

    pub(super) fn plot(&mut self, plot: Name, shown: Value<'_>, value: f64, thread: &'static Thread) {
        if self.has_summary() {
            counts(entry(Kind::Plot, plot, thread), thread).add_float(value);
        }
        self.say("plot", named(plot), &[("value", shown)], thread);
    }

    pub(super) fn plot_style(&mut self, plot: Name, style: PlotStyle, thread: &'static Thread) {
        let format = match style.format {
            PlotFormat::Number => "number",
            PlotFormat::Memory => "memory",
            PlotFormat::Percentage => "percentage",
            PlotFormat::Watt => "watt",
        };
        let fields = [
            ("format", Value::Text(format)),
            ("step", Value::Flag(style.step)),
            ("fill", Value::Flag(style.fill)),
            ("color", Value::Color(style.color)),
        ];
        self.say("plot_style", named(plot), &fields, thread);
    }

    pub(super) fn frame_mark(&mut self, frame: Option<Name>, thread: &'static Thread) {
        let now = self.now();
        let since = self.frame_since(frame.unwrap_or(FRAME), now, now, thread);
        self.say_timed("frame", frame.and_then(named), Some(("duration_ns", since)), now, thread);
    }

    pub(super) fn frame_begin(&mut self, frame: Name, thread: &'static Thread) {
        let now = self.now();
        entry(Kind::Frame, frame, thread).last.store(now, core::sync::atomic::Ordering::Relaxed);
        self.say_timed("frame_begin", named(frame), None, now, thread);
    }

    pub(super) fn frame_end(&mut self, frame: Name, thread: &'static Thread) {
        let now = self.now();
        let since = self.frame_since(frame, now, 0, thread);
        self.say_timed("frame_end", named(frame), Some(("duration_ns", since)), now, thread);
    }

    /// How long the frame was that ends now, if its beginning is known. The next one's is at `next`.
    fn frame_since(&mut self, frame: Name, now: u64, next: u64, thread: &'static Thread) -> Option<u64> {
        let entry = entry(Kind::Frame, frame, thread);
        let before = entry.last.swap(next, core::sync::atomic::Ordering::Relaxed);
        let since = (before != 0).then(|| now.saturating_sub(before));
        if let Some(since) = since.filter(|_| self.has_summary()) {
            counts(entry, thread).add(since);
        }
        since
    }

    pub(super) fn frame_image(&mut self, image: FrameImage<'_>, thread: &'static Thread) {
        let fields = [
            ("width", Value::Unsigned(image.width.into())),
            ("height", Value::Unsigned(image.height.into())),
            ("age", Value::Unsigned(image.age.into())),
            ("flipped", Value::Flag(image.flipped)),
        ];
        self.say("frame_image", None, &fields, thread);
    }

    pub(super) fn memory_alloc(
        &mut self,
        pool: Option<Name>,
        address: usize,
        size: usize,
        thread: &'static Thread,
    ) {
        self.count(Kind::Alloc, pool.unwrap_or(MAIN_POOL), size as u64, thread);
        let fields = [("address", Value::Address(address)), ("size", Value::Unsigned(size as u64))];
        self.say("alloc", pool.and_then(in_pool), &fields, thread);
    }

    pub(super) fn memory_free(&mut self, pool: Option<Name>, address: usize, thread: &'static Thread) {
        self.count(Kind::Free, pool.unwrap_or(MAIN_POOL), 0, thread);
        self.say("free", pool.and_then(in_pool), &[("address", Value::Address(address))], thread);
    }

    pub(super) fn memory_discard(&mut self, pool: Name, thread: &'static Thread) {
        self.say("discard", in_pool(pool), &[], thread);
    }

    pub(super) fn lock_announce(
        &mut self,
        lock: &'static Record,
        location: &'static Location,
        thread: &'static Thread,
    ) {
        let file = String::from_utf8_lossy(location.file().to_bytes());
        let fields = [
            ("lock", Value::Unsigned(lock.number())),
            ("file", Value::Text(&file)),
            ("line", Value::Unsigned(location.line().into())),
        ];
        self.say("lock_announce", Some(("name", location.title().to_bytes())), &fields, thread);
    }

    pub(super) fn lock_name(&mut self, lock: &'static Record, name: &str, thread: &'static Thread) {
        lock.rename(name);
        self.say("lock_name", Some(("name", name.as_bytes())), &number_of(lock), thread);
    }

    pub(super) fn lock_wait(&mut self, lock: &'static Record, thread: &'static Thread) {
        let now = self.now();
        self.locks.begin(lock.number(), Kind::LockWait, now);
        self.say_lock("lock_wait", None, lock, now, thread);
    }

    pub(super) fn lock_obtain(&mut self, lock: &'static Record, thread: &'static Thread) {
        let now = self.now();
        let waited = self.lock_since(lock, Kind::LockWait, now, thread);
        self.locks.begin(lock.number(), Kind::LockHold, now);
        self.say_lock("lock_obtain", Some(("wait_ns", waited)), lock, now, thread);
    }

    pub(super) fn lock_try_obtain(&mut self, lock: &'static Record, obtained: bool, thread: &'static Thread) {
        if obtained {
            let now = self.now();
            self.locks.begin(lock.number(), Kind::LockHold, now);
        }
        let [number] = number_of(lock);
        self.say("lock_try_obtain", lock_name(lock), &[number, ("obtained", Value::Truth(obtained))], thread);
    }

    pub(super) fn lock_release(&mut self, lock: &'static Record, thread: &'static Thread) {
        let now = self.now();
        let held = self.lock_since(lock, Kind::LockHold, now, thread);
        self.say_lock("lock_release", Some(("hold_ns", held)), lock, now, thread);
    }

    pub(super) fn lock_terminate(&mut self, lock: &'static Record, thread: &'static Thread) {
        self.say("lock_terminate", lock_name(lock), &number_of(lock), thread);
        lock.terminate();
    }

    /// How long a wait or a hold was that ends now.
    fn lock_since(
        &mut self,
        lock: &'static Record,
        kind: Kind,
        now: u64,
        thread: &'static Thread,
    ) -> Option<u64> {
        let since = self.locks.end(lock.number(), kind, now)?;
        if self.has_summary() {
            let fragment = lock.fragment(kind);
            counts(row(Key::new(kind, fragment), thread, || fragment), thread).add(since);
        }
        Some(since)
    }

    fn say_lock(
        &mut self,
        name: &str,
        elapsed: Option<(&str, Option<u64>)>,
        lock: &'static Record,
        now: u64,
        thread: &'static Thread,
    ) {
        let elapsed = elapsed.and_then(|(key, elapsed)| Some((key, elapsed?)));
        let event = Event { name, subject: lock_name(lock), elapsed, fields: &number_of(lock) };
        self.event(&event, now, thread);
    }

    pub(super) fn fiber_enter(&mut self, fiber: Name, thread: &'static Thread) {
        self.enter_fiber(fiber);
        self.say("fiber_enter", named(fiber), &[], thread);
    }

    pub(super) fn fiber_leave(&mut self, thread: &'static Thread) {
        self.say("fiber_leave", self.fiber().and_then(named), &[], thread);
        self.leave_fiber();
    }

    pub(super) fn thread_name(&mut self, name: &str, thread: &'static Thread) {
        self.set_name(name);
        self.say("thread_name", Some(("name", name.as_bytes())), &[], thread);
    }

    pub(super) fn app_info(&mut self, text: &str, thread: &'static Thread) {
        self.say("app_info", Some(("text", text.as_bytes())), &[], thread);
    }

    pub(super) fn say(
        &mut self,
        name: &str,
        subject: Option<(&str, &[u8])>,
        fields: &[(&str, Value<'_>)],
        thread: &'static Thread,
    ) {
        if self.has_lines() {
            let now = self.now();
            self.event(&Event { name, subject, elapsed: None, fields }, now, thread);
        }
    }

    fn say_timed(
        &mut self,
        name: &str,
        subject: Option<(&str, &[u8])>,
        elapsed: Option<(&str, Option<u64>)>,
        now: u64,
        thread: &'static Thread,
    ) {
        let elapsed = elapsed.and_then(|(key, elapsed)| Some((key, elapsed?)));
        self.event(&Event { name, subject, elapsed, fields: &[] }, now, thread);
    }

    /// Counts a number under a name, if there is a summary.
    fn count(&mut self, kind: Kind, name: Name, number: u64, thread: &'static Thread) {
        if self.has_summary() {
            counts(entry(kind, name, thread), thread).add(number);
        }
    }
}

/// What this thread has counted of a row.
pub(super) fn counts(entry: &Entry, thread: &'static Thread) -> &'static Counts {
    thread.counts().of(entry.index())
}

/// This thread's row of a name.
pub(super) fn entry(kind: Kind, name: Name, thread: &'static Thread) -> &'static Entry {
    row(Key::new(kind, name.as_c_str()), thread, || Fragment::of_name(kind, name.as_c_str()))
}

pub(super) fn row(
    key: Key,
    thread: &'static Thread,
    make: impl FnOnce() -> &'static Fragment,
) -> &'static Entry {
    thread.table().find(key).unwrap_or_else(|| thread.table().add(key, make()))
}

fn named(name: Name) -> Option<(&'static str, &'static [u8])> {
    Some(("name", name.as_c_str().to_bytes()))
}

fn in_pool(pool: Name) -> Option<(&'static str, &'static [u8])> {
    Some(("pool", pool.as_c_str().to_bytes()))
}

fn lock_name(lock: &'static Record) -> Option<(&'static str, &'static [u8])> {
    Some(("name", lock.name().to_bytes()))
}

fn number_of(lock: &Record) -> [(&'static str, Value<'static>); 1] {
    [("lock", Value::Unsigned(lock.number()))]
}

fn severity(severity: Severity) -> Name {
    Name::new(match severity {
        Severity::Trace => c"trace",
        Severity::Debug => c"debug",
        Severity::Info => c"info",
        Severity::Warning => c"warning",
        Severity::Error => c"error",
        Severity::Fatal => c"fatal",
    })
}

fn as_str(name: Name) -> &'static str {
    name.as_c_str().to_str().unwrap_or_default()
}
