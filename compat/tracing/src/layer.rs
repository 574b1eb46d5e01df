//! The layer.

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use zonecast::{Interned, Location, Severity, ZoneId, raw};

use crate::callsite::{self, Place};
use crate::open::{self, Entered, Key};
use crate::spans::{Known, Spans};
use crate::text::{EventText, SpanText};

/// Casts spans and events to zonecast's provider. Put it over a
/// [`Registry`](tracing_subscriber::Registry).
///
/// ```
/// use tracing_subscriber::filter::LevelFilter;
/// use tracing_subscriber::prelude::*;
/// use zonecast_tracing::ZonecastLayer;
///
/// tracing_subscriber::registry().with(ZonecastLayer::new().with_filter(LevelFilter::DEBUG)).init();
///
/// let _span = tracing::info_span!("forward", layer = 3).entered();
/// tracing::warn!(tokens = 17, "the cache is full");
/// ```
#[derive(Debug)]
pub struct ZonecastLayer {
    spans: Spans,
    fields: bool,
    callstack: u32,
}

impl Default for ZonecastLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl ZonecastLayer {
    /// A layer that shows fields and records no call stacks.
    #[must_use]
    pub fn new() -> Self {
        Self { spans: Spans::new(), fields: true, callstack: 0 }
    }

    /// Whether the fields of spans become texts of their zones. They are formatted when a span is
    /// made, and only while zones are recorded.
    #[must_use]
    pub fn with_fields(self, fields: bool) -> Self {
        Self { fields, ..self }
    }

    /// How many frames of the call stack each zone records, where the provider can; 0 for none.
    #[must_use]
    pub fn with_callstack(self, depth: u32) -> Self {
        Self { callstack: depth, ..self }
    }

    fn key(&self, id: &Id) -> Key {
        Key { layer: self.spans.address(), span: id.into_u64() }
    }

    #[inline]
    fn begin(&self, place: &Interned) -> ZoneId {
        let zone = match self.callstack {
            0 => raw::zone_begin(place.location()),
            depth => raw::zone_begin_callstack(place.location(), depth),
        };
        if let Some(name) = place.shared_name() {
            raw::zone_name(zone, name);
        }
        zone
    }

    /// Enters a span that the cache does not know, or begins the zone of one anew.
    #[cold]
    fn begin_unknown<S>(&self, id: &Id, ctx: &Context<'_, S>) -> Option<(&'static Location, ZoneId)>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let span = ctx.span(id)?;
        let extensions = span.extensions();
        let text = extensions.get::<SpanText>();
        let interned = match callsite::of(span.metadata()) {
            Some((number, place)) => {
                self.spans.put(id, number, text.is_some());
                place.interned.clone()
            }
            None => callsite::intern(span.metadata()),
        };
        let zone = self.begin(&interned);
        if let Some(SpanText(text)) = text {
            raw::zone_text(zone, text);
        }
        Some((interned.location(), zone))
    }

    fn begin_again<S>(&self, entered: &Entered, ctx: &Context<'_, S>) -> ZoneId
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let id = Id::from_u64(entered.key.span);
        let own = (entered.key == self.key(&id)).then(|| self.begin_unknown(&id, ctx)).flatten();
        own.map_or_else(|| raw::zone_begin(entered.location), |(_, zone)| zone)
    }
}

impl<S> Layer<S> for ZonecastLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    #[inline]
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let has_text = self.fields && !attributes.metadata().fields().is_empty() && raw::is_recording();
        if has_text && let Some(span) = ctx.span(id) {
            span.extensions_mut().replace(SpanText::of(attributes));
        }
        if let Some((number, _)) = callsite::of(attributes.metadata()) {
            self.spans.put(id, number, has_text);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        if !self.fields || !raw::is_recording() {
            return;
        }
        let Some(span) = ctx.span(id) else { return };
        let mut late = SpanText::default();
        late.add(values);
        open::here(|open| open.zone(self.key(id)).map(|zone| raw::zone_text(zone, &late.0)));
        let mut extensions = span.extensions_mut();
        match extensions.get_mut::<SpanText>() {
            Some(text) => text.add(values),
            None => extensions.insert(late),
        }
        if let Some((number, _)) = callsite::of(span.metadata()) {
            self.spans.put(id, number, true);
        }
    }

    #[inline]
    fn on_enter(&self, id: &Id, ctx: Context<'_, S>) {
        open::here(|open| match self.spans.get(id) {
            Some(Known { place: Place { interned, .. }, has_text: false }) => {
                open.enter(self.key(id), || Some((interned.location(), self.begin(interned))));
            }
            _ => open.enter(self.key(id), || self.begin_unknown(id, &ctx)),
        });
    }

    #[inline]
    fn on_exit(&self, id: &Id, ctx: Context<'_, S>) {
        open::here(|open| open.exit(self.key(id), |entered| self.begin_again(entered, &ctx)));
    }

    fn on_event(&self, event: &Event<'_>, _ctx: Context<'_, S>) {
        if raw::is_recording() {
            let severity = severity(*event.metadata().level());
            zonecast::message_fmt(severity, 0, format_args!("{}", EventText(event)));
        }
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
