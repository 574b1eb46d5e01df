//! Damaged recordings.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zonecast_tracy_wire::Recording;

fuzz_target!(|input: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    std::io::Write::write_all(&mut file, b"ZCTRACY1").expect("there is room");
    std::io::Write::write_all(&mut file, input).expect("there is room");
    if let Ok(mut recording) = Recording::open(file.path()) {
        let _ = recording.replay(|engine| engine.check(true));
    }
});
