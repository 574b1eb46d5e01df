//! What is the same on every line of a location, made once: its title and its place, escaped.

use core::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::config::{self, Format};
use super::escape::{Style, escape};
use super::pen::Put;
use super::source::Excerpt;
use super::{registry, text};
use crate::Location;

/// What things are counted for the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Zone,
    LaneZone,
    Lane,
    LockWait,
    LockHold,
    Frame,
    Plot,
    Alloc,
    Free,
    Message,
}

impl Kind {
    /// Whether times are counted, not numbers.
    pub(super) const fn is_timed(self) -> bool {
        matches!(self, Self::LaneZone | Self::Lane) || self.is_in_ticks()
    }

    /// Whether times are counted that the console itself took.
    pub(super) const fn is_in_ticks(self) -> bool {
        matches!(self, Self::Zone | Self::LockWait | Self::LockHold | Self::Frame)
    }
}

/// The unchanging parts of a thing's lines.
#[derive(Debug)]
pub(super) struct Fragment {
    pub(super) kind: Kind,
    /// How many were made before.
    pub(super) index: usize,
    /// Whether the filter lets it through.
    pub(super) is_shown: bool,
    /// `0xRRGGBB`; 0 for none.
    pub(super) color: u32,
    text: Parts,
    json: Parts,
    source: Option<Excerpt>,
    source_is_shown: AtomicBool,
}

#[derive(Debug)]
struct Parts {
    bytes: Box<[u8]>,
    title: usize,
}

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// How many there are.
pub(super) fn count() -> usize {
    COUNT.load(Ordering::Acquire)
}

impl Fragment {
    /// The one of a location. Equal locations share one, whatever their addresses.
    #[cold]
    pub(super) fn of_location(kind: Kind, location: &'static Location) -> &'static Self {
        let mut content = Vec::new();
        for part in [location.title(), location.function(), location.file()] {
            content.extend_from_slice(part.to_bytes_with_nul());
        }
        content.extend_from_slice(&location.line().to_ne_bytes());
        content.extend_from_slice(&location.color().to_ne_bytes());
        Self::known_or_new(kind, content, location.title(), Some(location))
    }

    /// The one of something that has a name only.
    #[cold]
    pub(super) fn of_name(kind: Kind, name: &CStr) -> &'static Self {
        Self::known_or_new(kind, name.to_bytes().to_vec(), name, None)
    }

    fn known_or_new(
        kind: Kind,
        content: Vec<u8>,
        title: &CStr,
        location: Option<&Location>,
    ) -> &'static Self {
        registry::fragment(kind, &content).unwrap_or_else(|| {
            // Made while the registry is free, since a source's file may have to be looked at.
            let new = Self::new(kind, title, location);
            registry::add_fragment(kind, content, new, &COUNT)
        })
    }

    fn new(kind: Kind, title: &CStr, location: Option<&Location>) -> Self {
        let bytes = title.to_bytes();
        let color = location.map_or(0, Location::color);
        Self {
            kind,
            index: 0,
            is_shown: location.is_none() || config::get().filter.shows(bytes),
            color,
            text: Parts::new(
                |to| text::title(to, bytes, color),
                |to| {
                    location.into_iter().for_each(|location| text::place(to, location));
                },
            ),
            json: Parts::new(
                |to| json_title(to, bytes),
                |to| {
                    location.into_iter().for_each(|location| json_place(to, location));
                },
            ),
            source: location.and_then(Excerpt::of),
            source_is_shown: AtomicBool::new(false),
        }
    }

    /// Keeps the source, if there is one to be shown, only where `is_first` to show that of its place.
    pub(super) fn keep_source(&mut self, is_first: impl FnOnce(&[u8]) -> bool) {
        if self.source.is_some() && !(self.is_shown && is_first(self.place(Format::Text))) {
            self.source = None;
        }
    }

    /// The lines of source to be shown now: the first time only.
    #[inline]
    pub(super) fn source_once(&self) -> Option<&Excerpt> {
        self.source.as_ref().filter(|_| !self.source_is_shown.swap(true, Ordering::Relaxed))
    }

    fn parts(&self, format: Format) -> &Parts {
        match format {
            Format::Text => &self.text,
            Format::Json => &self.json,
        }
    }

    /// Title and place.
    #[inline]
    pub(super) fn whole(&self, format: Format) -> &[u8] {
        &self.parts(format).bytes
    }

    /// The place alone.
    #[inline]
    pub(super) fn place(&self, format: Format) -> &[u8] {
        let parts = self.parts(format);
        &parts.bytes[parts.title..]
    }
}

impl Parts {
    fn new(title: impl FnOnce(&mut Vec<u8>), place: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut bytes = Vec::new();
        title(&mut bytes);
        let title = bytes.len();
        place(&mut bytes);
        Self { bytes: bytes.into(), title }
    }
}

/// `"name":"…"`, without a comma before.
pub(super) fn json_title(pen: &mut impl Put, title: &[u8]) {
    pen.put(b"\"name\":\"");
    escape(pen, title, Style::Json);
    pen.put(b"\"");
}

/// The other fields of a location, each with a comma before.
pub(super) fn json_place(pen: &mut impl Put, location: &Location) {
    for (key, value) in [("function", location.function()), ("file", location.file())] {
        if !value.is_empty() {
            pen.put(b",\"");
            pen.put(key.as_bytes());
            pen.put(b"\":\"");
            escape(pen, value.to_bytes(), Style::Json);
            pen.put(b"\"");
        }
    }
    if location.line() != 0 {
        pen.put(b",\"line\":");
        pen.number(location.line().into());
    }
}
