//! Reads this very program's machine code.

#![cfg(target_arch = "x86_64")]

use object::{Object, ObjectSection, ObjectSymbol};

/// The machine code of a function of this program.
fn code(function: &str) -> Vec<u8> {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let file = object::File::parse(&*program).unwrap();
    let symbol = file.symbols().find(|s| s.name() == Ok(function)).unwrap();
    let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
    section.data_range(symbol.address(), symbol.size()).unwrap().unwrap().to_vec()
}

#[test]
fn every_call_is_nothing() {
    let enabled = std::hint::black_box(zonecast::ENABLED);
    assert!(!enabled, "a provider is compiled in: test this package by itself");
    // Called, so that the linker keeps them.
    zonecast_off::zonecast_off_empty(3);
    zonecast_off::zonecast_off_traced(3);
    let empty = code("zonecast_off_empty");
    assert!(!empty.is_empty());
    assert_eq!(code("zonecast_off_traced"), empty);
}
