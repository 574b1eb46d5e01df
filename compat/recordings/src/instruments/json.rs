//! A stream as JSON lines: one object each, named by its `type`.
//!
//! `note`s; then for each module `module`, its `record`s in order, and its `site`s with the access map. Addresses
//! and keys are numbers; 64-bit values that JavaScript would round stand as they are.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::buffers::{Accesses, Probes, Site, Use};
use super::map::{AccessMap, Filter};
use super::metadata::Function;
use super::record::{Access, Event, Record, Value};
use super::stream::{Module, Stream};

/// Writes what `filter` keeps of a stream.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_json(stream: &Stream<'_>, filter: &Filter, out: &mut impl Write) -> io::Result<()> {
    for note in stream.notes() {
        line(out, &json!({"type": "note", "offset": note.offset, "what": note.what}))?;
    }
    for (index, module) in stream.modules().iter().enumerate() {
        write_module(index, module, filter, out)?;
    }
    Ok(())
}

fn line(out: &mut impl Write, object: &Json) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}

fn text(bytes: &[u8]) -> Json {
    String::from_utf8_lossy(bytes).into()
}

fn write_module(index: usize, module: &Module<'_>, filter: &Filter, out: &mut impl Write) -> io::Result<()> {
    let map = AccessMap::of(module, filter);
    let metadata = module.metadata();
    let sites = (0..metadata.site_count()).map(|site| text(metadata.site_name(site as u32)));
    line(
        out,
        &json!({
            "type": "module", "module": index,
            "functions": metadata.functions().iter().map(function).collect::<Json>(),
            "sites": sites.collect::<Json>(),
            "records": map.records(), "lost_bytes": map.lost_bytes(), "torn_bytes": map.torn_bytes(),
            "orphans": map.orphans(), "granule": map.granule(), "overlaps_complete": map.is_complete(),
        }),
    )?;
    for ring in module.rings() {
        let kept = ring.records().filter(|record| filter.keeps(ring, record));
        kept.into_iter().try_for_each(|kept| line(out, &record(index, &kept)))?;
    }
    map.sites().iter().try_for_each(|site| line(out, &summary(index, module, &map, site)))
}

fn function(function: &Function<'_>) -> Json {
    json!({
        "name": text(function.name), "target": function.target.map(text), "layout": function.layout.map(text),
        "source": function.source.map(text),
    })
}

fn record(module: usize, record: &Record<'_>) -> Json {
    let mut object = match record.event {
        Event::Workgroup(workgroup) => json!({
            "event": "workgroup", "site": workgroup.site, "id": workgroup.id, "count": workgroup.count,
            "processor": workgroup.processor,
        }),
        Event::Print(print) => json!({"event": "print", "key": print.key, "text": text(print.text)}),
        Event::Value(probe) => json!({
            "event": "value", "key": probe.key, "ordinal": probe.ordinal,
            "value_type": probe.value.type_name(), "value": value(probe.value),
        }),
        Event::Load(access) => accessed("load", &access),
        Event::Store(access) => accessed("store", &access),
        Event::Torn { length } => json!({"event": "torn", "length": length}),
    };
    object["type"] = "record".into();
    object["module"] = module.into();
    object["at"] = record.at.into();
    object
}

fn accessed(event: &str, access: &Access) -> Json {
    json!({"event": event, "key": access.key, "address": access.address, "length": access.length})
}

/// Integers exactly; floats that JSON has no number for as text.
fn value(value: Value) -> Json {
    match value {
        Value::I64(value) => value.into(),
        Value::U64(value) | Value::Pointer(value) | Value::Unknown(_, value) => value.into(),
        Value::F16(_) | Value::F32(_) | Value::F64(_) | Value::Bf16(_) => match value.as_f64() {
            Some(number) if number.is_finite() => number.into(),
            _ => value.to_string().into(),
        },
        small => (small.as_f64().unwrap_or_default() as i64).into(),
    }
}

fn summary(module: usize, of: &Module<'_>, map: &AccessMap, site: &Site) -> Json {
    json!({
        "type": "site", "module": module, "site": site.index, "name": text(of.metadata().site_name(site.index)),
        "workgroups": site.workgroups, "grid": site.grid, "is_one_grid": site.is_one_grid,
        "processors": site.processors.iter().map(|(processor, count)| json!([processor, count])).collect::<Json>(),
        "buffers": site.uses.iter().map(|used| buffer(map, used)).collect::<Json>(),
        "probes": site.probes.iter().map(probes).collect::<Json>(),
    })
}

fn buffer(map: &AccessMap, used: &Use) -> Json {
    let buffer = map.buffers()[used.buffer];
    json!({
        "buffer": used.buffer, "begin": buffer.begin, "end": buffer.end, "range": used.range,
        "distinct_bytes": used.distinct, "reuse": used.reuse(),
        "read": accesses(&used.read), "written": accesses(&used.written),
        "overlap": used.overlap.map(|overlap| json!({
            "address": overlap.address, "workgroups": overlap.workgroups, "bytes": overlap.bytes,
        })),
    })
}

fn accesses(accesses: &Accesses) -> Json {
    let stride = accesses.stride().map(|(bytes, share)| json!({"bytes": bytes, "share": share}));
    json!({"count": accesses.count, "bytes": accesses.bytes, "stride": stride})
}

fn probes(probes: &Probes) -> Json {
    let [first, last] = probes.ends.map(value);
    json!({
        "ordinal": probes.ordinal, "value_type": probes.ends[0].type_name(), "count": probes.count,
        "first": first, "last": last, "range": probes.range,
    })
}
