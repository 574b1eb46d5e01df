//! Bytes that are recognised as a zonecast table, of about the right size.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= 64 {
        bytes[..8].copy_from_slice(b"ZONECAST");
        bytes[8..12].copy_from_slice(&1u32.to_le_bytes());
        if bytes[19] != 0xff {
            let size = bytes.len() as u32;
            bytes[16..20].copy_from_slice(&size.to_le_bytes());
        }
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
