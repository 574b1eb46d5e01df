//! Any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| zonecast_embed_fuzz::exercise(bytes));
