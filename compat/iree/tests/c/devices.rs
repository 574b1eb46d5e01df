//! What a Tracy server sees of zones on devices, whatever drivers do: `devices.c`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use zonecast_tracy_wire::{Capture, GpuZone};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| crate::wire::program("devices.c"));

/// What the server has of a run; it found no fault.
#[track_caller]
fn run(what: &str) -> (Capture, String) {
    crate::wire::capture(Command::new(&*PROGRAM).arg(what))
}

/// How often each zone was seen. All have both times, and lie in order.
#[track_caller]
fn counts(capture: &Capture) -> BTreeMap<(&str, u32), usize> {
    let mut counts = BTreeMap::new();
    for zone in capture.gpu_zones() {
        let (start, end) = (zone.start_ns().unwrap(), zone.end_ns().unwrap());
        assert!(start < end, "{} has no length", zone.name());
        if let Some(parent) = zone.parent() {
            assert!(parent.start_ns() <= Some(start) && Some(end) <= parent.end_ns());
        }
        *counts.entry((zone.name(), zone.depth())).or_default() += 1;
    }
    counts
}

fn zone<'a>(capture: &'a Capture, name: &str) -> GpuZone<'a> {
    capture.gpu_zones().find(|zone| zone.name() == name).unwrap()
}

#[test]
fn zones_have_the_devices_times() {
    let (capture, _) = run("in_order");
    assert_eq!(
        counts(&capture),
        BTreeMap::from([(("command buffer", 0), 1), (("copy", 0), 1), (("kernel", 1), 1)])
    );
    let kernel = zone(&capture, "kernel");
    assert_eq!((kernel.function(), kernel.file(), kernel.line()), ("kernel", "kernels.mlir", 7));
    assert_eq!(kernel.context().name(), Some("cuda"));
    let copy = zone(&capture, "copy");
    assert_eq!((copy.file(), copy.line()), ("driver.c", 3));
    // It takes 2 ms by the device's clock, and nothing is shown before it was recorded.
    assert!(copy.duration_ns().unwrap() >= 1_900_000);
    assert!(capture.gpu_zones().all(|zone| zone.start_ns().unwrap() >= zone.cpu_start_ns() - 1_000));
}

#[test]
fn more_events_than_numbers_are_told_apart() {
    let (capture, _) = run("many_queries");
    let half = 1 << 15;
    let expected = BTreeMap::from([(("command buffer", 0), 1), (("even", 1), half), (("odd", 1), half)]);
    assert_eq!(counts(&capture), expected);
    let mut zones: Vec<_> = capture.gpu_zones().filter(|zone| zone.depth() == 1).collect();
    zones.sort_by_key(|zone| zone.start_ns());
    assert!(zones.chunks(2).all(|pair| pair[0].name() == "even" && pair[1].name() == "odd"));
}

#[test]
fn what_is_never_launched_leaves_nothing() {
    let (capture, _) = run("never_launched");
    let expected = [(("first", 0), 1), (("kernel", 1), 3), (("second", 0), 1), (("third", 0), 1)];
    assert_eq!(counts(&capture), BTreeMap::from(expected));
}

#[test]
fn graphs_may_be_launched_again() {
    let (capture, _) = run("graphs");
    let expected = [(("command buffer", 0), 1), (("graph", 0), 5), (("kernel", 1), 1), (("node", 1), 5)];
    assert_eq!(counts(&capture), BTreeMap::from(expected));
}

#[test]
fn contexts_beyond_the_last_number_are_left_out() {
    let (capture, output) = run("many_contexts");
    assert_eq!(counts(&capture), BTreeMap::from([(("kernel", 1), 255), (("zone", 0), 255)]));
    assert_eq!(output.matches("255 device contexts").count(), 1, "{output}");
}

#[test]
fn nonsense_breaks_nothing() {
    let (capture, _) = run("nonsense");
    assert_eq!(counts(&capture), BTreeMap::from([(("outer", 0), 4)]));
}

#[test]
fn several_threads_may_record_and_collect() {
    let (capture, _) = run("several_threads");
    assert_eq!(counts(&capture), BTreeMap::from([(("command buffer", 0), 400), (("kernel", 1), 400)]));
}
