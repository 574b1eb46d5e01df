//! What a layer and a subscriber have in common: how they begin zones, and how they tell of events.

use std::sync::atomic::{AtomicUsize, Ordering};

use tracing_core::span::Id;
use tracing_core::{Event, Level, Metadata};
use zonecast::{Interned, Location, Severity, ZoneId, raw};

use crate::open::{self, Key};
use crate::text::EventText;

/// How one layer or subscriber begins zones.
#[derive(Debug)]
pub(crate) struct Zones {
    number: usize,
    /// Whether fields are shown.
    pub(crate) fields: bool,
    /// How many frames of the call stack are.
    pub(crate) callstack: u32,
}

/// How many layers and subscribers there were.
static NUMBERS: AtomicUsize = AtomicUsize::new(0);

impl Zones {
    pub(crate) fn new() -> Self {
        Self { number: NUMBERS.fetch_add(1, Ordering::Relaxed) + 1, fields: true, callstack: 0 }
    }

    /// What tells this one's span from all others.
    #[inline]
    pub(crate) fn key(&self, id: &Id) -> Key {
        Key { owner: self.number, span: id.into_u64() }
    }

    /// The span of a key, if it is one of this one's.
    pub(crate) fn id(&self, key: Key) -> Option<Id> {
        (key.owner == self.number).then(|| Id::from_u64(key.span))
    }

    /// Whether the fields of a span are to be shown.
    #[inline]
    pub(crate) fn has_fields(&self, metadata: &Metadata<'_>) -> bool {
        self.fields && !metadata.fields().is_empty()
    }

    /// Enters a span without a text if that takes a few instructions only. False if nothing was done.
    #[inline(always)]
    pub(crate) fn enter_at_once(&self, id: &Id, place: &Interned) -> bool {
        self.callstack == 0
            && place.shared_name().is_none()
            && open::enter_at_once(self.key(id), place.location())
    }

    pub(crate) fn begin(&self, place: &Interned) -> (&'static Location, ZoneId) {
        let zone = match self.callstack {
            0 => raw::zone_begin(place.location()),
            depth => raw::zone_begin_callstack(place.location(), depth),
        };
        if let Some(name) = place.shared_name() {
            raw::zone_name(zone, name);
        }
        (place.location(), zone)
    }

    pub(crate) fn begin_with_text(&self, place: &Interned, text: &str) -> (&'static Location, ZoneId) {
        let (location, zone) = self.begin(place);
        raw::zone_text(zone, text);
        (location, zone)
    }
}

/// Tells of an event by a message.
pub(crate) fn tell(event: &Event<'_>) {
    if raw::is_recording() {
        let severity = severity(*event.metadata().level());
        zonecast::message_fmt(severity, 0, format_args!("{}", EventText(event)));
    }
}

fn severity(level: Level) -> Severity {
    match level {
        Level::ERROR => Severity::Error,
        Level::WARN => Severity::Warning,
        Level::INFO => Severity::Info,
        Level::DEBUG => Severity::Debug,
        Level::TRACE => Severity::Trace,
    }
}
