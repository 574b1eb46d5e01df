//! The recorder's own files: whole, changed, cut, from the future, and written by a process that is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use zonecast_recordings::recorder::container::{Container, REQUIRED, Writer};
use zonecast_recordings::recorder::{Argument, Buffer, Description, Recording};
use zonecast_recordings::{Error, ErrorKind};

fn recording(seed: u8) -> Recording {
    let buffer = |name: &str, address, length| Buffer {
        name: name.into(),
        address,
        before: vec![seed; length],
        after: vec![seed.wrapping_add(1); length],
    };
    Recording {
        description: Description {
            backend: "cuda".into(),
            device: "a device".into(),
            kernel: "axpy".into(),
            grid: [2, 3, 4],
            block: [32, 2, 1],
            shared_memory: 48,
            arguments: vec![
                Argument { bytes: 7_u32.to_le_bytes().to_vec(), pointee: None },
                Argument { bytes: 0xFFFF_0000_0000_0040_u64.to_le_bytes().to_vec(), pointee: Some((1, 0)) },
            ],
        },
        occurrence: 3,
        memory: vec![buffer("", 0x1000, 100), buffer("", 0xFFFF_0000_0000_0040, 64), buffer("", 0x9000, 0)],
        globals: vec![buffer("scale", 0x8000, 4)],
        image: b"\x7FELF and more".to_vec(),
        gaps: vec!["textures are not recorded".into()],
    }
}

fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.zcrec");
    recording(5).write(&file).unwrap();
    let bytes = fs::read(&file).unwrap();
    (folder, file, bytes)
}

#[test]
fn a_recording_comes_back_as_it_was() {
    let (folder, file, bytes) = written();
    assert!(Container::is_one(&file));
    assert_eq!(Recording::read(&file).unwrap(), recording(5));
    let again = folder.path().join("again.zcrec");
    Recording::read(&file).unwrap().write(&again).unwrap();
    assert_eq!(fs::read(again).unwrap(), bytes);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left behind");
}

#[test]
fn every_flipped_byte_is_caught() {
    let (_folder, file, bytes) = written();
    for at in 0..bytes.len() {
        for bit in [1, 0x80] {
            let mut flipped = bytes.clone();
            flipped[at] ^= bit;
            fs::write(&file, &flipped).unwrap();
            let error = Recording::read(&file).expect_err(&format!("byte {at} of {}", bytes.len()));
            assert!(error.to_string().contains("a.zcrec: "), "{error}");
        }
    }
}

#[test]
fn every_cut_and_every_addition_is_caught() {
    let (_folder, file, bytes) = written();
    for length in 0..bytes.len() {
        fs::write(&file, &bytes[..length]).unwrap();
        assert!(Recording::read(&file).is_err(), "cut to {length}");
    }
    fs::write(&file, [&bytes[..], &[0]].concat()).unwrap();
    assert!(Recording::read(&file).is_err());
}

/// Writes what a newer version might: parts that nobody knows yet.
fn future(file: &Path, flags: u32) -> Result<(), Error> {
    let mut present = Container::open(file, &["description", "image", "memory/", "global/"])?;
    let mut writer = Writer::create(file)?;
    for entry in present.entries().to_vec() {
        writer.part(&entry.name, entry.flags, &present.read(&entry.name)?)?;
        writer.part(&format!("future/{}", entry.name), flags, b"news")?;
    }
    writer.finish()
}

#[test]
fn parts_of_newer_versions_are_skipped_unless_they_must_not_be() {
    let (_folder, file, bytes) = written();
    future(&file, 0).unwrap();
    assert_ne!(fs::read(&file).unwrap(), bytes);
    assert_eq!(Recording::read(&file).unwrap(), recording(5));
    // They are checked all the same.
    let newer = fs::read(&file).unwrap();
    let at = newer.windows(4).position(|window| window == b"news").unwrap();
    let mut flipped = newer;
    flipped[at] ^= 1;
    fs::write(&file, flipped).unwrap();
    assert!(Recording::read(&file).is_err());

    fs::write(&file, bytes).unwrap();
    future(&file, REQUIRED).unwrap();
    let error = Recording::read(&file).unwrap_err();
    assert!(error.to_string().contains("\"future/description\", which a newer version wrote"), "{error}");
}

#[test]
fn another_major_version_is_refused_and_another_minor_one_read() {
    let (_folder, file, bytes) = written();
    let with_version = |major: u8, minor: u8| {
        let mut other = bytes.clone();
        (other[8], other[10]) = (major, minor);
        let hash = twox_hash::XxHash3_64::oneshot(&other[..48]);
        other[48..56].copy_from_slice(&hash.to_le_bytes());
        fs::write(&file, other).unwrap();
        Recording::read(&file)
    };
    assert_eq!(with_version(1, 9).unwrap(), recording(5));
    let error = with_version(2, 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Version(_, [2, 0])), "{error}");
}

#[test]
fn version_1_0_is_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/own/rowsum.zcrec");
    let recording = Recording::read(&file).unwrap();
    assert_eq!(recording.description.kernel, "rowsum_dispatch_0_reduction_Dx10_f32");
    assert_eq!((recording.description.grid, recording.memory.len()), ([4, 1, 1], 2));
    assert_eq!((recording.memory[1].after.len(), recording.image.len()), (400, 194_640));
}

#[cfg(unix)]
#[test]
fn others_may_read_it_as_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, file, _) = written();
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode(&file), mode(&plain));
}

#[test]
fn what_is_no_recording_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x");
    for bytes in [&b""[..], b"\x89ZCREC\n", &[0; 200]] {
        fs::write(&file, bytes).unwrap();
        assert!(!Container::is_one(&file));
        assert!(matches!(Recording::read(&file).unwrap_err().kind(), ErrorKind::Unknown(_)));
    }
    assert!(Recording::read(folder.path()).is_err());
}

/// The program that is killed: this one, told so by its environment. It writes one recording over the other for ever.
#[test]
fn one_that_writes_until_it_is_killed() {
    let Some(file) = std::env::var_os("WRITE_UNTIL_KILLED") else { return };
    let recordings = [recording(1), recording(2)].map(|mut recording| {
        recording.image = vec![recording.memory[0].before[0]; 1 << 18];
        recording
    });
    loop {
        for recording in &recordings {
            recording.write(Path::new(&file)).unwrap();
        }
    }
}

#[cfg(unix)]
fn inode(file: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::metadata(file).unwrap())
}

#[cfg(unix)]
fn wait_until(met: impl Fn() -> bool) {
    while !met() {
        std::thread::sleep(Duration::from_micros(50));
    }
}

#[cfg(unix)]
#[test]
fn whoever_writes_can_be_killed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.zcrec");
    recording(1).write(&file).unwrap();
    let mut seen = [0; 3];
    for round in 0..24_u64 {
        let mut writer = Command::new(std::env::current_exe().unwrap());
        writer.args(["--exact", "one_that_writes_until_it_is_killed"]).env("WRITE_UNTIL_KILLED", &file);
        let mut writer = writer.stdout(Stdio::null()).spawn().unwrap();
        // Some are killed while they write the first, others after they have written a few.
        for _ in 0..round % 4 {
            let before = inode(&file);
            wait_until(|| inode(&file) != before);
        }
        wait_until(|| fs::read_dir(folder.path()).unwrap().count() > 1);
        std::thread::sleep(Duration::from_micros(round * 331 % 5000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let whole = Recording::read(&file).unwrap_or_else(|error| panic!("round {round}: {error}"));
        seen[usize::from(whole.memory[0].before[0])] += 1;
        // What it was writing when it was killed stays behind, under a name of its own.
        for left in fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if left != file {
                fs::remove_file(left).unwrap();
            }
        }
    }
    assert!(seen[1] > 0 && seen[2] > 0, "both were met: {seen:?}");
}
