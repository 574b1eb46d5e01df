//! What a thread has counted of each fragment: how often, how long, how much.
//!
//! Only the thread itself counts; others read for the summary, also in a signal handler.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};

/// How often something was seen, and its sum, least and greatest. The numbers of plots are floats,
/// all others are integers.
pub(super) struct Counts {
    count: AtomicU64,
    sum: AtomicU64,
    min: AtomicU64,
    max: AtomicU64,
}

/// A moment's copy of [`Counts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) sum: u64,
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Tally {
    /// Nothing was seen yet, and so anything is less than the least.
    const NOTHING: Self = Self { count: 0, sum: 0, min: u64::MAX, max: 0 };
}

impl Counts {
    const fn new(tally: Tally) -> Self {
        Self {
            count: AtomicU64::new(tally.count),
            sum: AtomicU64::new(tally.sum),
            min: AtomicU64::new(tally.min),
            max: AtomicU64::new(tally.max),
        }
    }

    /// Counts a number. Only for the owning thread: this is no atomic change.
    #[inline(always)]
    pub(super) fn add(&self, number: u64) {
        if number < self.min.load(Relaxed) {
            self.min.store(number, Relaxed);
        }
        if number > self.max.load(Relaxed) {
            self.max.store(number, Relaxed);
        }
        self.sum.store(self.sum.load(Relaxed).wrapping_add(number), Relaxed);
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
    }

    /// Counts a float. Only for the owning thread.
    pub(super) fn add_float(&self, number: f64) {
        let count = self.count.load(Relaxed);
        let of = |cell: &AtomicU64| f64::from_bits(cell.load(Relaxed));
        let (min, max) = if count == 0 { (number, number) } else { (of(&self.min), of(&self.max)) };
        self.min.store(min.min(number).to_bits(), Relaxed);
        self.max.store(max.max(number).to_bits(), Relaxed);
        self.sum.store((of(&self.sum) + number).to_bits(), Relaxed);
        self.count.store(count + 1, Relaxed);
    }

    fn tally(&self) -> Tally {
        let of = |cell: &AtomicU64| cell.load(Relaxed);
        Tally { count: of(&self.count), sum: of(&self.sum), min: of(&self.min), max: of(&self.max) }
    }

    fn set(&self, tally: Tally) {
        self.count.store(tally.count, Relaxed);
        self.sum.store(tally.sum, Relaxed);
        self.min.store(tally.min, Relaxed);
        self.max.store(tally.max, Relaxed);
    }
}

/// A thread's counts, by the number of the fragment.
pub(super) struct AllCounts(AtomicPtr<Block>);

struct Block {
    counts: Box<[Counts]>,
    /// What this one replaced. It is kept, since somebody may be reading it; all of them together
    /// are no larger than this one.
    _before: Option<Box<Block>>,
}

impl AllCounts {
    pub(super) fn new() -> Self {
        Self(AtomicPtr::new(Box::into_raw(Block::new(64, None))))
    }

    #[inline(always)]
    fn block(&self) -> &Block {
        // SAFETY: the pointer came from a box whose content is kept as long as this, which is never
        // dropped.
        unsafe { &*self.0.load(Acquire) }
    }

    /// The counts of a fragment, if there is room for them.
    #[inline(always)]
    pub(super) fn known(&self, index: usize) -> Option<&Counts> {
        self.block().counts.get(index)
    }

    /// The counts of a fragment. Only for the owning thread.
    #[inline]
    pub(super) fn of(&self, index: usize) -> &Counts {
        if index >= self.block().counts.len() {
            self.grow(index);
        }
        &self.block().counts[index]
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, index: usize) {
        // SAFETY: as in `block`. The box moves into its successor, but its content stays where it is.
        let before = unsafe { Box::from_raw(self.0.load(Relaxed)) };
        let mut block = Block::new((index + 1).next_power_of_two(), None);
        for (new, old) in block.counts.iter().zip(&before.counts) {
            new.set(old.tally());
        }
        block._before = Some(before);
        self.0.store(Box::into_raw(block), Release);
    }

    /// What was counted so far of each fragment that there is room for.
    pub(super) fn tallies(&self) -> impl Iterator<Item = Tally> {
        self.block().counts.iter().map(Counts::tally)
    }

    /// Counts from nothing again. For a forked child, whose parent has counted what was before.
    #[cfg(unix)]
    pub(super) fn clear(&self) {
        self.block().counts.iter().for_each(|counts| counts.set(Tally::NOTHING));
    }
}

impl Block {
    fn new(length: usize, before: Option<Box<Self>>) -> Box<Self> {
        let counts = (0..length).map(|_| Counts::new(Tally::NOTHING)).collect();
        Box::new(Self { counts, _before: before })
    }
}
