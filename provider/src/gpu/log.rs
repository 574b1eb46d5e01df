//! The zones of one stream, on their way from the program's thread to the collector.
//!
//! The program's thread appends an entry when a zone begins and completes it when the zone ends. Once
//! an outermost zone has ended, all its entries are published by one store; up to there nobody else
//! looks at them. So entries lie in nesting order, and a tree is there whole or not at all.
//!
//! Entries lie in chunks, and a chunk keeps the events of its entries: a chunk that comes back is ready
//! for use, and nothing is allocated any more. The only lock is around the chunks that came back,
//! and the program's thread only tries it.

use core::cell::{Cell, UnsafeCell};
use core::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use crate::Location;

use super::host::Halves;
use super::{Device, Event};

/// How many zones a chunk holds.
pub(super) const CHUNK: usize = 512;

/// One zone.
pub(super) struct Entry {
    pub(super) location: Option<&'static Location>,
    /// The name, where the location is shared by too many.
    pub(super) name: Option<Box<str>>,
    pub(super) begin: Event,
    pub(super) end: Event,
    pub(super) launched: Halves,
    pub(super) launched_end: Halves,
    /// The number of the last zone within it, or its own.
    pub(super) last: u64,
    /// Of a zone in a graph: how many of the graph's zones it lies in.
    pub(super) depth: u32,
    /// Its end could not be recorded.
    pub(super) broken: bool,
    /// The number of the zone, from 1: its place in the log.
    pub(super) number: u64,
    pub(super) parent: *mut Entry,
}

impl Entry {
    pub(super) const fn new() -> Self {
        Self {
            location: None,
            name: None,
            begin: Event::NONE,
            end: Event::NONE,
            launched: Halves::new(0),
            launched_end: Halves::new(0),
            last: 0,
            depth: 0,
            broken: false,
            number: 0,
            parent: ptr::null_mut(),
        }
    }

    /// How many entries it and the zones within it have.
    pub(super) const fn span(&self) -> u32 {
        (self.last - self.number + 1) as u32
    }
}

pub(super) struct Chunk {
    entries: [UnsafeCell<Entry>; CHUNK],
    next: AtomicPtr<Chunk>,
    /// So many entries have their events. The writer's.
    ready: Cell<usize>,
}

impl Chunk {
    fn new() -> Box<Self> {
        let entries = [const { UnsafeCell::new(Entry::new()) }; CHUNK];
        Box::new(Self { entries, next: AtomicPtr::new(ptr::null_mut()), ready: Cell::new(0) })
    }

    /// Destroys the events of a chunk that nobody uses.
    fn destroy(mut self: Box<Self>, device: &dyn Device) {
        for entry in &mut self.entries {
            let entry = entry.get_mut();
            for event in [entry.begin, entry.end] {
                if !event.is_none() {
                    // SAFETY: the event is this device's, and goes with its only owner.
                    unsafe { device.destroy_event(event) };
                }
            }
        }
    }
}

/// What both sides share.
pub(super) struct Log {
    /// How many entries are published.
    published: AtomicU64,
    /// How many entries the collector is done with.
    consumed: AtomicU64,
    spare: Mutex<Vec<Box<Chunk>>>,
    first: AtomicPtr<Chunk>,
    /// The program's side is gone.
    pub(super) closed: AtomicBool,
}

// SAFETY: chunks are reached by the two sides under the rules of `Writer` and `Reader`: an entry is
// the writer's until published (Release, read with Acquire), then the reader's until its chunk comes
// back through the mutex.
unsafe impl Sync for Log {}
// SAFETY: as above.
unsafe impl Send for Log {}

impl Log {
    pub(super) fn new() -> Self {
        Self {
            published: AtomicU64::new(0),
            consumed: AtomicU64::new(0),
            spare: Mutex::new(Vec::new()),
            first: AtomicPtr::new(Box::into_raw(Chunk::new())),
            closed: AtomicBool::new(false),
        }
    }

    /// How many entries are published and not done with.
    pub(super) fn in_flight(&self) -> u64 {
        self.published.load(Ordering::Acquire).saturating_sub(self.consumed.load(Ordering::Acquire))
    }
}

/// The program's side. There is one for a log.
pub(super) struct Writer {
    /// The place of the next entry.
    next: Cell<*mut Entry>,
    /// Up to here entries can be used without looking further: they have events, are within the chunk, and
    /// not too many are in flight.
    end: Cell<*mut Entry>,
    appended: Cell<u64>,
    chunk: Cell<*mut Chunk>,
}

/// Why there is no next entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum Full {
    Limit,
    NoEvents,
}

impl Writer {
    /// One without a log: there is never a next entry.
    pub(super) const fn none() -> Self {
        Self {
            next: Cell::new(ptr::null_mut()),
            end: Cell::new(ptr::null_mut()),
            appended: Cell::new(0),
            chunk: Cell::new(ptr::null_mut()),
        }
    }

    pub(super) fn new(log: &Log) -> Self {
        let writer = Self::none();
        writer.enter(log.first.load(Ordering::Relaxed));
        writer
    }

    fn enter(&self, chunk: *mut Chunk) {
        self.chunk.set(chunk);
        self.next.set(Self::first(chunk));
        self.end.set(Self::first(chunk));
    }

    fn first(chunk: *mut Chunk) -> *mut Entry {
        // SAFETY: the chunk is alive; only an address is taken.
        UnsafeCell::raw_get(unsafe { &raw const (*chunk).entries }.cast::<UnsafeCell<Entry>>())
    }

    /// The place of the next entry, if [`refill`](Self::refill) need not be asked. It is the writer's,
    /// and stays where it is until it is published.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<*mut Entry> {
        let next = self.next.get();
        (next != self.end.get()).then_some(next)
    }

    /// The entry got by [`next`](Self::next) is used. Returns its number.
    #[inline(always)]
    pub(super) fn advance(&self) -> u64 {
        self.next.set(self.next.get().wrapping_add(1));
        self.appended.set(self.appended.get() + 1);
        self.appended.get()
    }

    /// How many entries were appended; the number of the last one.
    #[inline(always)]
    pub(super) fn appended(&self) -> u64 {
        self.appended.get()
    }

    /// Sees to a next entry: in a chunk that follows, with events, and if not `limit` are in flight.
    pub(super) fn refill(
        &self,
        log: &Log,
        limit: u64,
        make_events: impl FnOnce(&mut Entry) -> bool,
    ) -> Result<*mut Entry, Full> {
        let in_flight = self.appended.get() - log.consumed.load(Ordering::Acquire);
        let room = limit.checked_sub(in_flight).filter(|room| *room > 0).ok_or(Full::Limit)?;
        if self.place() == CHUNK {
            self.next_chunk(log);
        }
        let (place, next) = (self.place(), self.next.get());
        // SAFETY: the chunk is alive: the reader passes it only once its last entry is published.
        let ready = unsafe { &(*self.chunk.get()).ready };
        if place >= ready.get() {
            // SAFETY: the entry is the writer's until it is published, and nobody else refers to it.
            if !make_events(unsafe { &mut *next }) {
                return Err(Full::NoEvents);
            }
            ready.set(place + 1);
        }
        let usable = (ready.get() - place).min(usize::try_from(room).unwrap_or(CHUNK));
        self.end.set(next.wrapping_add(usable));
        Ok(next)
    }

    /// Which of its chunk's entries is next.
    fn place(&self) -> usize {
        (self.next.get().addr() - Self::first(self.chunk.get()).addr()) / size_of::<Entry>()
    }

    fn next_chunk(&self, log: &Log) {
        let spare = log.spare.try_lock().ok().and_then(|mut spare| spare.pop());
        let chunk = Box::into_raw(spare.unwrap_or_else(Chunk::new));
        // SAFETY: the new chunk is ours; the old one lives until the reader has passed it, which it does
        // only once this pointer leads on. Release: the reader follows it and finds the chunk made.
        unsafe {
            (*chunk).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*self.chunk.get()).next.store(chunk, Ordering::Release);
        }
        self.enter(chunk);
    }

    /// Hands all entries so far to the reader.
    #[inline(always)]
    pub(super) fn publish(&self, log: &Log) {
        log.published.store(self.appended.get(), Ordering::Release);
    }
}

/// The collector's side. There is one for a log.
pub(super) struct Reader {
    /// Where the oldest entry that is not done with lies.
    chunk: *mut Chunk,
    index: usize,
    consumed: u64,
    /// How far [`peek`](Self::peek) has got beyond it.
    ahead: (*mut Chunk, usize, u64),
}

// SAFETY: the pointers are the log's, which the reader reaches under the log's rules from any one thread.
unsafe impl Send for Reader {}

impl Reader {
    pub(super) fn new(log: &Log) -> Self {
        let chunk = log.first.load(Ordering::Relaxed);
        Self { chunk, index: 0, consumed: 0, ahead: (chunk, 0, 0) }
    }

    /// The next tree that [`pass`](Self::pass) has not gone over: its outermost entry.
    pub(super) fn peek(&mut self, log: &Log) -> Option<&Entry> {
        let published = log.published.load(Ordering::Acquire);
        if self.ahead.2 == published {
            return None;
        }
        Self::step(&mut self.ahead.0, &mut self.ahead.1);
        // SAFETY: the entry is published and not consumed, so it is the reader's.
        Some(unsafe { &*(*self.ahead.0).entries[self.ahead.1].get() })
    }

    /// The outermost entry of the tree after the one that [`peek`](Self::peek) shows.
    pub(super) fn peek_second(&self, log: &Log, first: u32) -> Option<&Entry> {
        let published = log.published.load(Ordering::Acquire);
        if self.ahead.2 + u64::from(first) >= published {
            return None;
        }
        let (mut chunk, mut index) = (self.ahead.0, self.ahead.1);
        Self::skip(&mut chunk, &mut index, first);
        // SAFETY: as in `peek`.
        Some(unsafe { &*(*chunk).entries[index].get() })
    }

    /// Goes over the tree that [`peek`](Self::peek) shows.
    pub(super) fn pass(&mut self, tree: u32) {
        let (chunk, index, count) = &mut self.ahead;
        *count += u64::from(tree);
        *index += tree as usize;
        while *index > CHUNK {
            *index -= CHUNK;
            // SAFETY: the tree is published whole, so the chunks that it lies in are linked.
            *chunk = unsafe { (**chunk).next.load(Ordering::Acquire) };
        }
    }

    fn skip(chunk: &mut *mut Chunk, index: &mut usize, entries: u32) {
        *index += entries as usize;
        while *index >= CHUNK {
            *index -= CHUNK;
            // SAFETY: only called where a published entry follows, so the chunk is linked.
            *chunk = unsafe { (**chunk).next.load(Ordering::Acquire) };
        }
    }

    fn step(chunk: &mut *mut Chunk, index: &mut usize) {
        Self::skip(chunk, index, 0);
    }

    /// The entries of the oldest tree, which was passed.
    pub(super) fn tree(&self, entries: u32) -> impl Iterator<Item = &Entry> {
        let (mut chunk, mut index) = (self.chunk, self.index);
        (0..entries).map(move |_| {
            Self::step(&mut chunk, &mut index);
            // SAFETY: as in `peek`.
            let entry = unsafe { &*(*chunk).entries[index].get() };
            index += 1;
            entry
        })
    }

    /// Is done with the oldest tree: its entries, and chunks behind them, go back.
    pub(super) fn consume(&mut self, log: &Log, entries: u32) {
        for _ in 0..entries {
            if self.index == CHUNK {
                // SAFETY: an entry follows, so the next chunk is linked; all of this one are consumed,
                // and the writer has left it.
                let passed = unsafe { Box::from_raw(self.chunk) };
                self.chunk = passed.next.load(Ordering::Acquire);
                self.index = 0;
                log.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(passed);
            }
            // SAFETY: as in `peek`; nobody holds a reference to it any more.
            let entry = unsafe { &mut *(*self.chunk).entries[self.index].get() };
            (entry.name, entry.broken) = (None, false);
            self.index += 1;
        }
        self.consumed += u64::from(entries);
        // What was passed is at least what was consumed; the chunk it lay in may be gone.
        if self.ahead.2 == self.consumed {
            (self.ahead.0, self.ahead.1) = (self.chunk, self.index);
        }
        log.consumed.store(self.consumed, Ordering::Release);
    }

    /// Destroys what is spare beyond `keep` chunks.
    pub(super) fn shrink(&self, log: &Log, keep: usize, device: &dyn Device) {
        let mut surplus = {
            let mut spare = log.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let keep = keep.min(spare.len());
            spare.split_off(keep)
        };
        surplus.drain(..).for_each(|chunk| chunk.destroy(device));
    }

    /// Destroys everything; with no device, frees the memory and leaves the events. The program's side
    /// is gone.
    pub(super) fn destroy(mut self, log: &Log, device: Option<&dyn Device>) {
        debug_assert!(log.closed.load(Ordering::Acquire));
        let spare =
            core::mem::take(&mut *log.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let destroy = |chunk: Box<Chunk>| {
            if let Some(device) = device {
                chunk.destroy(device);
            }
        };
        spare.into_iter().for_each(destroy);
        while !self.chunk.is_null() {
            // SAFETY: nobody else reaches the chunks any more; each is owned by the link to it.
            let chunk = unsafe { Box::from_raw(self.chunk) };
            self.chunk = chunk.next.load(Ordering::Acquire);
            destroy(chunk);
        }
    }
}
