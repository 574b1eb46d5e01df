//! Bytes that are recognised as an IREE module.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if !bytes.starts_with(b"PK") && bytes.len() >= 12 {
        bytes[8..12].copy_from_slice(b"IREE");
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
