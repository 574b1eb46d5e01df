//! The verbs for what runtimes recorded, as a user calls them.
#![cfg(feature = "recordings")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn data(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../recordings/tests/data");
    folder.join(name).to_str().unwrap().to_owned()
}

fn zonecast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zonecast")).args(arguments).output().unwrap()
}

fn succeeds(arguments: &[&str]) -> String {
    let output = zonecast(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn fails(code: i32, arguments: &[&str]) -> String {
    let output = zonecast(arguments);
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn instruments_are_shown_in_each_shape() {
    let file = data("instruments/v313_mul4.bin");
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("map.svg");
    let text = succeeds(&["instruments", &file, "--plot", picture.to_str().unwrap()]);
    assert!(
        text.contains("site 0: mul4_dispatch_0_elementwise_4_f32") && text.contains("func.func @mul4"),
        "{text}"
    );
    assert!(fs::read_to_string(picture).unwrap().contains("buffer 2: 16 bytes"));
    let iree = succeeds(&["instruments", &file, "--format", "iree"]);
    assert_eq!(iree, fs::read_to_string(data("instruments/v313_mul4.txt")).unwrap());
    let one = succeeds(&["instruments", &file, "--format", "json", "--site", "0", "--workgroup", "0,0,0"]);
    assert_eq!(one.lines().filter(|line| line.contains("\"record\"")).count(), 4);
    assert_eq!(succeeds(&["instruments", &file, "--format", "json", "--site", "1"]).lines().count(), 1);
}

#[test]
fn a_damaged_stream_is_shown_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.bin");
    let whole = fs::read(data("instruments/v313_two_modules.bin")).unwrap();
    fs::write(&path, &whole[..whole.len() - 5000]).unwrap();
    let output = zonecast(&["instruments", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("note: damaged: expected all of a chunk's content"), "{text}");
    assert!(text.contains("module 1: 1 kernels, 1 dispatch sites, 0 records"), "{text}");
    fs::write(&path, b"something else").unwrap();
    let error = fails(1, &["instruments", path.to_str().unwrap()]);
    assert!(error.contains("cut.bin: this is no stream of IREE's dispatch instruments"), "{error}");
    assert!(fails(2, &["instruments", "x", "--workgroup", "1,2"]).contains("three numbers"));
}

#[test]
fn the_order_of_globals_is_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let (broken, fixed) = (folder.path().join("in.mlir"), folder.path().join("out.mlir"));
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    fs::write(
        &broken,
        "util.global private @__dispatch_instrumentation : !b\nutil.global private @__device_0 = #d\n",
    )
    .unwrap();
    succeeds(&["instruments", "--fix-ir", &text(&broken), "-o", &text(&fixed)]);
    assert!(fs::read_to_string(&fixed).unwrap().starts_with("util.global private @__device_0"));
    fs::write(&broken, "module {}").unwrap();
    assert!(
        fails(1, &["instruments", "--fix-ir", &text(&broken)]).contains("--iree-hal-instrument-dispatches")
    );
}
