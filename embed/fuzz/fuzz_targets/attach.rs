//! Attaching a table to any ELF file: refused, or found again.
#![no_main]

use zonecast_embed::table::{TableBuilder, attach};
use zonecast_embed::{Executable, Format};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= 52 {
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[4] = if bytes[4] == 1 { 1 } else { 2 };
        bytes[5..7].fill(1);
    }
    let mut table = TableBuilder::new();
    let table = table.name("attached by the fuzzer").build().unwrap();
    if let Ok(with_table) = attach(&bytes, &table) {
        let is_refused = |error| panic!("{error}");
        let executable = Executable::from_bytes(with_table, "attached").unwrap_or_else(is_refused);
        let mut tables = executable.images().filter(|image| image.format() == Format::Zonecast);
        assert!(tables.any(|image| image.name() == b"attached by the fuzzer"));
    }
});
