#![doc = include_str!("json.md")]

use super::config::Format;
use super::escape::{Style, escape};
use super::event::{Begun, Context, Ended, Event, Value, name_among};
use super::fragment::{Fragment, json_place, json_title};
use super::pen::{Pen, Put};
use super::track::Note;

/// The version of this format: raised when a key changes its meaning or goes.
pub(super) const VERSION: u64 = 1;

#[inline]
fn head(pen: &mut Pen, name: &[u8], context: Context<'_>) {
    pen.put(b"{\"event\":\"");
    pen.put(name);
    pen.put(b"\",\"time_ns\":");
    pen.signed(context.time);
}

#[inline]
fn depth(pen: &mut Pen, context: Context<'_>) {
    pen.put(context.label.of(Format::Json));
    pen.put(b",\"depth\":");
    pen.number(context.depth as u64);
}

/// A zone that is open while the program dies.
pub(super) fn open(pen: &mut Pen, context: Context<'_>, zone: Begun<'_>) {
    head(pen, b"open", context);
    depth(pen, context);
    pen.put(b",");
    json_title(pen, zone.name.unwrap_or(zone.location.title().to_bytes()));
    json_place(pen, zone.location);
    pen.put(b"}\n");
}

/// A zone that has ended.
#[inline]
pub(super) fn ended<'a>(
    pen: &mut Pen,
    context: Context<'_>,
    zone: Ended<'_>,
    notes: impl Iterator<Item = Note<'a>> + Clone,
) {
    head(pen, b"zone", context);
    pen.put(b",\"duration_ns\":");
    pen.number(zone.elapsed);
    depth(pen, context);
    pen.put(b",");
    match name_among(notes.clone()) {
        None => pen.put(zone.fragment.whole(Format::Json)),
        Some(name) => {
            json_title(pen, name);
            pen.put(zone.fragment.place(Format::Json));
        }
    }
    write_notes(pen, notes, zone.fragment.color);
    pen.put(b"}\n");
}

/// Several texts of a zone are lines of one; of several values and colours the last one counts.
#[inline]
fn write_notes<'a>(pen: &mut Pen, notes: impl Iterator<Item = Note<'a>> + Clone, mut color: u32) {
    let mut value = None;
    let mut has_text = false;
    for note in notes {
        match note {
            Note::Text(text) => {
                pen.put(if has_text { b"\\n" } else { b",\"text\":\"" });
                has_text = true;
                escape(pen, text, Style::Json);
            }
            Note::Value(number) => value = Some(number),
            Note::Color(number) => color = number,
            // Lanes' zones have these, and no texts that they could come into.
            Note::Number(key, number) => field(pen, key, Value::Signed(number)),
            Note::Name(_) => {}
        }
    }
    if has_text {
        pen.put(b"\"");
    }
    if let Some(value) = value {
        pen.put(b",\"value\":");
        pen.number(value);
    }
    if color != 0 {
        pen.put(b",\"color\":\"");
        pen.color(color);
        pen.put(b"\"");
    }
}

/// Anything else that has happened.
pub(super) fn event(pen: &mut Pen, context: Context<'_>, event: &Event<'_>) {
    head(pen, event.name.as_bytes(), context);
    if let Some((key, elapsed)) = event.elapsed {
        field(pen, key, Value::Unsigned(elapsed));
    }
    depth(pen, context);
    if let Some((key, subject)) = event.subject {
        begin_field(pen, key);
        pen.put(b"\"");
        escape(pen, subject, Style::Json);
        pen.put(b"\"");
    }
    for &(key, value) in event.fields.iter().filter(|(_, value)| value.is_said()) {
        field(pen, key, value);
    }
    pen.put(b"}\n");
}

fn begin_field(pen: &mut impl Put, key: &str) {
    pen.put(b",\"");
    pen.put(key.as_bytes());
    pen.put(b"\":");
}

/// Appends a field, with a comma before it. A float that JSON has no number for is null.
pub(super) fn field(pen: &mut impl Put, key: &str, value: Value<'_>) {
    begin_field(pen, key);
    match value {
        Value::Text(text) | Value::Kind(text) => {
            pen.put(b"\"");
            escape(pen, text.as_bytes(), Style::Json);
            pen.put(b"\"");
        }
        Value::Unsigned(number) => pen.number(number),
        Value::Signed(number) => pen.signed(number),
        Value::Float(number) if number.is_finite() => pen.float(number),
        Value::Single(number) if number.is_finite() => pen.single(number),
        Value::Float(_) | Value::Single(_) => pen.put(b"null"),
        Value::Address(address) => {
            pen.put(b"\"");
            pen.hex(address as u64);
            pen.put(b"\"");
        }
        Value::Color(color) => {
            pen.put(b"\"");
            pen.color(color);
            pen.put(b"\"");
        }
        Value::Flag(flag) | Value::Truth(flag) => pen.put(if flag { b"true" } else { b"false" }),
    }
}

/// Lines of a kernel's source, from number `first` on.
pub(super) fn source<'a>(
    pen: &mut Pen,
    context: Context<'_>,
    fragment: &Fragment,
    lines: impl Iterator<Item = (usize, &'a [u8])>,
    first: usize,
) {
    head(pen, b"source", context);
    depth(pen, context);
    pen.put(b",");
    pen.put(fragment.whole(Format::Json));
    field(pen, "first_line", Value::Unsigned(first as u64));
    begin_field(pen, "lines");
    pen.put(b"[");
    for (number, line) in lines {
        pen.put(if number == first { b"\"" } else { b",\"" });
        escape(pen, line, Style::Json);
        pen.put(b"\"");
    }
    pen.put(b"]}\n");
}
