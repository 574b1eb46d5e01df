//! Where lines go, and who writes them.
//!
//! One thread writes at a time, so that lines never mix, whatever the output is. But nobody waits
//! for a turn: a thread that finds another one writing leaves its lines to it. The writer looks for
//! such lines before it stops, and a thread of our own looks again every 50 ms. A thread waits only
//! when its buffer is full.
//!
//! At the end (`exit`, a fatal signal) everything is written out by whoever ends the program.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::buffer::Buffer;
use super::{sys, thread};
use crate::say::say_once;

static FILE: OnceLock<File> = OnceLock::new();

/// The thread that writes, or 0.
static HOLDER: AtomicUsize = AtomicUsize::new(0);
/// Somebody left lines to the holder.
static LEFT: AtomicBool = AtomicBool::new(false);
/// Lines are not held back: the program is ending, or there is no thread to look after them.
static AT_ONCE: AtomicBool = AtomicBool::new(false);
/// The last write broke off within a line.
static BROKEN_OFF: AtomicBool = AtomicBool::new(false);
/// The output refused lines.
static LOST: AtomicBool = AtomicBool::new(false);

/// How often held-back lines are looked for: half of what is promised, since a look takes time.
pub(super) const INTERVAL: Duration = Duration::from_millis(50);

/// How long the end of the program waits for a writer that does not finish.
const PATIENCE: u64 = 10_000_000_000;

/// How long a program that was asked to end goes on for the sake of its lines.
#[cfg(unix)]
const GRACE: u64 = 1_000_000_000;

/// When that is over; 0 if it was not asked.
static DEADLINE: AtomicU64 = AtomicU64::new(0);

/// So much a pipe takes without blocking if it takes anything.
const AT_ONCE_BYTES: usize = 4096;

/// Opens the output: the file at `path`, or standard error where that fails, or is not asked for.
pub(super) fn open(path: Option<&Path>) -> Option<&'static File> {
    if FILE.get().is_none() {
        let file = path.and_then(create).or_else(sys::standard_error)?;
        let _ = FILE.set(file);
    }
    FILE.get()
}

fn create(path: &Path) -> Option<File> {
    // Appending keeps the lines of a forked child apart from ours. Devices are what they are.
    let is_device = path.starts_with("/dev") || path.starts_with("/proc");
    let opened = OpenOptions::new().append(true).create(true).open(path).and_then(|file| {
        if !is_device && file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        Ok(file)
    });
    opened
        .inspect_err(|error| {
            say_once!("ZONECAST_FILE={}: {error}; writing to standard error", path.display());
        })
        .ok()
}

/// The right to write. There is one at a time.
pub(super) struct Held {
    /// Another one of this thread's is given back later: a signal came while it wrote.
    is_nested: bool,
}

/// Takes the right to write, if nobody has it.
#[inline]
fn try_hold() -> Option<Held> {
    let taken = HOLDER.compare_exchange(0, thread::token(), Ordering::SeqCst, Ordering::Relaxed);
    // Made only if it is taken: dropping one gives the right back.
    taken.is_ok().then(|| Held { is_nested: false })
}

/// Takes the right to write; waits for it, but not forever when the program is ending.
pub(super) fn hold() -> Held {
    hold_for(if AT_ONCE.load(Ordering::Relaxed) { PATIENCE } else { u64::MAX })
}

/// Takes the right to write; waits for it `patience` nanoseconds and then takes it all the same.
fn hold_for(patience: u64) -> Held {
    let mut since = None;
    loop {
        if let Some(held) = try_hold() {
            return held;
        }
        if HOLDER.load(Ordering::Relaxed) == thread::token() {
            return Held { is_nested: true };
        }
        let now = sys::monotonic_ns();
        if now - *since.get_or_insert(now) > patience || is_too_late(now) {
            return Held { is_nested: true };
        }
        sys::nap();
    }
}

fn is_too_late(now: u64) -> bool {
    let deadline = DEADLINE.load(Ordering::Relaxed);
    deadline != 0 && now > deadline
}

/// The program was asked to end: from now on, nothing blocks for long. Safe in a signal handler.
#[cfg(unix)]
pub(super) fn end_soon() {
    DEADLINE.store(sys::monotonic_ns() + GRACE, Ordering::Relaxed);
}

impl Held {
    /// Writes out the whole lines of a buffer.
    pub(super) fn write_out(&self, buffer: &Buffer) {
        write(|| buffer.pending(), |written| buffer.advance(written));
    }

    /// Writes out whole lines.
    pub(super) fn write(&self, mut lines: &[u8]) {
        let lines = core::cell::Cell::new(core::mem::take(&mut lines));
        write(|| lines.get(), |written| lines.set(&lines.get()[written..]));
    }

    /// Writes out the whole lines of all threads.
    fn write_out_all(&self) {
        thread::all().for_each(|thread| self.write_out(thread.buffer()));
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        if !self.is_nested {
            HOLDER.store(0, Ordering::SeqCst);
        }
    }
}

/// Writes what `rest` has until it has none, and tells `advance` of every step, so that a signal
/// handler finds nothing twice. What the output refuses is dropped: tracing must not stop a program.
fn write<'a>(rest: impl Fn() -> &'a [u8], advance: impl Fn(usize)) {
    let Some(mut file) = FILE.get() else { return };
    let mut is_within_line = false;
    loop {
        let lines = rest();
        if lines.is_empty() {
            return;
        }
        if BROKEN_OFF.swap(false, Ordering::Relaxed) {
            let _ = file.write(b"\n");
        }
        match write_some(file, lines) {
            Ok(written @ 1..) => {
                is_within_line = lines[written - 1] != b'\n';
                advance(written);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                sys::is_writable(file, 100);
            }
            _ => {
                BROKEN_OFF.store(is_within_line, Ordering::Relaxed);
                LOST.store(true, Ordering::Relaxed);
                advance(lines.len());
            }
        }
    }
}

fn write_some(mut file: &File, lines: &[u8]) -> std::io::Result<usize> {
    if DEADLINE.load(Ordering::Relaxed) == 0 {
        return file.write(lines);
    }
    while !sys::is_writable(file, 100) {
        if is_too_late(sys::monotonic_ns()) {
            return Err(ErrorKind::TimedOut.into());
        }
    }
    file.write(&lines[..lines.len().min(AT_ONCE_BYTES)])
}

/// Lines of this thread's can go out now. Does not wait.
#[inline]
pub(super) fn flush(own: &Buffer) {
    if own.is_pending() {
        flush_pending(own);
    }
}

#[inline(never)]
fn flush_pending(own: &Buffer) {
    take_turn(|held| {
        held.write_out(own);
        own.reset();
    });
}

/// Writes what `mine` is and what others leave meanwhile. Leaves it all to another writer if there
/// is one.
fn take_turn(mine: impl Fn(&Held)) {
    // Twice: for lines left while the first turn ended. Any later ones have to wait for the next
    // writer, or else one thread could be kept writing for others forever.
    for _ in 0..2 {
        let Some(held) = try_hold().or_else(|| {
            LEFT.store(true, Ordering::SeqCst);
            // The holder may have stopped looking just before.
            try_hold()
        }) else {
            return;
        };
        mine(&held);
        if LEFT.swap(false, Ordering::SeqCst) {
            held.write_out_all();
        }
        drop(held);
        if !LEFT.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// After each line: lets it go now if nothing is held back any more.
#[inline]
pub(super) fn line_done(own: &Buffer) {
    if AT_ONCE.load(Ordering::Relaxed) {
        flush(own);
    }
}

/// Writes out the lines of all threads. Waits for another writer.
pub(super) fn flush_all() {
    hold().write_out_all();
}

/// As [`flush_all`], but waits no longer than is safe in a signal handler.
#[cfg(unix)]
pub(super) fn flush_all_in_signal() {
    if thread::all().any(|thread| thread.buffer().is_pending()) {
        hold_for(PATIENCE).write_out_all();
    }
}

/// From now on lines go out at once: the program ends, or nobody looks after them.
pub(super) fn hold_nothing_back() {
    AT_ONCE.store(true, Ordering::Relaxed);
}

/// The program ends: writes out the lines of all threads and `last`. Safe in a signal handler.
pub(super) fn flush_at_end(last: impl FnOnce(&Held)) {
    hold_nothing_back();
    let held = hold();
    held.write_out_all();
    last(&held);
}

/// Starts the thread that looks after lines held back.
pub(super) fn start_keeper() {
    let keeper = std::thread::Builder::new().name("zonecast".into()).stack_size(64 * 1024);
    let started = super::crash::without_signals(|| keeper.spawn(keep));
    if started.is_err() {
        hold_nothing_back();
    }
}

fn keep() {
    thread::ignore_this();
    loop {
        std::thread::sleep(INTERVAL);
        if thread::all().any(|thread| thread.buffer().is_pending()) {
            take_turn(Held::write_out_all);
        }
        say_if_lost();
    }
}

/// Says that the output refused lines. Not for a signal handler.
pub(super) fn say_if_lost() {
    if LOST.load(Ordering::Relaxed) {
        say_once!("the output takes no more; lines are lost (is the disk full, or the reader gone?)");
    }
}

/// In a forked child: no other thread is left, and the parent writes what it held back.
#[cfg(unix)]
pub(super) fn forked() {
    HOLDER.store(0, Ordering::SeqCst);
    LEFT.store(false, Ordering::SeqCst);
    thread::all().for_each(|thread| thread.buffer().reset());
}
