//! How much waits for a profiler.

#![cfg(not(feature = "tracy-on-demand"))]

use std::time::{Duration, Instant};

use zonecast::{Pool, message, zone};
use zonecast_tracy_wire::child::Case;
use zonecast_tracy_wire::{Capture, Keep};

use crate::support::{PATIENCE, case, on_threads, start, wait_for_server};

const MIB: u64 = 1 << 20;
/// What the process takes beside events: the executable, Tracy's own buffers, the threads' stacks.
const BESIDE: u64 = 48 * MIB;

/// The most memory that this process ever had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Where a process leaves word that a profiler may come.
const READY: &str = "ZONECAST_TEST_READY";

/// Lets the profiler come.
fn ready() {
    std::fs::write(std::env::var(READY).unwrap(), "").unwrap();
}

/// Captures `body` once it says that it is ready.
fn capture_late(case: Case, body: impl FnOnce()) -> Capture {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ready");
    let mut started = case.env(READY, file.to_str().unwrap()).program(body).start().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !file.exists() && started.child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    started.finish().succeeded()
}

fn zones(count: u64) {
    for _ in 0..count / 2 {
        let _outer = zone!("outer");
        drop(zone!("inner"));
    }
}

/// Every zone is in the trace or in a count, and what is in the trace is whole.
fn assert_accounted_for(capture: &Capture, zones: u64) {
    assert_eq!(capture.violations(), []);
    let seen = capture.zones().count() as u64;
    let dropped: u64 = reports(capture).iter().map(|report| report.1).sum();
    assert!(dropped > 0);
    assert_eq!(seen + dropped, zones);
    for zone in capture.zones() {
        assert!(zone.end_ns().is_some());
        // There can be room again in the middle of a zone that was dropped.
        let parent = zone.parent().map(|zone| zone.name());
        assert!(matches!((zone.name(), parent), (_, None) | ("inner", Some("outer"))), "{parent:?}");
    }
}

/// Who dropped how many zones.
fn reports(capture: &Capture) -> Vec<(String, u64)> {
    let report = |text: &str| {
        let (who, rest) = text.strip_prefix("zonecast: ")?.split_once(" dropped ")?;
        Some((who.to_owned(), rest.split(' ').next()?.parse().ok()?))
    };
    capture.messages().filter_map(|message| report(message.text())).collect()
}

#[test]
fn fifty_million_zones_stay_under_the_bound() {
    // Without optimisation that takes long; fewer are far more than there is room for as well.
    let count = if cfg!(debug_assertions) { 10_000_000 } else { 50_000_000 };
    let statistics = case().receiver(|receiver| receiver.keep(Keep::Statistics));
    let capture = capture_late(statistics, move || {
        let _session = start();
        zones(count);
        assert!(peak() < 256 * MIB + BESIDE, "{} MiB", peak() / MIB);
        ready();
    });
    let seen: u64 = capture.summary().iter().map(|zones| zones.durations.count()).sum();
    // 256 MiB of two items of 32 bytes each, but for the last block.
    assert!((3_900_000..=4_194_304).contains(&seen), "{seen}");
}

#[test]
fn a_bound_of_ones_own_holds_for_all_threads_together() {
    let capture = capture_late(case().env("ZONECAST_MEMORY", "24"), || {
        let _session = start();
        on_threads(6, |_| zones(400_000));
        assert!(peak() < 24 * MIB + BESIDE, "{} MiB", peak() / MIB);
        ready();
        wait_for_server();
    });
    assert_accounted_for(&capture, 6 * 400_000);
    let ended: Vec<_> = reports(&capture);
    assert!(ended.iter().any(|(who, _)| who.ends_with("threads that have ended")), "{ended:?}");
}

#[test]
fn recording_goes_on_once_a_profiler_has_come() {
    let capture = capture_late(case(), || {
        zonecast::limit_memory(4 << 20);
        let _session = start();
        let _outermost = zone!("outermost");
        for _ in 0..100_000 {
            drop(zone!("early"));
        }
        // Dropped, and open when the profiler comes.
        let open = zone!("early");
        assert!(!open.is_recorded());
        ready();
        wait_for_server();
        drop(zone!("late"));
        drop(open);
        drop(zone!("late"));
        assert!(peak() < 4 * MIB + BESIDE, "{} MiB", peak() / MIB);
    });
    assert_eq!(capture.violations(), []);
    let outermost = capture.zones().named("outermost").one();
    assert!(outermost.end_ns().is_some());
    assert!(capture.zones().filter(|zone| zone.name() != "outermost").all(|zone| zone.depth() == 1));
    assert_eq!(capture.zones().named("late").count(), 2);
    let [(who, dropped)] = &reports(&capture)[..] else { panic!("one report") };
    assert_eq!(*who, format!("thread {}", outermost.thread().id()));
    assert_eq!(capture.zones().named("early").count() as u64 + dropped, 100_001);
}

#[test]
fn texts_and_messages_count() {
    let capture = capture_late(case().env("ZONECAST_MEMORY", "32"), || {
        let _session = start();
        let text = "x".repeat(60_000);
        for _ in 0..4_000 {
            let zone = zone!("outer");
            zone.text(&text);
            message!("{text}");
        }
        assert!(peak() < 32 * MIB + BESIDE, "{} MiB", peak() / MIB);
        ready();
        wait_for_server();
    });
    assert_eq!(capture.violations(), []);
    let texts: usize = capture.zones().map(|zone| zone.texts().count()).sum();
    assert!((100..560).contains(&texts), "{texts}");
    assert!(capture.messages().count() > 100);
    assert!(reports(&capture).iter().any(|(_, zones)| *zones > 0));
}

/// What the profiler would take for a fault is not half there.
#[test]
fn memory_and_locks_stop_together() {
    let capture = capture_late(case().env("ZONECAST_MEMORY", "8"), || {
        let _session = start();
        on_threads(4, |number| {
            let lock = zonecast::lock!("lock");
            for round in 0..100_000 {
                let address = 0x10_0000 * (number as usize + 1) + round;
                Pool::MAIN.alloc(address, 1);
                lock.wait();
                lock.obtained();
                lock.released();
                Pool::MAIN.free(address);
            }
        });
        assert!(peak() < 8 * MIB + BESIDE, "{} MiB", peak() / MIB);
        ready();
        wait_for_server();
        Pool::MAIN.alloc(1, 1);
        Pool::MAIN.free(1);
    });
    assert_eq!(capture.violations(), []);
    let events = capture.memory()[""].len();
    assert!((1_000..400_000).contains(&events), "{events}");
}
