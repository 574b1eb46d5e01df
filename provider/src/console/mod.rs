//! Lines of text, JSON or a summary, on standard error or in a file.
//!
//! # What it is asked
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ZONECAST_CONSOLE` | `text`, `json`, `summary`, or one of the first two and `summary` with a comma between | `text` |
//! | `ZONECAST_FILE` | the file to write, emptied first; `%p` in it is the process's number | standard error |
//! | `ZONECAST_FILTER` | the titles of the zones that are shown: patterns with commas between, `*` for any characters, `?` for one | all |
//! | `ZONECAST_MIN` | shorter zones have no line, such as `10us`; the summary counts them | none |
//! | `ZONECAST_SOURCES` | how many lines of source to show beside a kernel's first zone | 0 |
//!
//! A value that is none of these is said once, and the default is used. Text on a terminal is
//! coloured, unless `NO_COLOR` is set.
//!
//! # What it writes
//!
//! Text is for readers (see `text`), JSON lines are for programs (`json.md` has their keys), the
//! summary is both, depending on what it comes with. Every call has its line but these: the call
//! stacks that some calls ask for, and [`sources_ready`](crate::Provider::sources_ready).
//!
//! # How it works
//!
//! A thread appends whole lines to a buffer of its own (`buffer`) and writes them out when its
//! outermost zone ends; otherwise they go out within 100 ms (`output`). What is the same on all
//! lines of a location is made once (`fragment`) and found in the thread's own `table`, numbers are
//! formatted by hand (`pen`). A summary alone keeps no open zones: a zone's beginning travels in its
//! [`ZoneId`], and its end changes the thread's own `counts` (`tally`). When the program ends,
//! however it ends, `crash` sees to it that nothing that had ended is lost. SIGKILL alone may take
//! the last 100 ms.

mod buffer;
mod calls;
mod clock;
mod config;
mod counts;
mod crash;
mod escape;
mod event;
mod filter;
mod fragment;
mod json;
mod label;
mod lanes;
mod lines;
mod locks;
mod output;
mod pen;
mod registry;
mod signal_stack;
mod source;
mod start;
mod summary;
mod sys;
mod table;
mod tally;
mod text;
mod thread;
mod track;

use event::Value;
use lines::Own;
use locks::Record;
use thread::Thread;
use track::Note;

use crate::{
    FrameImage, LaneId, LaneInfo, LaneZone, Location, LockId, Message, Name, PlotStyle, Provider, ZoneId,
};

/// The console.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console;

/// Does something with this thread's share, unless its calls are left out now.
#[inline(always)]
fn enter<R>(f: impl FnOnce(&mut Own, &'static Thread) -> R) -> Option<R> {
    thread::current()?.enter(f)
}

/// As [`enter`], at what may be the program's first call.
#[inline]
fn call(f: impl FnOnce(&mut Own, &'static Thread)) {
    if start::is_ready() {
        enter(f);
    }
}

/// As [`call`], for calls from within an allocator.
#[inline]
fn memory_call(f: impl FnOnce(&mut Own, &'static Thread)) {
    if start::is_ready() {
        thread::current().map(|thread| thread.enter_nameless(f));
    }
}

impl Provider for Console {
    fn start(&self) {
        start::is_ready();
    }

    fn flush(&self) {
        if start::is_ready() {
            output::flush_all();
        }
    }

    fn is_connected(&self) -> bool {
        true
    }

    #[inline]
    fn zone_begin(&self, location: &'static Location) -> ZoneId {
        match start::mode() {
            start::TICKS => tally::begin(location, clock::ticks),
            _ => begin_slowly(location),
        }
    }

    /// A line is more than a few instructions, and beside Tracy, whose zones are that few, the caller has none to spare.
    #[inline(always)]
    fn try_zone_begin(&self, _: &'static Location) -> Option<ZoneId> {
        None
    }

    #[inline]
    fn zone_end(&self, zone: ZoneId) {
        match start::mode() {
            start::TICKS => tally::end(zone, clock::ticks()),
            _ => end_slowly(zone),
        }
    }

    #[inline(always)]
    fn try_zone_end(&self, _: ZoneId) -> bool {
        false
    }

    #[inline]
    fn zone_switch(&self, zone: ZoneId, location: &'static Location) -> ZoneId {
        match start::mode() {
            start::TICKS => tally::switch(zone, location, clock::ticks),
            _ => switch_slowly(zone, location),
        }
    }

    fn zone_text(&self, zone: ZoneId, text: &str) {
        call(|own, _| own.note(zone, Note::Text(text.as_bytes())));
    }

    fn zone_name(&self, zone: ZoneId, name: &str) {
        call(|own, _| own.note(zone, Note::Name(name.as_bytes())));
    }

    fn zone_value(&self, zone: ZoneId, value: u64) {
        call(|own, _| own.note(zone, Note::Value(value)));
    }

    fn zone_color(&self, zone: ZoneId, color: u32) {
        call(|own, _| own.note(zone, Note::Color(color)));
    }

    fn message(&self, message: Message<'_>) {
        call(|own, thread| own.message(message, thread));
    }

    fn plot_i64(&self, plot: Name, value: i64) {
        call(|own, thread| own.plot(plot, Value::Signed(value), value as f64, thread));
    }

    fn plot_f64(&self, plot: Name, value: f64) {
        call(|own, thread| own.plot(plot, Value::Float(value), value, thread));
    }

    fn plot_f32(&self, plot: Name, value: f32) {
        call(|own, thread| own.plot(plot, Value::Single(value), value.into(), thread));
    }

    fn plot_style(&self, plot: Name, style: PlotStyle) {
        call(|own, thread| own.plot_style(plot, style, thread));
    }

    fn frame_mark(&self, frame: Option<Name>) {
        call(|own, thread| own.frame_mark(frame, thread));
    }

    fn frame_begin(&self, frame: Name) {
        call(|own, thread| own.frame_begin(frame, thread));
    }

    fn frame_end(&self, frame: Name) {
        call(|own, thread| own.frame_end(frame, thread));
    }

    fn frame_image(&self, image: FrameImage<'_>) {
        call(|own, thread| own.frame_image(image, thread));
    }

    fn memory_alloc(&self, pool: Option<Name>, address: usize, size: usize, _callstack: u32) {
        memory_call(|own, thread| own.memory_alloc(pool, address, size, thread));
    }

    fn memory_free(&self, pool: Option<Name>, address: usize, _callstack: u32) {
        memory_call(|own, thread| own.memory_free(pool, address, thread));
    }

    fn memory_discard(&self, pool: Name, _callstack: u32) {
        memory_call(|own, thread| own.memory_discard(pool, thread));
    }

    fn lock_announce(&self, location: &'static Location) -> LockId {
        let mut id = LockId(0);
        call(|own, thread| {
            let lock = Record::announce(location);
            id = lock.id();
            own.lock_announce(lock, location, thread);
        });
        id
    }

    fn lock_name(&self, lock: LockId, name: &str) {
        lock_call(lock, |own, lock, thread| own.lock_name(lock, name, thread));
    }

    fn lock_wait(&self, lock: LockId) {
        lock_call(lock, Own::lock_wait);
    }

    fn lock_obtain(&self, lock: LockId) {
        lock_call(lock, Own::lock_obtain);
    }

    fn lock_try_obtain(&self, lock: LockId, obtained: bool) {
        lock_call(lock, |own, lock, thread| own.lock_try_obtain(lock, obtained, thread));
    }

    fn lock_release(&self, lock: LockId) {
        lock_call(lock, Own::lock_release);
    }

    fn lock_terminate(&self, lock: LockId) {
        lock_call(lock, Own::lock_terminate);
    }

    fn fiber_enter(&self, fiber: Name) {
        call(|own, thread| own.fiber_enter(fiber, thread));
    }

    fn fiber_leave(&self) {
        call(|own, thread| own.fiber_leave(thread));
    }

    fn lane_create(&self, lane: LaneInfo<'_>) -> LaneId {
        let mut id = LaneId(0);
        call(|own, thread| id = own.lane_create(lane, thread));
        id
    }

    fn lane_zones(&self, lane: LaneId, tree: &[LaneZone<'_>]) {
        call(|own, thread| own.lane_zones(lane, tree, thread));
    }

    fn lane_close(&self, lane: LaneId) {
        call(|own, thread| own.lane_close(lane, thread));
    }

    fn thread_name(&self, name: &str) {
        call(|own, thread| own.thread_name(name, thread));
    }

    fn app_info(&self, text: &str) {
        call(|own, thread| own.app_info(text, thread));
    }
}

// All but the cheapest zones are out of line, so that those stay small.

#[inline(never)]
fn begin_slowly(location: &'static Location) -> ZoneId {
    match start::mode() {
        start::LINES => enter(|own, _| own.begin(location)).unwrap_or(ZoneId::NONE),
        start::NANOSECONDS => tally::begin(location, clock::ns),
        _ => first_zone(location),
    }
}

#[inline(never)]
fn end_slowly(zone: ZoneId) {
    match start::mode() {
        start::NANOSECONDS => tally::end(zone, clock::ns()),
        _ => call(|own, thread| own.end(zone, thread)),
    }
}

#[inline(never)]
fn switch_slowly(zone: ZoneId, location: &'static Location) -> ZoneId {
    match start::mode() {
        start::LINES => enter(|own, thread| own.switch(zone, location, thread)).unwrap_or(ZoneId::NONE),
        start::NANOSECONDS => tally::switch(zone, location, clock::ns),
        _ => first_zone(location),
    }
}

#[cold]
#[inline(never)]
fn first_zone(location: &'static Location) -> ZoneId {
    if start::is_ready() { Console.zone_begin(location) } else { ZoneId::NONE }
}

/// As [`call`], about a lock that is there.
fn lock_call(lock: LockId, f: impl FnOnce(&mut Own, &'static Record, &'static Thread)) {
    if let Some(lock) = Record::of(lock) {
        call(|own, thread| f(own, lock, thread));
    }
}
