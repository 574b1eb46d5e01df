//! The layer.

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use zonecast::{Location, ZoneId, raw};

use crate::callsite::{self, Place};
use crate::open::{self, Entered};
use crate::spans::{Known, Spans};
use crate::text::SpanText;
use crate::zones::{self, Zones};

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
    zones: Zones,
    spans: Spans,
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
        Self { zones: Zones::new(), spans: Spans::new() }
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

    /// Enters a span in whichever way it takes.
    #[cold]
    #[inline(never)]
    fn enter<S>(&self, id: &Id, ctx: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        open::here(|open| open.enter(self.zones.key(id), || self.begin(id, ctx)));
    }

    /// Leaves a span that is not the innermost.
    #[cold]
    #[inline(never)]
    fn exit<S>(&self, id: &Id, ctx: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        open::here(|open| open.exit(self.zones.key(id), |entered| self.begin_again(entered, ctx)));
    }

    /// Begins the zone of a span, with its text.
    fn begin<S>(&self, id: &Id, ctx: &Context<'_, S>) -> Option<(&'static Location, ZoneId)>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let span = ctx.span(id)?;
        let extensions = span.extensions();
        let text = extensions.get::<SpanText>();
        let (number, Place { interned, .. }) = callsite::of(span.metadata());
        self.spans.put(id, number, text.is_some());
        Some(match text {
            None => self.zones.begin(interned),
            Some(SpanText(text)) => self.zones.begin_with_text(interned, text),
        })
    }

    fn begin_again<S>(&self, entered: &Entered, ctx: &Context<'_, S>) -> ZoneId
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let own = self.zones.id(entered.key).and_then(|id| self.begin(&id, ctx));
        own.map_or_else(|| raw::zone_begin(entered.location), |(_, zone)| zone)
    }
}

impl<S> Layer<S> for ZonecastLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    #[inline]
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let has_text = self.zones.has_fields(attributes.metadata()) && raw::is_recording();
        if has_text && let Some(span) = ctx.span(id) {
            span.extensions_mut().replace(SpanText::of(attributes));
        }
        self.spans.put(id, callsite::of(attributes.metadata()).0, has_text);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        if !self.zones.fields || !raw::is_recording() {
            return;
        }
        let Some(span) = ctx.span(id) else { return };
        let late = SpanText::late(values);
        open::tell(self.zones.key(id), &late);
        let mut extensions = span.extensions_mut();
        match extensions.get_mut::<SpanText>() {
            Some(text) => text.append(&late),
            None => extensions.insert(late),
        }
        self.spans.put(id, callsite::of(span.metadata()).0, true);
    }

    #[inline]
    fn on_enter(&self, id: &Id, ctx: Context<'_, S>) {
        match self.spans.get(id) {
            Some(Known { place, has_text: false }) if self.zones.enter_at_once(id, &place.interned) => {}
            _ => self.enter(id, &ctx),
        }
    }

    #[inline]
    fn on_exit(&self, id: &Id, ctx: Context<'_, S>) {
        if !open::exit_at_once(self.zones.key(id)) {
            self.exit(id, &ctx);
        }
    }

    fn on_event(&self, event: &Event<'_>, _ctx: Context<'_, S>) {
        zones::tell(event);
    }
}
