//! The zones that are open on one timeline: a thread, or a fiber.
//!
//! Zones end as they like. Most often the one begun last ends first; one that does not is taken out
//! of the middle. What was begun inside it and is still open becomes a *stray*: it is no longer
//! anybody's parent, so that a zone that nobody ever ends does not push all others to the right, and
//! it still has its line when it ends after all.

use super::escape::GROWTH;
use super::event::name_among;
use crate::{Location, Name, ZoneId};

/// An open zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    serial: u64,
    pub(super) location: &'static Location,
    pub(super) start: u64,
    /// Its notes are not before this place.
    notes: usize,
    /// It has a line of its beginning.
    pub(super) is_begun: bool,
}

#[derive(Debug)]
pub(super) struct Track {
    /// The fiber, unless it is a thread's own track.
    pub(super) fiber: Option<Name>,
    next: u64,
    frames: Vec<Frame>,
    strays: Vec<Frame>,
    /// So many frames, from the outermost on, need no line of their beginning any more.
    settled: usize,
    /// So many of them have one.
    indent: usize,
    pub(super) notes: Notes,
}

/// The bits of a serial that count; those above are the track's.
const COUNTED: u32 = 40;

/// A stray too many is taken for one that nobody will end.
const STRAYS: usize = 256;

impl Track {
    /// A track. `number`: no other one has it.
    pub(super) const fn new(number: u64, fiber: Option<Name>) -> Self {
        Self {
            fiber,
            // Never 0, which would be a zone that was not recorded.
            next: (number << COUNTED) + 1,
            frames: Vec::new(),
            strays: Vec::new(),
            settled: 0,
            indent: 0,
            notes: Notes(Vec::new()),
        }
    }

    /// Whether the zone was begun here.
    pub(super) const fn is_of(&self, zone: ZoneId) -> bool {
        self.next >> COUNTED == zone.mark >> COUNTED
    }

    /// Forgets all zones.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.strays.clear();
        self.notes.0.clear();
        self.settled = 0;
        self.indent = 0;
    }

    /// How many zones are open.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// How far lines are indented.
    #[inline]
    pub(super) fn indent(&self) -> usize {
        self.indent
    }

    /// Begins a zone; [`start`](Self::start) says when.
    #[inline]
    pub(super) fn begin(&mut self, location: &'static Location) -> ZoneId {
        let serial = self.next;
        self.next += 1;
        let zone = ZoneId { mark: serial, data: self.frames.len() as u64 };
        self.frames.push(Frame { serial, location, start: 0, notes: self.notes.0.len(), is_begun: false });
        zone
    }

    /// Sets the time of the zone begun last.
    #[inline]
    pub(super) fn start(&mut self, now: u64) {
        if let Some(frame) = self.frames.last_mut() {
            frame.start = now;
        }
    }

    /// Takes an ended zone out.
    #[inline]
    pub(super) fn end(&mut self, zone: ZoneId) -> Option<Frame> {
        match self.frames.last() {
            Some(last) if last.serial == zone.mark => {
                let frame = self.frames.pop()?;
                self.gone(&frame);
                Some(frame)
            }
            _ => self.end_out_of_order(zone),
        }
    }

    /// After a frame is no longer among the open ones.
    #[inline]
    fn gone(&mut self, frame: &Frame) {
        self.settled = self.settled.min(self.frames.len());
        self.indent -= usize::from(frame.is_begun);
    }

    #[cold]
    #[inline(never)]
    fn end_out_of_order(&mut self, zone: ZoneId) -> Option<Frame> {
        let is_it = |frame: &Frame| frame.serial == zone.mark;
        if let Some(at) = self.strays.iter().rposition(is_it) {
            self.notes_may_move();
            return Some(self.strays.remove(at));
        }
        let at = self.frames.iter().rposition(is_it)?;
        while self.frames.len() > at + 1 {
            let stray = self.frames.pop()?;
            self.gone(&stray);
            self.strays.push(stray);
        }
        self.notes_may_move();
        let too_many = self.strays.len().saturating_sub(STRAYS);
        for lost in self.strays.drain(..too_many) {
            self.notes.remove(lost.serial, 0);
        }
        let frame = self.frames.pop()?;
        self.gone(&frame);
        Some(frame)
    }

    /// Notes are about to be taken out from among others': all are to be looked for anew.
    fn notes_may_move(&mut self) {
        self.frames.iter_mut().chain(&mut self.strays).for_each(|frame| frame.notes = 0);
    }

    /// The outermost zone that may need a line of its beginning.
    #[inline]
    pub(super) fn unsettled(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.settled)
    }

    /// Which one that is, counted from the outermost.
    #[cfg(unix)]
    pub(super) const fn settled(&self) -> usize {
        self.settled
    }

    /// That zone needs one no more; `is_begun`: it has one.
    pub(super) fn settle_next(&mut self, is_begun: bool) {
        if let Some(frame) = self.frames.get_mut(self.settled) {
            frame.is_begun = is_begun;
            self.indent += usize::from(is_begun);
            self.settled += 1;
        }
    }

    /// Whether the zone is open here.
    pub(super) fn has(&self, zone: ZoneId) -> bool {
        let mut open = self.frames.iter().rev().chain(self.strays.iter().rev());
        open.any(|frame| frame.serial == zone.mark)
    }

    /// The open zones, from the outermost on.
    #[cfg(any(unix, test))]
    pub(super) fn open(&self) -> &[Frame] {
        &self.frames
    }
}

/// What was added to open zones, to be shown at their ends.
#[derive(Debug)]
pub(super) struct Notes(Vec<u8>);

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note<'a> {
    Text(&'a [u8]),
    Name(&'a [u8]),
    Value(u64),
    Color(u32),
    /// A number with a key of its own. Lanes have these; they are not kept with open zones.
    Number(&'static str, i64),
}

/// Before each note's bytes: whose it is, what it is, how long it is.
const HEADER: usize = 8 + 1 + 8;

impl Notes {
    /// Adds a note to the zone with this serial.
    pub(super) fn add(&mut self, serial: u64, note: Note<'_>) {
        let (value, color);
        let (what, bytes): (u8, &[u8]) = match note {
            Note::Text(text) => (0, text),
            Note::Name(name) => (1, name),
            Note::Value(number) => {
                value = number.to_ne_bytes();
                (2, &value)
            }
            Note::Number(..) => return,
            Note::Color(number) => {
                color = number.to_ne_bytes();
                (3, &color)
            }
        };
        self.0.extend_from_slice(&serial.to_ne_bytes());
        self.0.push(what);
        self.0.extend_from_slice(&(bytes.len() as u64).to_ne_bytes());
        self.0.extend_from_slice(bytes);
    }

    /// Whether the frame has none, as far as that can be seen at a glance.
    #[inline]
    pub(super) fn has_none_of(&self, frame: &Frame) -> bool {
        self.0.len() <= frame.notes
    }

    /// How long the notes of the frame are at most when they are written. A note's header is longer
    /// than what is written around it.
    #[inline]
    pub(super) fn room(&self, frame: &Frame) -> usize {
        GROWTH * self.0.len().saturating_sub(frame.notes)
    }

    /// The notes of the frame, in the order they came.
    pub(super) fn of<'a>(&'a self, frame: &Frame) -> impl Iterator<Item = Note<'a>> + Clone + use<'a> {
        let serial = frame.serial;
        All(self.0.get(frame.notes..).unwrap_or_default())
            .filter_map(move |(owner, _, note)| (owner == serial).then_some(note))
    }

    /// The name that the frame was given last.
    #[inline]
    pub(super) fn name_of<'a>(&'a self, frame: &Frame) -> Option<&'a [u8]> {
        if self.has_none_of(frame) { None } else { name_among(self.of(frame)) }
    }

    /// Takes out the notes of a zone, of which none is before `from`.
    pub(super) fn remove(&mut self, serial: u64, from: usize) {
        let (mut read, mut write) = (from, from);
        while let Some((owner, length, _)) = All(self.0.get(read..).unwrap_or_default()).next() {
            if owner != serial {
                self.0.copy_within(read..read + length, write);
                write += length;
            }
            read += length;
        }
        self.0.truncate(write.min(self.0.len()));
    }

    /// Takes out the notes of the frame.
    pub(super) fn remove_of(&mut self, frame: &Frame) {
        self.remove(frame.serial, frame.notes);
    }
}

/// All notes of some bytes: owner, length with the header, and the note.
#[derive(Clone)]
struct All<'a>(&'a [u8]);

impl<'a> Iterator for All<'a> {
    type Item = (u64, usize, Note<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (owner, rest) = self.0.split_first_chunk()?;
        let ([what], rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (bytes, rest) = rest.split_at_checked(u64::from_ne_bytes(*length) as usize)?;
        self.0 = rest;
        let note = match what {
            0 => Note::Text(bytes),
            1 => Note::Name(bytes),
            2 => Note::Value(u64::from_ne_bytes(bytes.try_into().ok()?)),
            _ => Note::Color(u32::from_ne_bytes(bytes.try_into().ok()?)),
        };
        Some((u64::from_ne_bytes(*owner), HEADER + bytes.len(), note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static HERE: Location = Location::new(Some(c"here"), c"", c"", 0, 0);

    fn starts(track: &Track) -> Vec<u64> {
        track.open().iter().map(|frame| frame.start).collect()
    }

    fn begin(track: &mut Track, now: u64) -> ZoneId {
        let zone = track.begin(&HERE);
        track.start(now);
        zone
    }

    #[test]
    fn zones_nest() {
        let mut track = Track::new(1, None);
        let outer = begin(&mut track, 1);
        let inner = begin(&mut track, 2);
        assert_eq!(track.depth(), 2);
        assert_eq!(track.end(inner).map(|f| f.start), Some(2));
        assert_eq!(track.end(inner).map(|f| f.start), None, "a zone ends once");
        assert_eq!(track.end(outer).map(|f| f.start), Some(1));
        assert_eq!(track.depth(), 0);
    }

    #[test]
    fn an_outer_zone_that_ends_first_leaves_a_stray() {
        let mut track = Track::new(1, None);
        let outer = begin(&mut track, 1);
        let inner = begin(&mut track, 2);
        track.notes.add(inner.mark, Note::Value(5));
        assert_eq!(track.end(outer).map(|f| f.start), Some(1));
        assert_eq!(track.depth(), 0);
        let later = begin(&mut track, 3);
        track.notes.add(later.mark, Note::Text(b"later"));
        assert!(track.has(inner));
        let inner = track.end(inner).unwrap();
        assert_eq!(track.notes.of(&inner).collect::<Vec<_>>(), [Note::Value(5)]);
        track.notes.remove_of(&inner);
        let later = track.end(later).unwrap();
        assert_eq!(track.notes.of(&later).collect::<Vec<_>>(), [Note::Text(b"later")]);
        track.notes.remove_of(&later);
        assert!(track.notes.0.is_empty());
    }

    #[test]
    fn zones_that_nobody_ends_do_not_pile_up() {
        let mut track = Track::new(1, None);
        for now in 0..10_000 {
            let outer = begin(&mut track, now);
            let forgotten = begin(&mut track, now);
            track.notes.add(forgotten.mark, Note::Text(b"forgotten"));
            track.end(outer).unwrap();
        }
        assert_eq!(track.depth(), 0);
        assert_eq!(track.strays.len(), STRAYS);
        assert_eq!(track.notes.0.len(), STRAYS * (HEADER + 9));
    }

    #[test]
    fn indentation_counts_the_zones_with_a_line_of_their_beginning() {
        let mut track = Track::new(1, None);
        let zones: Vec<_> = (0..4).map(|now| begin(&mut track, now)).collect();
        track.settle_next(true);
        track.settle_next(false);
        track.settle_next(true);
        assert_eq!(track.indent(), 2);
        assert_eq!(track.unsettled().map(|f| f.start), Some(3));
        track.end(zones[3]);
        assert_eq!(track.indent(), 2);
        track.end(zones[2]);
        assert_eq!(track.indent(), 1);
        track.end(zones[0]);
        assert_eq!((track.indent(), track.depth()), (0, 0));
        assert_eq!(track.strays.iter().map(|f| f.start).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn notes_of_an_outer_zone_survive_the_inner_one() {
        let mut track = Track::new(1, None);
        let outer = begin(&mut track, 1);
        track.notes.add(outer.mark, Note::Color(7));
        let inner = begin(&mut track, 2);
        track.notes.add(inner.mark, Note::Text(b""));
        track.notes.add(outer.mark, Note::Name(b"renamed"));
        let inner = track.end(inner).unwrap();
        assert_eq!(track.notes.of(&inner).collect::<Vec<_>>(), [Note::Text(b"")]);
        track.notes.remove_of(&inner);
        assert_eq!(starts(&track), [1]);
        let outer = track.end(outer).unwrap();
        assert_eq!(track.notes.of(&outer).collect::<Vec<_>>(), [Note::Color(7), Note::Name(b"renamed")]);
        track.notes.remove_of(&outer);
        assert!(track.notes.0.is_empty());
    }

    #[test]
    fn a_zone_is_known_by_its_track() {
        let (mut one, mut two) = (Track::new(1, None), Track::new(2, None));
        let zone = begin(&mut one, 1);
        begin(&mut two, 1);
        assert!(one.is_of(zone) && !two.is_of(zone));
        assert!(two.end(zone).is_none());
    }
}
