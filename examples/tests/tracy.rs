//! What a Tracy server gets of the examples.
#![cfg(feature = "tracy")]

use std::process::Command;

use zonecast::embed::Executable;
use zonecast_examples::mlp;
use zonecast_tracy_wire::child::Program;

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn trace_model_waits_and_sends_each_kernel_with_its_own_source() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace_model"));
    command.args(["--wait", "--workgroups", "--threads", "2", "--repeat", "3"]);
    let finished = Program::new(command).run().unwrap();
    let said = finished.output.clone();
    assert!(said.contains("waiting for the Tracy profiler to connect\n"), "{said}");
    assert!(
        said.contains("ran 3 kernels 3 times; all 59000 results are what plain Rust computes\n"),
        "{said}"
    );

    let capture = finished.succeeded();
    let executable = Executable::open(mlp::MODULE).unwrap();
    let image = mlp::find(&executable).unwrap();
    for (export, workgroups) in image.exports().zip([16, 16, 32]) {
        let name = std::str::from_utf8(export.name()).unwrap();
        let place = export.stage("0.source").unwrap().location.unwrap();
        let zones: Vec<_> = capture.zones().named(name).collect();
        assert_eq!(zones.len(), 3, "{name}");
        for zone in zones {
            assert_eq!((zone.file().as_bytes(), zone.line()), (place.file, place.line));
            assert_eq!(zone.thread().name(), "Main thread");
            assert_eq!(zone.parent().unwrap().name(), "forward");
            assert_eq!(capture.source_of(&zone), image.sources().find(place.file));
        }
        let parts: Vec<_> = capture.zones().named(&format!("{name} workgroup")).collect();
        assert_eq!(parts.len(), 3 * workgroups, "{name}");
        for zone in &parts {
            assert_eq!((zone.file().as_bytes(), zone.line()), (place.file, place.line));
            assert!(zone.thread().name().starts_with("worker "), "{}", zone.thread().name());
        }
        let last = format!("{},0,0", workgroups - 1);
        assert_eq!(parts.iter().filter(|zone| zone.texts().any(|text| text == last)).count(), 3);
    }
    assert_eq!(capture.frames()["Frame"].len(), 3);
    let told: Vec<_> = capture.app_info().collect();
    assert_eq!(told, [concat!("zonecast ", env!("CARGO_PKG_VERSION")), "trace_model, batch 1000, threads 2"]);
    assert_eq!(capture.violations(), []);
}

// On demand, nothing is recorded before a server comes, and this program does not wait for one.
#[test]
#[cfg(not(feature = "tracy-on-demand"))]
fn zones_sends_every_sort_of_event() {
    let capture = Program::new(Command::new(env!("CARGO_BIN_EXE_zones"))).run().unwrap().succeeded();
    for name in
        ["in colour", "with its callers", "layer 3", "by another name", "load", "compute", "store", "add"]
    {
        capture.zones().named(name).one();
    }
    let outer = capture.zones().in_function("zones::zones").one();
    assert_eq!(outer.texts().collect::<Vec<_>>(), ["a text", "another text, number 2"]);
    assert_eq!(outer.values(), [1_000]);
    assert_eq!(capture.zones().named("produce").count(), 2);
    let add = capture.zones().named("add").one();
    assert!(capture.source_of(&add).unwrap().ends_with(b"\nfn add() {}\n"));

    assert!(capture.messages().any(|message| message.text() == "loaded 48 weights"));
    assert_eq!(
        capture.plots()["cache"].iter().map(|point| point.1).collect::<Vec<_>>(),
        [0.0, 4096.0, 8192.0, 12288.0]
    );
    assert_eq!(capture.frames()["audio"].len(), 1);
    assert_eq!(capture.frames()["now and then"].len(), 1);
    assert_eq!(capture.frame_images().len(), 1);
    assert_eq!(capture.memory()["device"].len(), 4);
    assert_eq!(capture.locks().one().name(), "queue");
    assert_eq!(capture.violations(), []);
}
