//! Lines for readers.
//!
//! A zone inside which nothing else has a line is one line, written when it ends. Any other zone has
//! two, with a brace each, and what happened in between is indented. The first column is when the
//! line's moment was: a zone's beginning, or the end of one with a closing brace.

use std::sync::atomic::{AtomicBool, Ordering};

use super::config::Format;
use super::escape::{Style, escape};
use super::event::{Begun, Context, Ended, Event, Value};
use super::pen::{Pen, Put, duration, seconds};
use super::track::Note;
use crate::Location;

/// The columns' names, as the first line.
pub(super) const HEADER: &[u8] = b"#     time s thread          duration zone\n";

/// Deeper zones are indented no further; their depth is said as a number.
const DEEPEST: usize = 40;

static COLORED: AtomicBool = AtomicBool::new(false);

/// Colours lines from now on: the output is a terminal.
pub(super) fn use_colors() {
    COLORED.store(true, Ordering::Relaxed);
}

fn is_colored() -> bool {
    COLORED.load(Ordering::Relaxed)
}

/// Appends an order to a terminal, if there is one.
fn order(pen: &mut impl Put, order: &[u8]) {
    if is_colored() {
        pen.put(order);
    }
}

const DIM: &[u8] = b"\x1b[2m";
const BOLD: &[u8] = b"\x1b[1m";
const PLAIN: &[u8] = b"\x1b[0m";

/// Appends a zone's title, in its colour.
pub(super) fn title(pen: &mut impl Put, title: &[u8], color: u32) {
    order(pen, BOLD);
    if color != 0 && is_colored() {
        pen.put(b"\x1b[38;2");
        for part in color.to_be_bytes().into_iter().skip(1) {
            pen.put(b";");
            pen.number(part.into());
        }
        pen.put(b"m");
    }
    escape(pen, title, Style::Text);
    order(pen, PLAIN);
}

/// Appends where a zone is, with spaces before it; nothing if that is not known.
pub(super) fn place(pen: &mut impl Put, location: &Location) {
    if location.file().is_empty() {
        return;
    }
    order(pen, DIM);
    pen.put(b"  ");
    escape(pen, location.file().to_bytes(), Style::Text);
    if location.line() != 0 {
        pen.put(b":");
        pen.number(location.line().into());
    }
    order(pen, PLAIN);
}

/// The columns before the tree.
#[inline(always)]
fn columns(pen: &mut Pen, context: Context<'_>, elapsed: Option<u64>) {
    let is_colored = is_colored();
    if is_colored {
        pen.put(DIM);
    }
    seconds(pen, context.time);
    pen.put(b" ");
    pen.put(context.label.of(Format::Text));
    if is_colored {
        pen.put(PLAIN);
    }
    pen.put(b" ");
    match elapsed {
        Some(elapsed) => duration(pen, elapsed),
        None => pen.spaces(9),
    }
    pen.put(b" ");
    if context.indent <= DEEPEST {
        return pen.few_spaces(2 * context.indent);
    }
    pen.spaces(2 * DEEPEST);
    pen.put(b"[");
    pen.number(context.indent as u64);
    pen.put(b"] ");
}

/// A zone that goes on: something inside it has a line.
pub(super) fn begun(pen: &mut Pen, context: Context<'_>, zone: Begun<'_>) {
    columns(pen, context, None);
    match (zone.name, zone.fragment) {
        (None, Some(fragment)) => pen.put(fragment.whole(Format::Text)),
        (name, fragment) => {
            let name = name.unwrap_or(zone.location.title().to_bytes());
            title(pen, name, zone.location.color());
            match fragment {
                Some(fragment) => pen.put(fragment.place(Format::Text)),
                None => place(pen, zone.location),
            }
        }
    }
    pen.put(b" {\n");
}

/// A zone that has ended.
#[inline]
pub(super) fn ended<'a>(
    pen: &mut Pen,
    context: Context<'_>,
    zone: Ended<'_>,
    notes: impl Iterator<Item = Note<'a>> + Clone,
) {
    columns(pen, context, Some(zone.elapsed));
    if zone.is_begun {
        pen.put(b"} ");
    }
    match super::event::name_among(notes.clone()) {
        None => pen.put(zone.fragment.whole(Format::Text)),
        Some(name) => {
            title(pen, name, zone.fragment.color);
            pen.put(zone.fragment.place(Format::Text));
        }
    }
    notes.for_each(|note| write_note(pen, note));
    pen.put(b"\n");
}

fn write_note(pen: &mut Pen, note: Note<'_>) {
    match note {
        Note::Text(text) => {
            pen.put(b"  ");
            escape(pen, text, Style::Text);
        }
        Note::Name(_) => {}
        Note::Value(value) => {
            pen.put(b"  value=");
            pen.number(value);
        }
        Note::Number(key, number) => {
            pen.put(b"  ");
            pen.put(key.as_bytes());
            pen.put(b"=");
            pen.signed(number);
        }
        Note::Color(color) => {
            pen.put(b"  color=");
            pen.color(color);
        }
    }
}

/// Anything else that has happened.
pub(super) fn event(pen: &mut Pen, context: Context<'_>, event: &Event<'_>) {
    columns(pen, context, event.elapsed.map(|(_, elapsed)| elapsed));
    let kind =
        event.fields.iter().find_map(|(_, value)| if let Value::Kind(k) = value { Some(*k) } else { None });
    pen.put(kind.unwrap_or(event.name).as_bytes());
    if let Some((_, subject)) = event.subject {
        pen.put(b": ");
        escape(pen, subject, Style::Text);
    }
    let is_said = |value: Value<'_>| value.is_said() && !matches!(value, Value::Kind(_));
    for &(key, value) in event.fields.iter().filter(|(_, value)| is_said(*value)) {
        pen.put(b"  ");
        pen.put(key.as_bytes());
        if !matches!(value, Value::Flag(_)) {
            pen.put(b"=");
        }
        write_value(pen, value);
    }
    pen.put(b"\n");
}

fn write_value(pen: &mut Pen, value: Value<'_>) {
    match value {
        Value::Text(text) => escape(pen, text.as_bytes(), Style::Text),
        Value::Single(number) => pen.single(number),
        Value::Truth(truth) => pen.put(if truth { b"true" } else { b"false" }),
        Value::Unsigned(number) => pen.number(number),
        Value::Signed(number) => pen.signed(number),
        Value::Float(number) => pen.float(number),
        Value::Address(address) => pen.hex(address as u64),
        Value::Color(color) => pen.color(color),
        Value::Flag(_) | Value::Kind(_) => {}
    }
}

/// Lines of a kernel's source, each with its number; `marked` is the one that its zones name.
pub(super) fn source<'a>(
    pen: &mut Pen,
    context: Context<'_>,
    lines: impl Iterator<Item = (usize, &'a [u8])>,
    marked: usize,
) {
    for (number, line) in lines {
        columns(pen, context, None);
        order(pen, DIM);
        let mut digits = super::pen::Digits::NEW;
        pen.put(if number == marked { b"> " } else { b"  " });
        pen.right(digits.of(number as u64), 5);
        pen.put(b" | ");
        order(pen, PLAIN);
        escape(pen, line, Style::Text);
        pen.put(b"\n");
    }
}
