//! A trace in the JSON trace event format, which Perfetto reads.
//!
//! Threads are threads of the program's process; GPU contexts, with a row per thread field, and
//! fibers are processes of their own, since their numbers are not those of threads. Zones are
//! complete events with file, line, texts and values as arguments; the first zone of each source
//! location also has the file's text. Plots are counters, messages and frames are instants.
//!
//! Source: "Trace Event Format", the document that Perfetto's documentation refers to. `.ci/perfetto/run` has
//! Perfetto's trace processor read such traces, and compares what it finds with the captures.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Value, json};
use zonecast_tracy_wire::{Capture, CodeLocation, Thread};

/// The process that fibers are shown as, and the first of those for GPU contexts: beyond the largest
/// that Linux gives to a real one.
const FIBERS: u64 = (1 << 22) + 1;
const CONTEXTS: u64 = FIBERS + 1;

pub(super) fn write(capture: &Capture, out: &mut impl Write) -> io::Result<()> {
    let mut events = Events { out, first: true };
    events.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    write_names(capture, &mut events)?;
    let mut shown = HashSet::new();
    write_zones(capture, &mut events, &mut shown)?;
    write_gpu_zones(capture, &mut events, &mut shown)?;
    write_instants(capture, &mut events)?;
    events.out.write_all(b"]}\n")
}

struct Events<'a, W> {
    out: &'a mut W,
    first: bool,
}

impl<W: Write> Events<'_, W> {
    fn push(&mut self, event: &Value) -> io::Result<()> {
        self.out.write_all(if std::mem::take(&mut self.first) { b"\n" } else { b",\n" })?;
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }

    fn name(&mut self, what: &str, row: (u64, u64), name: &str) -> io::Result<()> {
        self.push(&json!({"ph": "M", "name": what, "pid": row.0, "tid": row.1, "args": {"name": name}}))
    }
}

/// Process and thread of a row.
fn row(capture: &Capture, thread: Thread<'_>) -> (u64, u64) {
    match thread.is_fiber() {
        // Pointers are too large for a thread's number; the order is not.
        true => (FIBERS, thread.index() as u64),
        false => (capture.welcome().pid, thread.id()),
    }
}

/// Microseconds, in which this format counts.
fn microseconds(nanoseconds: i64) -> Value {
    json!(nanoseconds as f64 / 1e3)
}

fn write_names<W: Write>(capture: &Capture, events: &mut Events<'_, W>) -> io::Result<()> {
    events.name("process_name", (capture.welcome().pid, 0), capture.program())?;
    if capture.threads().any(|thread| thread.is_fiber()) {
        events.name("process_name", (FIBERS, 0), "fibers")?;
    }
    for thread in capture.threads() {
        events.name("thread_name", row(capture, thread), thread.name())?;
    }
    for context in capture.gpu_contexts() {
        let name = format!("GPU {:?} {}", context.sort(), context.name().unwrap_or_default());
        events.name("process_name", (CONTEXTS + u64::from(context.id()), 0), &name)?;
    }
    Ok(())
}

/// Arguments that a place in the code gives; the text once per place.
fn place<'a>(capture: &'a Capture, place: CodeLocation<'a>, shown: &mut HashSet<(&'a str, u32)>) -> Value {
    let mut arguments = json!({"function": place.function(), "file": place.file(), "line": place.line()});
    if shown.insert((place.file(), place.line()))
        && let Some(text) = capture.source_of(&place)
    {
        arguments["source"] = String::from_utf8_lossy(text).into();
    }
    arguments
}

fn write_zones<'a, W: Write>(
    capture: &'a Capture,
    events: &mut Events<'_, W>,
    shown: &mut HashSet<(&'a str, u32)>,
) -> io::Result<()> {
    for zone in capture.zones() {
        let (pid, tid) = row(capture, zone.thread());
        let mut arguments = place(capture, zone.location(), shown);
        let texts: Vec<&str> = zone.texts().collect();
        if !texts.is_empty() {
            arguments["text"] = texts.join("\n").into();
        }
        if !zone.values().is_empty() {
            arguments["values"] = zone.values().into();
        }
        // A zone that never ended begins and does not end.
        let mut event = json!({
            "ph": "B", "name": zone.name(), "cat": "cpu", "pid": pid, "tid": tid,
            "ts": microseconds(zone.start_ns()), "args": arguments,
        });
        if let Some(duration) = zone.duration_ns() {
            event["ph"] = "X".into();
            event["dur"] = microseconds(duration);
        }
        events.push(&event)?;
    }
    Ok(())
}

fn write_gpu_zones<'a, W: Write>(
    capture: &'a Capture,
    events: &mut Events<'_, W>,
    shown: &mut HashSet<(&'a str, u32)>,
) -> io::Result<()> {
    for zone in capture.gpu_zones() {
        // Without its times it has no place on the row.
        let (Some(start), Some(duration)) = (zone.start_ns(), zone.duration_ns()) else { continue };
        // A context with a thread of its own has one row, whoever launched.
        let row = if zone.context().thread() == 0 { zone.thread() } else { 0 };
        let mut arguments = place(capture, zone.location(), shown);
        arguments["launched_ns"] = zone.cpu_start_ns().into();
        events.push(&json!({
            "ph": "X", "name": zone.name(), "cat": "gpu",
            "pid": CONTEXTS + u64::from(zone.context().id()), "tid": row,
            "ts": microseconds(start), "dur": microseconds(duration), "args": arguments,
        }))?;
    }
    Ok(())
}

fn write_instants<W: Write>(capture: &Capture, events: &mut Events<'_, W>) -> io::Result<()> {
    let pid = capture.welcome().pid;
    for message in capture.messages() {
        let (pid, tid) = row(capture, message.thread());
        events.push(&json!({
            "ph": "i", "s": "t", "name": message.text(), "cat": "message", "pid": pid, "tid": tid,
            "ts": microseconds(message.time_ns()),
        }))?;
    }
    for (name, points) in capture.plots() {
        for (time, value) in points {
            events.push(&json!({
                "ph": "C", "name": name, "pid": pid, "ts": microseconds(time), "args": {"value": value},
            }))?;
        }
    }
    for (name, marks) in capture.frames() {
        for mark in marks {
            events.push(&json!({
                "ph": "i", "s": "p", "name": name, "cat": "frame", "pid": pid, "tid": 0,
                "ts": microseconds(mark.start_ns),
            }))?;
        }
    }
    Ok(())
}
