//! Bytes that are recognised as a text in MLIR or LLVM IR of Triton, or as they are.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut text = match bytes.first() {
        Some(byte) if byte % 3 == 0 => b"; ModuleID = 'LLVMDialectModule'\n".to_vec(),
        Some(byte) if byte % 3 == 1 => b"#loc = loc(#loc1)\n  tt.func public @kernel(\n".to_vec(),
        _ => Vec::new(),
    };
    text.extend(bytes);
    zonecast_embed_fuzz::exercise(&text);
});
