//! Futures and tasks, as a Tracy server sees them: with the feature `fibers` and without, through the layer and
//! through the subscriber.

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tracing::info_span;
use tracing::instrument::Instrument;
use zonecast::location;
use zonecast_tracing::FutureExt;
use zonecast_tracy_wire::child::capture;

use super::traced;

const FIBERS: bool = cfg!(feature = "fibers");
const TASKS: usize = 10;
const STEPS: usize = 8;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap()
}

/// Counts how often `future` is polled.
async fn counted<F: Future>(polls: Arc<AtomicUsize>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(cx)
    })
    .await
}

/// Steps that wait in different ways, so that tasks move between threads.
async fn steps() {
    for step in 0..STEPS {
        async {
            let _now = info_span!("compute", step).entered();
            std::hint::black_box((0..500_u64).sum::<u64>());
        }
        .instrument(info_span!("step"))
        .await;
        match step % 2 {
            0 => tokio::task::yield_now().await,
            _ => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

#[test]
fn ten_tasks_on_four_threads_are_balanced() {
    let capture = capture(|| {
        let _session = traced();
        let polls = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| counted(polls.clone(), steps()).instrument(info_span!("task", task)))
            .collect();
        runtime().block_on(async {
            let tasks: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        zonecast::plot!("polls", polls.load(Ordering::Relaxed));
    });
    assert_eq!(capture.violations(), []);
    assert!(capture.zones().all(|zone| zone.end_ns().is_some()));
    let polls = capture.plots()["polls"][0].1 as usize;
    let count = |name| capture.zones().named(name).count();
    // At least once from the start and once more after each yield. A sleep may be over when it is looked at.
    assert!(polls >= TASKS * (1 + STEPS / 2));
    // Once more each: a span is entered when its future is dropped, too.
    assert_eq!(count("task"), polls + TASKS);
    assert_eq!(count("step"), 2 * TASKS * STEPS);
    assert_eq!(count("compute"), TASKS * STEPS);
    let computed: BTreeSet<_> =
        capture.zones().named("compute").map(|zone| zone.parent().unwrap().name()).collect();
    assert_eq!(computed, BTreeSet::from(["step"]));
}

#[test]
fn ten_futures_in_zones_on_four_threads_are_balanced() {
    let capture = capture(|| {
        let _session = traced();
        let polls = Arc::new(AtomicUsize::new(0));
        runtime().block_on(async {
            let task = |_| tokio::spawn(counted(polls.clone(), steps()).in_zone(location!("task")));
            let tasks: Vec<_> = (0..TASKS).map(task).collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        zonecast::plot!("polls", polls.load(Ordering::Relaxed));
    });
    assert_eq!(capture.violations(), []);
    assert!(capture.zones().all(|zone| zone.end_ns().is_some()));
    let polls = capture.plots()["polls"][0].1 as usize;
    let tasks: Vec<_> = capture.zones().named("task").collect();
    assert_eq!(tasks.len(), if FIBERS { TASKS } else { polls });
    assert!(tasks.iter().all(|zone| zone.depth() == 0 && zone.thread().is_fiber() == FIBERS));
    let steps: Vec<_> = capture.zones().named("step").collect();
    assert_eq!(steps.len(), 2 * TASKS * STEPS);
    assert!(steps.iter().all(|zone| zone.parent().unwrap().name() == "task"));
}

/// Polls a future by hand, on this thread or on a new one.
fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Waits once.
async fn wait() {
    let mut polled = false;
    poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

#[test]
fn a_span_entered_across_a_wait_goes_with_its_future() {
    let capture = capture(|| {
        let _session = traced();
        let mut future = pin!(
            async {
                let span = info_span!("across");
                let dispatch = tracing::dispatcher::get_default(Clone::clone);
                dispatch.enter(&span.id().unwrap());
                wait().await;
                drop(info_span!("after").entered());
                dispatch.exit(&span.id().unwrap());
            }
            .in_zone(location!("future"))
        );
        let _outer = info_span!("outer").entered();
        assert!(poll(future.as_mut()).is_pending());
        drop(info_span!("between").entered());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(poll(future.as_mut()).is_ready()));
        });
    });
    assert_eq!(capture.violations(), []);
    let count = |name| capture.zones().named(name).count();
    let parts = if FIBERS { 1 } else { 2 };
    assert_eq!((count("future"), count("across"), count("after")), (parts, parts, 1));
    assert_eq!(capture.zones().named("after").one().parent().unwrap().name(), "across");
    assert_eq!(capture.zones().named("between").one().parent().unwrap().name(), "outer");
    assert!(capture.zones().all(|zone| zone.end_ns().is_some()));
}

#[test]
fn futures_in_futures_dropped_or_panicking_end_their_zones() {
    let capture = capture(|| {
        let _session = traced();
        {
            let inner = async { wait().await }.in_zone(location!("inner"));
            let mut outer = pin!(inner.in_zone(location!("outer")));
            assert!(poll(outer.as_mut()).is_pending());
        }
        let failing = async {
            let _span = info_span!("failing span").entered();
            std::panic::resume_unwind(Box::new("on purpose"));
        };
        let mut failing = Box::pin(failing.in_zone(location!("failing")));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(failing.as_mut()))).is_err());
        drop(failing);
        drop(info_span!("next").entered());
    });
    assert_eq!(capture.violations(), []);
    assert!(capture.zones().all(|zone| zone.end_ns().is_some()));
    let fibers = capture.zones().filter(|zone| zone.thread().is_fiber()).count();
    assert_eq!(fibers > 0, FIBERS);
    let next = capture.zones().named("next").one();
    assert!(next.depth() == 0 && !next.thread().is_fiber());
}

#[test]
fn names_of_fibers_are_used_again() {
    let capture = capture(|| {
        let _session = traced();
        for _ in 0..50 {
            assert!(poll(pin!(async {}.in_zone(location!("brief")))).is_ready());
        }
    });
    let threads: BTreeSet<_> = capture.zones().named("brief").map(|zone| zone.thread().name()).collect();
    assert_eq!(capture.zones().named("brief").count(), 50);
    assert_eq!(threads.len(), 1);
    assert_eq!(threads.contains("brief #1"), FIBERS);
}
