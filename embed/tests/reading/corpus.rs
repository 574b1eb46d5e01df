//! Every module of the corpus reads as independent readers say.

use crate::expected::{data, describe, expected, expected_of};
use serde_json::Value;
use zonecast_embed::{Executable, Format};

fn open(name: &str) -> Executable {
    Executable::open(data(name)).unwrap()
}

#[test]
fn every_module_reads_as_expected() {
    let modules = expected();
    assert_eq!(modules.len(), 112);
    for module in modules {
        let name = module["file"].as_str().unwrap();
        let executable = open(name);
        assert_eq!(describe(&executable), module["executables"], "{name}");
        let never = executable.images().filter(|image| image.format() == Format::IreeVmvx).count();
        assert_eq!(executable.notes().len(), never, "{name}: {:?}", executable.notes());
        assert!(executable.unchanged());
    }
}

#[test]
fn every_source_is_found_by_its_path_and_is_a_slice_of_the_file() {
    for module in expected() {
        let executable = open(module["file"].as_str().unwrap());
        let file = executable.bytes().as_ptr_range();
        for source in executable.images().flat_map(|image| image.sources().iter()) {
            assert!(file.contains(&source.text().as_ptr()) && source.text().as_ptr_range().end <= file.end);
        }
        for image in executable.images() {
            for source in image.sources().iter() {
                assert_eq!(image.sources().find(source.path()), Some(source.text()));
                let longer = [source.path(), b"x"].concat();
                assert_eq!(image.sources().find(longer), None);
            }
            assert_eq!(image.sources().find(""), None);
        }
    }
}

/// The tables of `f11` are not those of `f0`: each export's stage names its own file, in which its own
/// function is at the line given.
#[test]
fn each_export_has_its_own_stages() {
    let executable = open("many.cpu.g3.vmfb");
    let image = executable.image(0).unwrap();
    assert_eq!(image.exports().len(), 12);
    for export in image.exports() {
        let stage = export.stage("0.source").unwrap().location.unwrap();
        let text = std::str::from_utf8(image.sources().find(stage.file).unwrap()).unwrap();
        let line = text.lines().nth(stage.line as usize - 1).unwrap();
        let name = std::str::from_utf8(export.name()).unwrap();
        assert!(line.contains(&format!("@{name}(")), "{name}: {line}");
    }
}

/// At level 0 the compiler leaves the line uninitialised; without a path there is no location.
#[test]
fn a_location_without_a_path_is_none() {
    let executable = open("mlp.cpu.g0.vmfb");
    assert!(executable.image(0).unwrap().exports().all(|export| export.location().is_none()));
}

#[test]
fn a_module_without_its_zip_wrapping_reads_the_same() {
    let zipped = std::fs::read(data("mlp.cpu.g3.vmfb")).unwrap();
    assert!(zipped.starts_with(b"PK"));
    // The wrapping is 64 bytes in all of these files, so that alignment is kept without it.
    let bare = Executable::from_bytes(zipped[64..].to_vec(), "bare").unwrap();
    let mut expected = expected_of("mlp.cpu.g3.vmfb");
    shift(&mut expected, -64);
    assert_eq!(describe(&bare), expected);
}

#[test]
fn an_executable_reads_the_same_outside_its_module() {
    let module = open("mlp.cpu.g3.vmfb");
    let image = module.image(0).unwrap();
    let start = image.offset().unwrap();
    let alone = Executable::from_bytes(image.bytes().unwrap().to_vec(), "mlp").unwrap();
    let mut expected = expected_of("mlp.cpu.g3.vmfb");
    shift(&mut expected, -(start as i64));
    assert_eq!(describe(&alone), expected);
    assert_eq!(alone.name(), "mlp");
    assert_eq!(alone.path(), None);
}

/// Nothing relies on alignment.
#[test]
fn bytes_at_any_alignment_read_the_same() {
    let file = std::fs::read(data("scale.cpu.g3.vmfb")).unwrap();
    for shift in 0..8 {
        let moved: Vec<u8> = vec![0; shift].into_iter().chain(file.iter().copied()).collect();
        let moved: &'static [u8] = &moved.leak()[shift..];
        assert_eq!(
            describe(&Executable::from_bytes(moved, "scale").unwrap()),
            expected_of("scale.cpu.g3.vmfb")
        );
    }
}

#[test]
fn targets_are_named_as_the_compiler_names_them() {
    let target = |name: &str| {
        let executable = open(name);
        String::from_utf8(executable.image(0).unwrap().target().unwrap().to_vec()).unwrap()
    };
    assert_eq!(target("mlp.cpu.g3.vmfb"), "x86_64");
    assert_eq!(target("mlp.cpu-arm64.g3.vmfb"), "arm_64");
    assert_eq!(target("mlp.cpu-riscv32.g3.vmfb"), "riscv_32");
}

/// Moves all offsets.
pub(crate) fn shift(value: &mut Value, by: i64) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| shift(value, by)),
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == "offset" {
                    *value = (value.as_i64().unwrap() + by).into();
                } else {
                    shift(value, by);
                }
            }
        }
        _ => {}
    }
}
