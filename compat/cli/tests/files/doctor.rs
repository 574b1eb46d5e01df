//! `zonecast doctor`: each of its sentences, and its silence.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use zonecast_embed::Executable;
use zonecast_embed::table::TableBuilder;
// Puts its note into this program.
use zonecast as _;
use zonecast_tracy_wire::Welcome;
use zonecast_tracy_wire::child::free_port;

use crate::others::saxpy_beside_its_source;
use crate::{data, exits_with, zonecast};

fn module(name: &str) -> PathBuf {
    data("iree").join(format!("{name}.vmfb"))
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The doctor, in a folder of its own, on a machine with no profiler and a free port.
fn doctor(here: &Path) -> Command {
    let mut command = zonecast();
    command.current_dir(here).arg("doctor").env("PATH", here).env("TRACY_PORT", free_port().to_string());
    command
}

/// That it finds nothing.
#[track_caller]
fn is_silent(command: &mut Command) {
    assert_eq!(exits_with(0, command), ("nothing is wrong\n".to_owned(), String::new()));
}

/// That it finds one thing, which it says in these words.
#[track_caller]
fn says(command: &mut Command, words: &[&str]) {
    let (text, errors) = exits_with(3, command);
    assert_eq!((text.lines().count(), errors.as_str()), (1, ""), "{text}");
    for word in words {
        assert!(text.contains(word), "{text}");
    }
}

/// That it finds one thing about a file.
#[track_caller]
fn says_of(file: &Path, words: &[&str]) {
    let here = folder();
    says(doctor(here.path()).arg(file), words);
}

#[test]
fn code_for_gpus_is_no_program() {
    for (file, words) in [
        ("cuda/cuda_vec_lineinfo.sm90.cubin", "has lines but no text"),
        ("cuda/cuda_vec_plain.sm90.cubin", "has no debug information"),
        ("amdgpu/vec_c22_gfx942_noembed.hsaco", "has lines but no text"),
    ] {
        says_of(&data("other").join(file), &[words]);
    }
    let here = folder();
    is_silent(doctor(here.path()).arg(data("other/amdgpu/vec_c22_gfx942.hsaco")));
}

#[test]
fn a_source_that_was_edited_since_is_told_of() {
    let here = folder();
    let source = saxpy_beside_its_source(here.path());
    let library = here.path().join("saxpy.so");
    let set = |seconds| {
        let written = fs::metadata(&library).unwrap().modified().unwrap();
        let time = written + std::time::Duration::from_secs(seconds);
        fs::File::options().write(true).open(&source).unwrap().set_modified(time).unwrap();
    };
    set(0);
    is_silent(doctor(here.path()).arg("saxpy.so"));
    set(60);
    says(doctor(here.path()).arg("saxpy.so"), &["saxpy.so", "srcs/saxpy.c is newer", "compile it again"]);
}

#[test]
fn nothing_is_wrong() {
    let here = folder();
    is_silent(&mut doctor(here.path()));
    for name in ["mlp.cpu.g3", "mlp.cuda-sm80.g3", "noloc.cpu.g3", "scale.multi.g3", "scale.metal.g3"] {
        is_silent(doctor(here.path()).arg(module(name)));
    }
}

#[test]
fn compiled_without_sources() {
    says_of(
        &module("many.vulkan.g2"),
        &["12 of 12 executables", "debug level 1 or 2", "iree-compile ignores"],
    );
    says_of(&module("mlp.cpu.g0"), &["1 of 1", "debug level 0", "--iree-hal-executable-debug-level=3"]);
}

#[test]
fn compiled_for_the_interpreter() {
    says_of(&module("mlp.vmvx.g3"), &["VMVX", "at any debug level", "llvm-cpu"]);
}

#[test]
fn compiled_without_places() {
    says_of(
        &module("mlp.cpu-nosym.g3"),
        &["of 3 exports not the place", "--iree-llvmcpu-debug-symbols=false"],
    );
}

/// A table with one source.
fn table(here: &Path, name: &str, path: &str, text: &str) -> PathBuf {
    let mut table = TableBuilder::new();
    table.source(path, text).unwrap();
    let file = here.join(name);
    table.write(&file).unwrap();
    file
}

#[test]
fn a_text_is_too_large() {
    let here = folder();
    is_silent(doctor(here.path()).arg(table(here.path(), "fits", "a.mlir", &"x".repeat(262_127))));
    let file = table(here.path(), "large", "a.mlir", &"x".repeat(262_128));
    says_of(&file, &["a.mlir has 262128 bytes", "at most 262127", "zonecast sources --extract"]);
}

#[test]
fn a_path_is_shadowed_by_a_file_on_disk() {
    let here = folder();
    fs::write(here.path().join("a.mlir"), "embedded").unwrap();
    let file = table(here.path(), "table", "a.mlir", "embedded");
    is_silent(doctor(here.path()).arg(&file));
    fs::write(here.path().join("a.mlir"), "another").unwrap();
    says(doctor(here.path()).arg(&file), &["has the path a.mlir, too", "move it"]);
}

#[test]
fn paths_collide() {
    let here = folder();
    let [one, other] =
        [("one", "1"), ("other", "2")].map(|(name, text)| table(here.path(), name, "a.mlir", text));
    says(
        doctor(here.path()).args([&one, &other]),
        &["one and ", "other have different texts", "a.mlir and 0 more"],
    );
    is_silent(doctor(here.path()).args([&one, &one]));
    // Within one file, too.
    let both = here.path().join("both");
    fs::write(&both, [fs::read(one).unwrap(), fs::read(other).unwrap()].concat()).unwrap();
    says(doctor(here.path()).arg(&both), &["both has different texts"]);
}

#[test]
fn a_format_is_legacy() {
    says_of(&module("scale.cpu-v4.g3"), &["of version 4", "takes version 6 alone", "compile it again"]);
    says_of(&module("scale.cpu-v5.g3"), &["of version 5"]);
}

#[test]
fn a_record_is_damaged() {
    let here = folder();
    let file = table(here.path(), "table", "a.mlir", "text");
    let mut bytes = fs::read(&file).unwrap();
    bytes[64..68].fill(0xff);
    fs::write(&file, bytes).unwrap();
    says_of(&file, &["left out a damaged record", "at offset 0x40"]);
}

#[test]
fn nothing_in_it_is_understood() {
    let here = folder();
    let file = here.path().join("old.vmfb");
    let mut bytes = fs::read(module("scale.cpu.g3")).unwrap();
    let executable = Executable::from_bytes(bytes.clone(), "module").unwrap();
    let start = executable.image(0).unwrap().offset().unwrap() as usize;
    bytes[start..start + 4].copy_from_slice(b"SPVE");
    fs::write(&file, bytes).unwrap();
    says_of(&file, &["no executable in it that is understood", "compile it again"]);
}

#[test]
fn a_file_is_of_another_kind() {
    says_of(&data("iree/README.md"), &["README.md: at offset 0x0: unknown contents", "name a file"]);
    says_of(&data("other/spirv/fill_slang_g1.spv"), &["has lines but no text", "taken from disk"]);
    says_of(Path::new("/nowhere"), &["/nowhere: No such file"]);
    says_of(folder().path(), &["not a regular file"]);
    let here = folder();
    let cut = here.path().join("cut.vmfb");
    fs::write(&cut, &fs::read(module("scale.cpu.g3")).unwrap()[..1000]).unwrap();
    says_of(&cut, &["cut.vmfb: at offset 0x", "make it anew"]);
}

/// A recording of a program that said only this.
fn recording(here: &Path, welcome: &Welcome) -> PathBuf {
    let file = here.join("run.zonecast");
    let welcome = welcome.to_bytes();
    let length = (welcome.len() as u32).to_le_bytes();
    fs::write(&file, [&b"ZCTRACY1W"[..], &length, &welcome, b"E", &[0; 4]].concat()).unwrap();
    file
}

#[test]
fn code_transfer_is_off() {
    let here = folder();
    let mut welcome = Welcome { program: "model".into(), ..Welcome::default() };
    is_silent(doctor(here.path()).arg(recording(here.path(), &welcome)));
    welcome.flags = 0;
    says_of(
        &recording(here.path(), &welcome),
        &["model was built with code transfer off", "`code-transfer`"],
    );
}

#[test]
fn a_recording_is_damaged() {
    let here = folder();
    let file = here.path().join("run");
    fs::write(&file, "ZCTRACY1W\x01").unwrap();
    says_of(&file, &["run: ", "capture again"]);
}

#[test]
#[cfg(target_os = "linux")]
fn no_zonecast_is_in_the_program() {
    says_of(Path::new("/bin/sh"), &["no zonecast in this program", "first on the PATH"]);
}

/// This program, with other flags in zonecast's note.
fn program(here: &Path, flags: u8) -> PathBuf {
    let mut bytes = fs::read(std::env::current_exe().unwrap()).unwrap();
    let note = *b"\x09\0\0\0\x08\0\0\0\x02\0\0\0zonecast\0\0\0\0";
    let places: Vec<usize> =
        bytes.windows(note.len()).enumerate().filter(|(_, at)| *at == note).map(|(at, _)| at).collect();
    for at in places {
        bytes[at + 28] = flags;
    }
    let file = here.join("program");
    fs::write(&file, bytes).unwrap();
    file
}

#[test]
fn no_provider_is_compiled_in() {
    let here = folder();
    says_of(&program(here.path(), 0), &["no provider is compiled in", "feature `tracy`"]);
    is_silent(doctor(here.path()).arg(program(here.path(), 0b0010)));
}

#[test]
fn no_headers_were_there() {
    let here = folder();
    is_silent(doctor(here.path()).arg(program(here.path(), 0b1001)));
    says_of(&program(here.path(), 0b0001), &["C++ headers were not found", "ZONECAST_TRACY_INCLUDE"]);
}

fn lockfile(here: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(here.join("src")).unwrap();
    let file = here.join("Cargo.lock");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn two_tracys_are_in_one_program() {
    let here = folder();
    let client =
        |version: &str| format!("[[package]]\nname = \"tracy-client-sys\"\nversion = \"{version}\"\n");
    let file = lockfile(here.path(), &client("0.30.1"));
    is_silent(doctor(here.path()).arg(&file));
    lockfile(here.path(), &(client("0.29.0") + &client("0.30.1")));
    let words = ["tracy-client-sys 0.29.0 and 0.30.1", "`cargo tree -i tracy-client-sys@0.29.0`"];
    says_of(&file, &words);
    // As the project around the folder that it runs in.
    says(&mut doctor(&here.path().join("src")), &words);
}

#[test]
fn a_lockfile_is_damaged() {
    let here = folder();
    says_of(
        &lockfile(here.path(), "[[package"),
        &["Cargo.lock: TOML parse error", "let cargo write it anew"],
    );
    says_of(Path::new("/nowhere/Cargo.lock"), &["/nowhere/Cargo.lock: No such file"]);
}

#[test]
fn a_port_is_none() {
    let here = folder();
    says(doctor(here.path()).env("TRACY_PORT", "http"), &["TRACY_PORT=http is not the number of a port"]);
}

#[test]
fn the_port_is_taken() {
    let here = folder();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let other = std::thread::spawn(move || {
        // Not Tracy: it hangs up. Then a client of Tracy's: it refuses the protocol.
        drop(listener.accept().unwrap());
        let (mut stream, _) = listener.accept().unwrap();
        let mut greeting = [0; 12];
        stream.read_exact(&mut greeting).unwrap();
        stream.write_all(&[2]).unwrap();
        greeting
    });
    let mut doctor = doctor(here.path());
    doctor.env("TRACY_PORT", &port);
    says(&mut doctor, &["TRACY_PORT says", &port, "taken by something that is not Tracy", "choose another"]);
    says(&mut doctor, &["taken by a program that is being traced"]);
    let greeting = other.join().unwrap();
    assert_eq!(greeting[..8], *b"TracyPrf");
    assert_ne!(greeting[8..], 82_u32.to_le_bytes(), "it must not take the program's only profiler's place");
}

/// `tests/files/bin` has a `tracy-capture`.
#[test]
#[cfg(unix)]
fn the_profiler_speaks_another_protocol() {
    let here = folder();
    let profilers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/bin");
    let doctor_beside = |protocol: &str| {
        let mut doctor = doctor(here.path());
        doctor.env("PATH", &profilers).env("SPEAKS", protocol);
        doctor
    };
    is_silent(&mut doctor_beside("82"));
    let words = ["protocol 69 (Tracy 0.11.1)", "speak 82 (Tracy 0.14)", "install Tracy 0.14"];
    says(&mut doctor_beside("69"), &words);
}

/// A GPU's driver that is found before any other. It is a fake one.
#[cfg(all(feature = "gpu", target_os = "linux"))]
fn with_driver(here: &Path) -> Command {
    let fake = std::env::current_exe().unwrap().with_file_name("libzonecast_fake_cuda.so");
    fs::copy(fake, here.join("libcuda.so")).unwrap();
    let mut command = doctor(here);
    command.env("LD_LIBRARY_PATH", here);
    command
}

#[test]
#[cfg(all(feature = "gpu", target_os = "linux"))]
fn a_driver_that_cannot_be_used() {
    let here = folder();
    let path = here.path();
    is_silent(with_driver(path).arg("--gpu"));
    says(with_driver(path).env("ZONECAST_FAKE_INIT", "34"), &["CUDA: ", "stub", "LD_LIBRARY_PATH"]);
    says(with_driver(path).env("ZONECAST_FAKE_INIT", "999"), &["CUDA: cuInit failed with 999"]);
    // What is only missing is wrong where it is wanted: here for either kind of GPU.
    let no_device = ["CUDA: the GPU driver finds no device (cuInit says so)", "HIP: the GPU driver"];
    let (said, _) = exits_with(3, with_driver(path).env("ZONECAST_FAKE_INIT", "100").arg("--gpu"));
    assert!(no_device.iter().all(|words| said.contains(words)) && said.lines().count() == 2, "{said}");
    // And one that is too old: a copy where a function has another name.
    let mut bytes = fs::read(path.join("libcuda.so")).unwrap();
    let name = b"cuStreamIsCapturing\0";
    let places: Vec<_> = (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(name)).collect();
    places.into_iter().for_each(|at| bytes[at] = b'_');
    fs::write(path.join("libcuda.so"), bytes).unwrap();
    let mut old = doctor(path);
    says(old.env("LD_LIBRARY_PATH", path), &["CUDA: ", "no cuStreamIsCapturing", "newer driver"]);
}
