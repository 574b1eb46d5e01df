//! Bytes that are recognised as a little-endian ELF file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= 52 {
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[4] = if bytes[4] == 1 { 1 } else { 2 };
        bytes[5] = 1;
        bytes[6] = 1;
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
