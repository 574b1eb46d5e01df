//! Durations that a library tells when it is done, on a lane: as burn's and cubecl's profiled runs do, which say how
//! long each operation took, and not when.
//!
//! `cargo run --bin duration_lanes`. The "library" here is a thread that really sorts, and measures itself.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use zonecast::{Lane, LaneZone, Location, Time, location};

/// What the library tells: which operation, and how long it took.
struct Measured {
    operation: &'static str,
    took: Duration,
}

fn main() {
    let _session = zonecast::start();
    let mut lane = Lane::new("library");
    for run in 1..=5_u64 {
        let started = Time::now();
        let measured = library(run * 100_000);
        show(&mut lane, started, &measured);
    }
    println!("5 runs; {} zones left out", lane.left_out());
}

/// Lays a run's operations one after the other. They ran in order, so none began before the one before it
/// had ended; that is all one can know.
fn show(lane: &mut Lane, started: Time, measured: &[Measured]) {
    let mut zones = vec![LaneZone::new(location!("run"), started, started)];
    let mut now = started;
    for Measured { operation, took } in measured {
        let end = now.plus(took.as_nanos() as i64);
        zones.push(LaneZone::new(place(operation), now, end).at_depth(1));
        now = end;
    }
    zones[0].end = now;
    zones[0].measured_ns = now - started;
    lane.zones(&mut zones);
}

fn place(operation: &str) -> &'static Location {
    match operation {
        "fill" => location!("fill"),
        "sort" => location!("sort"),
        _ => location!("sum"),
    }
}

/// Fills, sorts and sums so many numbers elsewhere, and says how long each took.
fn library(count: u64) -> Vec<Measured> {
    let (told, measured) = mpsc::channel();
    let work = thread::spawn(move || {
        let mut values = Vec::new();
        let mut timed = |operation, work: &mut dyn FnMut(&mut Vec<u64>)| {
            let start = Instant::now();
            work(&mut values);
            told.send(Measured { operation, took: start.elapsed() })
        };
        timed("fill", &mut |v| v.extend((0..count).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))))?;
        timed("sort", &mut |v| v.sort_unstable())?;
        timed("sum", &mut |v| v.push(v.iter().fold(0, |sum, value| sum ^ value)))
    });
    let told = measured.iter().collect();
    // It only fails if nobody listened.
    let _ = work.join();
    told
}
