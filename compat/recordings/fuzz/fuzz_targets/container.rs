//! Damaged files of the recorder. Checksums would stop nearly all of them at the door, so that input is also made a
//! container's description, and a directory.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use zonecast_recordings::recorder::Recording;
use zonecast_recordings::recorder::container::{REQUIRED, Writer};

fuzz_target!(|input: &[u8]| {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("a");
    std::fs::File::create(&file).and_then(|mut file| file.write_all(input)).expect("there is room");
    if let Ok(recording) = Recording::read(&file) {
        recording.write(&file).expect("there is room");
        assert_eq!(Recording::read(&file).expect("it was just written"), recording);
    }
    let mut writer = Writer::create(&file).expect("there is room");
    for (name, bytes) in [("description", input), ("memory/0/before", b"1234"), ("memory/0/after", b"5678"), ("image", b"")] {
        writer.part(name, REQUIRED, bytes).expect("there is room");
    }
    writer.finish().expect("there is room");
    if let Ok(recording) = Recording::read(&file) {
        recording.regions(|_| zonecast_recordings::diff::Element::U8);
    }
});
