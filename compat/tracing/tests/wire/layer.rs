//! The layer, over a registry.

use std::collections::BTreeMap;

use tracing::{Level, debug, info, info_span};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::prelude::*;
use zonecast_tracing::ZonecastLayer;
use zonecast_tracy_wire::Severity;
use zonecast_tracy_wire::child::capture;

use crate::{Options, balanced, messages};

#[path = "both.rs"]
mod both;
#[path = "futures.rs"]
mod futures;

fn dispatch(Options { fields, callstack }: Options) -> tracing::Dispatch {
    let layer = ZonecastLayer::new().with_fields(fields).with_callstack(callstack);
    tracing_subscriber::registry().with(layer).into()
}

fn traced() -> zonecast::Session {
    crate::trace(dispatch)
}

#[test]
fn filters_of_the_layer_are_honoured() {
    let capture = capture(|| {
        let _session = zonecast::start();
        let loud = ZonecastLayer::new().with_filter(LevelFilter::INFO);
        // Another layer wants everything, so the spans themselves exist.
        let all = tracing_subscriber::layer::Identity::new().with_filter(filter_fn(|_| true));
        tracing_subscriber::registry().with(loud).with(all).init();
        let _outer = info_span!("outer").entered();
        let _quiet = tracing::span!(Level::DEBUG, "quiet").entered();
        debug!("quiet");
        info!("loud");
        drop(info_span!("inner").entered());
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("outer", 1), ("inner", 1)]));
    assert_eq!(messages(&capture), [(Some(Severity::Info), "loud")]);
    assert_eq!(capture.zones().named("inner").one().depth(), 1);
}
