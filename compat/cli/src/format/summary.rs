//! A table of how long each zone took, the longest total first.

use std::io::{self, Write};

use zonecast_tracy_wire::{Capture, Summary};

use super::duration;

pub(super) fn write(capture: &Capture, out: &mut impl Write) -> io::Result<()> {
    let summary = capture.summary();
    for (title, gpu) in [("CPU zone", false), ("GPU zone", true)] {
        let rows: Vec<&Summary<'_>> = summary.iter().filter(|row| row.gpu == gpu).collect();
        if !rows.is_empty() {
            write_table(title, &rows, out)?;
        }
    }
    if summary.is_empty() {
        writeln!(out, "no zones")?;
    }
    for (what, count) in capture.lost() {
        writeln!(out, "lost: {count} {what}")?;
    }
    Ok(())
}

fn write_table(title: &str, rows: &[&Summary<'_>], out: &mut impl Write) -> io::Result<()> {
    write!(out, "{:>10}", "count")?;
    for column in ["total", "mean", "min", "p50", "p99", "max"] {
        write!(out, " {column:>10}")?;
    }
    writeln!(out, "  {title}")?;
    for row in rows {
        let d = &row.durations;
        write!(out, "{:>10}", d.count())?;
        for nanoseconds in [
            d.total() as f64,
            d.mean(),
            d.min() as f64,
            d.percentile(50.0) as f64,
            d.percentile(99.0) as f64,
            d.max() as f64,
        ] {
            write!(out, " {:>10}", duration(nanoseconds))?;
        }
        writeln!(out, "  {} ({}:{})", row.name, row.file, row.line)?;
    }
    Ok(())
}
