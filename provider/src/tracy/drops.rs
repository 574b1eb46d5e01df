//! What was dropped because too much waited for a profiler: counted by each thread, reported as
//! messages once a profiler has come.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::thread::{self, Shared};
use super::{bound, c_api, text};
use crate::Severity;
use crate::say::say_once;

static IS_UNREPORTED: AtomicBool = AtomicBool::new(false);
/// Of the threads that have ended.
static ENDED: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Says that events are dropped from here on.
pub(super) fn say() {
    say_once!(
        "no profiler has connected and {} MiB wait for one; further zones are dropped until one does, \
         and counted (ZONECAST_MEMORY sets the limit)",
        bound::limit() >> 20
    );
}

/// There is something to report.
pub(super) fn note() {
    if !IS_UNREPORTED.load(Ordering::Relaxed) {
        IS_UNREPORTED.store(true, Ordering::Relaxed);
    }
}

/// Keeps the counts of a thread that ends.
pub(super) fn thread_ends(shared: &Shared) {
    let (zones, others) = take(shared);
    if zones + others > 0 {
        for (sum, count) in ENDED.iter().zip([1, zones, others]) {
            sum.fetch_add(count, Ordering::Relaxed);
        }
        note();
    }
}

fn take(shared: &Shared) -> (u64, u64) {
    (shared.zones.swap(0, Ordering::Relaxed), shared.others.swap(0, Ordering::Relaxed))
}

/// Records what has been dropped since the last report, as a message for each thread.
pub(super) fn report() {
    if !IS_UNREPORTED.swap(false, Ordering::Relaxed) {
        return;
    }
    let mut threads = Vec::new();
    thread::each(|shared| {
        let (zones, others) = take(shared);
        if zones + others > 0 {
            threads.push((shared.id.load(Ordering::Relaxed), zones, others));
        }
    });
    for (id, zones, others) in threads {
        record(&format!("thread {id}"), zones, others);
    }
    let [ended, zones, others] = ENDED.each_ref().map(|sum| sum.swap(0, Ordering::Relaxed));
    if ended > 0 {
        record(&format!("{ended} threads that have ended"), zones, others);
    }
}

fn record(who: &str, zones: u64, others: u64) {
    let limit = bound::limit() >> 20;
    let message = format!(
        "zonecast: {who} dropped {zones} zones and {others} other events, since {limit} MiB waited and no \
         profiler was connected"
    );
    c_api::log(text::cut(&message), c_api::severity(Severity::Warning), 0, 0);
}
