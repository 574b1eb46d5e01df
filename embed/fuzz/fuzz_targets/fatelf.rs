//! Bytes that are recognised as a FatELF file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= 8 {
        bytes[..6].copy_from_slice(b"\xfa\x70\x0e\x1f\x01\x00");
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
