//! Bytes that are recognised as an ELF file for some machine, or as a WebAssembly module.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.first() == Some(&0) && bytes.len() >= 8 {
        bytes[..8].copy_from_slice(b"\0asm\x01\0\0\0");
    } else if bytes.len() >= 52 {
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[6] = 1;
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
