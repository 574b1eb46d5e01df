//! A stream for people: what each dispatch site is, where it ran, and what memory it touched.

use std::io::{self, Write};

use super::buffers::{Accesses, Probes, Site, Use};
use super::map::{AccessMap, Filter};
use super::stream::{Module, Stream};

/// So many processors are listed each.
const PROCESSORS: usize = 16;

/// Writes what `filter` keeps of a stream.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_text(stream: &Stream<'_>, filter: &Filter, out: &mut impl Write) -> io::Result<()> {
    for note in stream.notes() {
        writeln!(out, "note: {note}")?;
    }
    for (index, module) in stream.modules().iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_module(index, module, filter, out)?;
    }
    Ok(())
}

fn write_module(index: usize, module: &Module<'_>, filter: &Filter, out: &mut impl Write) -> io::Result<()> {
    let map = AccessMap::of(module, filter);
    let metadata = module.metadata();
    let (functions, sites) = (metadata.functions().len(), metadata.site_count());
    writeln!(out, "module {index}: {functions} kernels, {sites} dispatch sites, {} records", map.records())?;
    write_gaps(&map, out)?;
    for site in map.sites() {
        writeln!(out)?;
        write_site(module, &map, site, out)?;
    }
    Ok(())
}

/// What is missing, or not certain.
fn write_gaps(map: &AccessMap, out: &mut impl Write) -> io::Result<()> {
    if map.lost_bytes() > 0 {
        writeln!(
            out,
            "  the ring was too small: {} bytes of older records were overwritten",
            map.lost_bytes()
        )?;
    }
    if map.orphans() > 0 {
        writeln!(out, "  {} records are left out: their workgroup's record was overwritten", map.orphans())?;
    }
    if map.torn_bytes() > 0 {
        writeln!(out, "  {} bytes are no records: torn, stale or damaged", map.torn_bytes())?;
    }
    if !map.is_complete() {
        writeln!(out, "  more was written than could be compared: overlapping writes may be missing")?;
    }
    Ok(())
}

fn write_site(module: &Module<'_>, map: &AccessMap, site: &Site, out: &mut impl Write) -> io::Result<()> {
    let function = module.metadata().function_of(site.index);
    let name = String::from_utf8_lossy(module.metadata().site_name(site.index));
    let [x, y, z] = site.grid;
    let others = if site.is_one_grid { "" } else { ", and other grids" };
    writeln!(out, "site {}: {name}  {} workgroups of {x}x{y}x{z}{others}", site.index, site.workgroups)?;
    writeln!(out, "  processors: {}", processors(site))?;
    for used in &site.uses {
        write_use(map, used, out)?;
    }
    if !site.probes.is_empty() {
        writeln!(
            out,
            "  {:>5} {:<8}{:>8} {:>14} {:>14} {:>14} {:>14}",
            "probe", "type", "count", "first", "last", "least", "most"
        )?;
        site.probes.iter().try_for_each(|probes| write_probes(probes, out))?;
    }
    match function.and_then(|function| function.source) {
        Some(source) => write_source(source, out),
        None => Ok(()),
    }
}

fn processors(site: &Site) -> String {
    let shown = site.processors.iter().take(PROCESSORS);
    let mut list: Vec<String> = shown.map(|(processor, count)| format!("{processor}: {count}")).collect();
    if site.processors.len() > PROCESSORS {
        list.push(format!("{} more", site.processors.len() - PROCESSORS));
    }
    list.join(", ")
}

fn write_use(map: &AccessMap, used: &Use, out: &mut impl Write) -> io::Result<()> {
    let buffer = map.buffers()[used.buffer];
    let size = buffer.end - buffer.begin;
    let [from, to] = used.range.map(|address| address.saturating_sub(buffer.begin));
    writeln!(
        out,
        "  buffer {}: {:#x}, {size} bytes; bytes {from}..{to}, {} distinct, each used {:.1} times",
        used.buffer,
        buffer.begin,
        used.distinct,
        used.reuse(),
    )?;
    write_accesses("read", &used.read, out)?;
    write_accesses("written", &used.written, out)?;
    if let Some(overlap) = used.overlap {
        let [[ax, ay, az], [bx, by, bz]] = overlap.workgroups;
        writeln!(
            out,
            "    OVERLAP: workgroups {ax},{ay},{az} and {bx},{by},{bz} both wrote byte {}; {} bytes in all",
            overlap.address.saturating_sub(buffer.begin),
            overlap.bytes,
        )?;
    }
    Ok(())
}

fn write_accesses(what: &str, accesses: &Accesses, out: &mut impl Write) -> io::Result<()> {
    if accesses.count == 0 {
        return Ok(());
    }
    let (bytes, count) = (accesses.bytes, accesses.count);
    let mean = (10.0 * bytes as f64 / count as f64).round() / 10.0;
    write!(out, "    {what:<7} {bytes:>10} bytes, {count} accesses of {mean} bytes")?;
    match accesses.stride() {
        Some((stride, share)) => writeln!(out, ", stride {stride} ({:.0} %)", 100.0 * share),
        None => writeln!(out),
    }
}

fn write_probes(probes: &Probes, out: &mut impl Write) -> io::Result<()> {
    let [first, last] = probes.ends;
    let [least, most] =
        probes.range.map_or_else(Default::default, |range| range.map(|value| value.to_string()));
    let name = first.type_name();
    let [first, last] = [first.to_string(), last.to_string()];
    writeln!(
        out,
        "  {:>5} {name:<8}{:>8} {first:>14} {last:>14} {least:>14} {most:>14}",
        probes.ordinal, probes.count
    )
}

fn write_source(source: &[u8], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  source:")?;
    for line in source.trim_ascii_end().split(|&byte| byte == b'\n') {
        out.write_all(b"    ")?;
        out.write_all(line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
