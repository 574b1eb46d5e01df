//! Accesses in runs, so that a record costs a comparison.
//!
//! Kernels go through memory at even distances: what one instruction loads in a loop are records that differ
//! in their address alone, by the same amount each time, with those of other instructions in between. A few
//! runs are kept open at once, and each remembers which one went on after it. Those of a loop go on in turns, so
//! that each lap of the loop is as the one before but for the steps, and is compared as a whole.

use super::pages::Writer;
use super::record::{Access, STEP};

/// As many as the instructions of a few loops that run at once.
const OPEN: usize = 32;
/// After so many records that came as expected, laps are looked for.
const TRIAL: usize = 2 * OPEN;
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
    pub(super) fn skip(&mut self, ring: &[u8]) -> u64 {
        let (records, _) = ring.as_chunks();
        let mut skipped = 0;
        loop {
            let rest = &records[skipped..];
            let each = self.skip_each(&rest[..rest.len().min(TRIAL)]);
            skipped += each;
            if each < TRIAL {
                return skipped as u64 * STEP;
            }
            skipped += self.skip_laps(&records[skipped..]);
        }
    }

    /// As [`skip`](Self::skip), one record after the other.
    #[inline]
    fn skip_each(&mut self, records: &[Bytes]) -> usize {
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
            skipped += 1;
        }
        skipped
    }

    /// As [`skip`](Self::skip), whole laps alone.
    fn skip_laps(&mut self, records: &[Bytes]) -> usize {
        let Some(mut lap) = self.lap() else { return 0 };
        let laps = lap.run(records);
        for (slot, next) in lap.slots.iter().zip(lap.next.as_chunks().0).take(lap.length) {
            let open = &mut self.open[usize::from(*slot)];
            let [word, address]: [u64; 2] = *next;
            open.run.count += laps as u64;
            open.next = Some(u128::from(word) | u128::from(address) << 64);
        }
        laps * lap.length
    }

    /// The runs that go on in turns, up to the current one, if they do.
    fn lap(&self) -> Option<Lap> {
        let mut lap = Lap::default();
        let mut slot = self.current;
        while lap.length < OPEN {
            slot = usize::from(self.followers[slot]);
            lap.push(slot, &self.open[slot])?;
            if slot == self.current {
                return Some(lap);
            }
        }
        None
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

/// The bytes of a record.
type Bytes = [u8; STEP as usize];

/// Runs that go on in turns.
struct Lap {
    /// How many, and in which order.
    length: usize,
    slots: [u8; OPEN],
    /// The next record of each in two words, and what is added to them.
    next: [u64; 2 * OPEN],
    step: [u64; 2 * OPEN],
    /// After so many laps, one of them comes to an end of memory.
    most: usize,
}

impl Default for Lap {
    fn default() -> Self {
        Self { length: 0, slots: [0; OPEN], next: [0; 2 * OPEN], step: [0; 2 * OPEN], most: usize::MAX }
    }
}

impl Lap {
    /// Adds a run; nothing if it is not known what comes next of it.
    fn push(&mut self, slot: usize, open: &Open) -> Option<()> {
        let next = open.next?;
        let address = (next >> 64) as u64;
        self.slots[self.length] = slot as u8;
        self.next[2 * self.length..][..2].copy_from_slice(&[next as u64, address]);
        self.step[2 * self.length + 1] = open.run.step.cast_unsigned();
        self.most = self.most.min(open.room(address));
        self.length += 1;
        Some(())
    }

    /// How often all of them go on.
    fn run(&mut self, records: &[Bytes]) -> usize {
        let words = 2 * self.length;
        // Short laps are taken several at once.
        let together = OPEN / self.length;
        for at in words..words * together {
            self.next[at] = self.next[at - words].wrapping_add(self.step[at % words]);
        }
        for at in (0..words * together).rev() {
            self.step[at] = self.step[at % words].wrapping_mul(together as u64);
        }
        let (next, step) = (&mut self.next[..words * together], &self.step[..words * together]);
        let mut rounds = 0;
        for round in records.chunks_exact(self.length * together).take(self.most / together) {
            let (found, _) = round.as_flattened().as_chunks();
            let differ = |(next, found): (&u64, &[u8; 8])| next ^ u64::from_le_bytes(*found);
            if next.iter().zip(found).map(differ).fold(0, |all, one| all | one) != 0 {
                break;
            }
            next.iter_mut().zip(step).for_each(|(next, step)| *next = next.wrapping_add(*step));
            rounds += 1;
        }
        rounds * together
    }
}

impl Open {
    /// How often its step can be added to an address.
    fn room(&self, address: u64) -> usize {
        let left = if self.run.step < 0 { address } else { u64::MAX - address };
        let steps = left.checked_div(self.run.step.unsigned_abs()).unwrap_or(u64::MAX);
        usize::try_from(steps).unwrap_or(usize::MAX)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: u64 = 32;

    /// Records of a loop: in each lap one of every first address and step.
    fn records(runs: &[(u64, i64)], laps: u64) -> Vec<(u64, u64)> {
        let lap = |lap: u64| {
            runs.iter().map(move |(first, step)| {
                (4 | 16 << 8 | KEY << 24, first.wrapping_add(step.cast_unsigned().wrapping_mul(lap)))
            })
        };
        (0..laps).flat_map(lap).collect()
    }

    /// All runs of the records, as a walk finds them: how many were skipped, first addresses, steps and counts.
    fn walked(records: &[(u64, u64)]) -> (usize, Vec<(u64, i64, u64)>) {
        let ring: Vec<u8> =
            records.iter().flat_map(|(word, at)| [word.to_le_bytes(), at.to_le_bytes()].concat()).collect();
        let mut runs = Runs::default();
        let mut ended = Vec::new();
        let (mut at, mut skipped) = (0, 0);
        loop {
            let length = runs.skip(&ring[at..]) as usize;
            (at, skipped) = (at + length, skipped + length / 16);
            let Some((word, address)) = records.get(at / 16) else { break };
            let access = Access { key: word >> 24, address: *address, length: (word >> 8) as u16 };
            ended.extend(runs.add(&access, false, None));
            at += 16;
        }
        ended.extend(runs.end(None));
        let mut found: Vec<_> = ended.iter().map(|(run, _)| (run.first, run.step, run.count)).collect();
        found.sort_unstable();
        (skipped, found)
    }

    #[test]
    fn laps_are_the_same_as_single_steps() {
        let runs = [(1 << 20, 16), (2 << 20, -16), (3 << 20, 0), (4 << 20, 4096)];
        let (skipped, found) = walked(&records(&runs, 1000));
        assert_eq!(found, runs.map(|(first, step)| (first, step, 1000)));
        assert!(skipped > 3980, "two of each run are not yet expected: {skipped}");
    }

    #[test]
    fn a_lap_that_is_broken_off_counts_as_far_as_it_went() {
        let mut all = records(&[(1 << 20, 16), (2 << 20, 16), (3 << 20, 16)], 500);
        all.truncate(1200 + 1);
        all.push((4 | 16 << 8 | KEY << 24, 9 << 20));
        let (_, found) = walked(&all);
        assert_eq!(found, [(1 << 20, 16, 401), (2 << 20, 16, 400), (3 << 20, 16, 400), (9 << 20, 0, 1)]);
    }

    #[test]
    fn no_run_goes_on_beyond_the_ends_of_memory() {
        let (last, first) = (u64::MAX - 16 * 199, 16 * 199);
        let all = records(&[(last, 16), (first, -16)], 400);
        let (_, found) = walked(&all);
        assert_eq!(found.iter().map(|run| run.2).sum::<u64>(), 800);
        for (first, step, count) in found {
            let reach = i128::from(step) * i128::from(count - 1);
            assert!(u64::try_from(i128::from(first) + reach).is_ok(), "{first:#x} {step} {count}");
        }
    }
}
