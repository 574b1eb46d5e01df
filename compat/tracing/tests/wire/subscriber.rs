//! The subscriber: what the registry does for a layer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::span::Id;
use tracing::{Level, Span, Subscriber, debug, info, info_span};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::Context;
use tracing_subscriber::prelude::*;
use zonecast::location;
use zonecast_tracing::{FutureExt, ZonecastSubscriber};
use zonecast_tracy_wire::Severity;
use zonecast_tracy_wire::child::capture;

use crate::{Options, balanced, messages};

#[path = "both.rs"]
mod both;
#[path = "futures.rs"]
mod futures;

fn dispatch(Options { fields, callstack }: Options) -> tracing::Dispatch {
    ZonecastSubscriber::new().with_fields(fields).with_callstack(callstack).into()
}

fn traced() -> zonecast::Session {
    crate::trace(dispatch)
}

#[test]
fn filters_over_it_are_honoured() {
    let capture = capture(|| {
        let _session = zonecast::start();
        ZonecastSubscriber::new().with(LevelFilter::INFO).init();
        let _outer = info_span!("outer").entered();
        let _quiet = tracing::span!(Level::DEBUG, "quiet").entered();
        debug!("quiet");
        info!("loud");
        drop(info_span!("inner").entered());
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("outer", 1), ("inner", 1)]));
    assert_eq!(messages(&capture), [(Some(Severity::Info), "loud")]);
}

fn current() -> Option<&'static str> {
    Span::current().metadata().map(|metadata| metadata.name())
}

#[test]
fn the_current_span_is_the_innermost_of_its_thread() {
    let capture = capture(|| {
        let _session = traced();
        assert_eq!(current(), None);
        let outer = info_span!("outer").entered();
        let inner = info_span!("inner", n = 1).entered();
        assert_eq!(current(), Some("inner"));
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(current(), None));
        });
        drop(outer);
        assert_eq!(current(), Some("inner"));
        drop(inner);
        assert_eq!(current(), None);
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("outer", 1), ("inner", 2)]));
}

async fn current_around_a_wait() -> [Option<&'static str>; 3] {
    let span = info_span!("across");
    let entered = span.enter();
    let before = current();
    tokio::task::yield_now().await;
    let after = current();
    drop(entered);
    [before, after, current()]
}

#[test]
fn the_current_span_goes_with_a_future_in_a_zone() {
    let capture = capture(|| {
        let _session = traced();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let names = runtime.block_on(current_around_a_wait().in_zone(location!("future")));
        assert_eq!(names, [Some("across"), Some("across"), None]);
        assert_eq!(current(), None);
    });
    assert_eq!(capture.violations(), []);
}

#[test]
fn parents_and_predecessors_are_taken() {
    let capture = capture(|| {
        let _session = traced();
        let first = info_span!("first");
        let second = info_span!(parent: &first, "second");
        let root = info_span!(parent: None, "root");
        second.follows_from(&first);
        root.in_scope(|| second.in_scope(|| ()));
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("root", 1), ("second", 1)]));
    // Where a zone lies is a matter of time.
    assert_eq!(capture.zones().named("second").one().parent().unwrap().name(), "root");
}

/// Counts the spans that are closed.
struct Closed(Arc<AtomicUsize>);

impl<S: Subscriber> Layer<S> for Closed {
    fn on_close(&self, _: Id, _: Context<'_, S>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_span_is_closed_with_its_last_handle() {
    let closed = Arc::new(AtomicUsize::new(0));
    let dispatch = tracing::Dispatch::new(ZonecastSubscriber::new().with(Closed(closed.clone())));
    let count = || closed.load(Ordering::Relaxed);
    tracing::dispatcher::with_default(&dispatch, || {
        for span in [info_span!("plain"), info_span!("with a field", n = 1)] {
            let before = count();
            let handles = vec![span.clone(); 3];
            drop(span);
            std::thread::scope(|scope| {
                for handle in handles {
                    assert_eq!(count(), before);
                    scope.spawn(move || handle.in_scope(|| ())).join().unwrap();
                }
            });
            assert_eq!(count(), before + 1);
        }
    });
}

#[test]
fn ids_that_nobody_gave_away_do_no_harm() {
    let capture = capture(|| {
        let _session = traced();
        let _outer = info_span!("outer").entered();
        tracing::dispatcher::get_default(|dispatch| {
            let strange = Id::from_u64(u64::MAX);
            dispatch.enter(&strange);
            dispatch.exit(&strange);
            let _ = dispatch.clone_span(&strange);
            assert!(!dispatch.try_close(strange.clone()));
            assert!(dispatch.try_close(strange));
        });
    });
    assert_eq!(balanced(&capture), BTreeMap::from([("outer", 1)]));
}
