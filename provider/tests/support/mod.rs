//! The corpus beside `zonecast-embed`, and what is right about it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use zonecast::embed::Executable;

pub(crate) fn path(module: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../embed/tests/data/iree").join(format!("{module}.vmfb"))
}

pub(crate) fn open(module: &str) -> Executable {
    Executable::open(path(module)).unwrap()
}

/// Of each export: the file and line of a stage, and the hash of the file's text.
pub(crate) fn expected(module: &str, stage: &str) -> BTreeMap<String, (String, u32, String)> {
    let answers = std::fs::read(path("x").with_file_name("expected.json")).unwrap();
    let answers: serde_json::Value = serde_json::from_slice(&answers).unwrap();
    let file = format!("{module}.vmfb");
    let module = answers.as_array().unwrap().iter().find(|m| m["file"] == *file).unwrap();
    let tables = &module["executables"][0];
    let hash = |path: &str| {
        let all = tables["sources"].as_array().unwrap();
        all.iter().find(|s| s["path"] == *path).unwrap()["sha256"].as_str().unwrap().to_owned()
    };
    let of_export = |export: &serde_json::Value| {
        let stages = export["stages"].as_array().unwrap();
        let stage = stages.iter().find(|s| s["stage"] == *stage).unwrap();
        let file = stage["file"].as_str().unwrap();
        let line = u32::try_from(stage["line"].as_u64().unwrap()).unwrap();
        (export["name"].as_str().unwrap().to_owned(), (file.to_owned(), line, hash(file)))
    };
    tables["exports"].as_array().unwrap().iter().map(of_export).collect()
}

pub(crate) fn sha256(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
