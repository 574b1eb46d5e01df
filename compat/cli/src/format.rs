//! The formats that a capture is written in.

mod csv;
mod json;
mod perfetto;
mod summary;
mod text;

use std::io::{self, Write};

use clap::ValueEnum;
use zonecast_tracy_wire::Capture;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Zones of each thread as an indented list
    Text,
    /// Everything, as one JSON object
    Json,
    /// A table of how long each zone took
    Summary,
    /// A trace for ui.perfetto.dev and Perfetto's trace processor
    Perfetto,
    /// One line per zone
    Csv,
}

impl Format {
    pub(crate) fn write(self, capture: &Capture, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Text => text::write(capture, out),
            Self::Json => json::write(capture, out),
            Self::Summary => summary::write(capture, out),
            Self::Perfetto => perfetto::write(capture, out),
            Self::Csv => csv::write(capture, out),
        }
    }
}

/// `#RRGGBB`
fn color(color: u32) -> String {
    format!("#{color:06x}")
}

/// A duration in the unit that suits it.
fn duration(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        n if n < 1e3 => format!("{nanoseconds:.0} ns"),
        n if n < 1e6 => format!("{:.2} us", nanoseconds / 1e3),
        n if n < 1e9 => format!("{:.2} ms", nanoseconds / 1e6),
        _ => format!("{:.2} s", nanoseconds / 1e9),
    }
}
