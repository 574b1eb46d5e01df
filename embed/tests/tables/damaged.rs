//! A damaged table is refused, or its damaged records are said and read as if they were empty.

use zonecast_embed::table::TableBuilder;
use zonecast_embed::{Executable, Note};

use crate::example;

/// Calls every accessor; whatever is returned must lie within the table. Returns whether damage was said.
fn read_everything(bytes: Vec<u8>) -> bool {
    let length = bytes.len() as u64;
    let executable = match Executable::from_bytes(bytes, "damaged") {
        Ok(executable) => executable,
        Err(error) => {
            assert!(error.offset().is_some_and(|offset| offset <= length), "{error}");
            return true;
        }
    };
    let within = executable.bytes().as_ptr_range();
    let check = |bytes: &[u8]| {
        assert!(bytes.is_empty() || within.start <= bytes.as_ptr() && bytes.as_ptr_range().end <= within.end);
    };
    for image in executable.images() {
        check(image.name());
        check(image.target().unwrap_or_default());
        for export in image.exports() {
            check(export.name());
            check(export.location().map_or(b"", |at| at.file));
            for stage in export.stages() {
                check(stage.name);
                check(stage.location.map_or(b"", |at| at.file));
            }
        }
        for source in image.sources().iter().filter(|source| !source.is_compressed()) {
            check(source.path());
            check(source.text());
        }
        image.sources().find("b.0.source.mlir");
    }
    let notes = executable.notes();
    for note in &notes {
        if let Note::Damaged { error, .. } = note {
            assert!(error.offset().is_some_and(|offset| offset <= length), "{error}");
        }
    }
    !notes.is_empty()
}

#[test]
fn cut_anywhere() {
    let bytes = example().build().unwrap();
    assert!(!read_everything(bytes.clone()));
    for length in 0..bytes.len() {
        assert!(read_everything(bytes[..length].to_vec()), "cut at {length}");
    }
}

#[test]
fn every_number_damaged() {
    let bytes = example().build().unwrap();
    let mut said = 0;
    for at in (0..bytes.len() - 4).step_by(4) {
        let old = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        for value in [0, 1, 3, 64, u32::MAX, i32::MAX as u32, old.wrapping_add(1), old.wrapping_sub(8)] {
            let mut damaged = bytes.clone();
            damaged[at..at + 4].copy_from_slice(&value.to_le_bytes());
            said += usize::from(read_everything(damaged));
        }
    }
    assert!(said > 200, "only {said} of all damages were noticed");
}

#[test]
fn a_damaged_record_is_said_with_its_place() {
    let mut bytes = example().build().unwrap();
    // The name of the second export.
    let at = 64 + 32;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let executable = Executable::from_bytes(bytes, "damaged").unwrap();
    let image = executable.image(0).unwrap();
    assert_eq!(image.export(1).unwrap().name(), b"");
    assert_eq!(image.export(0).unwrap().name(), b"scale");
    let notes: Vec<String> = executable.notes().iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "left out a damaged record: damaged: at offset 0x60: damaged: expected a string within the zonecast table"
        ]
    );
}

/// Damage to one source hides no other, wherever a binary search comes by.
#[test]
fn a_damaged_source_hides_no_other() {
    let mut table = TableBuilder::new();
    for path in ["a", "b", "c", "d", "e"] {
        table.source(path, path.repeat(3)).unwrap();
    }
    let bytes = table.build().unwrap();
    let sources = u32::from_le_bytes(bytes[56..60].try_into().unwrap()) as usize;
    let record = |index: usize| sources + 24 * index;
    let find = |bytes: &[u8], path: &str| {
        let executable = Executable::from_bytes(bytes.to_vec(), "damaged").unwrap();
        executable.image(0).unwrap().sources().find(path).map(<[u8]>::to_vec)
    };
    for broken in 0..5 {
        for field in [0, 4, 8, 12, 16] {
            let mut damaged = bytes.clone();
            let at = record(broken) + field;
            damaged[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            for (index, path) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
                let expected = (index != broken).then(|| path.repeat(3).into_bytes());
                assert_eq!(find(&damaged, path), expected, "{path} of record {broken}, field {field}");
            }
        }
    }
    // Two of one path, the one that the search meets first without a text.
    let mut twice = bytes.clone();
    twice.copy_within(record(1)..record(1) + 8, record(2));
    twice[record(2) + 16..record(2) + 20].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(find(&twice, "b").as_deref(), Some(&b"bbb"[..]));
}
