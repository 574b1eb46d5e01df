//! A Tracy server gets each kernel's zone at its own file and line, and, asked for the file, the
//! embedded bytes.

mod support;

use std::time::Duration;

use support::{expected, open, sha256};
use zonecast::dispatch::{self, Sites};
use zonecast::sources::{self, Module};
use zonecast::{Location, LocationParts, Zone};
use zonecast_tracy_wire::{Capture, child};

/// The longest text that Tracy carries, in bytes.
const LONGEST: usize = 262_127;

/// An on-demand client records nothing before somebody watches.
fn wait_for_server() {
    while !zonecast::is_connected() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

zonecast::embed::embed_table!("../../embed/tests/data/tables/example.zonecast");

fn register(module: &str) -> (Module, Sites) {
    let module = sources::register(open(module));
    let sites = dispatch::sites(&module);
    (module, sites)
}

fn trace(sites: &Sites) {
    for site in sites.iter() {
        drop(site.zone());
    }
}

/// Every kernel's zone is there, once, at its own place and with its own text.
fn assert_seen(capture: &Capture, module: &str, named: impl Fn(&str) -> String) {
    for (kernel, (file, line, hash)) in expected(module, "0.source") {
        let zone = capture.zones().named(&kernel).in_file(&named(&file)).one();
        assert_eq!(zone.line(), line, "{kernel}");
        assert_eq!(zone.function(), kernel);
        assert_eq!(sha256(capture.source_of(&zone).unwrap()), hash, "{kernel}");
    }
}

#[test]
fn each_kernel_of_three_modules_has_its_own_text() {
    let modules = ["mlp.cpu.g3", "scale.cpu.g3", "many.cpu.g3"];
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let registered = modules.map(register);
        registered.iter().for_each(|(_, sites)| trace(sites));
    });
    for module in modules {
        assert_seen(&capture, module, str::to_owned);
    }
    assert_eq!(capture.zones().count(), 16);
    assert_eq!(capture.violations(), []);
}

/// Found through PATH, a program is called by no path.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_called_by_its_name_alone_has_its_texts() {
    let capture = child::Case::new().called("zonecast").capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let (_module, sites) = register("scale.cpu.g3");
        trace(&sites);
    });
    assert_seen(&capture, "scale.cpu.g3", str::to_owned);
}

#[test]
fn a_kernel_is_found_by_name_and_one_that_is_not_listed_keeps_its_name() {
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let (_module, sites) = register("scale.cpu.g3");
        drop(sites.zone("scale_dispatch_0_elementwise_1024_f32"));
        drop(sites.zone("nobody"));
    });
    assert_seen(&capture, "scale.cpu.g3", str::to_owned);
    capture.zones().named("nobody").one();
}

#[test]
fn equal_paths_of_two_modules_have_two_texts() {
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let registered = ["many.cpu.g3", "many.cpu-v4.g3"].map(register);
        registered.iter().for_each(|(_, sites)| trace(sites));
    });
    assert_seen(&capture, "many.cpu.g3", str::to_owned);
    assert_seen(&capture, "many.cpu-v4.g3", |file| format!("{file} [many.cpu-v4.g3]"));
}

#[test]
fn a_module_that_was_unloaded_still_answers() {
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let (module, sites) = register("many.cpu.g3");
        drop(module);
        trace(&sites);
    });
    assert_seen(&capture, "many.cpu.g3", str::to_owned);
}

#[test]
fn the_programs_own_kernels_have_their_texts() {
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        let kernel = LocationParts { name: "", function: "by_place", file: "c.mlir", line: 1, color: 0 };
        drop(Zone::begin_interned(&Location::intern(kernel)));
        trace(&dispatch::sites(sources::program()));
    });
    let text = b"func @scale\nfunc @blur\n";
    let blur = capture.zones().named("blur").one();
    assert_eq!((blur.file(), blur.line()), ("b.0.source.mlir", 2));
    for name in ["blur", "scale", "by_place"] {
        assert_eq!(capture.source_of(&capture.zones().named(name).one()), Some(&text[..]), "{name}");
    }
    assert_eq!(capture.violations(), []);
}

#[test]
fn a_text_of_exactly_the_limit_is_whole_and_a_longer_one_is_cut_in_its_place() {
    let text = |length: usize| {
        let mut text: String = (1..).map(|n| format!("line {n}\n")).take(length / 6).collect();
        text.truncate(length);
        text
    };
    let trace = |file: &str, line: u32| {
        let place = Location::intern(LocationParts { name: "big", function: "big", file, line, color: 0 });
        drop(Zone::begin_interned(&place));
    };
    let capture = child::capture(|| {
        let _session = zonecast::start();
        wait_for_server();
        for (file, length) in [("whole.mlir", LONGEST), ("cut.mlir", 2 * LONGEST)] {
            sources::publish(file, text(length).into_bytes());
            trace(file, 30_000);
        }
    });
    assert_eq!(capture.source("whole.mlir").unwrap(), text(LONGEST).as_bytes());
    let cut = std::str::from_utf8(capture.source("cut.mlir").unwrap()).unwrap();
    assert!(cut.len() <= LONGEST);
    assert!(cut.starts_with("// zonecast: too long"), "{}", &cut[..80]);
    assert_eq!(cut.lines().nth(29_999), Some("line 30000"));
}
