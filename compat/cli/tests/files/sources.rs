//! `zonecast sources`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json as value};
use sha2::{Digest, Sha256};
use zonecast_embed::table::{Export, TableBuilder};

use crate::{data, exits_with, json, succeeds, zonecast};

/// What is right about the modules beside it.
fn answers() -> Vec<Value> {
    let text = fs::read_to_string(data("iree/expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn module(name: &str) -> PathBuf {
    data("iree").join(name)
}

fn sources(files: &[impl AsRef<OsStr>]) -> std::process::Command {
    let mut command = zonecast();
    command.arg("sources").args(files);
    command
}

fn sources_json(file: &Path) -> Value {
    json(&succeeds(sources(&[file]).args(["--format", "json"])))["files"][0].take()
}

/// The answers hold more about each executable than the command shows.
fn shown(mut executable: Value) -> Value {
    let fields = executable.as_object_mut().unwrap();
    for more in ["machine", "abi", "word", "isa"] {
        fields.remove(more);
    }
    for export in fields["exports"].as_array_mut().unwrap() {
        export.as_object_mut().unwrap().remove("attrs");
    }
    let is_vmvx = fields["format"] == "iree-vmvx";
    if !is_vmvx {
        fields.entry("name").or_insert("".into());
    }
    executable
}

#[test]
fn every_module_is_shown_as_it_is() {
    let answers = answers();
    assert_eq!(answers.len(), 112);
    let files: Vec<PathBuf> = answers.iter().map(|answer| module(answer["file"].as_str().unwrap())).collect();
    let mut listed = json(&succeeds(sources(&files).args(["--format", "json"])));
    let listed = listed["files"].as_array_mut().unwrap();
    assert_eq!(listed.len(), 112);
    for ((listed, file), answer) in listed.iter_mut().zip(&files).zip(answers) {
        assert_eq!(listed["file"], file.to_str().unwrap());
        let keys: Vec<&String> = listed.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["file", "executables", "notes"]);
        for executable in listed["executables"].as_array_mut().unwrap() {
            if executable["format"] == "iree-vmvx" {
                // The answers leave this name out.
                let name = executable.as_object_mut().unwrap().remove("name").unwrap();
                assert!(name == "module" || name == "linked_module");
            }
        }
        let expected: Value = answer["executables"].as_array().unwrap().iter().cloned().map(shown).collect();
        assert_eq!(listed["executables"], expected, "{}", file.display());
    }
}

#[test]
fn people_see_the_level_and_how_to_get_more() {
    let text = |name: &str| succeeds(&mut sources(&[module(name)]));
    let whole = text("mlp.cpu.g3.vmfb");
    assert!(whole.contains("iree-cpu mlp_net_linked for x86_64, debug level 3, "), "{whole}");
    assert!(whole.contains("infer_dispatch_0_matmul_Dx48x32_f32  src/mlp.mlir:10"), "{whole}");
    assert!(whole.contains("9 source texts, 165.89 KiB"), "{whole}");
    assert!(!whole.contains("note:"), "{whole}");
    for (name, level) in
        [("mlp.hip-gfx942.g2.vmfb", "debug level 1 or 2"), ("mlp.cpu.g0.vmfb", "debug level 0")]
    {
        let text = text(name);
        assert!(text.contains(level), "{text}");
        assert!(text.contains("iree-compile ignores that flag up to IREE 3.13"), "{text}");
    }
    assert!(text("scale.vmvx.g3.vmfb").contains("embeds no sources at any debug level"));
    assert!(text("scale.cpu-nosym.g3.vmfb").contains("--iree-llvmcpu-debug-symbols=false"));
    assert!(!text("noloc.cpu.g3.vmfb").contains("note:"), "its stages are enough");
}

#[test]
fn one_stage_is_shown_alone() {
    let file = module("mlp.vulkan.g3.vmfb");
    let listed = |stage: &str| {
        json(&succeeds(sources(&[&file]).args(["--format", "json", "--stage", stage])))["files"][0].take()
    };
    let source = listed("0.source");
    for executable in source["executables"].as_array().unwrap() {
        let stages = executable["exports"][0]["stages"].as_array().unwrap();
        assert_eq!((stages.len(), &stages[0]["stage"]), (1, &value!("0.source")));
        let paths = executable["sources"].as_array().unwrap();
        assert_eq!((paths.len(), &paths[0]["path"]), (1, &stages[0]["file"]));
    }
    // Its texts are there, though no location names them.
    let last = &listed("2.translated")["executables"][0];
    assert_eq!(last["exports"][0]["stages"], value!([]));
    assert!(last["sources"][0]["path"].as_str().unwrap().ends_with(".2.translated.mlir"));
    let notes = listed("9.nowhere")["notes"].take();
    assert_eq!(notes, value!(["there is nothing of stage 9.nowhere; there are 0.source, 1.configured"]));
}

#[test]
fn texts_are_written_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = module("many.cpu.g3.vmfb");
    let listed = sources_json(&file);
    // Again, into the same folder, changes nothing.
    for _ in 0..2 {
        succeeds(sources(&[&file]).arg("--extract").arg(folder.path()));
        let texts = listed["executables"][0]["sources"].as_array().unwrap();
        assert_eq!(texts.len(), 36);
        for text in texts {
            let written = fs::read(folder.path().join(text["path"].as_str().unwrap())).unwrap();
            assert_eq!(format!("{:x}", Sha256::digest(written)), text["sha256"].as_str().unwrap());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 36);
    }
}

#[test]
fn texts_of_modules_with_the_same_paths_stand_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let modules = ["scale.cpu.g3", "scale.cpu-v4.g3"];
    let files = modules.map(|name| module(&format!("{name}.vmfb")));
    succeeds(sources(&files).args(["--stage", "0.source", "--extract"]).arg(folder.path()));
    let path = "module_scale_dispatch_0_embedded_elf_x86_64.0.source.mlir";
    for (file, place) in files.iter().zip([PathBuf::from(path), Path::new(modules[1]).join(path)]) {
        let written = fs::read(folder.path().join(place)).unwrap();
        let listed = sources_json(file);
        assert_eq!(
            format!("{:x}", Sha256::digest(written)),
            listed["executables"][0]["sources"][0]["sha256"]
        );
    }
}

/// Builds a table with such paths, whose texts are the paths.
fn table_of(paths: &[&str]) -> Vec<u8> {
    let mut table = TableBuilder::new();
    for path in paths {
        table.source(path, path).unwrap();
    }
    table.export(Export::new("kernel\x1b[2J").at("evil\n.py", 1)).unwrap();
    table.build().unwrap()
}

#[test]
fn hostile_paths_stay_within_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let (folder, file) = (outside.path().join("in"), outside.path().join("evil.zonecast"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mine"), "precious").unwrap();
    let absolute = outside.path().join("absolute").to_str().unwrap().to_owned();
    let long = "x".repeat(5000);
    let paths =
        ["../up", "../../../up", &absolute, "a", "a/b", "a\0b", "b/../../up", "mine", ".", &long, "fine"];
    fs::write(&file, table_of(&paths)).unwrap();

    let (text, errors) = exits_with(1, sources(&[&file]).arg("--extract").arg(&folder));
    assert!(!text.contains('\x1b') && text.contains(r"kernel\u{1b}[2J  evil\n.py:1"), "{text}");
    let complaints: Vec<&str> = errors.lines().collect();
    assert_eq!(complaints.len(), 3, "a/b, mine and the long one: {errors}");
    assert!(complaints.iter().all(|line| line.starts_with("zonecast: ")), "{errors}");
    // All others are there, and nothing is anywhere else.
    let written = |place: &str| fs::read_to_string(folder.join(place)).unwrap();
    for (place, path) in
        [("_/up", "../up"), ("_/_/_/up", "../../../up"), ("a", "a"), ("fine", "fine"), ("unnamed", ".")]
    {
        assert_eq!(written(place), path);
    }
    assert_eq!(written("mine"), "precious");
    assert_eq!(written(absolute.trim_start_matches('/')), absolute);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 2);
}

#[test]
fn a_file_that_cannot_be_read_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(module("scale.cpu.g3.vmfb")).unwrap();
    for length in (0..whole.len() / 2).step_by(whole.len() / 16) {
        let cut = folder.path().join("cut.vmfb");
        fs::write(&cut, &whole[..length]).unwrap();
        let files = [&cut, &module("scale.cpu.g3.vmfb"), &folder.path().join("absent")];
        let (text, errors) = exits_with(1, sources(&files).args(["--format", "json"]));
        let complaints: Vec<&str> = errors.lines().collect();
        assert_eq!(complaints.len(), 2, "{errors}");
        assert!(complaints[0].contains("cut.vmfb: at offset 0x"), "{errors}");
        assert!(complaints[1].contains("absent: No such file"), "{errors}");
        let listed = json(&text);
        assert_eq!(listed["files"][0]["executables"], value!([]));
        assert!(listed["files"][0]["notes"][0].as_str().unwrap().contains("at offset 0x"));
        assert_eq!(listed["files"][1]["executables"][0]["sources"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn a_compressed_text_has_no_place_and_is_written_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    let text = "a line like all others\n".repeat(1000);
    let mut table = TableBuilder::new();
    table.compress(true).source("long.mlir", &text).unwrap();
    let file = folder.path().join("packed.zonecast");
    table.write(&file).unwrap();
    let listed = &sources_json(&file)["executables"][0]["sources"][0];
    assert_eq!((&listed["offset"], &listed["length"]), (&Value::Null, &value!(text.len())));
    assert_eq!(listed["sha256"], format!("{:x}", Sha256::digest(&text)));
    assert!(succeeds(&mut sources(&[&file])).contains("long.mlir (compressed)"));
    succeeds(sources(&[&file]).arg("--extract").arg(folder.path()));
    assert_eq!(fs::read_to_string(folder.path().join("long.mlir")).unwrap(), text);
}
