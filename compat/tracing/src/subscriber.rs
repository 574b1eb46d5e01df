//! The subscriber.

use tracing_core::span::{Attributes, Current, Id, Record};
use tracing_core::{Event, Interest, Metadata, Subscriber};
use zonecast::{Location, ZoneId, raw};

use crate::extras::Extras;
use crate::open::{self, Entered};
use crate::text::SpanText;
use crate::zones::{self, Zones};
use crate::{callsite, ids};

/// Casts spans and events to zonecast's provider, and to nobody else.
///
/// It does what [`ZonecastLayer`](crate::ZonecastLayer) does over a registry, at a fraction of the cost: without a
/// registry, a span is a number. For programs that want no other layer of spans. Filters of everything go over it;
/// those that a layer has for itself need the registry.
///
/// ```
/// use tracing_subscriber::filter::LevelFilter;
/// use tracing_subscriber::prelude::*;
/// use zonecast_tracing::ZonecastSubscriber;
///
/// ZonecastSubscriber::new().with(LevelFilter::DEBUG).init();
///
/// let _span = tracing::info_span!("forward", layer = 3).entered();
/// tracing::warn!(tokens = 17, "the cache is full");
/// ```
#[derive(Debug)]
pub struct ZonecastSubscriber {
    zones: Zones,
    extras: Extras,
}

impl Default for ZonecastSubscriber {
    fn default() -> Self {
        Self::new()
    }
}

impl ZonecastSubscriber {
    /// A subscriber that shows fields and records no call stacks.
    #[must_use]
    pub fn new() -> Self {
        Self { zones: Zones::new(), extras: Extras::default() }
    }

    /// Whether the fields of spans become texts of their zones. They are formatted when a span is
    /// made, and only while zones are recorded.
    #[must_use]
    pub fn with_fields(mut self, fields: bool) -> Self {
        self.zones.fields = fields;
        self
    }

    /// How many frames of the call stack each zone records, where the provider can; 0 for none.
    #[must_use]
    pub fn with_callstack(mut self, depth: u32) -> Self {
        self.zones.callstack = depth;
        self
    }

    /// Begins the zone of a span, with its text.
    fn begin(&self, id: &Id) -> Option<(&'static Location, ZoneId)> {
        let place = &ids::place(id)?.interned;
        let text = if ids::has_fields(id) { self.extras.text(id) } else { None };
        Some(match text {
            None => self.zones.begin(place),
            Some(text) => self.zones.begin_with_text(place, &text),
        })
    }

    fn begin_again(&self, entered: &Entered) -> ZoneId {
        let own = self.zones.id(entered.key).and_then(|id| self.begin(&id));
        own.map_or_else(|| raw::zone_begin(entered.location), |(_, zone)| zone)
    }

    /// Enters a span in whichever way it takes.
    #[cold]
    #[inline(never)]
    fn enter_slowly(&self, id: &Id) {
        open::here(|open| open.enter(self.zones.key(id), || self.begin(id)));
    }

    /// Leaves a span that is not the innermost.
    #[cold]
    #[inline(never)]
    fn exit_slowly(&self, id: &Id) {
        open::here(|open| open.exit(self.zones.key(id), |entered| self.begin_again(entered)));
    }
}

impl Subscriber for ZonecastSubscriber {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::always()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let metadata = attributes.metadata();
        let has_fields = self.zones.has_fields(metadata);
        let id = ids::unique(callsite::of(metadata).0, has_fields);
        if has_fields && raw::is_recording() {
            self.extras.set_text(&id, SpanText::of(attributes));
        }
        id
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        if ids::has_fields(id) && raw::is_recording() {
            let late = SpanText::late(values);
            open::tell(self.zones.key(id), &late);
            self.extras.add_text(id, late);
        }
    }

    /// A picture of time shows no such relation.
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        zones::tell(event);
    }

    fn enter(&self, id: &Id) {
        match ids::place(id) {
            Some(place) if !ids::has_fields(id) && self.zones.enter_at_once(id, &place.interned) => {}
            _ => self.enter_slowly(id),
        }
    }

    fn exit(&self, id: &Id) {
        if !open::exit_at_once(self.zones.key(id)) {
            self.exit_slowly(id);
        }
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.extras.cloned(id);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.extras.dropped(&id)
    }

    fn current_span(&self) -> Current {
        let current = open::here(|open| open.innermost(|key| self.zones.id(key))).flatten();
        match current.and_then(|id| ids::place(&id).map(|place| (id, place.metadata))) {
            Some((id, metadata)) => Current::new(id, metadata),
            None => Current::none(),
        }
    }
}
