//! One line per zone.

use std::io::{self, Write};

use zonecast_tracy_wire::Capture;

use super::color;

const HEAD: [&str; 12] = [
    "sort", "row", "name", "function", "file", "line", "depth", "start_ns", "end_ns", "texts", "values",
    "color",
];

pub(super) fn write(capture: &Capture, out: &mut impl Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(out);
    lines.write_record(HEAD)?;
    for zone in capture.zones() {
        let values: Vec<String> = zone.values().iter().map(u64::to_string).collect();
        lines.write_record([
            "cpu",
            zone.thread().name(),
            zone.name(),
            zone.function(),
            zone.file(),
            &zone.line().to_string(),
            &zone.depth().to_string(),
            &zone.start_ns().to_string(),
            &number(zone.end_ns()),
            &zone.texts().collect::<Vec<_>>().join("\n"),
            &values.join(" "),
            &zone.color().map(color).unwrap_or_default(),
        ])?;
    }
    for zone in capture.gpu_zones() {
        lines.write_record([
            "gpu",
            zone.context().name().unwrap_or_default(),
            zone.name(),
            zone.function(),
            zone.file(),
            &zone.line().to_string(),
            &zone.depth().to_string(),
            &number(zone.start_ns()),
            &number(zone.end_ns()),
            "",
            "",
            "",
        ])?;
    }
    lines.flush()
}

fn number(number: Option<i64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}
