//! `zonecast sources` of what compilers other than IREE's wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{data, exits_with, json, succeeds, zonecast};

fn answers() -> Vec<Value> {
    let text = fs::read_to_string(data("other/expected.json")).unwrap();
    let mut answers: Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(answers["files"].take()).unwrap()
}

/// Puts `saxpy.so` into a folder, with lines and no texts, and the source that it was compiled from, whose path is
/// returned.
pub(crate) fn saxpy_beside_its_source(folder: &Path) -> PathBuf {
    // Of one length, so that one can stand for the other.
    let (there, here) = (b"/corpus\0", b"./srcs/\0");
    let mut library = fs::read(data("other/dwarf/saxpy_c22_noembed.so")).unwrap();
    for at in 0..library.len() {
        if library[at..].starts_with(there) {
            library[at..at + here.len()].copy_from_slice(here);
        }
    }
    let source = folder.join("srcs/saxpy.c");
    fs::create_dir(folder.join("srcs")).unwrap();
    fs::write(&source, "int x;\n").unwrap();
    fs::write(folder.join("saxpy.so"), library).unwrap();
    source
}

/// Whether a path is that of a file that is given without its folder.
fn is_path_of(path: &Value, file: &Value) -> bool {
    let (path, file) = (path.as_str().unwrap(), file.as_str().unwrap());
    path.strip_suffix(file).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

fn all<'a>(listed: &'a Value, what: &str) -> Vec<&'a Value> {
    let executables = listed["executables"].as_array().unwrap();
    executables.iter().flat_map(|executable| executable[what].as_array().unwrap()).collect()
}

#[test]
fn every_file_is_shown_as_it_is() {
    for answer in answers() {
        let file = answer["file"].as_str().unwrap();
        let path = data("other").join(file);
        let mut command = zonecast();
        command.arg("sources").arg(&path).args(["--format", "json"]);
        if answer.get("expect_error").is_some() {
            let (_, complaint) = exits_with(1, &mut command);
            assert!(complaint.contains("at offset 0x3c") && complaint.contains(file), "{complaint}");
            continue;
        }
        let listed = json(&succeeds(&mut command))["files"][0].take();
        // There is no line in what clang writes of SPIR-V.
        let is_left_out = file == "spirv/vecp_c22_nsdi.spv";
        for kernel in answer["kernels"].as_array().into_iter().flatten().filter(|_| !is_left_out) {
            let exports = all(&listed, "exports");
            let is_there = exports.iter().any(|export| {
                export["name"] == kernel["name"]
                    && export["location"]["line"] == kernel["decl_line"]
                    && is_path_of(&export["location"]["file"], &kernel["file"])
            });
            assert!(is_there, "{file}: {kernel} is not in {listed}");
        }
        // SPIR-V's texts are compared where their pieces are; beside the stripped file is what it was stripped of.
        let is_other = file.starts_with("spirv/") || file == "dwarf/saxpy_c22_stripped.so";
        for source in answer["sources"].as_array().unwrap().iter().filter(|_| !is_other && !is_left_out) {
            let is_there = all(&listed, "sources").into_iter().any(|listed| {
                listed["sha256"] == source["sha256"]
                    && listed["length"] == source["length"]
                    && listed["offset"] == source["file_offset"]
                    && is_path_of(&listed["path"], &source["path"])
            });
            assert!(is_there, "{file}: {source} is not in {listed}");
        }
    }
}

#[test]
fn what_is_in_a_container_follows_it_with_its_target() {
    let library = data("other/cuda/libcuda_vec.so");
    let listed = json(&succeeds(zonecast().arg("sources").arg(&library).args(["--format", "json"])));
    let executables = listed["files"][0]["executables"].as_array().unwrap();
    let named = |executable: &Value| (executable["format"].clone(), executable["target"].clone());
    let expected = [("fatbin", Value::Null), ("ptx", "sm_90".into()), ("cubin", "sm_90".into())];
    assert_eq!(
        executables.iter().map(named).collect::<Vec<_>>(),
        expected.map(|(format, target)| (format.into(), target))
    );
    // Unpacked, the text in PTX is nowhere in the file.
    assert_eq!(
        (&executables[1]["offset"], executables[1]["listings"].as_array().unwrap().len()),
        (&Value::Null, 1)
    );

    assert_eq!(executables[2]["exports"][0]["text"], "missing");

    let text = succeeds(zonecast().arg("sources").arg(&library));
    assert!(text.contains("image 2: cubin for sm_90"), "{text}");
    assert!(text.contains("1 listing, "), "{text}");
    assert!(text.contains("note: image 2 has lines but no text"), "{text}");
}

#[test]
fn it_is_said_where_the_text_of_a_kernel_is() {
    let kernel = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let library = data("other/dwarf/rust_embed.so");
    let text = succeeds(zonecast().arg("sources").arg(library));
    assert_eq!(kernel(&text, "rust_fill"), "    rust_fill  /corpus/lib.rs:7 (embedded)");

    let folder = tempfile::tempdir().unwrap();
    let source = saxpy_beside_its_source(folder.path());
    let listed = || {
        let mut command = zonecast();
        kernel(&succeeds(command.current_dir(folder.path()).args(["sources", "saxpy.so"])), "host_saxpy")
    };
    assert_eq!(listed(), "    host_saxpy  srcs/saxpy.c:5 (from disk)");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    fs::File::options().write(true).open(&source).unwrap().set_modified(later).unwrap();
    assert_eq!(listed(), "    host_saxpy  srcs/saxpy.c:5 (on disk, but newer than the executable)");
    fs::remove_file(source).unwrap();
    assert_eq!(listed(), "    host_saxpy  srcs/saxpy.c:5 (no text)");
}
