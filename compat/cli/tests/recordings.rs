//! The verbs for what runtimes recorded, as a user calls them.
#![cfg(feature = "recordings")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use zonecast_tracy_wire::{Capture, Receiver, Recording, Server, Zone};

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

    let capture = received(&recording);
    let own = same_spans(&capture, "profiles/mlp_task_all.jsonl");
    let zone = own.iter().find(|zone| zone.name() == "mlp_dispatch_0_matmul_8x16x16_f32").unwrap();
    assert!(zone.file().ends_with("dispatch_0.mlir") && zone.line() == 2);
    assert!(zone.texts().next().unwrap().starts_with("workgroups: 1x1x1\n"));
    assert_eq!(capture.source_of(&zone.location()), Some(text.as_bytes()));
    assert_eq!(capture.messages().count(), 4);
}

/// A module that was compiled with its kernels' texts: the profiler gets each dispatch's own.
#[test]
fn a_profile_is_served_with_the_texts_in_a_module() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.zctracy");
    let (profile, module) = (data("profiles/steps.ireeprof"), data("profiles/steps.vmfb"));
    succeeds(&["profile", &profile, "--module", &module, "--to", "tracy", "-o", recording.to_str().unwrap()]);
    let capture = received(&recording);
    let own = same_spans(&capture, "profiles/steps.jsonl");
    let dispatches: Vec<_> = own.iter().filter(|zone| zone.depth() == 1).collect();
    assert_eq!(dispatches.len(), 3);
    for zone in dispatches {
        let text = std::str::from_utf8(capture.source_of(&zone.location()).unwrap()).unwrap();
        let line = text.lines().nth(zone.line() as usize - 1).unwrap();
        let kernel = format!("@{}", zone.name());
        assert!(text.contains(&kernel) && line.contains(&kernel), "{}: {line}", zone.file());
    }
}

/// The three recordings of one run: each dispatch has its span, its own text, what it touched and what it was given.
#[test]
fn a_run_that_was_recorded_in_three_ways_is_served_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.zctracy");
    let [profile, instruments, replay] =
        ["ireeprof", "instruments", "ireereplay"].map(|end| data(&format!("together/run.{end}")));
    let together = ["profile", &profile, "--instruments", &instruments, "--replay", &replay];
    succeeds(&[&together[..], &["--to", "tracy", "-o", recording.to_str().unwrap()]].concat());
    let capture = received(&recording);
    let own = same_spans(&capture, "together/run.jsonl");
    let dispatches: Vec<_> = own.iter().filter(|zone| zone.depth() == 1).collect();
    assert_eq!(dispatches.len(), 3);
    for zone in &dispatches {
        let text = zone.texts().next().unwrap();
        assert_eq!(text.matches("bytes 0..128, 128 bytes read, 0 written").count(), 2, "{text}");
        assert_eq!(text.matches("bytes 0..128, 0 bytes read, 128 written").count(), 1, "{text}");
        assert!(text.contains("constants: ") && text.contains("binding 2: bytes 0..128 of replay buffer "));
        let source = std::str::from_utf8(capture.source_of(&zone.location()).unwrap()).unwrap();
        assert!(source.starts_with(&format!("func.func @{}(", zone.name())), "{source}");
    }
    let json: Value = serde_json::from_str(&succeeds(&[&together[..], &["--to", "json"]].concat())).unwrap();
    let zones = json["zones"].as_array().unwrap().iter().filter(|zone| zone["name"] == dispatches[0].name());
    let texts: Vec<&str> = zones.map(|zone| zone["text"][0].as_str().unwrap()).collect();
    assert_eq!(texts, dispatches.iter().map(|zone| zone.texts().next().unwrap()).collect::<Vec<_>>());
    assert!(succeeds(&together).contains("  buffer 1 at 0x"));
}

#[test]
fn a_run_with_a_damaged_recording_is_shown_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let profile = data("together/run.ireeprof");
    for (option, name, left) in [("--instruments", "instruments", 9000), ("--replay", "ireereplay", 19_000)] {
        let path = folder.path().join(name);
        fs::write(&path, &fs::read(data(&format!("together/run.{name}"))).unwrap()[..left]).unwrap();
        let output = zonecast(&["profile", &profile, option, path.to_str().unwrap()]);
        let (text, error) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("damaged: expected all of a") || error.contains("the file is cut"), "{error}");
        assert_eq!(text.matches("steps_dispatch_0_elementwise_32_f32 (").count(), 3, "{text}");
    }
    let error = fails(1, &["profile", &profile, "--replay", &profile]);
    assert!(error.contains("run.ireeprof: this is no replay of IREE's"), "{error}");
}

/// What the receiver gets of a recording that is served.
fn received(recording: &Path) -> Capture {
    let mut recording = Recording::open(recording).unwrap();
    let server = Server::bind("127.0.0.1:0").unwrap();
    let address = server.address().unwrap();
    let serving = std::thread::spawn(move || server.serve(&mut recording).unwrap());
    let capture = Receiver::new("127.0.0.1", address.port()).check(true).capture().unwrap();
    serving.join().unwrap();
    assert_eq!(capture.violations(), []);
    capture
}

/// The zones of the first queue: the spans that IREE's exporter lists, dispatches within their execution.
fn same_spans<'c>(capture: &'c Capture, exported: &str) -> Vec<Zone<'c>> {
    let exported = fs::read_to_string(data(exported)).unwrap();
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
    own
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
    for row in expected.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()) {
        if row["payload_type_code"] == 4 {
            let (sequence, object) = (row["sequence_ordinal"].as_u64().unwrap(), &row["object_id"]);
            let name = format!("{sequence:04} buffer.unmap_range object {object}.bin");
            let begin = row["file_offset"].as_u64().unwrap() as usize + 96 + 40;
            let written = fs::read(folder.path().join(name)).unwrap();
            assert_eq!(written, fs::read(&file).unwrap()[begin..][..written.len()]);
            assert_eq!(written.len() as u64 + 40, row["payload_length"].as_u64().unwrap());
        }
    }
    let table = data("replays/table.ireereplay");
    succeeds(&["replay", "extract", &table, "-o", folder.path().to_str().unwrap()]);
    let numbers: Vec<u8> = (0..128).flat_map(|index| (index as f32 * 0.5).to_le_bytes()).collect();
    let mut names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = names.find(|path| path.to_str().unwrap().contains(" file object ")).unwrap();
    assert!(fs::read(file).unwrap().starts_with(&numbers));
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

    /// The ring of an instrumented module holds addresses.
    #[test]
    fn kernels_that_write_addresses_down_write_the_same_each_time() {
        let text = succeeds(&["replay", "run", &data("together/run.ireereplay"), "--repeat", "3"]);
        assert_eq!(text.matches("buffers are the same").count(), 2, "{text}");
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

    /// What the host read last in a run, in order: the program's results.
    fn results(kept: &Path) -> Vec<Vec<u8>> {
        let run = kept.join("run 0");
        let mut names: Vec<_> = fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| name.to_str().unwrap().starts_with("read "));
        names.sort();
        names.into_iter().map(|name| fs::read(run.join(name)).unwrap()).collect()
    }

    #[test]
    fn every_kind_of_work_gives_what_irees_own_runtime_gave() {
        for (name, expected) in [
            ("constants", vec!["constants"]),
            ("table", vec!["table"]),
            ("moves", vec!["moves.0", "moves.1", "moves.2"]),
            ("copy", vec!["copy"]),
            ("fill", vec!["fill"]),
            ("update", vec!["update"]),
            ("queue_update", vec!["queue_update"]),
            ("parameters", vec!["parameters"]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = data(&format!("replays/{name}.ireereplay"));
            succeeds(&["replay", "run", &file, "-o", folder.path().to_str().unwrap()]);
            let results = results(folder.path());
            for expected in expected {
                let bytes = fs::read(data(&format!("replays/{expected}.bin"))).unwrap();
                assert!(results.contains(&bytes), "{name}: {expected}");
            }
        }
    }

    /// Runs a recording, puts `to` everywhere where `from` stands, and runs it again.
    fn with_another(name: &str, from: &[u8], to: &[u8]) -> (Option<i32>, String) {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept").to_str().unwrap().to_owned();
        let file = data(&format!("replays/{name}.ireereplay"));
        succeeds(&["replay", "run", &file, "--repeat", "1", "-o", &kept]);
        let mut bytes = fs::read(&file).unwrap();
        for at in 0..bytes.len() - from.len() {
            if bytes[at..].starts_with(from) {
                bytes[at..][..to.len()].copy_from_slice(to);
            }
        }
        let changed = folder.path().join("changed.ireereplay");
        fs::write(&changed, bytes).unwrap();
        let output =
            zonecast(&["replay", "run", changed.to_str().unwrap(), "--repeat", "1", "--expect", &kept]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }

    #[test]
    fn a_changed_constant_of_a_dispatch_is_caught() {
        // The factor 2.5 and the low and high half of the length.
        let constants = |factor: f32| [factor.to_bits().to_le_bytes(), 5_u32.to_le_bytes(), [0; 4]].concat();
        let (code, text) = with_another("constants", &constants(2.5), &constants(2.75));
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("dispatch 0000 binding 1"), "{text}");
    }

    #[test]
    fn changed_data_of_transfers_is_caught() {
        let floats =
            |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        for name in ["update", "queue_update"] {
            let (code, text) = with_another(name, &floats(&[16.0, 25.0]), &floats(&[16.0, 36.0]));
            assert_eq!(code, Some(3), "{name}: {text}");
        }
        let (code, text) = with_another("table", &floats(&[7.0, 7.5, 8.0]), &floats(&[7.0, 7.25]));
        assert_eq!(code, Some(3), "{text}");
        let (code, text) = with_another("copy", &floats(&[5.0, 6.0]), &floats(&[5.0, 6.5]));
        assert_eq!(code, Some(3), "no dispatch, and still a result: {text}");
        assert!(text.contains("read 0000 buffer "), "{text}");
    }

    /// The dispatches of a recording: where the call's number stands in its record, and where the payload begins.
    fn dispatches(bytes: &[u8]) -> Vec<(usize, usize)> {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        let mut found = Vec::new();
        let mut at = 24;
        while at < bytes.len() {
            let operation = u32::from_le_bytes(bytes[at + 72..at + 76].try_into().unwrap());
            found.extend((operation == 313).then_some((at + 72, at + 96)));
            at += word(at);
        }
        found
    }

    /// The recorder writes a dispatch on a queue as it does one in a command buffer; no compiler makes those yet.
    #[test]
    fn a_dispatch_on_a_queue_is_run_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = fs::read(data("replays/fill.ireereplay")).unwrap();
        let (operation, _) = dispatches(&bytes)[0];
        bytes[operation..operation + 4].copy_from_slice(&21_u32.to_le_bytes());
        let path = folder.path().join("immediate.ireereplay");
        fs::write(&path, bytes).unwrap();
        let kept = folder.path().join("kept");
        succeeds(&["replay", "run", path.to_str().unwrap(), "-o", kept.to_str().unwrap()]);
        assert!(results(&kept).contains(&fs::read(data("replays/fill.bin")).unwrap()));
    }

    #[test]
    fn what_cannot_be_run_again_is_refused() {
        let error = fails(1, &["replay", "run", &data("replays/file.ireereplay")]);
        assert!(error.contains("record with --device_replay_file_policy=capture-ranges"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = fs::read(data("replays/constants.ireereplay")).unwrap();
        let (_, payload) = dispatches(&bytes)[0];
        bytes[payload + 20] |= 1;
        let path = folder.path().join("indirect.ireereplay");
        fs::write(&path, bytes).unwrap();
        let error = fails(1, &["replay", "run", path.to_str().unwrap()]);
        assert!(error.contains("a dispatch whose grid stands in a buffer cannot be replayed"), "{error}");
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
