//! `zonecast recording`, as a user runs it.
#![cfg(feature = "recordings")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const SAXPY: &str = "__omp_offloading_fe00_9d4762_main_l14";
const STEM: &str = "8999975377531113871_7661461400537895360";

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../recordings/tests/data/llvm").join(name)
}

fn zonecast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zonecast")).arg("recording").args(arguments).output().unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What it printed, and its exit code.
fn said(arguments: &[&str]) -> (String, i32) {
    let output = zonecast(arguments);
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8(text).unwrap(), output.status.code().unwrap())
}

fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(data(name)).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    folder
}

#[test]
fn show_tells_what_was_launched_and_with_what() {
    let (text, code) = said(&["show", path(&data("third"))]);
    assert_eq!(code, 0);
    for line in [
        "kernel        __omp_offloading_fe00_9d4762_main_l14\n",
        "recorded by   LLVM since April 2026\n",
        "launch        2 teams x 4 threads, 0 bytes of shared memory, trip count 16, on device 0\n",
        "thread limits 1 to 1024\n",
        "argument 1    0x10 (16)\n",
        "argument 2    0x7efd2cffc050, buffer 1 at offset 0x40\n",
        "global        table, 32 bytes\n",
        "image         ELF for x86-64, 16768 bytes, no embedded source\n",
        "occurrences   3, the recorded one took 12345 ns\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn show_takes_every_generation_and_several_at_once() {
    let (text, code) = said(&["show", path(&data("first")), path(&data("second").join(SAXPY))]);
    assert_eq!((code, text.matches("  kernel  ").count()), (0, 3));
    assert!(text.contains("LLVM 16\n") && text.contains("LLVM 18 to 22\n"));
    assert!(text.contains("do not record what a kernel was given"), "{text}");
}

#[test]
fn show_writes_json() {
    let output = zonecast(&["show", "--format", "json", path(&data("third"))]);
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let one = &all[0];
    assert_eq!((one["teams"].as_u64(), one["occurrences"].as_u64()), (Some(2), Some(3)));
    assert_eq!(one["arguments"][2]["pointee"]["offset"], 64);
    assert_eq!(one["globals"][0]["name"], "scale");
    assert_eq!(one["image"]["kind"], "ELF for x86-64");
}

/// A kernel's table of sources can be attached to its image, as to any ELF file.
#[test]
fn show_finds_the_source_in_an_image() {
    use zonecast_embed::table::{Export, TableBuilder, attach};
    let folder = copy("third");
    let image = folder.path().join(format!("{STEM}.image"));
    let mut table = TableBuilder::new();
    table.source("saxpy.c", "void saxpy(void);\n").unwrap();
    table.export(Export::new(SAXPY).at("saxpy.c", 14)).unwrap();
    let attached = attach(&fs::read(&image).unwrap(), &table.build().unwrap()).unwrap();
    fs::write(&image, attached).unwrap();
    let (text, _) = said(&["show", path(folder.path())]);
    assert!(text.contains("1 embedded sources, the kernel is at saxpy.c:14"), "{text}");
}

#[test]
fn show_says_what_is_no_recording_and_shows_the_rest() {
    let folder = copy("third");
    fs::write(folder.path().join("other.json"), "{}").unwrap();
    let (text, code) = said(&["show", path(folder.path())]);
    assert_eq!(code, 1);
    assert!(
        text.contains("LLVM since April 2026") && text.contains("other.json: this is no description"),
        "{text}"
    );
    let empty = tempfile::tempdir().unwrap();
    let (text, code) = said(&["show", path(empty.path())]);
    assert!(code == 1 && text.contains("no recording in this folder"), "{text}");
}

#[test]
fn show_exits_with_3_if_the_files_are_not_those_that_they_are_named_after() {
    let folder = copy("third");
    let json = folder.path().join(format!("{STEM}.json"));
    fs::write(&json, fs::read_to_string(&json).unwrap().replace("main_l14", "main_l41")).unwrap();
    let (text, code) = said(&["show", path(folder.path())]);
    assert!(code == 3 && text.contains("one of them was changed"), "{text}");
}

#[test]
fn equal_outputs_are_equal() {
    let (text, code) = said(&["diff", path(&data("second")), path(&data("third"))]);
    assert_eq!((code, text.as_str()), (0, "memory (0x0..0x80, u8): 128 equal\n"));
}

#[test]
fn differences_are_told_by_argument_and_number() {
    let input = data("third").join(format!("{STEM}.record_input"));
    let (text, code) = said(&["diff", path(&data("third")), path(&input), "--type", "f32"]);
    assert_eq!(code, 3);
    assert!(text.contains("argument 3 (0x0..0x40, f32): 16 equal\n"), "{text}");
    assert!(
        text.contains("argument 2 (0x40..0x80, f32): 15 of 16 differ, 15 beyond the tolerance"),
        "{text}"
    );
    assert!(text.contains("    [1] at 0x44: 109 | 106\n") && text.contains("    and 5 more\n"), "{text}");
}

#[test]
fn tolerances_and_arguments_choose() {
    let folder = copy("third");
    let output = folder.path().join(format!("{STEM}.record_output"));
    let replay = folder.path().join(format!("{STEM}.replay_output"));
    let mut bytes = fs::read(&output).unwrap();
    bytes[64] ^= 1;
    fs::write(&replay, &bytes).unwrap();
    let diff = |more: &[&str]| said(&[&["diff", path(folder.path())], more].concat());
    assert_eq!(diff(&[]).1, 3);
    assert_eq!(diff(&["--type", "f32", "--ulp", "1"]).1, 0);
    assert_eq!(diff(&["--type", "i64", "--type", "2=f32", "--relative", "1e-6"]).1, 0);
    assert_eq!(diff(&["--argument", "3"]).1, 0);
    assert_eq!(diff(&["--argument", "2"]).1, 3);
    let (text, code) = diff(&["--argument", "1"]);
    assert!(code == 1 && text.contains("argument 1 does not point into the recorded memory"), "{text}");
    let (text, code) = diff(&["--argument", "4"]);
    assert!(code == 1 && text.contains("there is no argument 4; there are 4, counted from 0"), "{text}");
    assert_eq!(diff(&["--type", "f8"]).1, 2);
    assert_eq!(diff(&["--relative", "-1"]).1, 2);
}

#[test]
fn a_cut_output_is_told() {
    let folder = copy("third");
    let replay = folder.path().join(format!("{STEM}.replay_output"));
    let output = fs::read(folder.path().join(format!("{STEM}.record_output"))).unwrap();
    fs::write(replay, &output[..100]).unwrap();
    let (text, code) = said(&["diff", path(folder.path())]);
    assert!(code == 3 && text.contains("and 28 bytes that only one of both has"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_a_failure() {
    let (text, code) = said(&["diff", path(&data("third"))]);
    assert!(code == 1 && text.contains("no output of a replay; name what to compare with"), "{text}");
    let folder = copy("third");
    fs::remove_file(folder.path().join(format!("{STEM}.record_output"))).unwrap();
    let (text, code) = said(&["diff", path(folder.path()), path(&data("second"))]);
    assert!(code == 1 && text.contains("no output to compare"), "{text}");
}

/// A folder with what the images of LLVM's recordings need.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn openmp() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for library in ["libomp.so.5", "libomptarget.so.19.1"] {
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.path().join(library));
        compiler.arg(format!("-Wl,-soname,{library},--version-script,exports.map")).arg("openmp.c");
        let status = compiler.current_dir(data("../native")).status();
        assert!(status.expect("a C compiler").success());
    }
    folder
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn replay_computes_what_was_recorded_and_notices_what_was_not() {
    let (library, folder) = (openmp(), copy("third"));
    let library = ["--library-path", path(library.path())];
    let replay = |more: &[&str]| said(&[&["replay", path(folder.path())], &library[..], more].concat());
    let (text, code) = replay(&["--type", "f32", "--repeat", "3", "--save-output"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("3 runs, "), "{text}");
    assert!(text.contains("argument 2 (0x40..0x80, f32): 16 equal\n"), "{text}");
    // What was kept can be compared later.
    assert_eq!(said(&["diff", path(folder.path())]).1, 0);

    let (text, code) = replay(&["--arg", "1=15", "--type", "f32"]);
    assert!(code == 3 && text.contains("[15] at 0x7c: 235 | 190\n"), "{text}");
    let (text, code) = replay(&["--arg", "9=15"]);
    assert!(code == 1 && text.contains("there is no argument 9"), "{text}");
    assert_eq!(replay(&["--arg", "x=15"]).1, 2);
    assert_eq!(replay(&["--repeat", "0"]).1, 2);
}

#[test]
fn replay_says_what_is_missing() {
    let (text, code) = said(&["replay", path(&data("second"))]);
    assert!(code == 1 && text.contains("all 4 must be given"), "{text}");
    let folder = copy("third");
    fs::remove_file(folder.path().join(format!("{STEM}.image"))).unwrap();
    let (text, code) = said(&["replay", path(folder.path())]);
    assert!(code == 1 && text.contains("a replay needs this file, and it is not there"), "{text}");
}

fn rowsum() -> PathBuf {
    data("../own/rowsum.zcrec")
}

#[test]
fn zonecast_s_own_recordings_are_shown_with_their_source() {
    let (text, code) = said(&["show", path(&rowsum())]);
    assert_eq!(code, 0);
    for line in [
        "kernel        rowsum_dispatch_0_reduction_Dx10_f32\n",
        "launch        4 x 1 x 1 blocks of their own size, 0 bytes of shared memory\n",
        "argument 0    0x64 (100)\n",
        "argument 3    buffer 1 at offset 0x0\n",
        "400 bytes at ",
        "9 embedded sources, the kernel is at mlp_net_rowsum_dispatch_0_embedded_elf_x86_64.0.source.mlir:8\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let output = zonecast(&["show", "--format", "json", path(&data("../own"))]);
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(all[0]["buffers"][1]["changed"], true);
    assert_eq!(all[0]["grid"], serde_json::json!([4, 1, 1]));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn zonecast_s_own_recordings_are_replayed_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rowsum.zcrec");
    fs::copy(rowsum(), &file).unwrap();
    let (text, code) = said(&["replay", path(&file), "--type", "f32", "--repeat", "2", "--save-output"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("argument 3 (0xfa0..0x1130, f32): 100 equal\n"), "{text}");
    assert_eq!(said(&["diff", path(&file)]).1, 0);
    assert_eq!(said(&["diff", path(&file), path(&rowsum())]).1, 0);
    let (text, code) = said(&["replay", path(&file), "--arg", "0=99", "--type", "f32"]);
    assert!(code == 3 && text.contains("argument 3 (0xfa0..0x1130, f32): 1 of 100 differ"), "{text}");
}

#[test]
fn a_damaged_recording_of_zonecast_s_own_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rowsum.zcrec");
    let mut bytes = fs::read(rowsum()).unwrap();
    bytes[100_000] ^= 1;
    fs::write(&file, bytes).unwrap();
    for verb in ["show", "replay", "diff"] {
        let (text, code) = said(&[verb, path(&file)]);
        assert!(code == 1 && text.contains("expected a part \"image\" with its checksum"), "{verb}: {text}");
    }
    let (text, code) = said(&["show", path(folder.path())]);
    assert!(code == 1 && text.contains("with its checksum"), "{text}");
}
