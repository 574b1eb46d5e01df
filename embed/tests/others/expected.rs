//! The corpus: files of many compilers, and what is in them.

use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest, Sha256};
use zonecast_embed::{Executable, Source, SourceLocation};

pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/other").join(name)
}

pub(crate) fn open(name: &str) -> Executable {
    Executable::open(data(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// Opens a file without what lies beside it.
pub(crate) fn open_alone(name: &str) -> Executable {
    Executable::from_bytes(std::fs::read(data(name)).unwrap(), name).unwrap()
}

/// The right answers, one object for each file.
pub(crate) fn expected() -> Vec<Value> {
    let text = std::fs::read(data("expected.json")).unwrap();
    let mut answers: Value = serde_json::from_slice(&text).unwrap();
    serde_json::from_value(answers["files"].take()).unwrap()
}

pub(crate) fn sources(executable: &Executable) -> Vec<Source<'_>> {
    executable.images().flat_map(|image| image.sources().iter()).collect()
}

/// The locations of all exports of that name.
pub(crate) fn locations<'a>(executable: &'a Executable, name: &str) -> Vec<SourceLocation<'a>> {
    let exports = executable.images().flat_map(|image| image.exports());
    exports.filter(|export| export.name() == name.as_bytes()).filter_map(|export| export.location()).collect()
}

/// Whether a path is that of a file that is given without its folder.
pub(crate) fn is_path_of(path: &[u8], file: &str) -> bool {
    path.strip_suffix(file.as_bytes()).is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
