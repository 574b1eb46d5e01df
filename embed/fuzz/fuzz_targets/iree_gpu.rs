//! Bytes that are recognised as one of IREE's executables for GPUs.
#![no_main]

const IDENTIFIERS: [&[u8; 4]; 5] = [b"CDA1", b"HIP1", b"AMD1", b"VKE1", b"MTL1"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() > 72 {
        let identifier = IDENTIFIERS[usize::from(bytes[0]) % 5];
        bytes[..4].copy_from_slice(identifier);
        bytes[4..8].fill(0);
        bytes[68..72].copy_from_slice(identifier);
        // Mostly the right length, so that fewer runs end there.
        if bytes[15] != 0xff {
            let length = bytes.len() as u64 - 64;
            bytes[8..16].copy_from_slice(&length.to_le_bytes());
        }
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
