//! Building tables, and reading them where they stand alone or in memory.

use std::ptr::NonNull;

use zonecast_embed::table::{Export, TableBuilder, TableError};
use zonecast_embed::{Executable, Loaded};

use crate::{check_example, data, example};

#[test]
fn a_table_reads_back() {
    let bytes = example().build().unwrap();
    let executable = Executable::from_bytes(bytes.clone(), "table").unwrap();
    assert_eq!(executable.images().len(), 1);
    check_example(executable.image(0).unwrap());
    assert_eq!(executable.image(0).unwrap().range(), Some(0..bytes.len() as u64));
    assert!(executable.notes().is_empty());
}

/// The format's first version stays as it is: a file that an earlier zonecast wrote, byte for byte.
#[test]
fn the_format_stays_as_it_is() {
    let bytes = std::fs::read(data("tables/example.zonecast")).unwrap();
    check_example(Executable::from_bytes(bytes.clone(), "old").unwrap().image(0).unwrap());
    assert_eq!(example().build().unwrap(), bytes);
}

#[test]
fn what_is_the_same_is_stored_once() {
    let bytes = example().build().unwrap();
    let executable = Executable::from_bytes(bytes.clone(), "table").unwrap();
    let sources = executable.image(0).unwrap().sources();
    let [one, other] = ["b.0.source.mlir", "c.mlir"].map(|path| sources.find(path).unwrap().as_ptr());
    assert_eq!(one, other);
    let count = |what: &[u8]| bytes.windows(what.len()).filter(|window| *window == what).count();
    assert_eq!(count(b"b.0.source.mlir"), 1);
    assert_eq!(count(b"func @blur"), 1);
}

#[test]
fn what_cannot_be_represented_is_refused() {
    let mut table = TableBuilder::new();
    table.source("a", "one").unwrap().source("a", "one").unwrap();
    let error = table.source("a", "two").unwrap_err();
    assert_eq!(error, TableError::Ambiguous { path: b"a".to_vec() });
    assert_eq!(error.to_string(), "two sources with different texts have the path a");
    assert_eq!(table.source("", "text").unwrap_err(), TableError::Nameless);
    assert_eq!(table.export(Export::new("")).unwrap_err(), TableError::Nameless);
    assert_eq!(table.export(Export::new("f").stage("", "a", 1)).unwrap_err(), TableError::Nameless);
    let stages = TableError::Stages { export: b"f".to_vec() };
    let twice = Export::new("f").stage("0", "a", 1).stage("0", "a", 2);
    assert_eq!(table.export(twice).unwrap_err(), stages);
    let many =
        |count: usize| (0..count).fold(Export::new("f"), |f, stage| f.stage(format!("{stage:05}"), "a", 1));
    table.export(many(1024)).unwrap();
    assert_eq!(table.export(many(1025)).unwrap_err(), stages);
    let executable = Executable::from_bytes(table.build().unwrap(), "table").unwrap();
    let image = executable.image(0).unwrap();
    assert_eq!((image.exports().len(), image.sources().len()), (1, 1));
    assert_eq!(image.export(0).unwrap().stages().len(), 1024);
}

#[test]
fn an_empty_table_is_one() {
    let executable = Executable::from_bytes(TableBuilder::new().build().unwrap(), "empty").unwrap();
    let image = executable.image(0).unwrap();
    assert_eq!((image.exports().len(), image.sources().len()), (0, 0));
    assert_eq!((image.name(), image.target(), image.sources().find("a")), (&b""[..], None, None));
}

/// As linkers put them: one behind the other, with zero bytes between.
#[test]
fn several_tables_stand_behind_each_other() {
    let mut other = TableBuilder::new();
    other.name("other");
    let (example, other) = (example().build().unwrap(), other.build().unwrap());
    let section = [&example[..], &[0; 24], &other, &example, &[0; 16]].concat();
    let executable = Executable::from_bytes(section.clone(), "section").unwrap();
    assert_eq!(executable.images().len(), 3);
    check_example(executable.image(0).unwrap());
    assert_eq!(executable.image(1).unwrap().name(), b"other");
    check_example(executable.image(2).unwrap());

    let mut followed = section;
    followed.extend(*b"no table");
    let error = Executable::from_bytes(followed, "section").unwrap_err();
    let at = (2 * example.len() + other.len() + 40) as u64;
    assert_eq!(error.offset(), Some(at), "{error}");
}

#[test]
fn a_table_in_memory_is_borrowed_in_place() {
    let bytes = example().build().unwrap();
    let table = Loaded::Table(NonNull::from(&bytes[..]).cast());
    // SAFETY: a whole table begins there, and outlives the executable.
    let executable = unsafe { Executable::from_loaded(table, "memory") }.unwrap();
    check_example(executable.image(0).unwrap());
    let text = executable.image(0).unwrap().sources().find("a.py").unwrap();
    assert!(bytes.as_ptr_range().contains(&text.as_ptr()));
}

#[test]
fn other_versions_are_refused() {
    let mut bytes = example().build().unwrap();
    bytes[8] = 2;
    let error = Executable::from_bytes(bytes, "new").unwrap_err();
    assert_eq!(
        error.to_string(),
        "new: at offset 0x8: not understood: a zonecast table of a version other than 1"
    );
}

/// Readers skip what a later minor addition puts at the header's end.
#[test]
fn a_longer_header_is_read() {
    let bytes = example().build().unwrap();
    let mut table = TableBuilder::new();
    table.name("longer");
    let mut longer = table.build().unwrap();
    let name_at = 64;
    longer.splice(name_at..name_at, [0xab; 8]);
    longer[12] = 72;
    longer[16] += 8;
    longer[24] += 8;
    let executable = Executable::from_bytes([longer, bytes].concat(), "longer").unwrap();
    assert_eq!(executable.image(0).unwrap().name(), b"longer");
    check_example(executable.image(1).unwrap());
}

#[test]
#[cfg(feature = "zstd")]
fn compressed_texts_are_unpacked_when_asked_for() {
    let text = "a line of some text\n".repeat(1000);
    let mut table = TableBuilder::new();
    table.compress(true).source("long", &text).unwrap().source("short", "x").unwrap();
    let mut bytes = table.build().unwrap();
    assert!(bytes.len() < 1000);
    let executable = Executable::from_bytes(bytes.clone(), "packed").unwrap();
    let [long, short] =
        ["long", "short"].map(|path| executable.image(0).unwrap().sources().find_source(path).unwrap());
    assert_eq!((long.is_compressed(), long.len(), long.offset()), (true, 20_000, None));
    assert_eq!(long.try_text().unwrap(), text.as_bytes());
    assert_eq!(long.text().as_ptr(), long.text().as_ptr(), "unpacked once");
    assert_eq!((short.is_compressed(), short.text()), (false, &b"x"[..]));

    let frame = bytes.windows(4).position(|bytes| bytes == b"\x28\xb5\x2f\xfd").unwrap();
    bytes[frame + 8] ^= 0xff;
    let damaged = Executable::from_bytes(bytes, "damaged").unwrap();
    let long = damaged.image(0).unwrap().sources().find_source("long").unwrap();
    let error = long.try_text().unwrap_err();
    assert!(error.to_string().starts_with("damaged: "), "{error}");
    assert_eq!(long.text(), b"");
}

#[test]
#[cfg(not(feature = "zstd"))]
fn compressed_texts_need_a_feature() {
    let mut table = TableBuilder::new();
    table.source("file", "text").unwrap();
    let mut bytes = table.build().unwrap();
    let flags = 64 + 20;
    bytes[flags] = 1;
    let executable = Executable::from_bytes(bytes, "packed").unwrap();
    let source = executable.image(0).unwrap().sources().find_source("file").unwrap();
    assert_eq!((source.is_compressed(), source.len(), source.text()), (true, 4, &b""[..]));
    assert!(source.try_text().unwrap_err().to_string().ends_with("without its feature `zstd`"));
}
