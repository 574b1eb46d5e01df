//! Many threads, short ones among them, and what they record when they are about to end.

use std::cell::Cell;

use zonecast::{message, plot, zone, zone_text};
use zonecast_tracy_wire::Keep;

use crate::c_api::theirs;
use crate::support::{ON_DEMAND, case, on_threads, start, wait_for_server};

/// In either interface's hands in turn. Each zone says which it is, so that none can stand in for
/// another, whatever thread the profiler takes it for.
#[test]
fn two_million_zones_of_more_than_a_thousand_threads() {
    let (rounds, threads_each, zones_each) = (128, 8, 977);
    let capture = case().capture(move || {
        let _session = start();
        wait_for_server();
        for round in 0..rounds {
            on_threads(threads_each, |number| {
                let first = (round * threads_each + number) * zones_each;
                for place in first..first + zones_each {
                    let outer = zone!("outer");
                    outer.value(place);
                    match place % 2 {
                        0 => drop(zone!("inner")),
                        _ => theirs(|| {}),
                    }
                }
            });
        }
    });
    assert_eq!(capture.violations(), []);
    let all = rounds * threads_each * zones_each;
    assert!(2 * all > 2_000_000);
    let mut outer = vec![None; all as usize];
    let mut has_inner = vec![false; all as usize];
    for zone in capture.zones() {
        let outermost = zone.parent().unwrap_or(zone);
        let &[place] = outermost.values() else { panic!("{} has no number", outermost.name()) };
        if zone.depth() == 0 {
            let times = (zone.start_ns(), zone.end_ns().unwrap());
            assert_eq!(outer[place as usize].replace(times), None, "zone {place} is there twice");
        } else {
            assert_eq!(zone.name(), if place % 2 == 0 { "inner" } else { "theirs" });
            assert!(!std::mem::replace(&mut has_inner[place as usize], true), "{place} has two inner zones");
        }
    }
    assert_eq!(capture.zones().count() as u64, 2 * all);
    // Every one is there, since there are as many as there should be. Those of a thread are in order.
    for thread in outer.chunks(zones_each as usize) {
        let times: Vec<_> = thread.iter().map(|times| times.unwrap()).collect();
        assert!(times.is_sorted_by(|(_, end), (start, _)| end <= start));
    }
}

#[test]
fn statistics_of_zones_with_everything_on_them() {
    let capture = case().receiver(|receiver| receiver.keep(Keep::Statistics).check(true)).capture(|| {
        let _session = start();
        wait_for_server();
        on_threads(4, |number| {
            for round in 0..50_000_u64 {
                let zone = zone!("zone");
                zone.value(round);
                zone_text!(zone, "round {} of {}", round, number);
                plot!("round", round);
                message!("round {round}");
            }
        });
    });
    assert_eq!(capture.violations(), []);
    let counts = capture.counts();
    let [zones] = &capture.summary()[..] else { panic!("one sort of zone") };
    assert_eq!(zones.durations.count(), 200_000);
    for sort in ["messages", "plot values"] {
        assert!(counts[sort] >= 200_000, "{sort}: {counts:?}");
    }
}

/// Records when its thread's destructors run.
struct AtEnd(Cell<Option<&'static str>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        let Some(name) = self.0.get() else { return };
        for _ in 0..500 {
            let zone = zone!(name = name);
            zone.text(name);
            plot!("at end", 1);
            message!("{name}");
        }
    }
}

thread_local! {
    static FIRST: AtEnd = const { AtEnd(Cell::new(None)) };
    static LAST: AtEnd = const { AtEnd(Cell::new(None)) };
}

/// What a thread used first is destroyed last: after Tracy has given up the thread's queue, which
/// other threads take over while this one still records.
#[test]
fn what_ending_threads_record_late_is_on_no_other_thread() {
    let capture = case().capture(|| {
        let _session = start();
        wait_for_server();
        for _ in 0..16 {
            on_threads(8, |_| {
                FIRST.with(|at_end| at_end.0.set(Some("late")));
                for _ in 0..500 {
                    drop(zone!("body"));
                }
                LAST.with(|at_end| at_end.0.set(Some("in time")));
            });
        }
    });
    assert_eq!(capture.violations(), []);
    let all = 16 * 8 * 500;
    assert_eq!(capture.zones().named("body").count(), all);
    assert_eq!(capture.zones().named("late").count(), 0);
    assert_eq!(capture.messages().named("late").count(), 0);
    // Systems differ in when they destroy it.
    if cfg!(target_os = "linux") {
        assert_eq!(capture.zones().named("in time").count(), all);
        assert_eq!(capture.messages().named("in time").count(), all);
        assert_eq!(capture.plots()["at end"].len(), all);
    }
}

#[test]
fn a_thread_begins_with_any_call() {
    let capture = case().capture(|| {
        if ON_DEMAND {
            wait_for_server();
        }
        let first: [fn(); 5] = [
            || plot!("plot", 1),
            || message!("message"),
            || drop(zone!("callstack", callstack = 8)),
            || drop(zonecast::lock!("lock")),
            || zonecast::app_info("info"),
        ];
        for call in first {
            std::thread::spawn(move || {
                call();
                drop(zone!("after"));
            })
            .join()
            .unwrap();
        }
    });
    assert_eq!(capture.violations(), []);
    assert_eq!(capture.zones().named("after").count(), 5);
    assert_eq!(capture.plots()["plot"].len(), 1);
    capture.messages().named("message").one();
    capture.zones().named("callstack").one();
    capture.locks().named("lock").one();
    assert_eq!(capture.app_info().filter(|line| *line == "info").count(), 1);
}
