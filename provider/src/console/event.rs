//! What has a line, before it is known how lines look.

use super::config::Format;
use super::escape::GROWTH;
use super::fragment::Fragment;
use super::label::Label;
use super::pen::Pen;
use super::track::Note;
use super::{json, text};
use crate::Location;

/// Something that happened, other than a zone.
///
/// Both formats use the same words: JSON as keys, text as `key=value`.
pub(super) struct Event<'a> {
    /// What happened, such as `plot`.
    pub(super) name: &'a str,
    /// To whom or what: a key and a text, which a reader does not need the key to understand.
    pub(super) subject: Option<(&'a str, &'a [u8])>,
    /// How long it took, with its key.
    pub(super) elapsed: Option<(&'a str, u64)>,
    /// What else there is to say.
    pub(super) fields: &'a [(&'a str, Value<'a>)],
}

/// What is said of something.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Text(&'a str),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Single(f32),
    /// As a text; readers see it in place of the event's name.
    Kind(&'a str),
    Truth(bool),
    Address(usize),
    /// Not said when 0.
    Color(u32),
    /// Not said when false.
    Flag(bool),
}

impl Value<'_> {
    /// Whether it is worth saying.
    pub(super) fn is_said(self) -> bool {
        !matches!(self, Self::Color(0) | Self::Flag(false))
    }
}

/// What every line says: when, who, how deep.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// Nanoseconds since the start.
    pub(super) time: i64,
    pub(super) label: &'a Label,
    /// How many zones are open around it.
    pub(super) depth: usize,
    /// How many of them have a line of their beginning.
    pub(super) indent: usize,
}

/// A zone that goes on.
#[derive(Clone, Copy)]
pub(super) struct Begun<'a> {
    pub(super) location: &'static Location,
    /// `None` in a signal handler that found none: there is no memory for a new one.
    pub(super) fragment: Option<&'static Fragment>,
    /// The name that the zone was given.
    pub(super) name: Option<&'a [u8]>,
}

impl Begun<'_> {
    /// How long its line is at most.
    pub(super) fn room(&self, format: Format) -> usize {
        let name = GROWTH * self.name.map_or(0, <[u8]>::len);
        name + self.fragment.map_or_else(|| self.unescaped_room(), |fragment| fragment.whole(format).len())
    }

    fn unescaped_room(&self) -> usize {
        let parts = [self.location.title(), self.location.function(), self.location.file()];
        GROWTH * parts.iter().map(|part| part.count_bytes()).sum::<usize>()
    }
}

/// A zone that has ended.
#[derive(Clone, Copy)]
pub(super) struct Ended<'a> {
    pub(super) fragment: &'a Fragment,
    pub(super) elapsed: u64,
    /// It has a line of its beginning.
    pub(super) is_begun: bool,
}

impl Ended<'_> {
    /// How long its line is at most, without its notes.
    #[inline]
    pub(super) fn room(&self, format: Format) -> usize {
        self.fragment.whole(format).len()
    }
}

/// Room for what is around the parts that are counted one by one.
const FRAME: usize = 512;

impl Context<'_> {
    #[inline]
    pub(super) fn room(&self, format: Format) -> usize {
        FRAME + self.label.of(format).len()
    }
}

impl Event<'_> {
    /// How long its line is at most.
    pub(super) fn room(&self) -> usize {
        let texts = self.fields.iter().map(|(key, value)| match value {
            Value::Text(text) | Value::Kind(text) => key.len() + text.len(),
            _ => key.len(),
        });
        let subject = self.subject.map_or(0, |(key, text)| key.len() + text.len());
        self.name.len() + 64 * self.fields.len() + GROWTH * (subject + texts.sum::<usize>())
    }

    pub(super) fn write(&self, pen: &mut Pen, format: Format, context: Context<'_>) {
        match format {
            Format::Text => text::event(pen, context, self),
            Format::Json => json::event(pen, context, self),
        }
    }
}

/// The name that a zone was given last.
#[inline]
pub(super) fn name_among<'a>(notes: impl Iterator<Item = Note<'a>>) -> Option<&'a [u8]> {
    notes.filter_map(|note| if let Note::Name(name) = note { Some(name) } else { None }).last()
}
