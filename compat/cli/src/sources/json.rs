//! What is embedded where, as JSON.
//!
//! `{"files":[{"file","executables":[{"format","name","offset","length","exports":[{"name",
//! "location":{"file","line"}|null,"stages":[{"stage","file","line"}]}],"sources":[{"path","length",
//! "sha256","offset"}]}],"notes":[…]}]}`. Executables that are neither IREE's nor zonecast tables also have
//! `"target"`, a string or null, and `"listings"`, which are like sources; their exports have `"text"`, which says
//! where the text of the location is: `embedded`, `disk`, `newer` (on disk, but newer than the executable) or
//! `missing`, or null without a location. Offsets count from the start of the file; they are null where the bytes
//! do not stand there as they are. So are `file` and `line` of a stage without a location, and the
//! `sha256` of a text that cannot be unpacked.

use std::io::{self, Write};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zonecast_embed::{Export, Image, Origin, Source, Stage};

use super::selection::Selection;
use super::{Listing, is_of_others, origin};

pub(super) fn write(
    output: &mut dyn Write,
    listings: &[Listing],
    selection: &Selection<'_>,
) -> io::Result<()> {
    let files: Value = listings.iter().map(|listing| file(listing, selection)).collect();
    serde_json::to_writer_pretty(&mut *output, &json!({ "files": files }))?;
    writeln!(output)
}

fn file(listing: &Listing, selection: &Selection<'_>) -> Value {
    let executables: Value = listing.executable.images().map(|image| executable(image, selection)).collect();
    json!({ "file": listing.file, "executables": executables, "notes": listing.notes })
}

fn executable(image: Image<'_>, selection: &Selection<'_>) -> Value {
    let mut executable = json!({
        "format": image.format().as_str(),
        "name": text(image.name()),
        "offset": image.offset(),
        "length": image.len(),
        "exports": image.exports().map(|of| export(of, selection)).collect::<Value>(),
        "sources": selection.sources(image).into_iter().map(source).collect::<Value>(),
    });
    if is_of_others(image) {
        executable["target"] = image.target().map(text).into();
        executable["listings"] = selection.listings(image).map(source).collect();
    }
    executable
}

fn export(export: Export<'_>, selection: &Selection<'_>) -> Value {
    let location = export.location().map(|at| json!({ "file": text(at.file), "line": at.line }));
    let stages: Value = selection.stages(export).map(stage).collect();
    let is_of_others = is_of_others(export.image());
    let mut listed = json!({ "name": text(export.name()), "location": location, "stages": stages });
    if is_of_others {
        listed["text"] = origin(export).map(Origin::as_str).into();
    }
    listed
}

fn stage(stage: Stage<'_>) -> Value {
    let at = stage.location;
    json!({ "stage": text(stage.name), "file": at.map(|at| text(at.file)), "line": at.map(|at| at.line) })
}

fn source(source: Source<'_>) -> Value {
    let sha256 = source.try_text().ok().map(|text| format!("{:x}", Sha256::digest(text)));
    json!({
        "path": text(source.path()),
        "length": source.len(),
        "sha256": sha256,
        "offset": source.offset(),
    })
}

/// JSON has no bytes that are not Unicode; they are replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
