//! What a Tracy server sees of a program that uses `tracing`.

#![allow(clippy::duplicate_mod, reason = "most tests run with the layer and with the subscriber")]

mod layer;
mod subscriber;

use std::collections::BTreeMap;

use zonecast_tracy_wire::{Capture, Severity};

/// How often each zone was seen. All have ended, and the real server would bear the stream.
#[track_caller]
fn balanced(capture: &Capture) -> BTreeMap<&str, usize> {
    assert_eq!(capture.violations(), []);
    let mut counts = BTreeMap::new();
    for zone in capture.zones() {
        assert!(zone.end_ns().is_some(), "{} has no end", zone.name());
        *counts.entry(zone.name()).or_default() += 1;
    }
    counts
}

/// What the program itself had to say.
fn messages(capture: &Capture) -> Vec<(Option<Severity>, &str)> {
    let own = capture.messages().filter(|message| !message.is_from_tracy());
    own.map(|message| (message.severity(), message.text())).collect()
}

/// What a layer and a subscriber can be told.
struct Options {
    fields: bool,
    callstack: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { fields: true, callstack: 0 }
    }
}

/// Sends everything to the profiler from now on.
fn trace(dispatch: fn(Options) -> tracing::Dispatch) -> zonecast::Session {
    let session = zonecast::start();
    tracing::dispatcher::set_global_default(dispatch(Options::default())).unwrap();
    session
}
