//! What a Tracy server sees of spans and events, through the layer and through the subscriber.

use std::collections::BTreeMap;

use tracing::{debug, error, info, info_span, trace, warn};
use zonecast_tracy_wire::child::capture;
use zonecast_tracy_wire::{Severity, Zone};

use super::{Options, dispatch, traced};
use crate::{balanced, messages};

fn texts<'a>(zone: &Zone<'a>) -> Vec<&'a str> {
    zone.texts().collect()
}

#[test]
fn spans_are_zones_at_their_callsites() {
    let capture = capture(|| {
        let _session = traced();
        let outer = info_span!("outer", batch = 7, r#type = "f32", late = tracing::field::Empty).entered();
        outer.record("late", tracing::field::debug(Some(3)));
        for _ in 0..2 {
            drop(info_span!("inner").entered());
        }
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("outer", 1), ("inner", 2)]));
    let outer = capture.zones().named("outer").one();
    assert_eq!(texts(&outer), ["batch=7 type=f32", "late=Some(3)"]);
    assert_eq!(outer.function(), module_path!());
    assert!(outer.file().ends_with("tests/wire/both.rs"), "{}", outer.file());
    let inner: Vec<_> = capture.zones().named("inner").collect();
    assert!(inner.iter().all(|zone| zone.parent().is_some_and(|parent| parent.name() == "outer")));
    assert!(inner.iter().all(|zone| zone.line() == outer.line() + 3 && texts(zone).is_empty()));
}

#[test]
fn a_span_entered_again_tells_its_fields_again() {
    let capture = capture(|| {
        let _session = traced();
        let span = info_span!("again", n = 1);
        span.in_scope(|| ());
        span.record("n", 2);
        span.in_scope(|| ());
        std::thread::scope(|scope| {
            scope.spawn(|| span.in_scope(|| ()));
        });
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("again", 3)]));
    let all: Vec<_> = capture.zones().named("again").map(|zone| texts(&zone).join("|")).collect();
    assert_eq!(all.iter().filter(|text| *text == "n=1").count(), 1);
    assert_eq!(all.iter().filter(|text| *text == "n=1 n=2").count(), 2);
}

#[test]
fn without_fields_zones_have_no_text() {
    let capture = capture(|| {
        let _session = zonecast::start();
        tracing::dispatcher::set_global_default(dispatch(Options { fields: false, callstack: 0 })).unwrap();
        let span = info_span!("bare", n = 1).entered();
        span.record("n", 2);
    });
    assert!(texts(&capture.zones().named("bare").one()).is_empty());
}

#[test]
fn zones_have_callstacks_when_asked() {
    let capture = capture(|| {
        let _session = zonecast::start();
        tracing::dispatcher::set_global_default(dispatch(Options { fields: true, callstack: 8 })).unwrap();
        drop(info_span!("deep").entered());
    });
    assert_eq!(capture.violations(), []);
    assert!(!capture.zones().named("deep").one().callstack().is_empty());
}

#[test]
fn events_are_messages_of_their_severity() {
    let capture = capture(|| {
        let _session = traced();
        error!("failed");
        warn!(tokens = 17, "the cache is {}", "full");
        info!(name = "only fields", ok = true);
        debug!(error = &std::fmt::Error as &dyn std::error::Error, "why");
        trace!("step");
    });
    assert_eq!(
        messages(&capture),
        [
            (Some(Severity::Error), "failed"),
            (Some(Severity::Warning), "the cache is full tokens=17"),
            (Some(Severity::Info), "name=only fields ok=true"),
            (Some(Severity::Debug), "why error=an error occurred when formatting an argument"),
            (Some(Severity::Trace), "step"),
        ]
    );
}

#[test]
fn records_of_the_log_crate_are_messages() {
    let capture = capture(|| {
        let _session = traced();
        tracing_log::LogTracer::init().unwrap();
        tracing_log::log::warn!("from {}", "log");
    });
    assert_eq!(messages(&capture), [(Some(Severity::Warning), "from log")]);
}

#[test]
fn spans_left_in_any_order_stay_nested() {
    let capture = capture(|| {
        let _session = traced();
        let (first, second, third) = (info_span!("first"), info_span!("second"), info_span!("third", n = 3));
        let first = first.entered();
        let second = second.entered();
        let third = third.entered();
        drop(second);
        drop(first);
        drop(third);
    });
    // Left while others were inside, `second` and then `first` cut what was inside in two.
    assert_eq!(balanced(&capture), BTreeMap::from([("first", 1), ("second", 1), ("third", 3)]));
    let thirds: Vec<_> = capture.zones().named("third").collect();
    assert_eq!(thirds.iter().map(|zone| zone.depth()).collect::<Vec<_>>(), [2, 1, 0]);
    assert!(thirds.iter().all(|zone| texts(zone) == ["n=3"]));
    assert!(thirds.is_sorted_by(|a, b| a.end_ns() <= Some(b.start_ns())));
}

#[test]
fn a_span_left_on_another_thread_ends_where_it_was_entered() {
    let capture = capture(|| {
        let _session = traced();
        let span = info_span!("wanders");
        let id = span.id().unwrap();
        tracing::dispatcher::get_default(|dispatch| dispatch.enter(&id));
        let outside = info_span!("inside").entered();
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        std::thread::scope(|scope| {
            scope.spawn(|| dispatch.exit(&id));
        });
        drop(info_span!("after").entered());
        drop(outside);
        drop(info_span!("outermost").entered());
    });
    let counts = balanced(&capture);
    assert_eq!(counts, BTreeMap::from([("wanders", 1), ("inside", 2), ("after", 1), ("outermost", 1)]));
    assert_eq!(capture.zones().named("after").one().depth(), 1);
    assert_eq!(capture.zones().named("outermost").one().depth(), 0);
}

#[test]
fn a_thread_that_exits_ends_its_zones() {
    let capture = capture(|| {
        let _session = traced();
        let span = info_span!("left open");
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        std::thread::scope(|scope| {
            scope.spawn(|| dispatch.enter(&span.id().unwrap()));
        });
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("left open", 1)]));
}

#[test]
fn two_subscribers_are_told_apart() {
    let capture = capture(|| {
        let _session = zonecast::start();
        let (one, two) = (dispatch(Options::default()), dispatch(Options::default()));
        let first = tracing::dispatcher::with_default(&one, || info_span!("first"));
        let second = tracing::dispatcher::with_default(&two, || info_span!("second"));
        let first = first.entered();
        let second = second.entered();
        drop(first);
        drop(second);
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("first", 1), ("second", 2)]));
}
