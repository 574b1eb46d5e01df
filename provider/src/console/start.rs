//! Getting ready, at the first call.

use std::io::IsTerminal;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::config::{self, Format};
use super::pen::Put;
use super::{clock, crash, json, output, text, thread};

/// What zones are to do: one of the numbers below, or 0 until that is known.
static MODE: AtomicU8 = AtomicU8::new(0);
/// Count the processor's ticks: the mode that costs least.
pub(super) const TICKS: u8 = 1;
/// Count nanoseconds.
pub(super) const NANOSECONDS: u8 = 2;
/// Be kept until their ends, and have lines.
pub(super) const LINES: u8 = 3;

/// Whether a thread looks after lines that are held back.
static IS_KEPT: AtomicBool = AtomicBool::new(false);

/// What zones are to do.
#[inline(always)]
pub(super) fn mode() -> u8 {
    MODE.load(Ordering::Relaxed)
}

/// Gets ready, unless that is done. False while this very thread is at it: its calls (of an
/// allocator that is traced) are left out.
#[inline]
pub(super) fn is_ready() -> bool {
    mode() != 0 || get_ready()
}

#[cold]
#[inline(never)]
fn get_ready() -> bool {
    static ONCE: Once = Once::new();
    if thread::is_ignored() {
        return false;
    }
    thread::ignoring(|| {
        ONCE.call_once(first_time);
        let config = config::get();
        if config.lines.is_some() && !IS_KEPT.swap(true, Ordering::Relaxed) {
            output::start_keeper();
        }
        let mode = match config.lines {
            Some(_) => LINES,
            None if clock::has_ticks() => TICKS,
            None => NANOSECONDS,
        };
        MODE.store(mode, Ordering::Relaxed);
    });
    true
}

fn first_time() {
    let config = config::get();
    clock::start(config.lines.is_none());
    let file = output::open(config.file.as_deref());
    if config.may_color && file.is_some_and(IsTerminal::is_terminal) {
        text::use_colors();
    }
    match config.lines {
        Some(Format::Text) => output::hold().write(text::HEADER),
        Some(Format::Json) => output::hold().write(&json_start()),
        None => {}
    }
    crash::install();
}

/// The first line of JSON: what the times of all others mean.
fn json_start() -> Vec<u8> {
    let mut line = Vec::new();
    line.put(b"{\"event\":\"start\"");
    for (key, value) in [
        ("version", json::VERSION),
        ("process", std::process::id().into()),
        ("monotonic_ns", clock::started_ns()),
        ("unix_ns", clock::started_unix().as_nanos() as u64),
    ] {
        json::field(&mut line, key, super::Value::Unsigned(value));
    }
    line.put(b"}\n");
    line
}

/// In a forked child: the thread that looked after lines is not there.
#[cfg(unix)]
pub(super) fn forked() {
    IS_KEPT.store(false, Ordering::Relaxed);
    MODE.store(0, Ordering::Relaxed);
}
