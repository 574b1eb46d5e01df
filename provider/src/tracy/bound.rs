//! How much may wait for a profiler.
//!
//! Tracing from the first event on, a client keeps everything until a profiler fetches it, for as
//! long as the program runs. Here that has a bound: 256 MiB, or what
//! [`limit_memory`](crate::limit_memory) or the environment variable `ZONECAST_MEMORY` (in MiB)
//! says. Past it zones are dropped whole, counted, and the count is a message in the trace.
//!
//! It costs nothing where it matters. A thread's queue is looked at when a block of it is full (see
//! `thread`), and what is allocated beside queues is granted in chunks.
//!
//! The bound holds for what was recorded plus what every recording thread may still fill of its
//! block of 2 MiB, but for the latter half of the bound at most: else the threads of a large machine
//! would find no room before anything was recorded.
//!
//! Once a profiler has connected there is no bound. Where it has gone again, Tracy throws away what
//! comes.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::shim::{self, Queue};
use super::{calls, linked};
use crate::say::say;

const DEFAULT: usize = 256 << 20;
/// What an event takes in a thread's queue, and a block of the queue, in bytes.
const ITEM: usize = 32;
const BLOCK: usize = 65_536 * ITEM;
/// The least that is granted beside queues at a time, in bytes.
const CHUNK: usize = 64 << 10;

const UNSET: usize = usize::MAX;
static LIMIT: AtomicUsize = AtomicUsize::new(UNSET);
static GRANTED: AtomicUsize = AtomicUsize::new(0);
static THREADS: AtomicUsize = AtomicUsize::new(0);
static IS_OFF: AtomicBool = AtomicBool::new(linked::ON_DEMAND);
static PAIRS_HAVE_ENDED: AtomicBool = AtomicBool::new(false);

/// The bound in bytes.
pub(super) fn limit() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        UNSET => {
            // Whoever sets it first: a call has the last word.
            let _ = LIMIT.compare_exchange(UNSET, from_environment(), Ordering::Relaxed, Ordering::Relaxed);
            LIMIT.load(Ordering::Relaxed)
        }
        limit => limit,
    }
}

pub(super) fn set_limit(bytes: usize) {
    LIMIT.store(bytes.min(UNSET - 1), Ordering::Relaxed);
}

fn from_environment() -> usize {
    let Ok(wanted) = std::env::var("ZONECAST_MEMORY") else { return DEFAULT };
    match wanted.trim().parse::<usize>().ok().and_then(|mib| mib.checked_mul(1 << 20)) {
        Some(bytes) => bytes.min(UNSET - 1),
        None => {
            say!("ZONECAST_MEMORY={wanted} is no number of MiB; using {}", DEFAULT >> 20);
            DEFAULT
        }
    }
}

/// Whether events are being fetched, or thrown away, so that no bound is needed. `queue` is this
/// thread's.
pub(super) fn is_off(queue: *const Queue) -> bool {
    if IS_OFF.load(Ordering::Relaxed) {
        return true;
    }
    // SAFETY: Tracy keeps the queues of threads that have not ended.
    let is_off = calls::is_connected() || unsafe { shim::zonecast_tracy_was_taken_from(queue) };
    if is_off {
        IS_OFF.store(true, Ordering::Relaxed);
    }
    is_off
}

/// Whether this thread may fill another block.
pub(super) fn has_room() -> bool {
    let limit = limit();
    // With fibers, threads have no blocks.
    let blocks = if linked::FIBERS { 0 } else { THREADS.load(Ordering::Relaxed) };
    let to_be_filled = blocks.saturating_mul(BLOCK).min(limit / 2);
    let waiting = shim::zonecast_tracy_all_waiting().saturating_mul(ITEM);
    waiting.saturating_add(to_be_filled).saturating_add(GRANTED.load(Ordering::Relaxed)) <= limit
}

/// Grants `bytes` or more beside queues, if there is room.
pub(super) fn grant(bytes: usize) -> Option<usize> {
    let chunk = bytes.max(CHUNK);
    GRANTED.fetch_add(chunk, Ordering::Relaxed);
    if has_room() {
        return Some(chunk);
    }
    take_back(chunk);
    None
}

/// Takes back what was granted and not used.
pub(super) fn take_back(bytes: usize) {
    if !IS_OFF.load(Ordering::Relaxed) {
        GRANTED.fetch_sub(bytes, Ordering::Relaxed);
    }
}

pub(super) fn thread_begins() {
    THREADS.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn thread_ends() {
    THREADS.fetch_sub(1, Ordering::Relaxed);
}

/// Whether one of the events was dropped that make sense only together.
#[inline(always)]
pub(super) fn pairs_have_ended() -> bool {
    !linked::ON_DEMAND && PAIRS_HAVE_ENDED.load(Ordering::Relaxed)
}

#[cold]
pub(super) fn end_pairs() {
    PAIRS_HAVE_ENDED.store(true, Ordering::Relaxed);
}
