//! What the collector of GPU zones takes for each, of its limit and beside a zone of Tracy's: processor time of the
//! thread that collects, with a device that answers at once.

use std::hint::black_box;
use std::thread;

use rustix::time::{ClockId, clock_gettime};
use zonecast::zone;
use zonecast_benches::instant::{trees, warm};

const LIMIT_NS: f64 = 2_000.0;
const ROUNDS: usize = 100;
const ZONES: u64 = 4_000;

fn main() {
    let _session = zonecast::start();
    let collected = median(|| {
        let warm = warm();
        // Another thread's, as a program's are.
        thread::scope(|scope| {
            scope.spawn(|| trees(&warm.context.lock().expect("no thread panics"), ZONES));
        });
        spent(|| {
            warm.collector.settle();
        })
    });
    let zone = median(|| {
        spent(|| {
            for i in 0..ZONES {
                let _zone = zone!("zone");
                black_box(i);
            }
        })
    });
    println!(
        "the collector, for a zone: {collected:.0} ns; limit {LIMIT_NS} ns, of which it is {:.2}",
        collected / LIMIT_NS
    );
    println!("the same beside a zone of a thread's: {:.0} times as much", collected / zone);
}

/// The nanoseconds of this thread's processor time that `work` takes for a zone.
fn spent(work: impl FnOnce()) -> f64 {
    let now = || clock_gettime(ClockId::ThreadCPUTime);
    let before = now();
    work();
    let after = now();
    let ns = (after.tv_sec - before.tv_sec) * 1_000_000_000 + (after.tv_nsec - before.tv_nsec);
    ns as f64 / ZONES as f64
}

fn median(mut round: impl FnMut() -> f64) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}
