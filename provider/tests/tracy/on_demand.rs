//! Profilers that come and go.

#![cfg(feature = "tracy-on-demand")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use zonecast::{Lane, Lock, Time, location, lock, message, plot, zone};
use zonecast_tracy_wire::{self as wire, Capture, LockAction};

use crate::support::{PATIENCE, case, wait_for_server};

#[test]
fn nothing_is_recorded_before_a_profiler_connects() {
    let capture = case().capture(|| {
        let _session = zonecast::start();
        let open = zone!("before");
        assert!(!open.is_recorded() || zonecast::is_connected());
        plot!("before", 1);
        message!("before");
        wait_for_server();
        open.text("before");
        drop(open);
        drop(zone!("after"));
    });
    assert_eq!(capture.violations(), []);
    let names: Vec<_> = capture.zones().map(|zone| zone.name()).filter(|name| *name != "before").collect();
    assert_eq!(names, ["after"]);
}

/// Zones that are open across the end of a connection do not end in the next one.
#[test]
fn each_connection_has_zones_of_its_own() {
    let program = case().program(|| {
        for _ in 0..4 {
            std::thread::spawn(|| {
                loop {
                    let _outer = zone!("outer");
                    for _ in 0..50 {
                        let mut inner = zone!("inner");
                        inner.switch(zonecast::location!("inner"));
                        std::thread::sleep(Duration::from_micros(100));
                    }
                }
            });
        }
        // Longer than the test takes, which then ends this.
        sleep(PATIENCE);
        // SAFETY: it has no preconditions. Tracy's own end would wait for a profiler.
        unsafe { libc::_exit(0) }
    });
    let enough = |capture: &Capture| capture.zones().named("inner").count() > 100;
    let mut started =
        program.receiver(move |receiver| receiver.check(true).stop_once(enough)).start().unwrap();
    for connection in 0..4 {
        let capture = started.receiver.capture().unwrap();
        assert_eq!(capture.violations(), [], "connection {connection}");
        for zone in capture.zones().named("inner") {
            let parent = zone.parent().map(|parent| parent.name());
            assert!(matches!(parent, None | Some("outer")), "{parent:?}");
        }
    }
}

/// Locks, GPU contexts and lines about the program: those that are announced just when a profiler connects, which
/// is some time before the client tells it what it kept, and those that are older, and in use.
#[test]
fn each_connection_is_told_of_everything_once() {
    let program = case().program(|| {
        let (mutex, shown) = (Mutex::new(()), lock!("old"));
        shown.name("old");
        thread::scope(|scope| {
            for number in 0..2 {
                scope.spawn(move || announce_at_each_connection(number));
                scope.spawn(|| use_forever(&mutex, &shown));
            }
            // The test takes less, and ends this.
            sleep(PATIENCE);
            // SAFETY: it has no preconditions. Tracy's own end would wait for a profiler.
            unsafe { libc::_exit(0) }
        });
    });
    let mut started = program
        .receiver(|receiver| receiver.check(true).stop_after(Duration::from_millis(50)))
        .start()
        .unwrap();
    let mut told = 0;
    while told < CONNECTIONS {
        let capture = started.receiver.capture().unwrap();
        assert_eq!(capture.violations(), []);
        capture.locks().named("old").for_each(|lock| assert_pairs(&lock));
        let lines = lines(&capture);
        assert!(lines.is_sorted_by(|line, next| line < next), "a line twice: {lines:?}");
        let is_told = capture.locks().named("named").count() > 0 && capture.gpu_contexts().count() > 0;
        told += usize::from(is_told);
    }
}

/// In which locks and contexts were announced.
const CONNECTIONS: usize = 25;

fn announce_at_each_connection(number: u32) {
    let mut lanes = Vec::new();
    loop {
        wait_for_server();
        lanes.push(Lane::new(&format!("lane {} of {number}", lanes.len())));
        for count in 0..10 {
            zonecast::app_info(&format!("line {count} of {} of {number}", lanes.len()));
            use_new();
            lanes.iter_mut().for_each(show);
        }
        while zonecast::is_connected() {
            sleep(Duration::from_millis(1));
        }
    }
}

fn use_new() {
    let new = lock!("new");
    new.name("named");
    new.tried(true);
    new.released();
}

fn show(lane: &mut Lane) {
    let now = Time::now();
    lane.zone_at(location!("shown"), now, now.plus(100));
}

fn use_forever(mutex: &Mutex<()>, shown: &Lock) {
    loop {
        shown.wait();
        let guard = mutex.lock().unwrap();
        shown.obtained();
        sleep(Duration::from_micros(100));
        drop(guard);
        shown.released();
    }
}

/// Nothing is obtained that was not waited for, nor released that was not obtained, in the same connection.
fn assert_pairs(lock: &wire::Lock<'_>) {
    let (mut waiting, mut obtained) = (BTreeSet::new(), 0);
    for event in lock.events() {
        match event.action {
            LockAction::Wait => assert!(waiting.insert(event.thread)),
            LockAction::Obtain => {
                assert!(waiting.remove(&event.thread), "obtained without a wait");
                obtained += 1;
            }
            LockAction::Release => {
                assert!(obtained > 0, "released without being obtained");
                obtained -= 1;
            }
        }
    }
}

/// Lines of all times come to every profiler, by whatever a program records.
#[test]
fn each_connection_gets_each_line_about_the_program() {
    let program = case().program(|| {
        zonecast::app_info("line 0");
        wait_for_server();
        zonecast::app_info("line 1");
        let ends = Instant::now() + Duration::from_secs(300);
        thread::scope(|scope| {
            scope.spawn(|| {
                while Instant::now() < ends {
                    drop(zone!("inline"));
                    sleep(Duration::from_millis(1));
                }
            });
        });
        // SAFETY: it has no preconditions. Tracy's own end would wait for a profiler.
        unsafe { libc::_exit(0) }
    });
    let has_all = Arc::new(AtomicBool::new(false));
    let (set, flag) = (Arc::clone(&has_all), Arc::clone(&has_all));
    let receiver = move |receiver: wire::Receiver| {
        let report = move |capture: &wire::Capture| set.store(lines(capture).len() >= 2, Ordering::Relaxed);
        receiver.check(true).stop_when(flag).on_progress(report)
    };
    let mut started = program.receiver(receiver).start().unwrap();
    for _ in 0..5 {
        has_all.store(false, Ordering::Relaxed);
        let capture = started.receiver.capture().unwrap();
        assert_eq!(lines(&capture), ["line 0", "line 1"]);
        assert_eq!(capture.violations(), []);
    }
}

fn lines(capture: &wire::Capture) -> Vec<&str> {
    let mut lines: Vec<_> = capture.app_info().filter(|line| line.starts_with("line ")).collect();
    lines.sort_unstable();
    lines
}
