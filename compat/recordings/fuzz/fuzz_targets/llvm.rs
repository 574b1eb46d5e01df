//! The files of LLVM's recordings: description, globals of either layout, report.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use zonecast_recordings::ImageKind;
use zonecast_recordings::llvm::{self, Description, Generation, Report, Stem, stable_name};

fuzz_target!(|input: &[u8]| {
    let file = Path::new("fuzz");
    if let Ok(description) = Description::parse(input, file) {
        stable_name(&description.kernel);
    }
    for generation in [Generation::Second, Generation::Third] {
        for global in llvm::globals(input, generation, file).unwrap_or_default() {
            assert!(global.range.end <= input.len());
        }
    }
    let text = String::from_utf8_lossy(input);
    Report::parse(&text);
    Stem::parse(&text);
    ImageKind::of(input);
});
