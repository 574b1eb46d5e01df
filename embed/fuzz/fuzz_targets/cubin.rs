//! Bytes that are recognised as a cubin.
#![no_main]

/// NVIDIA's GPUs, as ELF's `e_machine` has them.
const MACHINE: [u8; 2] = [190, 0];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= 64 {
        // 64 bits, little-endian: every cubin is that.
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[18..20].copy_from_slice(&MACHINE);
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
