//! Another user of Tracy in the same process: its calls and ours fit together on one thread.

use tracy_client_sys as sys;
use zonecast::{Location, plot, zone};

use crate::support::{case, on_threads, start, wait_for_server};

/// As many as a block of the queue holds.
const BLOCK: u64 = 65_536;

static LOCATION: Location = Location::new(Some(c"theirs"), c"c_function", c"c_file.c", 3, 0);

/// Runs `body` in a zone of the C interface.
pub(crate) fn theirs(body: impl FnOnce()) {
    // SAFETY: `Location` is laid out as Tracy's record, and static.
    let zone = unsafe { sys::___tracy_emit_zone_begin((&raw const LOCATION).cast(), 1) };
    body();
    // SAFETY: begun above.
    unsafe { sys::___tracy_emit_zone_end(zone) }
}

#[test]
fn zones_nest_in_either_order_across_blocks() {
    let threads = 8;
    // A round is 11 items. So each block ends at another place of it, in either interface.
    let rounds = 3 * BLOCK / 11;
    let capture = case().capture(move || {
        let _session = start();
        wait_for_server();
        on_threads(threads, |number| {
            // And at another one for each thread.
            (0..number).for_each(|_| theirs(|| {}));
            for round in 0..rounds {
                let _outer = zone!("outer");
                theirs(|| drop(zone!("inner")));
                plot!("round", round);
                let mut phase = zone!("phase");
                phase.switch(zonecast::location!("next"));
            }
        });
    });
    assert_eq!(capture.violations(), []);
    let count = |name: &str| capture.zones().named(name).count() as u64;
    for name in ["outer", "inner", "phase", "next"] {
        assert_eq!(count(name), threads * rounds, "{name}");
    }
    assert_eq!(count("theirs"), threads * rounds + (0..threads).sum::<u64>());
    assert_eq!(capture.plots()["round"].len() as u64, threads * rounds);
    for zone in capture.zones() {
        let parent = zone.parent().map(|parent| parent.name());
        let expected = match zone.name() {
            "inner" => Some("theirs"),
            "phase" | "next" => Some("outer"),
            "theirs" => zone.children().next().map(|_| "outer"),
            _ => None,
        };
        assert_eq!(parent, expected, "{}", zone.name());
        assert!(zone.end_ns().is_some(), "{} never ended", zone.name());
    }
}
