//! Accesses in runs, so that a record costs a comparison.
//!
//! Kernels go through memory at even distances: what one instruction loads in a loop are records that differ
//! in their address alone, by the same amount each time, with those of other instructions in between. A few
//! runs are kept open at once, and each remembers which one went on after it.

use super::pages::Writer;
use super::record::{Access, STEP};

/// As many as the instructions of a few loops that run at once.
const OPEN: usize = 32;
/// Accesses that lie further apart are not taken for one run.
const LONGEST_STEP: u64 = 4096;

/// Loads or stores of one workgroup, of the same length and at even distances, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Whose.
    pub(super) key: u64,
    /// The address of the first.
    pub(super) first: u64,
    /// From each to the next.
    pub(super) step: i64,
    /// How many.
    pub(super) count: u64,
    /// How many bytes each.
    pub(super) length: u16,
    pub(super) is_store: bool,
}

impl Run {
    /// The lowest address, and the distance upwards.
    pub(super) fn ascending(&self) -> (u64, u64) {
        match u64::try_from(self.step) {
            Ok(step) => (self.first, step),
            Err(_) => (self.first.wrapping_add(self.reach()), self.step.unsigned_abs()),
        }
    }

    /// The highest address.
    pub(super) fn last(&self) -> u64 {
        if self.step < 0 { self.first } else { self.first.wrapping_add(self.reach()) }
    }

    /// From the first address to the last, modulo 2^64. (No run goes beyond the ends of memory.)
    fn reach(&self) -> u64 {
        self.step.cast_unsigned().wrapping_mul(self.count - 1)
    }
}

/// A run that may go on.
#[derive(Clone, Copy)]
struct Open {
    /// All of a record but its address: kind, length, workgroup. `NOTHING` if nothing is open here.
    word: u64,
    /// The record that would go on; not yet known after the first, and none at the ends of memory.
    next: Option<u128>,
    run: Run,
    writer: Option<Writer>,
}

/// No record of an access begins so.
const NOTHING: u64 = u64::MAX;
const NONE: Run = Run { key: 0, first: 0, step: 0, count: 0, length: 0, is_store: false };

/// The open runs of a ring.
pub(super) struct Runs {
    open: [Open; OPEN],
    /// Which one went on after each.
    followers: [u8; OPEN],
    /// The one that went on last.
    current: usize,
    /// The one that gives way next.
    oldest: usize,
}

impl Default for Runs {
    fn default() -> Self {
        let none = Open { word: NOTHING, next: None, run: NONE, writer: None };
        Self { open: [none; OPEN], followers: [0; OPEN], current: 0, oldest: 0 }
    }
}

impl Runs {
    /// Goes on with the runs that are open, for as long as records come in the order of last time. Returns how
    /// many bytes of `ring` those are.
    #[inline]
    pub(super) fn skip(&mut self, ring: &[u8]) -> u64 {
        let (records, _) = ring.as_chunks::<{ STEP as usize }>();
        let mut skipped = 0;
        for record in records {
            let follower = usize::from(self.followers[self.current % OPEN]) % OPEN;
            let open = &mut self.open[follower];
            let record = u128::from_le_bytes(*record);
            if open.next != Some(record) {
                break;
            }
            open.run.count += 1;
            open.expect_after((record >> 64) as u64);
            self.current = follower;
            skipped += STEP;
        }
        skipped
    }

    /// Adds a record that `skip` did not know. Returns a run that had to give way.
    pub(super) fn add(
        &mut self,
        access: &Access,
        is_store: bool,
        writer: Option<Writer>,
    ) -> Option<(Run, Option<Writer>)> {
        let word = 4 | u64::from(is_store) | u64::from(access.length) << 8 | access.key << 24;
        let known = self.open.iter().position(|open| open.word == word && open.goes_on(access.address));
        let (slot, ended) = match known {
            Some(slot) => (slot, None),
            None => {
                let slot = self.oldest;
                self.oldest = (slot + 1) % OPEN;
                (slot, self.open[slot].close())
            }
        };
        let open = &mut self.open[slot];
        if known.is_some() {
            open.run.step = access.address.wrapping_sub(open.last()).cast_signed();
            open.run.count += 1;
        } else {
            let Access { key, address, length } = *access;
            let run = Run { key, first: address, step: 0, count: 1, length, is_store };
            *open = Open { word, next: None, run, writer };
        }
        if open.run.count > 1 {
            open.expect_after(access.address);
        }
        self.followers[self.current] = slot as u8;
        self.current = slot;
        ended
    }

    /// Ends the runs of a workgroup, or of all.
    pub(super) fn end(&mut self, key: Option<u64>) -> impl Iterator<Item = (Run, Option<Writer>)> {
        let ended = self.open.iter_mut().filter(move |open| key.is_none_or(|key| key == open.run.key));
        ended.filter_map(Open::close)
    }
}

impl Open {
    /// The access at `address` was the last: what comes next lies a step further.
    #[inline]
    fn expect_after(&mut self, address: u64) {
        let next = address.checked_add_signed(self.run.step);
        self.next = next.map(|next| u128::from(self.word) | u128::from(next) << 64);
    }

    fn last(&self) -> u64 {
        self.run.first.wrapping_add(self.run.reach())
    }

    fn goes_on(&self, address: u64) -> bool {
        let step = address.wrapping_sub(self.last()).cast_signed();
        let is_plain = self.last().checked_add_signed(step).is_some();
        is_plain
            && if self.run.count == 1 { step.unsigned_abs() <= LONGEST_STEP } else { step == self.run.step }
    }

    fn close(&mut self) -> Option<(Run, Option<Writer>)> {
        let was_open = self.word != NOTHING;
        (self.word, self.next) = (NOTHING, None);
        was_open.then_some((self.run, self.writer))
    }
}
