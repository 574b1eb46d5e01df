//! The summary at the end: how often, how long, how many.
//!
//! It is made from the tables of all threads, without memory from the allocator and without locks,
//! since a signal handler may have to.

use std::sync::atomic::{AtomicBool, Ordering};

use super::config::{self, Format};
use super::counts::Tally;
use super::event::Value;
use super::fragment::{self, Fragment, Kind};
use super::output::Held;
use super::pen::{Digits, Pen, Put, duration};
use super::{clock, json, sys, thread};

static WRITTEN: AtomicBool = AtomicBool::new(false);

/// What was counted of one thing, by all threads.
#[derive(Clone, Copy)]
struct Row {
    fragment: Option<&'static Fragment>,
    tally: Tally,
}

/// Writes the summary, if one is asked for and none was written.
pub(super) fn write_once(held: &Held) {
    let config = config::get();
    if !config.summary || WRITTEN.swap(true, Ordering::Relaxed) {
        return;
    }
    let rate = if config.lines.is_none() { clock::Rate::measure() } else { clock::Rate::NANOSECONDS };
    let format = config.lines.unwrap_or(Format::Text);
    let Some(rows) = rows(rate) else { return };
    let room = rows.iter().map(|row| row.room(format)).sum();
    let Some(memory) = sys::scratch(room) else { return };
    // SAFETY: the memory is ours alone, and `room` long.
    let mut pen = unsafe { Pen::new(memory.as_mut_ptr(), room) };
    match format {
        Format::Json => rows.iter().for_each(|row| row.json(&mut pen)),
        Format::Text => {
            let mut kind = None;
            for row in &*rows {
                let heading = row.kind().filter(|_| kind != row.kind()).map_or("", heading);
                kind = row.kind();
                pen.put(heading.as_bytes());
                row.text(&mut pen);
            }
        }
    }
    held.write(&memory[..pen.len()]);
}

const fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Zone => "#    count      total       mean        min        max  zone\n",
        Kind::LaneZone => "#    count      total       mean        min        max  zone of a lane\n",
        Kind::Lane => {
            "#    count      total       mean        min        max  lane, by its outermost zones\n"
        }
        Kind::LockWait => "#    count      total       mean        min        max  lock waited for\n",
        Kind::LockHold => "#    count      total       mean        min        max  lock held\n",
        Kind::Frame => "#    count      total       mean        min        max  frame\n",
        Kind::Plot => "#    count                  mean        min        max  plot\n",
        Kind::Alloc => "#    count  sum/bytes       mean        min        max  memory taken\n",
        Kind::Free => "#    count                                              memory given back\n",
        Kind::Message => "#    count                                              messages\n",
    }
}

/// The rows in the order they are shown: kind by kind, what adds up to most first.
fn rows(rate: clock::Rate) -> Option<&'static mut [Row]> {
    let count = fragment::count();
    let memory = sys::scratch((count + 1) * size_of::<Row>())?;
    // SAFETY: zeroes are a valid `Row` (no fragment, nothing counted); the memory is that long but
    // for what aligning takes, and nobody else's.
    let (_, rows, _) = unsafe { memory.align_to_mut::<Row>() };
    // Fragments made just now, by threads that still run, may be too many: they are left out.
    for fragment in thread::all().flat_map(|thread| thread.table().fragments()) {
        if let Some(row) = rows.get_mut(fragment.index).filter(|_| fragment.is_shown) {
            row.fragment = Some(fragment);
        }
    }
    for thread in thread::all() {
        rows.iter_mut().zip(thread.counts().tallies()).for_each(|(row, tally)| row.add(tally));
    }
    rows.iter_mut().for_each(|row| row.turn_ticks(rate));
    rows.sort_unstable_by(|a, b| a.order().partial_cmp(&b.order()).unwrap_or(core::cmp::Ordering::Equal));
    let used = rows.partition_point(|row| row.fragment.is_some() && row.tally.count > 0);
    rows.get_mut(..used)
}

impl Row {
    fn add(&mut self, tally: Tally) {
        if self.tally.count == 0 || tally.count == 0 {
            // One of them is nothing: the floats among nothing's numbers are no numbers.
            self.tally = if tally.count == 0 { self.tally } else { tally };
            return;
        }
        let kind = self.kind();
        let sum = &mut self.tally;
        sum.count += tally.count;
        if kind == Some(Kind::Plot) {
            let combined = |f: fn(f64, f64) -> f64, a, b| f(f64::from_bits(a), f64::from_bits(b)).to_bits();
            sum.sum = combined(|a, b| a + b, sum.sum, tally.sum);
            sum.min = combined(f64::min, sum.min, tally.min);
            sum.max = combined(f64::max, sum.max, tally.max);
        } else {
            sum.sum = sum.sum.wrapping_add(tally.sum);
            sum.min = sum.min.min(tally.min);
            sum.max = sum.max.max(tally.max);
        }
    }

    /// Makes nanoseconds of ticks.
    fn turn_ticks(&mut self, rate: clock::Rate) {
        if self.fragment.is_some_and(|fragment| fragment.kind.is_in_ticks()) {
            let Tally { sum, min, max, .. } = &mut self.tally;
            [sum, min, max].into_iter().for_each(|ticks| *ticks = rate.ns(*ticks));
        }
    }

    /// Empty rows come last.
    fn order(&self) -> (bool, Option<Kind>, f64, usize) {
        let Some(fragment) = self.fragment.filter(|_| self.tally.count > 0) else {
            return (true, None, 0.0, 0);
        };
        let weight = match fragment.kind {
            Kind::Plot | Kind::Free | Kind::Message => self.tally.count,
            _ => self.tally.sum,
        };
        (false, Some(fragment.kind), -(weight as f64), fragment.index)
    }

    fn kind(&self) -> Option<Kind> {
        self.fragment.map(|fragment| fragment.kind)
    }

    /// How long its line, and a heading, are at most.
    fn room(&self, format: Format) -> usize {
        512 + self.fragment.map_or(0, |fragment| fragment.whole(format).len())
    }

    /// What there is to say beside the count: total, mean, least and greatest.
    fn values(&self) -> [Option<Value<'static>>; 4] {
        let Tally { count, sum, min, max } = self.tally;
        let float = |bits| Some(Value::Float(f64::from_bits(bits)));
        let number = |number| Some(Value::Unsigned(number));
        match self.kind() {
            None | Some(Kind::Free | Kind::Message) => [None; 4],
            Some(Kind::Plot) => {
                [None, Some(Value::Float(f64::from_bits(sum) / count as f64)), float(min), float(max)]
            }
            Some(_) => [number(sum), number(sum / count.max(1)), number(min), number(max)],
        }
    }

    fn text(&self, pen: &mut Pen) {
        let Some(fragment) = self.fragment else { return };
        let mut digits = Digits::NEW;
        pen.right(digits.of(self.tally.count), 10);
        for value in self.values() {
            pen.put(b"  ");
            match value {
                None => pen.spaces(9),
                Some(Value::Unsigned(ns)) if fragment.kind.is_timed() => duration(pen, ns),
                Some(Value::Unsigned(number)) => pen.right(digits.of(number), 9),
                Some(Value::Float(number)) => short_float(pen, number),
                Some(_) => {}
            }
        }
        pen.put(b"  ");
        pen.put(fragment.whole(Format::Text));
        pen.put(b"\n");
    }

    fn json(&self, pen: &mut Pen) {
        let Some(fragment) = self.fragment else { return };
        let (kind, keys) = match fragment.kind {
            Kind::Zone => ("zone", TIMES),
            Kind::LaneZone => ("lane_zone", TIMES),
            Kind::Lane => ("lane", TIMES),
            Kind::LockWait => ("lock_wait", TIMES),
            Kind::LockHold => ("lock_hold", TIMES),
            Kind::Frame => ("frame", TIMES),
            Kind::Plot => ("plot", ["", "mean", "min", "max"]),
            Kind::Alloc => ("alloc", ["total_bytes", "mean_bytes", "min_bytes", "max_bytes"]),
            Kind::Free => ("free", [""; 4]),
            Kind::Message => ("message", [""; 4]),
        };
        pen.put(b"{\"event\":\"summary\"");
        json::field(pen, "kind", Value::Text(kind));
        json::field(pen, "count", Value::Unsigned(self.tally.count));
        for (key, value) in keys.into_iter().zip(self.values()) {
            value.into_iter().for_each(|value| json::field(pen, key, value));
        }
        pen.put(b",");
        pen.put(fragment.whole(Format::Json));
        pen.put(b"}\n");
    }
}

const TIMES: [&str; 4] = ["total_ns", "mean_ns", "min_ns", "max_ns"];

/// Appends a float in 9 characters or some more, with as many digits as help a reader.
fn short_float(pen: &mut Pen, number: f64) {
    let size = number.abs();
    if size == 0.0 || (1e-3..1e6).contains(&size) {
        pen.formatted(format_args!("{number:9.3}"));
    } else {
        pen.formatted(format_args!("{number:9.3e}"));
    }
}
