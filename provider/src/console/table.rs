//! A thread's own table: the fragment of each location, name and lock that it has met.
//!
//! Only the thread itself adds to the table; others read it for the summary, also in a signal
//! handler.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

use super::fragment::{Fragment, Kind};

/// What is looked up: an address and what is counted of it. Never 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    /// The key of something that stays at its address.
    #[inline(always)]
    pub(super) fn new<T: ?Sized>(kind: Kind, at: &'static T) -> Self {
        // No system of ours has addresses of more than 57 bits.
        Self((core::ptr::from_ref(at).addr() as u64) << 4 | kind as u64)
    }
}

impl Key {
    /// Where to look first.
    #[inline(always)]
    const fn hash(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
    }
}

/// One row.
#[repr(align(32))]
pub(super) struct Entry {
    key: AtomicU64,
    /// The fragment's number.
    index: AtomicUsize,
    fragment: AtomicPtr<Fragment>,
    /// When it last came by, where the time between is what is counted.
    pub(super) last: AtomicU64,
}

impl Entry {
    const fn new() -> Self {
        Self {
            key: AtomicU64::new(0),
            index: AtomicUsize::new(0),
            fragment: AtomicPtr::new(core::ptr::null_mut()),
            last: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(super) fn fragment(&self) -> Option<&'static Fragment> {
        // SAFETY: the pointer is null or came from a `&'static Fragment` (see `Rows::place`).
        unsafe { self.fragment.load(Acquire).as_ref() }
    }

    /// The fragment's number.
    #[inline(always)]
    pub(super) fn index(&self) -> usize {
        self.index.load(Relaxed)
    }
}

struct Rows {
    entries: Box<[Entry]>,
    used: AtomicUsize,
    /// What this one replaced. It is kept, since somebody may be reading it; all of them together
    /// are no larger than this one.
    _before: Option<Box<Rows>>,
}

pub(super) struct Table(AtomicPtr<Rows>);

impl Table {
    pub(super) fn new() -> Self {
        Self(AtomicPtr::new(Box::into_raw(Rows::new(64, None))))
    }

    #[inline(always)]
    fn rows(&self) -> &Rows {
        // SAFETY: the pointer came from a box that is kept as long as the table, which is never
        // dropped before its borrows end.
        unsafe { &*self.0.load(Acquire) }
    }

    /// The row of `key`, if it is the first one looked at.
    #[inline(always)]
    pub(super) fn find_at_once(&self, key: Key) -> Option<&Entry> {
        let entry = self.rows().at(key.hash());
        (entry.key.load(Relaxed) == key.0).then_some(entry)
    }

    /// The row of `key`, if there is one.
    #[inline]
    pub(super) fn find(&self, key: Key) -> Option<&Entry> {
        self.rows().find(key).ok()
    }

    /// Adds a row. Only for the owning thread.
    #[cold]
    #[inline(never)]
    pub(super) fn add(&self, key: Key, fragment: &'static Fragment) -> &Entry {
        let rows = self.rows();
        if 2 * rows.used.load(Relaxed) >= rows.entries.len() {
            self.grow();
        }
        self.rows().place(key, fragment)
    }

    fn grow(&self) {
        let before = self.0.load(Relaxed);
        // SAFETY: as in `rows`. The box moves into its successor, but its content stays where it is.
        let before = unsafe { Box::from_raw(before) };
        let mut rows = Rows::new(2 * before.entries.len(), None);
        for entry in &before.entries {
            if let Some(fragment) = entry.fragment() {
                let moved = rows.place(Key(entry.key.load(Relaxed)), fragment);
                moved.last.store(entry.last.load(Relaxed), Relaxed);
            }
        }
        rows._before = Some(before);
        self.0.store(Box::into_raw(rows), Release);
    }

    /// All fragments in it.
    pub(super) fn fragments(&self) -> impl Iterator<Item = &'static Fragment> {
        self.rows().entries.iter().filter_map(Entry::fragment)
    }
}

impl Rows {
    /// `length` is a power of two.
    fn new(length: usize, before: Option<Box<Self>>) -> Box<Self> {
        assert!(length.is_power_of_two());
        let entries = (0..length).map(|_| Entry::new()).collect();
        Box::new(Self { entries, used: AtomicUsize::new(0), _before: before })
    }

    /// The row at a place, counted on from the first one after the last.
    #[inline(always)]
    fn at(&self, place: usize) -> &Entry {
        // SAFETY: there is at least one entry, and their number is a power of two (see `new`), so
        // that the mask leaves less than that.
        unsafe { self.entries.get_unchecked(place & (self.entries.len() - 1)) }
    }

    /// The row of `key`, or where it would be. There always is an empty one.
    #[inline]
    fn find(&self, key: Key) -> Result<&Entry, &Entry> {
        let mut place = key.hash();
        loop {
            let entry = self.at(place);
            match entry.key.load(Relaxed) {
                found if found == key.0 => return Ok(entry),
                0 => return Err(entry),
                _ => place = place.wrapping_add(1),
            }
        }
    }

    fn place(&self, key: Key, fragment: &'static Fragment) -> &Entry {
        match self.find(key) {
            Ok(entry) => entry,
            Err(entry) => {
                self.used.store(self.used.load(Relaxed) + 1, Relaxed);
                entry.index.store(fragment.index, Relaxed);
                entry.fragment.store(core::ptr::from_ref(fragment).cast_mut(), Release);
                entry.key.store(key.0, Relaxed);
                entry
            }
        }
    }
}
