//! Profilers that come and go.

#![cfg(feature = "tracy-on-demand")]

use std::time::Duration;

use zonecast::{message, plot, zone};

use crate::support::{case, wait_for_server};

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
        std::thread::sleep(Duration::from_secs(120));
        // SAFETY: it has no preconditions. Tracy's own end would wait for a profiler.
        unsafe { libc::_exit(0) }
    });
    let mut started = program
        .receiver(|receiver| receiver.check(true).stop_after(Duration::from_millis(300)))
        .start()
        .unwrap();
    for connection in 0..4 {
        let capture = started.receiver.capture().unwrap();
        assert_eq!(capture.violations(), [], "connection {connection}");
        assert!(capture.zones().named("inner").count() > 100, "connection {connection}");
        for zone in capture.zones().named("inner") {
            let parent = zone.parent().map(|parent| parent.name());
            assert!(matches!(parent, None | Some("outer")), "{parent:?}");
        }
    }
}
