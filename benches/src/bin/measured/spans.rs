//! Spans of the `tracing` crate, on subscribers that send them to Tracy and on parts of those.
//!
//! A program has one subscriber for good, and that of the first loop which is run stays: what it costs to choose
//! between several is in none of the figures.

use std::hint::black_box;
use std::num::NonZeroU64;

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Span, Subscriber, info_span};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry;

/// Takes every span, and does nothing.
struct Idle;

impl Subscriber for Idle {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_non_zero_u64(NonZeroU64::MIN)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn choose(subscriber: impl Subscriber + Send + Sync) {
    // Of the loops that share it, the first one chooses it.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Spans from their making to their end.
fn whole(n: u64) {
    for i in 0..n {
        let _span = info_span!("zone").entered();
        black_box(i);
    }
}

/// A span that is entered and left.
fn entered(span: &Span, n: u64) {
    for i in 0..n {
        let _entered = span.enter();
        black_box(i);
    }
}

zonecast_benches::loops! {
    /// What the `tracing` crate itself costs.
    fn loop_tracing_idle(n) {
        choose(Idle);
        whole(n);
    }

    /// The registry that layers need.
    fn loop_tracing_registry(n) {
        choose(registry());
        whole(n);
    }

    fn loop_tracing_registry_enter(n) {
        choose(registry());
        entered(&info_span!("zone"), n);
    }

    fn loop_tracing_layer(n) {
        choose(registry().with(zonecast_tracing::ZonecastLayer::new()));
        whole(n);
    }

    fn loop_tracing_layer_enter(n) {
        choose(registry().with(zonecast_tracing::ZonecastLayer::new()));
        entered(&info_span!("zone"), n);
    }

    fn loop_tracing_subscriber(n) {
        choose(zonecast_tracing::ZonecastSubscriber::new());
        whole(n);
    }

    fn loop_tracing_subscriber_enter(n) {
        choose(zonecast_tracing::ZonecastSubscriber::new());
        entered(&info_span!("zone"), n);
    }

    fn loop_tracing_tracy(n) {
        choose(registry().with(tracing_tracy::TracyLayer::default()));
        whole(n);
    }

    fn loop_tracing_tracy_enter(n) {
        choose(registry().with(tracing_tracy::TracyLayer::default()));
        entered(&info_span!("zone"), n);
    }
}
