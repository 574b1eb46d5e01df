//! Tables are written, found again wherever they are put, and read back.

#[cfg(feature = "elf")]
mod attached;
#[cfg(feature = "elf")]
mod c;
mod damaged;
mod located;
#[cfg(feature = "elf")]
mod program;
mod written;

use std::path::PathBuf;

#[cfg(feature = "elf")]
use zonecast_embed::Executable;
use zonecast_embed::table::{Export, TableBuilder};
use zonecast_embed::{Format, Image};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A table with everything in it: files shared by exports, a text shared by files, files that are not
/// embedded, exports without location, without stages, and with one file for each stage.
fn example() -> TableBuilder {
    let mut table = TableBuilder::new();
    table.name("example").target("gfx942");
    table.source("b.0.source.mlir", "func @scale\nfunc @blur\n").unwrap();
    table.source("a.py", "def scale():\n  pass\n").unwrap();
    table.source("c.mlir", "func @scale\nfunc @blur\n").unwrap();
    table.source("empty.h", "").unwrap();
    let scale = Export::new("scale")
        .at("a.py", 1)
        .stage("0.source", "b.0.source.mlir", 1)
        .stage("1.low", "c.mlir", 1);
    table.export(scale).unwrap();
    table
        .export(Export::new("blur").at("elsewhere.py", 70_000).stage("0.source", "b.0.source.mlir", 2))
        .unwrap();
    table.export(Export::new("anonymous").stage("0.source", "", 5)).unwrap();
    table
}

/// That the image is of the [`example`].
fn check_example(image: Image<'_>) {
    assert_eq!(image.format(), Format::Zonecast);
    assert_eq!((image.name(), image.target()), (&b"example"[..], Some(&b"gfx942"[..])));
    let describe = |file: Option<zonecast_embed::SourceLocation<'_>>| {
        file.map_or("-".to_owned(), |at| format!("{}:{}", String::from_utf8_lossy(at.file), at.line))
    };
    let mut lines = Vec::new();
    for export in image.exports() {
        lines.push(format!("{} {}", String::from_utf8_lossy(export.name()), describe(export.location())));
        for stage in export.stages() {
            lines.push(format!("  {} {}", String::from_utf8_lossy(stage.name), describe(stage.location)));
        }
    }
    assert_eq!(
        lines,
        [
            "scale a.py:1",
            "  0.source b.0.source.mlir:1",
            "  1.low c.mlir:1",
            "blur elsewhere.py:70000",
            "  0.source b.0.source.mlir:2",
            "anonymous -",
            "  0.source -",
        ]
    );
    let paths: Vec<_> = image.sources().iter().map(|source| source.path()).collect();
    assert_eq!(paths, [&b"a.py"[..], b"b.0.source.mlir", b"c.mlir", b"empty.h"]);
    assert_eq!(image.sources().find("a.py"), Some(&b"def scale():\n  pass\n"[..]));
    assert_eq!(image.sources().find("c.mlir"), Some(&b"func @scale\nfunc @blur\n"[..]));
    assert_eq!(image.sources().find("empty.h"), Some(&b""[..]));
    assert_eq!(image.sources().find("elsewhere.py"), None);
}

/// The only zonecast table in it.
#[cfg(feature = "elf")]
fn table_in(executable: &Executable) -> Image<'_> {
    let mut tables = executable.images().filter(|image| image.format() == Format::Zonecast);
    let table = tables.next().unwrap();
    assert!(tables.next().is_none());
    table
}
