//! Zones of each thread as an indented list, then those of each GPU context, then messages.

use std::collections::BTreeMap;
use std::io::{self, Write};

use zonecast_tracy_wire::{Capture, GpuZone, Zone};

use super::duration;

pub(super) fn write(capture: &Capture, out: &mut impl Write) -> io::Result<()> {
    // One pass over the zones, however many threads there are.
    let mut rows: BTreeMap<usize, Vec<Zone<'_>>> = BTreeMap::new();
    for zone in capture.zones() {
        rows.entry(zone.thread().index()).or_default().push(zone);
    }
    for (index, zones) in &rows {
        let thread = zones[0].thread();
        let sort = if thread.is_fiber() { "fiber" } else { "thread" };
        writeln!(out, "{sort} {:?} (number {index})", thread.name())?;
        zones.iter().try_for_each(|zone| write_zone(zone, out))?;
    }
    for context in capture.gpu_contexts() {
        writeln!(
            out,
            "GPU context {} {:?} ({:?})",
            context.id(),
            context.name().unwrap_or(""),
            context.sort()
        )?;
        context.zones().try_for_each(|zone| write_gpu_zone(&zone, out))?;
    }
    for message in capture.messages() {
        let severity =
            message.severity().map_or("?".into(), |severity| format!("{severity:?}").to_lowercase());
        writeln!(out, "message {} {severity}: {}", at(message.time_ns()), message.text())?;
    }
    for (what, count) in capture.lost() {
        writeln!(out, "lost: {count} {what}")?;
    }
    Ok(())
}

/// A time since the program's beginning.
fn at(nanoseconds: i64) -> String {
    format!("{:>14.6}", nanoseconds as f64 / 1e9)
}

fn took(nanoseconds: Option<i64>) -> String {
    nanoseconds.map_or("open".into(), |nanoseconds| duration(nanoseconds as f64))
}

fn write_zone(zone: &Zone<'_>, out: &mut impl Write) -> io::Result<()> {
    let indent = 2 * zone.depth() as usize;
    let (start, took) = (at(zone.start_ns()), took(zone.duration_ns()));
    write!(out, "{start} {took:>10} {:indent$}{} ({}:{})", "", zone.name(), zone.file(), zone.line())?;
    let (lists, words): (Vec<_>, Vec<_>) = zone.texts().partition(|text| text.contains('\n'));
    words.iter().try_for_each(|text| write!(out, " {text:?}"))?;
    for value in zone.values() {
        write!(out, " {value}")?;
    }
    writeln!(out)?;
    // A text of several lines is a list of facts.
    let facts = lists.iter().flat_map(|text| text.lines());
    facts.into_iter().try_for_each(|fact| writeln!(out, "{:indent$}{:29}{}", "", "", fact.escape_debug()))
}

fn write_gpu_zone(zone: &GpuZone<'_>, out: &mut impl Write) -> io::Result<()> {
    let indent = 2 * zone.depth() as usize;
    let (start, took) = (zone.start_ns().map_or(" ".repeat(14), at), took(zone.duration_ns()));
    writeln!(out, "{start} {took:>10} {:indent$}{} ({}:{})", "", zone.name(), zone.file(), zone.line())
}
