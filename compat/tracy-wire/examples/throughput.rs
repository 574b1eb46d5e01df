//! Does the receiver keep up? Prints what it costs beside what the sender costs.
//!
//! `cargo run --release -p zonecast-tracy-wire --example throughput -- [ZONES] [SECONDS]`
//!
//! A program that is not ours sends ZONES zones (20 million unless said) from two threads, spread
//! over SECONDS (30 unless said; 0 for as fast as it can). The receiver runs in statistics mode.
//! Costs are processor time, the system's included: of this process for the receiver; of the sender
//! with its two threads and Tracy's own, which queues, compresses and sends.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use zonecast_tracy_wire::Keep;
use zonecast_tracy_wire::child::Program;

/// Resident memory of this process, in pages: the least and most since a tenth of the run.
static LEAST: AtomicU64 = AtomicU64::new(u64::MAX);
static MOST: AtomicU64 = AtomicU64::new(0);

fn main() {
    let argument = |place: usize| std::env::args().nth(place).and_then(|text| text.parse::<f64>().ok());
    let zones = argument(1).unwrap_or(20e6) as u64 / 2000 * 2000;
    let seconds = argument(2).unwrap_or(30.0);
    let mut command = Command::new(build_sender());
    command.args(["flood", &zones.to_string(), &seconds.to_string()]);

    let start = Instant::now();
    let before = processor_time(libc::RUSAGE_SELF);
    let settled = Duration::from_secs_f64(seconds / 10.0);
    let finished = Program::new(command)
        .receiver(move |receiver| {
            receiver.keep(Keep::Statistics).on_progress(move |_| {
                if start.elapsed() > settled {
                    LEAST.fetch_min(resident_pages(), Ordering::Relaxed);
                    MOST.fetch_max(resident_pages(), Ordering::Relaxed);
                }
            })
        })
        .run()
        .expect("the sender starts");
    let wall = start.elapsed();
    let received = processor_time(libc::RUSAGE_SELF) - before;
    let capture = finished.succeeded();
    let sent = processor_time(libc::RUSAGE_CHILDREN) - BUILD.get().copied().unwrap_or_default();

    let summary = capture.summary();
    let flood = summary.iter().find(|row| row.name == "flood").expect("the sender's zones have a row");
    let count = flood.durations.count();
    println!("zones sent {zones}, received {count}, lost {:?}", capture.lost());
    println!("ended {:.1} s after the sender began, which sends for {seconds} s", wall.as_secs_f64());
    println!("receiver / sender, processor time: {:.2}", received.as_secs_f64() / sent.as_secs_f64());
    let (least, most) = (LEAST.load(Ordering::Relaxed), MOST.load(Ordering::Relaxed));
    println!("receiver's memory, most / least: {:.2}", most as f64 / least as f64);
    assert_eq!((count, capture.lost().len()), (zones, 0), "something is missing");
}

/// What cargo cost, which is a child too.
static BUILD: std::sync::OnceLock<Duration> = std::sync::OnceLock::new();

fn build_sender() -> std::path::PathBuf {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/programs-release");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--locked", "--release", "--manifest-path"])
        .arg(programs.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the sender does not build");
    BUILD.get_or_init(|| processor_time(libc::RUSAGE_CHILDREN));
    target.join("release/wire-programs")
}

fn processor_time(who: libc::c_int) -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is the call's own, and it writes all of it.
    let usage = unsafe {
        assert_eq!(libc::getrusage(who, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn resident_pages() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
}
