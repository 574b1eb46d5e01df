//! Every file of the corpus reads as it should.

use serde_json::Value;
use zonecast_embed::{Executable, Source};

use crate::expected::{data, expected, is_path_of, locations, open, open_alone, sha256, sources};

/// The folders of the corpus, and whether what is in them can be read.
fn is_understood(file: &str) -> bool {
    match file.split('/').next().unwrap() {
        "dwarf" | "bpf" | "wasm" => cfg!(feature = "dwarf"),
        "amdgpu" if file.ends_with(".hsaco") => cfg!(feature = "dwarf"),
        "amdgpu" => cfg!(feature = "offload"),
        "cuda" => cfg!(all(feature = "cuda", feature = "offload")),
        "triton" if file.ends_with("bin") || file.ends_with("ptx") => cfg!(feature = "cuda"),
        _ => false,
    }
}

#[test]
fn every_kernel_is_where_it_was_declared_and_every_source_is_there() {
    let files = expected();
    assert_eq!(files.len(), 69);
    for answers in files.iter().filter(|answers| is_understood(answers["file"].as_str().unwrap())) {
        let file = answers["file"].as_str().unwrap();
        if answers.get("expect_error").is_some() {
            let error = Executable::open(data(file)).unwrap_err();
            assert!(matches!(error.kind(), zonecast_embed::ErrorKind::Damaged(_)), "{error}");
            assert!(error.offset().is_some() && error.file().is_some(), "{error}");
            continue;
        }
        // Beside it is the file that it was stripped of, which the answers leave out.
        let is_alone = file == "dwarf/saxpy_c22_stripped.so";
        let executable = if is_alone { open_alone(file) } else { open(file) };
        let kernels = answers["kernels"].as_array().unwrap();
        for kernel in kernels.iter().filter(|_| file != "amdgpu/fill_host_rdc_new.o") {
            check_kernel(file, &executable, kernel);
        }
        // What is in LLVM bitcode is left out, and that is said.
        if file != "amdgpu/fill_host_rdc_new.o" {
            check_sources(file, &executable, answers["sources"].as_array().unwrap());
        }
    }
}

/// At least one image has the kernel, and those that say where it is all say the same.
fn check_kernel(file: &str, executable: &Executable, kernel: &Value) {
    let name = kernel["name"].as_str().unwrap();
    let found = locations(executable, name);
    assert!(!found.is_empty(), "{file}: {name} is not in {executable:?}");
    for location in found {
        assert!(is_path_of(location.file, kernel["file"].as_str().unwrap()), "{file}: {location:?}");
        assert_eq!(location.line, kernel["decl_line"], "{file}: {name}");
    }
}

fn check_sources(file: &str, executable: &Executable, expected: &[Value]) {
    let mut left = sources(executable);
    for source in expected.iter().filter(|source| source["storage"] != "none") {
        let hash = source["sha256"].as_str().unwrap();
        let is_it = |found: &Source<'_>| {
            is_path_of(found.path(), source["path"].as_str().unwrap())
                && sha256(found.text()) == hash
                && found.offset() == source["file_offset"].as_u64()
                && found.is_compressed() == (source["storage"] == "compressed")
        };
        let at = left.iter().position(is_it);
        let at = at.unwrap_or_else(|| panic!("{file}: {source} is not among {left:?}"));
        let found = left.remove(at);
        assert_eq!(found.len() as u64, source["length"].as_u64().unwrap());
    }
    assert!(left.is_empty(), "{file}: beside those expected there are {left:?}");
}
