//! What all fuzz targets do with bytes.

use zonecast_embed::{Error, Executable, Format, Image};

/// Opens the bytes and calls every accessor; everything returned must lie within the bytes.
pub fn exercise(bytes: &[u8]) {
    match Executable::from_bytes(bytes.to_vec(), "fuzz") {
        Ok(executable) => {
            for image in executable.images() {
                exercise_image(&executable, image);
            }
            assert!(executable.notes().iter().all(|note| !note.to_string().is_empty()));
        }
        Err(error) => exercise_error(&error, bytes.len()),
    }
}

fn exercise_error(error: &Error, length: usize) {
    assert!(error.offset().is_some_and(|offset| offset <= length as u64), "{error}");
}

fn exercise_image(executable: &Executable, image: Image<'_>) {
    let file = executable.bytes().as_ptr_range();
    // Readers that have to look through all of an image put what they find into an order of their own.
    let is_in_place = image.format() == Format::Zonecast || image.format().as_str().starts_with("iree-");
    let check = |bytes: &[u8]| {
        let is_within = file.start <= bytes.as_ptr() && bytes.as_ptr_range().end <= file.end;
        assert!(!is_in_place || bytes.is_empty() || is_within);
    };
    assert!(image.bytes().is_some());
    check(image.name());
    let _ = (image.target(), image.cpu_library());
    for export in image.exports() {
        check(export.name());
        let _ = export.cpu();
        let stages = export.stages().filter_map(|stage| {
            check(stage.name);
            stage.location
        });
        for location in stages.chain(export.location()).take(1000) {
            check(location.file);
            assert!(!location.file.is_empty());
        }
    }
    for export in image.exports().take(20) {
        let found = image.export_named(export.name()).map(|found| found.name());
        assert_eq!(found, Some(export.name()));
    }
    assert!(!image.sources().iter().any(|source| source.is_listing()));
    assert!(image.listings().iter().all(|listing| listing.is_listing()));
    for source in image.sources().iter().chain(image.listings().iter()) {
        check(source.path());
        if !source.is_compressed() {
            check(source.text());
        } else if source.len() < 1 << 20 {
            assert!(source.text().is_empty() || source.text().len() == source.len());
        }
    }
    if let Some(first) = image.sources().get(0) {
        assert_eq!(image.sources().find_source(first.path()).map(|found| found.path()), Some(first.path()));
    }
}
