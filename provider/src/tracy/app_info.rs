//! Lines of application info, on demand: each connection gets each line once. See `shim/app_info.cpp`.
//!
//! A line that is given while a profiler is connected has to be looked at again, until it is in the list that
//! Tracy's client sends to each profiler. Until then every thread takes the way that is taken at a block's end,
//! with every event, and looks.

use core::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::shim::{self, Line, Queue};
use super::{text, thread};

/// Those that are not in the client's list yet.
static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());
static ARE_LEFT: AtomicBool = AtomicBool::new(false);

/// Adds a line, which is cut. `queue` is this thread's.
pub(super) fn add(line: &str, queue: *mut Queue) {
    // SAFETY: the bytes are as many as told.
    let copy = unsafe { shim::zonecast_tracy_copy(text::bytes(line), line.len()) };
    if copy.is_null() {
        return;
    }
    let mut line = Line::new(copy, line.len());
    let mut lines = LINES.lock();
    if !settle(&mut line, queue) {
        lines.push(line);
        // Before threads are interrupted: see `thread::enter`.
        ARE_LEFT.store(true, Ordering::SeqCst);
        thread::interrupt();
    }
}

/// Looks again at the lines that are left. Returns whether some still are.
#[inline(always)]
pub(super) fn look_again(queue: *mut Queue) -> bool {
    ARE_LEFT.load(Ordering::SeqCst) && settle_all(queue)
}

#[cold]
fn settle_all(queue: *mut Queue) -> bool {
    // Another thread is at it, or this one: an allocator may be traced.
    let Some(mut lines) = LINES.try_lock() else { return true };
    lines.retain_mut(|line| !settle(line, queue));
    ARE_LEFT.store(!lines.is_empty(), Ordering::SeqCst);
    !lines.is_empty()
}

fn settle(line: &mut Line, queue: *mut Queue) -> bool {
    // SAFETY: callers are threads that record, so the client is up, and pass their own queue.
    unsafe { shim::zonecast_tracy_settle_od1(shim::PROFILER(), queue, line) }
}
