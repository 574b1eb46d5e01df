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
        "cuda" => cfg!(all(feature = "cubin", feature = "offload")),
        "triton" => cfg!(feature = "triton"),
        "spirv" => cfg!(feature = "spirv"),
        other => panic!("{other}"),
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
        for kernel in answers["kernels"].as_array().into_iter().flatten() {
            check_kernel(file, &executable, kernel, answers);
        }
        let sources = answers["sources"].as_array().unwrap();
        match answers.get("entry_lines") {
            Some(_) => check_pieces(file, &executable, sources),
            None => check_sources(file, &executable, sources),
        }
    }
}

/// At least one image has the kernel, and those that say where it is all say the same.
fn check_kernel(file: &str, executable: &Executable, kernel: &Value, answers: &Value) {
    let name = kernel["name"].as_str().unwrap();
    let found = locations(executable, name);
    assert!(!found.is_empty(), "{file}: {name} is not in {executable:?}");
    // The compiler has left out the line, which is known from the source.
    let is_lost = answers.get("entry_lines").is_some_and(|lines| lines[name].is_null());
    let line = if is_lost { &Value::from(0) } else { &kernel["decl_line"] };
    for location in found {
        assert!(is_path_of(location.file, kernel["file"].as_str().unwrap()), "{file}: {location:?}");
        assert_eq!(location.line, *line, "{file}: {name}");
    }
}

/// Texts in SPIR-V may be in pieces, and may have something before them that nobody wrote.
fn check_pieces(file: &str, executable: &Executable, expected: &[Value]) {
    let mut left = sources(executable);
    for source in expected.iter().filter(|source| source["storage"] != "none") {
        let pieces = source["pieces"].as_array().unwrap();
        let number = |piece: &Value, key: &str| piece[key].as_u64().unwrap() as usize;
        let piece = |piece| {
            let start = number(piece, "offset");
            &executable.bytes()[start..start + number(piece, "length")]
        };
        let whole: Vec<u8> = pieces.iter().flat_map(piece).copied().collect();
        assert_eq!(sha256(&whole), source["sha256"], "{file}");
        if whole.starts_with(b"//__CSK_MD5:") {
            continue;
        }
        let before = source["prefix_length"].as_u64().unwrap_or(0) as usize;
        let offset = (pieces.len() == 1).then(|| (number(&pieces[0], "offset") + before) as u64);
        let is_it = |found: &Source<'_>| {
            is_path_of(found.path(), source["path"].as_str().unwrap())
                && found.text() == &whole[before..]
                && found.offset() == offset
                && found.is_compressed() == (pieces.len() > 1)
        };
        let at = left.iter().position(is_it);
        left.remove(at.unwrap_or_else(|| panic!("{file}: {source} is not among {left:?}")));
    }
    assert!(left.is_empty(), "{file}: beside those expected there are {left:?}");
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
