//! Compressed frames of a hostile client.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zonecast_tracy_wire::{FrameDecoder, check_size, protocol::FRAME_LIMIT};

fuzz_target!(|input: &[u8]| {
    let mut decoder = FrameDecoder::default();
    let mut rest = input;
    while let Some((size, after)) = rest.split_first_chunk() {
        let Ok(size) = check_size(u32::from_le_bytes(*size)) else { return };
        let Some((block, after)) = after.split_at_checked(size) else { return };
        rest = after;
        match decoder.decode(block) {
            Ok(items) => assert!(items.len() <= FRAME_LIMIT),
            Err(_) => return,
        }
    }
});
