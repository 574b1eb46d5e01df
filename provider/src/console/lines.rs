//! A thread's own part of the console: its open zones, and the lines that it makes of what happens.

use super::config::{self, Config, Format};
use super::event::{Begun, Context, Ended, Event};
use super::fragment::{Fragment, Kind};
use super::label::Label;
use super::locks::Held;
use super::table::{Entry, Key};
use super::thread::{Thread, track_number};
use super::track::{Frame, Note, Track};
use super::{clock, json, output, registry, text};
use crate::{Location, Name, ZoneId};

pub(super) struct Own {
    /// What runs: the thread itself, or a fiber.
    track: Track,
    /// The thread's own track while a fiber runs.
    home: Option<Track>,
    id: u64,
    name: Option<Vec<u8>>,
    label: Label,
    pub(super) locks: Held,
    config: &'static Config,
    /// When lines begin to count their time.
    started: u64,
}

impl Own {
    pub(super) fn new(track_number: u64) -> Self {
        Self {
            track: Track::new(track_number, None),
            home: None,
            id: 0,
            name: None,
            label: Label::default(),
            locks: Held::default(),
            config: config::get(),
            started: clock::started_ns(),
        }
    }

    /// Another thread begins.
    pub(super) fn restart(&mut self, id: u64) {
        self.track.clear();
        self.locks.clear();
        self.name = None;
        self.set_id(id);
    }

    /// The thread has ended; a fiber that it still runs may go on elsewhere.
    pub(super) fn park(&mut self) {
        if let Some(home) = self.home.take() {
            registry::park_fiber(core::mem::replace(&mut self.track, home));
        }
    }

    pub(super) fn set_id(&mut self, id: u64) {
        self.id = id;
        self.renew_label();
    }

    pub(super) fn set_name(&mut self, name: &str) {
        self.name = Some(name.as_bytes().to_vec());
        self.renew_label();
    }

    pub(super) fn set_name_if_none(&mut self, name: &str) {
        if self.name.is_none() {
            self.set_name(name);
        }
    }

    fn renew_label(&mut self) {
        self.label.set(self.id, self.name.as_deref(), self.track.fiber.map(Name::as_c_str));
    }

    /// From here on this thread runs the fiber.
    pub(super) fn enter_fiber(&mut self, fiber: Name) {
        let is_it = |track: &Track| track.fiber.is_some_and(|f| f.as_c_str() == fiber.as_c_str());
        let track = registry::take_fiber(is_it).unwrap_or_else(|| Track::new(track_number(), Some(fiber)));
        self.run(track);
    }

    fn run(&mut self, track: Track) {
        let before = core::mem::replace(&mut self.track, track);
        match &self.home {
            None => self.home = Some(before),
            Some(_) => registry::park_fiber(before),
        }
        self.renew_label();
    }

    /// From here on this thread runs no fiber. Returns the one that it ran.
    pub(super) fn leave_fiber(&mut self) -> Option<Name> {
        let fiber = self.track.fiber;
        self.park();
        self.renew_label();
        fiber
    }

    /// Now, as zones and all that is timed are.
    pub(super) fn now(&self) -> u64 {
        if self.has_lines() { clock::ns() } else { clock::counted() }
    }

    pub(super) const fn config(&self) -> &'static Config {
        self.config
    }

    pub(super) const fn has_lines(&self) -> bool {
        self.config.lines.is_some()
    }

    pub(super) const fn has_summary(&self) -> bool {
        self.config.summary
    }

    pub(super) const fn fiber(&self) -> Option<Name> {
        self.track.fiber
    }

    #[inline]
    pub(super) fn begin(&mut self, location: &'static Location) -> ZoneId {
        let zone = self.track.begin(location);
        self.track.start(clock::ns());
        zone
    }

    #[inline]
    pub(super) fn end(&mut self, zone: ZoneId, thread: &'static Thread) {
        self.end_at(zone, clock::ns(), thread);
        if self.track.depth() == 0 {
            output::flush(thread.buffer());
        }
    }

    /// Ends one zone and begins the next at the same moment. Nothing is written out in between,
    /// which would be part of the next one's time.
    #[inline]
    pub(super) fn switch(
        &mut self,
        zone: ZoneId,
        location: &'static Location,
        thread: &'static Thread,
    ) -> ZoneId {
        let now = clock::ns();
        self.end_at(zone, now, thread);
        let next = self.track.begin(location);
        self.track.start(now);
        next
    }

    #[inline]
    fn end_at(&mut self, zone: ZoneId, now: u64, thread: &'static Thread) {
        match self.track.end(zone) {
            Some(frame) => self.ended(&frame, now, thread),
            None => self.end_elsewhere(zone, now, thread),
        }
    }

    /// The zone may have been begun on a fiber that is not running here now, or outside of the one
    /// that is. One that ended before is left alone.
    #[cold]
    fn end_elsewhere(&mut self, zone: ZoneId, now: u64, thread: &'static Thread) {
        let other = match &mut self.home {
            Some(home) if home.is_of(zone) => core::mem::replace(home, Track::new(0, None)),
            _ => match registry::take_fiber(|track| track.is_of(zone) && track.has(zone)) {
                Some(fiber) => fiber,
                None => return,
            },
        };
        let is_home = other.fiber.is_none();
        let running = core::mem::replace(&mut self.track, other);
        self.renew_label();
        if let Some(frame) = self.track.end(zone) {
            self.ended(&frame, now, thread);
        }
        let other = core::mem::replace(&mut self.track, running);
        self.renew_label();
        if is_home {
            self.home = Some(other);
        } else {
            registry::park_fiber(other);
        }
    }

    #[inline]
    fn ended(&mut self, frame: &Frame, now: u64, thread: &'static Thread) {
        let elapsed = now.saturating_sub(frame.start);
        let entry = zone_entry(thread, frame.location);
        if self.config.summary {
            thread.counts().of(entry.index()).add(elapsed);
        }
        if let (Some(format), Some(fragment)) = (self.config.lines, entry.fragment())
            && (frame.is_begun || (elapsed >= self.config.min && self.is_shown(frame, fragment)))
        {
            self.write_ended(format, frame, fragment, elapsed, now, thread);
        }
        if !self.track.notes.has_none_of(frame) {
            self.track.notes.remove_of(frame);
        }
    }

    #[inline]
    fn is_shown(&self, frame: &Frame, fragment: &Fragment) -> bool {
        match self.track.notes.name_of(frame) {
            Some(name) => self.config.filter.shows(name),
            None => fragment.is_shown,
        }
    }

    #[inline]
    fn write_ended(
        &mut self,
        format: Format,
        frame: &Frame,
        fragment: &'static Fragment,
        elapsed: u64,
        now: u64,
        thread: &'static Thread,
    ) {
        if format == Format::Text {
            self.begin_lines(now, thread);
        }
        // A zone of two lines says when it ended, any other one when it began.
        let time = if frame.is_begun { now } else { frame.start };
        let context = self.context(time);
        let zone = Ended { fragment, elapsed, is_begun: frame.is_begun };
        let notes = self.track.notes.of(frame);
        let room = context.room(format) + zone.room(format) + self.track.notes.room(frame);
        // SAFETY: this thread's own buffer (it is within `Thread::enter`), and formats only use the pen.
        unsafe {
            thread.buffer().line(room, |pen| match format {
                Format::Text => text::ended(pen, context, zone, notes.clone()),
                Format::Json => json::ended(pen, context, zone, notes.clone()),
            });
        }
        write_source(format, self.context(time), fragment, thread);
        output::line_done(thread.buffer());
    }

    #[inline]
    fn context(&self, now: u64) -> Context<'_> {
        Context {
            time: now.saturating_sub(self.started) as i64,
            label: &self.label,
            depth: self.track.depth(),
            indent: self.track.indent(),
        }
    }

    /// Lines of the beginnings of open zones: something inside them gets a line now.
    ///
    /// Zones that may yet turn out too short for a line wait; those inside them are shorter still.
    #[inline]
    fn begin_lines(&mut self, now: u64, thread: &'static Thread) {
        while let Some(frame) = self.track.unsettled() {
            if now.saturating_sub(frame.start) < self.config.min {
                break;
            }
            let frame = *frame;
            self.begin_line(&frame, thread);
        }
    }

    #[inline(never)]
    fn begin_line(&mut self, frame: &Frame, thread: &'static Thread) {
        let fragment = zone_entry(thread, frame.location).fragment();
        let is_shown = fragment.is_some_and(|fragment| self.is_shown(frame, fragment));
        if let Some(fragment) = fragment.filter(|_| is_shown) {
            write_begun(Format::Text, self.context(frame.start), self.begun(frame, Some(fragment)), thread);
            write_source(Format::Text, self.context(frame.start), fragment, thread);
        }
        self.track.settle_next(is_shown);
    }

    /// A line of something that is no zone.
    pub(super) fn event(&mut self, event: &Event<'_>, now: u64, thread: &'static Thread) {
        let Some(format) = self.config.lines else { return };
        if format == Format::Text {
            self.begin_lines(now, thread);
        }
        let context = self.context(now);
        let room = context.room(format) + event.room();
        // SAFETY: as in `write_ended`.
        unsafe { thread.buffer().line(room, |pen| event.write(pen, format, context)) };
        output::line_done(thread.buffer());
    }

    /// Adds to a zone, if lines will show it.
    pub(super) fn note(&mut self, zone: ZoneId, note: Note<'_>) {
        if self.config.lines.is_some() && self.track.has(zone) {
            self.track.notes.add(zone.mark, note);
        }
    }

    /// In a signal handler that ends the program: lines of the zones that are still open. Needs no
    /// memory.
    #[cfg(unix)]
    pub(super) fn open_zones(&mut self, thread: &'static Thread) {
        match self.config.lines {
            None => {}
            Some(Format::Json) => {
                (0..self.track.depth()).for_each(|at| self.open_zone(at, Format::Json, thread))
            }
            Some(Format::Text) => {
                while self.track.unsettled().is_some() {
                    self.open_zone(self.track.settled(), Format::Text, thread);
                }
            }
        }
    }

    #[cfg(unix)]
    fn open_zone(&mut self, at: usize, format: Format, thread: &'static Thread) {
        let frame = self.track.open()[at];
        let known = thread.table().find(Key::new(Kind::Zone, frame.location));
        let begun = self.begun(&frame, known.and_then(Entry::fragment));
        let context = Context { depth: at, ..self.context(frame.start) };
        let title = begun.name.unwrap_or(frame.location.title().to_bytes());
        // A line that is too long for the buffer would need memory.
        let is_shown = self.config.filter.shows(title)
            && context.room(format) + begun.room(format) <= super::buffer::CAPACITY;
        if is_shown {
            write_begun(format, context, begun, thread);
        }
        if format == Format::Text {
            self.track.settle_next(is_shown);
        }
    }

    fn begun<'a>(&'a self, frame: &Frame, fragment: Option<&'static Fragment>) -> Begun<'a> {
        Begun { location: frame.location, fragment, name: self.track.notes.name_of(frame) }
    }
}

fn write_begun(format: Format, context: Context<'_>, begun: Begun<'_>, thread: &'static Thread) {
    // SAFETY: as in `write_ended`.
    unsafe {
        thread.buffer().line(context.room(format) + begun.room(format), |pen| match format {
            Format::Text => text::begun(pen, context, begun),
            Format::Json => json::open(pen, context, begun),
        });
    }
}

/// This thread's row of a zone's location.
#[inline(always)]
pub(super) fn zone_entry(thread: &'static Thread, location: &'static Location) -> &'static Entry {
    let key = Key::new(Kind::Zone, location);
    match thread.table().find(key) {
        Some(entry) => entry,
        None => thread.table().add(key, Fragment::of_location(Kind::Zone, location)),
    }
}

/// Lines of the source of a location, if they are asked for and were not shown.
#[inline]
pub(super) fn write_source(
    format: Format,
    context: Context<'_>,
    fragment: &'static Fragment,
    thread: &'static Thread,
) {
    if let Some(excerpt) = fragment.source_once() {
        // SAFETY: as in `write_ended`.
        unsafe {
            let room = excerpt.room(context, fragment, format);
            thread.buffer().line(room, |pen| excerpt.write(pen, context, fragment, format));
        }
    }
}
