//! Damaged files give an error with its place, or what is right; never a panic or bytes from elsewhere.
//!
//! Damage is made from good files: cut at every 64 bytes, and every aligned number of the executable's
//! tables (thus every count, offset, length and pointer) set to values that lead astray.

use std::borrow::Cow;

use zonecast_embed::{Error, ErrorKind, Executable, Image};

use crate::expected::{data, describe};

/// Calls every accessor, and checks that what it returns lies within the file.
fn read_everything(executable: &Executable) -> usize {
    let mut read = executable.notes().len();
    // A library that is damaged may be taken for another ELF file, of which nothing is read in place.
    for image in executable.images().filter(|image| image.format().as_str().starts_with("iree-")) {
        let range = image.range().unwrap();
        assert!(range.start <= range.end && range.end <= executable.bytes().len() as u64);
        let within = executable.bytes().as_ptr_range();
        let check = |bytes: &[u8]| {
            let inside = within.start <= bytes.as_ptr() && bytes.as_ptr_range().end <= within.end;
            assert!(bytes.is_empty() || inside);
            bytes.len()
        };
        read += check(image.name()) + image.target().map_or(0, <[u8]>::len);
        for export in image.exports() {
            read += check(export.name()) + usize::from(export.cpu().is_some());
            read += export.location().map_or(0, |at| check(at.file));
            for stage in export.stages() {
                read += check(stage.name) + stage.location.map_or(0, |at| check(at.file));
            }
        }
        read += read_sources(image, check);
    }
    read
}

fn read_sources(image: Image<'_>, check: impl Fn(&[u8]) -> usize) -> usize {
    let mut read = 0;
    for source in image.sources().iter() {
        read += check(source.path()) + check(source.text());
        assert!(source.text().is_empty() || source.offset().is_some());
    }
    if let Some(source) = image.sources().get(0) {
        assert!(image.sources().find(source.path()).is_some());
    }
    read
}

/// An error that a person can act on.
fn check_error(error: &Error, length: usize) {
    assert_eq!(error.file(), Some("damaged"));
    match error.kind() {
        ErrorKind::Damaged(_) | ErrorKind::Unsupported(_) | ErrorKind::Unknown(_) => {
            assert!(error.offset().unwrap() <= length as u64, "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// Reads damaged bytes; returns whether they were refused.
fn try_to_read(bytes: impl Into<Cow<'static, [u8]>>) -> bool {
    let bytes = bytes.into();
    let length = bytes.len();
    match Executable::from_bytes(bytes, "damaged") {
        Ok(executable) => {
            read_everything(&executable);
            false
        }
        Err(error) => {
            check_error(&error, length);
            true
        }
    }
}

fn small_files() -> [Vec<u8>; 9] {
    [
        "scale.cpu.g3.vmfb",
        "scale.cpu-riscv32.g3.vmfb",
        "scale.cpu-v4.g3.vmfb",
        "scale.cpusys.g3.vmfb",
        "scale.cuda-sm80.g3.vmfb",
        "scale.hip-gfx942.g3.vmfb",
        "scale.amdgpu-gfx942.g3.vmfb",
        "scale.vulkan.g3.vmfb",
        "scale.metal.g3.vmfb",
    ]
    .map(|name| std::fs::read(data(name)).unwrap())
}

/// The executable inside, as a file of its own.
fn inner(module: &[u8]) -> Vec<u8> {
    let module = Executable::from_bytes(module.to_vec(), "module").unwrap();
    module.image(0).unwrap().bytes().unwrap().to_vec()
}

/// A file that ends before its own header has its damage at its end.
#[test]
fn headers_cut_anywhere() {
    for header in [
        &b"CCOB\x02\0\x01\0"[..],
        b"__CLANG_OFFLOAD_BUNDLE__\x01",
        b"ZONECAST\x01",
        b"PK\x03\x04",
        b"\xfa\x70\x0e\x1f\x01",
    ] {
        for length in 0..=header.len() {
            assert!(try_to_read(header[..length].to_vec()), "{length} bytes of {header:?}");
        }
    }
}

#[test]
fn modules_cut_anywhere() {
    for file in small_files() {
        let expected = describe(&Executable::from_bytes(file.clone(), "whole").unwrap());
        for length in (0..file.len()).step_by(64) {
            match Executable::from_bytes(file[..length].to_vec(), "damaged") {
                // Only what follows the last data segment may be missing without harm.
                Ok(executable) => assert_eq!(describe(&executable), expected),
                Err(error) => check_error(&error, length),
            }
        }
    }
}

#[test]
fn executables_cut_anywhere() {
    for file in small_files() {
        let file = inner(&file);
        let mut whole = describe(&Executable::from_bytes(file.clone(), "whole").unwrap());
        for length in (0..file.len()).step_by(64) {
            match Executable::from_bytes(file[..length].to_vec(), "damaged") {
                // Symbols for debuggers may be missing without harm.
                Ok(executable) => {
                    whole[0]["length"] = length.into();
                    assert_eq!(describe(&executable), whole);
                }
                Err(error) => check_error(&error, length),
            }
        }
    }
}

/// Each number of the file in turn becomes 0, 1, its greatest value, and a few of its neighbours'.
#[test]
fn every_number_damaged() {
    for file in small_files() {
        let file = inner(&file);
        let texts = texts(&file);
        // All texts but their edges are left alone: they hold no numbers.
        let in_text = |at: &usize| texts.iter().any(|text| text.start + 64 < *at && *at + 64 < text.end);
        let places = (0..file.len() - 8).step_by(4).filter(|at| !in_text(at));
        let refused: usize = places.map(|at| damage_number(&file, at)).sum();
        assert!(refused > 100, "only {refused} of all damages were noticed");
    }
}

fn texts(file: &[u8]) -> Vec<std::ops::Range<usize>> {
    let executable = Executable::from_bytes(file.to_vec(), "whole").unwrap();
    let image = executable.image(0).unwrap();
    let place = |source: zonecast_embed::Source<'_>| {
        let start = source.offset().unwrap() as usize;
        start..start + source.text().len()
    };
    image.sources().iter().map(place).collect()
}

/// Returns how many of the damages were noticed.
fn damage_number(file: &[u8], at: usize) -> usize {
    let old = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let neighbour = u32::from_le_bytes(file[at + 4..at + 8].try_into().unwrap());
    let values = [0, 1, u32::MAX, old.wrapping_add(8), neighbour];
    let damage = |value: &u32| {
        let mut damaged = file.to_vec();
        damaged[at..at + 4].copy_from_slice(&value.to_le_bytes());
        usize::from(try_to_read(damaged))
    };
    values.iter().filter(|&&value| value != old).map(damage).sum()
}

#[test]
fn every_number_of_a_module_damaged() {
    let file = std::fs::read(data("scale.cpu.g3.vmfb")).unwrap();
    let refused: usize = (0..5200).step_by(4).map(|at| damage_number(&file, at)).sum();
    assert!(refused > 100, "only {refused} of all damages were noticed");
}

/// One record too many is noticed, since it would be read from whatever follows.
#[test]
fn a_wrong_count_is_an_error_with_its_place() {
    let file = inner(&std::fs::read(data("scale.cpu.g3.vmfb")).unwrap());
    let whole = Executable::from_bytes(file.clone(), "whole").unwrap();
    assert_eq!(whole.image(0).unwrap().sources().len(), 3);
    let mut noticed = 0;
    for at in (0..file.len() - 4).step_by(4) {
        if file[at..at + 4] == 3u32.to_le_bytes() {
            let mut damaged = file.clone();
            damaged[at] = 200;
            if let Err(error) = Executable::from_bytes(damaged, "damaged") {
                noticed += usize::from(matches!(error.kind(), ErrorKind::Damaged(_)));
            }
        }
    }
    assert!(noticed >= 2, "the counts of sources and of stages");
}
