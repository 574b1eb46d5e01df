//! The lines of one thread that are on their way out.
//!
//! Only the thread itself appends; it publishes a line by moving `whole` behind it. Whoever holds
//! the output (see [`output`]) may write out what lies between `written` and `whole`.
//! So a line is either not there yet or there to its end, also for a signal handler.

use core::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::output;
use super::pen::Pen;

/// How much a thread holds back at most. Reaching it costs a write.
pub(super) const CAPACITY: usize = 64 * 1024;

pub(super) struct Buffer {
    bytes: Box<[UnsafeCell<u8>]>,
    /// Up to here there are whole lines. Moved on by the thread, back to 0 by the thread while it
    /// holds the output.
    whole: AtomicUsize,
    /// Up to here they are written. Moved by whoever holds the output.
    written: AtomicUsize,
}

// SAFETY: bytes before `whole` are only read, those behind it are touched by the owning thread
// alone; `whole` is stored with Release and loaded with Acquire.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub(super) fn new() -> Self {
        // The system hands out zeroes without touching them.
        let bytes = Box::into_raw(vec![0_u8; CAPACITY].into_boxed_slice());
        // SAFETY: a cell of a byte is laid out as the byte.
        let bytes = unsafe { Box::from_raw(bytes as *mut [UnsafeCell<u8>]) };
        Self { bytes, whole: AtomicUsize::new(0), written: AtomicUsize::new(0) }
    }

    /// Appends a line, or several that belong together, of at most `room` bytes.
    ///
    /// # Safety
    ///
    /// Only the owning thread may call this, and not from within `write`.
    #[inline]
    pub(super) unsafe fn line(&self, room: usize, mut write: impl FnMut(&mut Pen)) {
        let whole = self.whole.load(Ordering::Relaxed);
        if room > CAPACITY - whole {
            // SAFETY: the caller's promise.
            return unsafe { self.line_when_full(room, &mut write) };
        }
        // SAFETY: `room` bytes lie before the end. Behind `whole` they are this thread's own (the
        // caller's promise), until the store below.
        let mut pen = unsafe { Pen::new(self.at(whole), room) };
        write(&mut pen);
        self.whole.store(whole + pen.len(), Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    unsafe fn line_when_full(&self, room: usize, write: &mut dyn FnMut(&mut Pen)) {
        let held = output::hold();
        held.write_out(self);
        self.reset();
        if room <= CAPACITY {
            drop(held);
            // SAFETY: the caller's promise; there is room now.
            return unsafe { self.line(room, write) };
        }
        let mut bytes = Vec::with_capacity(room);
        // SAFETY: the vector has that room, and nobody else knows it.
        let mut pen = unsafe { Pen::new(bytes.as_mut_ptr(), room) };
        write(&mut pen);
        // SAFETY: the pen wrote so many bytes from the vector's beginning.
        unsafe { bytes.set_len(pen.len()) };
        held.write(&bytes);
    }

    /// Forgets the lines that were written out. Only for the owning thread, while it holds the
    /// output and has written everything out.
    pub(super) fn reset(&self) {
        self.written.store(0, Ordering::Relaxed);
        self.whole.store(0, Ordering::Release);
    }

    /// Whether there are lines that are not written yet.
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.whole.load(Ordering::Acquire) > self.written.load(Ordering::Relaxed)
    }

    /// The whole lines not written yet. Only for whoever holds the output.
    pub(super) fn pending(&self) -> &[u8] {
        let whole = self.whole.load(Ordering::Acquire);
        let written = self.written.load(Ordering::Relaxed).min(whole);
        // SAFETY: bytes before `whole` do not change until `reset`, which only happens to a holder
        // of the output; there is one at a time.
        unsafe { core::slice::from_raw_parts(self.at(written), whole - written) }
    }

    /// So many bytes of [`pending`](Self::pending) are written.
    pub(super) fn advance(&self, bytes: usize) {
        self.written.store(self.written.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
    }

    #[inline]
    fn at(&self, offset: usize) -> *mut u8 {
        UnsafeCell::raw_get(self.bytes.as_ptr().wrapping_add(offset)).cast()
    }
}
