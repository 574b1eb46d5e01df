//! Bytes that are recognised as a SPIR-V module.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= 4 {
        bytes[..4].copy_from_slice(b"\x03\x02\x23\x07");
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
