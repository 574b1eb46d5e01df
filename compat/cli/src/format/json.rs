//! Everything, as one JSON object. Absent values are null.
//!
//! ```text
//! program        string
//! protocol       number
//! zones          [{thread name function file line depth start_ns end_ns text[] values[] color}]
//! gpu_contexts   [{id name type}]
//! gpu_zones      [{context name function file line cpu_start_ns cpu_end_ns start_ns end_ns}], by the context's id
//! messages       [{time_ns text severity color}]
//! plots          {name: [[ns, value]]}
//! frames         {name: [ns]}, the beginnings
//! memory         {pool: [[ns, "alloc"|"free", address, size]]}
//! locks          [{id name file line shared events: [[ns, "wait"|"obtain"|"release", thread, shared]]}]
//! sources        [{path length sha256}]
//! lost           {kind: count}
//! violations     [{rule effect item text message}]
//! ```
//!
//! Colours are `"#rrggbb"`. Lists are written as they are made, so that a long capture is not held twice.

use std::io::{self, Write};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zonecast_tracy_wire::protocol::PROTOCOL_VERSION;
use zonecast_tracy_wire::{Capture, GpuZone, Lock, LockAction, Message, Zone};

use super::color;

pub(super) fn write(capture: &Capture, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"program\":{},\"protocol\":{PROTOCOL_VERSION}", Value::from(capture.program()))?;
    list(out, "zones", capture.zones().map(|zone| zone_value(&zone)))?;
    list(
        out,
        "gpu_contexts",
        capture.gpu_contexts().map(|context| {
            json!({"id": context.id(), "name": context.name(), "type": format!("{:?}", context.sort())})
        }),
    )?;
    list(out, "gpu_zones", capture.gpu_zones().map(|zone| gpu_zone_value(&zone)))?;
    list(out, "messages", capture.messages().map(|message| message_value(&message)))?;
    map(out, "plots", capture.plots().into_iter().map(|(name, points)| (name, json!(points))))?;
    let frames = capture.frames();
    let starts =
        frames.iter().map(|(name, marks)| (*name, marks.iter().map(|mark| mark.start_ns).collect::<Value>()));
    map(out, "frames", starts)?;
    let memory = capture.memory();
    let pools = memory.iter().map(|(pool, events)| {
        let event = |e: &zonecast_tracy_wire::MemoryEvent| {
            json!([e.time_ns, if e.free { "free" } else { "alloc" }, e.address, e.size])
        };
        (*pool, events.iter().map(event).collect::<Value>())
    });
    map(out, "memory", pools)?;
    list(out, "locks", capture.locks().map(|lock| lock_value(&lock)))?;
    let sources = capture.sources().map(
        |(path, text)| json!({"path": path, "length": text.len(), "sha256": hex(&Sha256::digest(text))}),
    );
    list(out, "sources", sources)?;
    map(out, "lost", capture.lost().into_iter().map(|(kind, count)| (kind, json!(count))))?;
    let violations = capture.violations().iter().map(|violation| {
        json!({
            "rule": violation.rule.name(),
            "effect": format!("{:?}", violation.rule.effect()),
            "item": violation.item,
            "text": violation.text,
            "message": violation.rule.to_string(),
        })
    });
    list(out, "violations", violations)?;
    writeln!(out, "}}")
}

fn zone_value(zone: &Zone<'_>) -> Value {
    json!({
        "thread": zone.thread().name(),
        "name": zone.name(),
        "function": zone.function(),
        "file": zone.file(),
        "line": zone.line(),
        "depth": zone.depth(),
        "start_ns": zone.start_ns(),
        "end_ns": zone.end_ns(),
        "text": zone.texts().collect::<Vec<_>>(),
        "values": zone.values(),
        "color": zone.color().map(color),
    })
}

fn gpu_zone_value(zone: &GpuZone<'_>) -> Value {
    json!({
        "context": zone.context().id(),
        "name": zone.name(),
        "function": zone.function(),
        "file": zone.file(),
        "line": zone.line(),
        "cpu_start_ns": zone.cpu_start_ns(),
        "cpu_end_ns": zone.cpu_end_ns(),
        "start_ns": zone.start_ns(),
        "end_ns": zone.end_ns(),
    })
}

fn message_value(message: &Message<'_>) -> Value {
    json!({
        "time_ns": message.time_ns(),
        "text": message.text(),
        "severity": message.severity().map(|severity| format!("{severity:?}").to_lowercase()),
        "color": message.color().map(color),
    })
}

fn lock_value(lock: &Lock<'_>) -> Value {
    let events = lock.events().iter().map(|event| {
        let action = match event.action {
            LockAction::Wait => "wait",
            LockAction::Obtain => "obtain",
            LockAction::Release => "release",
        };
        json!([event.time_ns, action, event.thread, event.shared])
    });
    json!({
        "id": lock.id(),
        "name": lock.name(),
        "file": lock.location().file(),
        "line": lock.location().line(),
        "shared": lock.is_shared(),
        "events": events.collect::<Vec<_>>(),
    })
}

fn list(out: &mut impl Write, key: &str, values: impl Iterator<Item = Value>) -> io::Result<()> {
    write!(out, ",\n\"{key}\":[")?;
    for (index, value) in values.enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &value)?;
    }
    out.write_all(b"]")
}

fn map<'a>(
    out: &mut impl Write,
    key: &str,
    entries: impl Iterator<Item = (&'a str, Value)>,
) -> io::Result<()> {
    write!(out, ",\n\"{key}\":{{")?;
    for (index, (name, value)) in entries.enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, name)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, &value)?;
    }
    out.write_all(b"}")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
