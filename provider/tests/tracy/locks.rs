//! Locks that are used in every way, which a profiler's counts must survive.

use zonecast::{lock, zone};
use zonecast_tracy_wire::LockAction;

use crate::support::{case, wait_for_server};

/// More than the profiler's masks of threads have bits.
const THREADS: usize = 70;

#[test]
fn what_a_profiler_cannot_count_is_not_sent() {
    let capture = case().capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let odd = lock!("odd");
        odd.released();
        odd.obtained();
        odd.tried(true);
        odd.released();
        odd.released();
        odd.released();
        let deep = lock!("deep");
        (0..300).for_each(|_| deep.tried(true));
        (0..300).for_each(|_| deep.released());
        let many = lock!("many");
        for _ in 0..THREADS {
            let used = || {
                many.wait();
                many.obtained();
                many.released();
            };
            std::thread::scope(|scope| drop(scope.spawn(used)));
        }
        // The program ends once the profiler has this.
        drop(zone!("end"));
    });
    assert_eq!(capture.violations(), []);
    let obtained = |name| {
        let lock = capture.locks().find(|lock| lock.location().name() == Some(name)).unwrap();
        lock.events().iter().filter(|event| event.action == LockAction::Obtain).count()
    };
    assert_eq!(obtained("odd"), 2);
    assert_eq!(obtained("deep"), 255);
    assert_eq!(obtained("many"), 64);
}
