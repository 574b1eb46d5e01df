//! A hostile replay: its records and executables are read. (Running one is running its code.)
#![no_main]

use libfuzzer_sys::fuzz_target;
use zonecast_recordings::hal_replay::HalReplay;

fuzz_target!(|input: &[u8]| {
    let Ok(replay) = HalReplay::read(input) else { return };
    let _ = (replay.dispatches(), replay.contents().count());
    let bytes: usize = replay.executables().map(|executable| executable.bytes.len()).sum();
    assert!(bytes <= input.len() * replay.records.len());
});
