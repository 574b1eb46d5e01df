//! Bytes that are recognised as a container of code for GPUs, as PTX, or as LLVM bitcode.
#![no_main]

const MARKS: [&[u8]; 6] =
    [b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x10\xff\x10\xad", b"\x50\xed\x55\xba", b".version ", b"BC\xc0\xde"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if !MARKS.iter().any(|mark| bytes.starts_with(mark))
        && let Some(mark) = bytes.first().map(|&byte| MARKS[usize::from(byte) % MARKS.len()])
    {
        let length = mark.len().min(bytes.len());
        bytes[..length].copy_from_slice(&mark[..length]);
    }
    zonecast_embed_fuzz::exercise(&bytes);
});
