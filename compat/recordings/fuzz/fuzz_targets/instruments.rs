//! A hostile stream of instruments: every view of it comes through.
#![no_main]

use std::io::sink;

use libfuzzer_sys::fuzz_target;
use zonecast_recordings::instruments::{Filter, Stream, fix_ir, write_iree, write_json, write_svg, write_text};

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = fix_ir(text);
    }
    let Ok(stream) = Stream::read(input) else { return };
    let filters = [Filter::default(), Filter { site: Some(0), workgroup: Some([0, 0, 0]) }];
    for filter in &filters {
        write_iree(&stream, filter, &mut sink()).unwrap();
        write_text(&stream, filter, &mut sink()).unwrap();
    }
    write_json(&stream, &filters[0], &mut sink()).unwrap();
    write_svg(&stream, &filters[0], &mut sink()).unwrap();
});
