//! The verbs for what runtimes recorded, as a user calls them.
#![cfg(feature = "recordings")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use zonecast_tracy_wire::{Receiver, Recording, Server, Zone};

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

/// What a receiver sees of a profile: the spans that IREE's exporter lists, their nesting, and the kernels' texts.
#[test]
fn a_profile_is_served_with_spans_and_sources() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.zctracy");
    let profile = data("profiles/mlp_task_all.ireeprof");
    let sources = folder.path().join("dump");
    fs::create_dir(&sources).unwrap();
    let text = "module {\n  func.func @mlp_dispatch_0_matmul_8x16x16_f32(%arg0: !a) {\n";
    fs::write(sources.join("dispatch_0.mlir"), text).unwrap();
    let (output, dump) = (recording.to_str().unwrap(), sources.to_str().unwrap());
    succeeds(&["profile", &profile, "--to", "tracy", "-o", output, "--sources", dump]);

    let capture = Recording::open(&recording).unwrap();
    let server = Server::bind("127.0.0.1:0").unwrap();
    let address = server.address().unwrap();
    let serving = std::thread::spawn(move || server.serve(&mut { capture }).unwrap());
    let capture = Receiver::new("127.0.0.1", address.port()).check(true).capture().unwrap();
    serving.join().unwrap();
    assert_eq!(capture.violations(), []);

    let exported = fs::read_to_string(data("profiles/mlp_task_all.jsonl")).unwrap();
    let rows = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rows: Vec<Value> = rows.filter(|row| row["record_type"] == "host_execution_event").collect();
    let own = capture.zones().filter(|zone| zone.thread().name() == "device 0 queue 0").collect::<Vec<_>>();
    assert_eq!(own.len(), rows.len());
    let base = rows.iter().map(|row| row["start_host_time_ns"].as_i64().unwrap()).min().unwrap();
    let first = own.iter().map(|zone| zone.start_ns()).min().unwrap();
    for row in &rows {
        let name = row["key"].as_str().or(row["op"].as_str()).unwrap();
        let begin = row["start_host_time_ns"].as_i64().unwrap() - base;
        let same = |zone: &&Zone<'_>| zone.name() == name && zone.start_ns() - first == begin;
        let zone = own.iter().find(same).unwrap_or_else(|| panic!("{name} at {begin}"));
        assert_eq!(zone.duration_ns(), row["duration_ns"].as_i64());
        assert_eq!(zone.depth(), u32::from(row["op"] == "dispatch"), "dispatches lie within their execution");
    }
    let zone = own.iter().find(|zone| zone.name() == "mlp_dispatch_0_matmul_8x16x16_f32").unwrap();
    assert!(zone.file().ends_with("dispatch_0.mlir") && zone.line() == 2);
    assert!(zone.texts().next().unwrap().starts_with("workgroups: 1x1x1\n"));
    assert_eq!(capture.source_of(&zone.location()), Some(text.as_bytes()));
    assert_eq!(capture.messages().count(), 4);
}

#[test]
fn a_profile_is_shown_on_the_console_and_in_other_formats() {
    let profile = data("profiles/mlp_sync_all.ireeprof");
    let text = succeeds(&["profile", &profile]);
    assert!(
        text.contains("thread \"device 0 queue 0\"") && text.contains("mlp_dispatch_2_reduction_8x16_f32"),
        "{text}"
    );
    for to in ["json", "perfetto"] {
        assert!(
            serde_json::from_str::<Value>(&succeeds(&["profile", &profile, "--to", to])).unwrap().is_object()
        );
    }
    let error =
        String::from_utf8(zonecast(&["profile", &data("profiles/unfinalized_header_only.ireeprof")]).stderr);
    assert!(error.unwrap().contains("was never finished"));
    assert!(
        fails(1, &["profile", &data("instruments/v313_mul4.bin")]).contains("this is no profile of IREE's")
    );
}

#[test]
fn a_replay_is_shown_and_unpacked() {
    let file = data("replays/mlp.ireereplay");
    let expected = fs::read_to_string(data("replays/mlp.jsonl")).unwrap();
    let shown = succeeds(&["replay", "show", &file]);
    assert_eq!(shown.lines().count(), expected.lines().count());
    for (line, row) in shown.lines().zip(expected.lines()) {
        let row: Value = serde_json::from_str(row).unwrap();
        let operation = row["operation"].as_str().unwrap();
        assert!(operation == "none" || line.contains(operation), "{line}: {operation}");
        assert!(line.trim_start().starts_with(&row["sequence_ordinal"].to_string()), "{line}");
        assert!(line.ends_with(&format!(", {} bytes", row["payload_length"])), "{line}");
    }
    let folder = tempfile::tempdir().unwrap();
    succeeds(&["replay", "extract", &file, "-o", folder.path().to_str().unwrap()]);
    assert!(fs::read(folder.path().join("executable 4.so")).unwrap().starts_with(b"\x7fELF"));
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod run {
    use super::*;

    struct Case {
        folder: tempfile::TempDir,
        /// What a sound run kept.
        kept: String,
    }

    fn sound() -> Case {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept").to_str().unwrap().to_owned();
        let text =
            succeeds(&["replay", "run", &data("replays/mlp.ireereplay"), "--repeat", "3", "-o", &kept]);
        assert_eq!(text.matches("buffers are the same").count(), 2, "{text}");
        assert!(text.contains("mlp_dispatch_2_reduction_8x16_f32: 3 times"), "{text}");
        Case { folder, kept }
    }

    /// Runs a changed file against what the sound one kept.
    fn changed(case: &Case, change: impl FnOnce(&mut Vec<u8>)) -> Output {
        let mut bytes = fs::read(data("replays/mlp.ireereplay")).unwrap();
        change(&mut bytes);
        let path = case.folder.path().join("changed.ireereplay");
        fs::write(&path, bytes).unwrap();
        zonecast(&["replay", "run", path.to_str().unwrap(), "--repeat", "1", "--expect", &case.kept])
    }

    /// Where the payload of the host's first and last write begins in the file.
    fn writes() -> Vec<usize> {
        let rows = fs::read_to_string(data("replays/mlp.jsonl")).unwrap();
        let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let writes = rows.filter(|row| row["payload_type_code"] == 4);
        writes.map(|row| row["file_offset"].as_u64().unwrap() as usize + 96 + 40).collect()
    }

    #[test]
    fn a_replay_gives_the_same_bits_each_time() {
        let case = sound();
        let again = succeeds(&["replay", "run", &data("replays/mlp.ireereplay"), "--expect", &case.kept]);
        assert_eq!(again.matches("buffers are the same").count(), 2, "{again}");
    }

    #[test]
    fn a_flipped_bit_of_an_input_and_a_changed_constant_are_caught() {
        let case = sound();
        let same = changed(&case, |_| ());
        assert_eq!(same.status.code(), Some(0), "{same:?}");
        for at in writes() {
            let output = changed(&case, |bytes| bytes[at + 2] ^= 0x40);
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(3), "{at}: {text}");
            assert!(text.contains("dispatch 0000 binding "), "{text}");
        }
    }

    #[test]
    fn a_swapped_executable_is_caught() {
        let case = sound();
        let swapped = format!("4={}", data("replays/other.so"));
        let file = data("replays/mlp.ireereplay");
        let output = zonecast(&["replay", "run", &file, "--expect", &case.kept, "--executable", &swapped]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains("dispatch 0002 binding "), "the last result is another: {text}");
    }

    #[test]
    fn a_damaged_file_and_one_that_takes_too_long_are_refused() {
        let case = sound();
        let output = changed(&case, |bytes| bytes.truncate(9000));
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stderr).unwrap().contains("the file is cut"));
        let error = fails(1, &["replay", "run", &data("replays/mlp.ireereplay"), "--memory", "8"]);
        assert!(error.contains("the replay failed"), "{error}");
    }

    #[test]
    fn dispatches_are_zones_at_their_places() {
        let text = succeeds(&["replay", "run", &data("replays/mlp.ireereplay"), "--to", "console"]);
        assert!(
            text.contains("thread \"replay\"") && text.contains("mlp_dispatch_1_matmul_8x16x16_f32 ("),
            "{text}"
        );
    }
}
