//! Unusual files and the life of an opened one.

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

/// As IREE's `iree-fatelf join` writes it.
fn fatelf(files: &[(&[u8], u16, u8)]) -> Vec<u8> {
    let mut header = b"\xfa\x70\x0e\x1f\x01\x00".to_vec();
    header.extend([files.len() as u8, 0]);
    let mut body = Vec::new();
    let body_at = (8 + 24 * files.len()).next_multiple_of(4096);
    for (file, machine, class) in files {
        header.extend(machine.to_le_bytes());
        header.extend([0, 0, *class, 1, 0, 0]);
        header.extend((body_at as u64 + body.len() as u64).to_le_bytes());
        header.extend((file.len() as u64).to_le_bytes());
        body.extend_from_slice(file);
        body.resize(body.len().next_multiple_of(4096), 0);
    }
    header.resize(body_at, 0);
    header.extend(body);
    header
}

fn library(module: &str) -> Vec<u8> {
    let module = Executable::open(data(module)).unwrap();
    module.image(0).unwrap().bytes().unwrap().to_vec()
}

/// What was read of an image, but for its place.
fn describe_at_zero(executable: &Executable, image: usize) -> serde_json::Value {
    let mut description = describe(executable)[image].take();
    let offset = description["offset"].as_i64().unwrap();
    crate::corpus::shift(&mut description, -offset);
    description
}

#[test]
fn every_machine_of_a_fatelf_file_is_read() {
    let modules = ["mlp.cpu.g3.vmfb", "mlp.cpu-arm64.g3.vmfb", "mlp.cpu-riscv32.g3.vmfb"];
    let libraries = modules.map(library);
    let file = fatelf(&[(&libraries[0], 62, 2), (&libraries[1], 183, 2), (&libraries[2], 243, 1)]);
    let executable = Executable::from_bytes(file.clone(), "fat").unwrap();
    assert_eq!(executable.images().len(), 3);
    for (index, module) in modules.iter().enumerate() {
        let alone = Executable::open(data(module)).unwrap();
        assert_eq!(describe_at_zero(&executable, index), describe_at_zero(&alone, 0), "{module}");
    }

    let error = Executable::from_bytes(file[..file.len() - 4096].to_vec(), "cut").unwrap_err();
    assert!(error.to_string().ends_with("damaged: expected a FatELF record of an ELF file within the file"));
    assert_eq!(error.offset(), Some(8 + 2 * 24));
}

#[test]
fn a_library_with_a_debug_block_behind_it_is_read() {
    let library = library("mlp.cpusys.g3.vmfb");
    let database = b"\x7fELF of debug symbols, or a PDB file, which is left alone here";
    let mut file = library.clone();
    file.resize(file.len().next_multiple_of(16), 0);
    let debug_at = file.len() as u64;
    file.extend(database);
    file.resize(file.len().next_multiple_of(16), 0);
    file.extend(b"IREEDBG\0\0\0\0\0\0\0\0\0");
    for number in [0, library.len() as u64, debug_at, database.len() as u64] {
        file.extend(number.to_le_bytes());
    }
    let executable = Executable::from_bytes(file, "system").unwrap();
    assert_eq!(executable.images().len(), 1);
    assert_eq!(executable.image(0).unwrap().range(), Some(0..library.len() as u64));
    assert_eq!(executable.image(0).unwrap().bytes(), Some(&library[..]));
    let alone = Executable::open(data("mlp.cpusys.g3.vmfb")).unwrap();
    assert_eq!(describe_at_zero(&executable, 0), describe_at_zero(&alone, 0));
}

/// Containers in containers end somewhere.
#[test]
fn containers_nested_without_end_are_refused() {
    let mut file = library("scale.cpu.g0.vmfb");
    for _ in 0..3 {
        file = fatelf(&[(&file, 62, 2)]);
    }
    assert_eq!(Executable::from_bytes(file.clone(), "deep").unwrap().images().len(), 1);
    for _ in 0..2 {
        file = fatelf(&[(&file, 62, 2)]);
    }
    let error = Executable::from_bytes(file, "deeper").unwrap_err();
    assert!(error.to_string().contains("nested deeper"), "{error}");

    // A file that contains itself.
    let mut file = fatelf(&[(b"", 62, 2)]);
    let length = file.len() as u64;
    file[16..24].copy_from_slice(&0u64.to_le_bytes());
    file[24..32].copy_from_slice(&length.to_le_bytes());
    let error = Executable::from_bytes(file, "endless").unwrap_err();
    assert!(error.to_string().contains("nested deeper"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_no_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [folder.path(), &pipe, "/dev/zero".as_ref()] {
        let error = Executable::open(path).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: not a regular file", path.display()));
    }
}

#[test]
#[cfg(not(feature = "dwarf"))]
fn an_elf_file_of_another_kind_is_refused() {
    let myself = std::env::current_exe().unwrap();
    let error = Executable::open(&myself).unwrap_err();
    assert!(
        error.to_string().contains("neither a zonecast table nor an IREE executable library in it"),
        "{error}"
    );
    assert_eq!(error.file(), myself.to_str());
}

#[test]
#[cfg(feature = "mmap")]
fn a_file_that_is_written_to_is_noticed() {
    use std::io::{Seek, Write};

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
