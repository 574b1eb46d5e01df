//! Unusual files and the life of an opened one.

use std::io::{Seek, Write};
use std::time::{Duration, SystemTime};

use zonecast_embed::{Executable, Format, Note};

use crate::expected::{data, describe, expected_of};

/// Gives every `0.source` file a path that sorts last although its record comes first.
fn unsorted() -> Executable {
    let mut file = std::fs::read(data("scale.cpu.g3.vmfb")).unwrap();
    let (old, new) = (b".0.source.mlir", b".9.source.mlir");
    let places: Vec<usize> = (0..file.len() - old.len()).filter(|&at| file[at..].starts_with(old)).collect();
    assert!(!places.is_empty());
    for at in places {
        file[at..at + new.len()].copy_from_slice(new);
    }
    Executable::from_bytes(file, "unsorted").unwrap()
}

#[test]
fn an_unsorted_table_is_read_and_said() {
    let executable = unsorted();
    let image = executable.image(0).unwrap();
    assert_eq!(image.sources().len(), 3);
    for source in image.sources().iter() {
        assert_eq!(image.sources().find(source.path()), Some(source.text()));
    }
    assert_eq!(image.sources().find("module_scale_dispatch_0_embedded_elf_x86_64.0.source.mlir"), None);
    let notes = executable.notes();
    assert!(matches!(notes[..], [Note::Unsorted { image: 0 }]), "{notes:?}");
    assert!(notes[0].to_string().contains("not sorted by path"));
}

#[test]
fn a_module_for_two_backends_has_both_executables() {
    let executable = Executable::open(data("scale.multi.g3.vmfb")).unwrap();
    let formats: Vec<_> = executable.images().map(|image| image.format()).collect();
    assert_eq!(formats, [Format::IreeCpu, Format::IreeVmvx]);
    assert_eq!(
        executable.images().map(|image| image.range().unwrap()).collect::<Vec<_>>(),
        [5792..21680, 21776..23045]
    );
    // The compiler gave the same library as for this backend alone.
    let mut expected = expected_of("scale.cpu.g3.vmfb");
    let moved = 5792 - expected[0]["offset"].as_i64().unwrap();
    crate::corpus::shift(&mut expected, moved);
    assert_eq!(describe(&executable)[0], expected[0]);
    let notes = executable.notes();
    assert!(matches!(notes[..], [Note::NeverSources { image: 1, format: Format::IreeVmvx }]), "{notes:?}");
}

#[test]
fn what_can_be_read_is_read_and_the_rest_is_said() {
    let mut file = std::fs::read(data("scale.multi.g3.vmfb")).unwrap();
    let library = 5792;
    assert_eq!(file[library..library + 4], *b"\x7fELF");
    file[library + 5] = 2; // big-endian
    let executable = Executable::from_bytes(file.clone(), "half").unwrap();
    assert_eq!(executable.images().map(|image| image.format()).collect::<Vec<_>>(), [Format::IreeVmvx]);
    let notes = executable.notes();
    let Note::Unreadable(error) = notes[0] else { panic!("{notes:?}") };
    assert_eq!((error.file(), error.offset()), (Some("half"), Some(library as u64)));

    // With nothing left to read, it is an error.
    let mut file = std::fs::read(data("scale.cpu.g3.vmfb")).unwrap();
    file[5152 + 5] = 2;
    let error = Executable::from_bytes(file, "none").unwrap_err();
    assert_eq!(
        error.to_string(),
        "none: at offset 0x1420: damaged: expected a well-formed little-endian ELF file"
    );
}

#[test]
fn an_elf_file_of_another_kind_is_refused() {
    let myself = std::env::current_exe().unwrap();
    let error = Executable::open(&myself).unwrap_err();
    assert!(error.to_string().contains("an ELF file without an IREE executable library in it"), "{error}");
    assert_eq!(error.file(), myself.to_str());
}

#[test]
#[cfg(feature = "mmap")]
fn a_file_that_is_written_to_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.one.vmfb");
    let original = std::fs::read(data("scale.cpu.g3.vmfb")).unwrap();
    std::fs::write(&path, &original).unwrap();
    let opened = Executable::open(&path).unwrap();
    assert_eq!((opened.name(), opened.path()), ("model.one", Some(path.as_path())));
    assert!(opened.unchanged());

    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let opened_at = file.metadata().unwrap().modified().unwrap();
    // The same length and contents, written later.
    file.set_modified(opened_at + Duration::from_secs(2)).unwrap();
    assert!(!opened.unchanged());
    file.set_modified(opened_at).unwrap();
    assert!(opened.unchanged());
    // Longer, at the same time.
    file.seek(std::io::SeekFrom::End(0)).unwrap();
    file.write_all(b"more").unwrap();
    file.set_modified(opened_at).unwrap();
    assert!(!opened.unchanged());
}

#[test]
#[cfg(unix)]
fn a_file_that_is_replaced_or_removed_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let (path, newer) = (folder.path().join("model.vmfb"), folder.path().join("newer"));
    std::fs::copy(data("scale.cpu.g3.vmfb"), &path).unwrap();
    let opened = Executable::open(&path).unwrap();
    std::fs::write(&newer, b"another").unwrap();
    std::fs::File::open(&newer).unwrap().set_modified(SystemTime::now() + Duration::from_secs(9)).unwrap();
    std::fs::rename(&newer, &path).unwrap();
    assert!(opened.unchanged());
    assert_eq!(describe(&opened), expected_of("scale.cpu.g3.vmfb"));
    std::fs::remove_file(&path).unwrap();
    assert!(opened.unchanged());
    assert_eq!(describe(&opened), expected_of("scale.cpu.g3.vmfb"));
}

#[test]
fn executables_are_shared_between_threads() {
    let executable = std::sync::Arc::new(Executable::open(data("many.cpu.g3.vmfb")).unwrap());
    let expected = expected_of("many.cpu.g3.vmfb");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let image = executable.image(0).unwrap();
                let last = image.sources().iter().last().unwrap();
                assert_eq!(image.sources().find(last.path()), Some(last.text()));
                assert_eq!(describe(&executable), expected);
            });
        }
    });
}
