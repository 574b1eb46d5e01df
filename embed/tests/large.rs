//! What opening and listing a large module touches.
#![cfg(all(feature = "iree", feature = "mmap", target_os = "linux"))]

#[path = "support/module.rs"]
mod module;

use module::Segment;
use zonecast_embed::Executable;

/// Reads every name, location, path and length; no text.
fn list(executable: &Executable) -> usize {
    let mut listed = 0;
    for image in executable.images() {
        for export in image.exports() {
            listed += export.name().len();
            listed += export.stages().filter_map(|stage| Some(stage.location?.file.len())).sum::<usize>();
        }
        listed += image.sources().iter().map(|source| source.path().len() + source.len()).sum::<usize>();
    }
    listed
}

#[test]
fn a_module_of_a_gibibyte_is_listed_by_touching_little_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.vmfb");
    let many = Executable::open("tests/data/iree/many.cpu.g3.vmfb").unwrap();
    let library = many.image(0).unwrap().bytes().unwrap();
    let segments = (0..17).flat_map(|_| [Segment::Weights(60 << 20), Segment::Executable(library)]);
    module::write(&path, &segments.chain([Segment::Weights(8 << 20)]).collect::<Vec<_>>()).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() >= 1 << 30);

    let executable = Executable::open(&path).unwrap();
    assert_eq!(executable.images().len(), 17);
    assert_eq!(list(&executable), 17 * list(&many));
    assert!(executable.notes().is_empty());
    let touched = module::resident(&path).unwrap();
    assert!(touched > 0 && touched < 8 << 10, "{touched} KiB");
}
