//! The corpus: modules built by IREE's compiler, and what independent readers found in them.

use std::path::PathBuf;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zonecast_embed::{Executable, Format, Image, SourceLocation};

pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/iree").join(name)
}

/// The right answers, one object for each module.
pub(crate) fn expected() -> Vec<Value> {
    let text = std::fs::read(data("expected.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The right answers for one module's executables.
pub(crate) fn expected_of(file: &str) -> Value {
    expected().into_iter().find(|module| module["file"] == file).unwrap()["executables"].take()
}

fn text(bytes: &[u8]) -> Value {
    String::from_utf8(bytes.to_vec()).unwrap().into()
}

fn location(location: Option<SourceLocation<'_>>) -> Value {
    location.map_or(Value::Null, |at| json!({ "file": text(at.file), "line": at.line }))
}

/// What was read, in the shape of the right answers.
pub(crate) fn describe(executable: &Executable) -> Value {
    executable.images().map(describe_image).collect()
}

fn describe_image(image: Image<'_>) -> Value {
    let mut description = json!({
        "format": image.format().to_string(),
        "offset": image.offset(),
        "length": image.len(),
        "exports": exports(image),
        "sources": sources(image),
    });
    if image.format() == Format::IreeCpu {
        let library = image.cpu_library().unwrap();
        description["name"] = text(image.name());
        description["machine"] = library.machine.into();
        description["abi"] = library.abi_version.into();
        description["word"] = library.pointer_size.into();
    }
    if image.format() == Format::IreeAmdgpu {
        description["isa"] = text(image.target().unwrap());
    }
    description
}

fn exports(image: Image<'_>) -> Value {
    let describe = |export: zonecast_embed::Export<'_>| {
        let stages: Value = export
            .stages()
            .map(|stage| {
                let at = stage.location;
                json!({ "stage": text(stage.name), "file": at.map(|at| text(at.file)), "line": at.map(|at| at.line) })
            })
            .collect();
        let mut description =
            json!({ "name": text(export.name()), "location": location(export.location()), "stages": stages });
        if let Some(cpu) = export.cpu() {
            let [x, y, z] = cpu.workgroup_size.map_or([None; 3], |size| size.map(Some));
            let is_described = cpu.workgroup_size.is_some();
            description["attrs"] = json!({
                "flags": is_described.then_some(cpu.flags),
                "local_pages": cpu.local_memory_pages,
                "constants": cpu.constants,
                "bindings": cpu.bindings,
                "wg": [x, y, z],
                "params": is_described.then_some(0),
            });
        }
        description
    };
    image.exports().map(describe).collect()
}

fn sources(image: Image<'_>) -> Value {
    let describe = |source: zonecast_embed::Source<'_>| {
        json!({
            "path": text(source.path()),
            "length": source.text().len(),
            "sha256": hex(&Sha256::digest(source.text())),
            "offset": source.offset(),
        })
    };
    image.sources().iter().map(describe).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
