//! A hostile stream of instruments: each view of it comes through.
#![no_main]

use std::io::sink;

use libfuzzer_sys::fuzz_target;
use zonecast_recordings::executions::Executions;
use zonecast_recordings::instruments::{Filter, Stream, fix_ir, write_iree, write_json, write_svg, write_text};

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = fix_ir(text);
    }
    let Ok(stream) = Stream::read(input) else { return };
    let one = Filter { site: Some(0), workgroup: Some([0, 0, 0]) };
    let filter = if input.len() & 4 == 0 { Filter::default() } else { one };
    match input.len() % 4 {
        0 => write_iree(&stream, &filter, &mut sink()),
        1 => write_text(&stream, &filter, &mut sink()),
        2 => write_json(&stream, &filter, &mut sink()),
        _ => write_svg(&stream, &filter, &mut sink()),
    }
    .unwrap();
    Executions::default().add_instruments(&stream);
});
