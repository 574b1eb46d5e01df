//! Which bytes a dispatch site touched, in memory that does not grow with the recording.
//!
//! Memory is divided into *granules* and 64 of them make a page: a bit says whether a granule was touched. When
//! there are too many pages, granules are made twice as large. Of written pages it is also known which
//! workgroup wrote what, to the byte.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::record::Workgroup;
use super::runs::Run;

/// When there are more pages, granules grow.
const PAGE_LIMIT: usize = 1 << 18;
/// When there are more runs, no further ones are kept, and overlaps may be missed.
const RUN_LIMIT: usize = 1 << 20;
const GRANULES: u32 = 64;
const CACHE: usize = 256;

/// The pages that were touched.
pub(super) struct Pages {
    /// Granules have 2 to the power of this many bytes.
    shift: u32,
    index: HashMap<PageKey, u32, BuildHasherDefault<Mix>>,
    pages: Vec<Page>,
    /// The page that was touched last.
    last: usize,
    cache: Box<[(PageKey, u32); CACHE]>,
    runs: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PageKey {
    site: u32,
    number: u64,
}

/// What one site touched of one page.
pub(super) struct Page {
    pub(super) site: u32,
    number: u64,
    pub(super) touched: u64,
    written: Vec<Written>,
    pub(super) overlap: Option<Overlap>,
}

/// Bytes of a page that one workgroup wrote.
struct Written {
    from: u64,
    to: u64,
    execution: u64,
    workgroup: [u32; 3],
}

/// Memory that several workgroups of one execution wrote to: a race, or work done twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Where it was first seen.
    pub address: u64,
    /// Which workgroups those were.
    pub workgroups: [[u32; 3]; 2],
    /// How many bytes were written again by another workgroup, in all.
    pub bytes: u64,
}

/// Who writes.
#[derive(Clone, Copy)]
pub(super) struct Writer {
    pub(super) workgroup: Workgroup,
    /// Which execution of its site.
    pub(super) execution: u64,
}

impl Default for Pages {
    fn default() -> Self {
        let none = (PageKey { site: u32::MAX, number: u64::MAX }, 0);
        Self {
            shift: 2,
            index: HashMap::default(),
            pages: Vec::new(),
            last: 0,
            cache: Box::new([none; CACHE]),
            runs: 0,
        }
    }
}

impl Pages {
    pub(super) fn granule(&self) -> u64 {
        1 << self.shift
    }

    /// Whether every write was kept, so that no overlap can have been missed.
    pub(super) fn is_complete(&self) -> bool {
        self.runs < RUN_LIMIT
    }

    fn page_bits(&self) -> u32 {
        self.shift + GRANULES.trailing_zeros()
    }

    /// Notes accesses. What would lie beyond the last address is cut.
    pub(super) fn touch(&mut self, run: &Run, writer: &Writer) {
        let (mut at, step) = run.ascending();
        let (mut count, mut length) = (run.count, u64::from(run.length));
        if step <= length {
            // Without gaps they are as one.
            (count, length) = (1, (count - 1).saturating_mul(step).saturating_add(length));
        }
        for _ in 0..count {
            self.touch_range(at, at.saturating_add(length), writer, run.is_store);
            at = at.saturating_add(step);
        }
    }

    fn touch_range(&mut self, mut from: u64, end: u64, writer: &Writer, is_store: bool) {
        let site = writer.workgroup.site;
        while from < end {
            let number = from >> self.page_bits();
            let page_end = number.checked_add(1).and_then(|next| next.checked_mul(1 << self.page_bits()));
            let to = page_end.map_or(end, |page_end| page_end.min(end));
            self.touch_page(PageKey { site, number }, from, to, is_store.then_some(*writer));
            from = to;
        }
    }

    #[inline]
    fn touch_page(&mut self, key: PageKey, from: u64, to: u64, writer: Option<Writer>) {
        let at = self.find(key);
        self.last = at;
        let mask = u64::from(GRANULES) - 1;
        let (first, last) = (from >> self.shift & mask, (to - 1) >> self.shift & mask);
        let page = &mut self.pages[at];
        page.touched |= (u64::MAX << first) & (u64::MAX >> (mask - last));
        if let Some(writer) = writer {
            page.write(from, to, writer, &mut self.runs);
        }
    }

    #[inline]
    fn find(&mut self, key: PageKey) -> usize {
        let slot = slot(key.number ^ u64::from(key.site) << 32, CACHE);
        let (cached, at) = self.cache[slot];
        if cached == key {
            return at as usize;
        }
        // Pages that were first touched in order stand in order, and no look-up has to wait for memory.
        let next = self.last + 1;
        if self.pages.get(next).is_some_and(|page| page.number == key.number && page.site == key.site) {
            return next;
        }
        let at = match self.index.get(&key) {
            Some(&at) => at as usize,
            None => return self.add(key),
        };
        self.cache[slot] = (key, at as u32);
        at
    }

    #[cold]
    fn add(&mut self, mut key: PageKey) -> usize {
        while self.pages.len() >= PAGE_LIMIT {
            self.coarsen();
            key.number >>= 1;
            if let Some(&at) = self.index.get(&key) {
                return at as usize;
            }
        }
        let PageKey { site, number } = key;
        self.index.insert(key, self.pages.len() as u32);
        self.pages.push(Page { site, number, touched: 0, written: Vec::new(), overlap: None });
        self.pages.len() - 1
    }

    /// Makes granules twice as large: two pages become one.
    fn coarsen(&mut self) {
        let old = std::mem::take(self);
        self.shift = old.shift + 1;
        self.runs = old.runs;
        for mut page in old.pages {
            let half = (page.number & 1) as u32 * (GRANULES / 2);
            let at = self.find(PageKey { site: page.site, number: page.number >> 1 });
            let merged = &mut self.pages[at];
            merged.touched |= pairs(page.touched) << half;
            merged.written.append(&mut page.written);
            merged.add_overlap(page.overlap);
        }
    }

    /// The pages, by address.
    pub(super) fn sorted(&mut self) -> impl Iterator<Item = (u64, &Page)> {
        self.pages.sort_unstable_by_key(|page| page.number);
        self.index.clear();
        let bits = self.page_bits();
        self.pages.iter().map(move |page| (page.number << bits, page))
    }
}

impl Page {
    fn write(&mut self, from: u64, to: u64, writer: Writer, kept: &mut usize) {
        let (execution, workgroup) = (writer.execution, writer.workgroup.id);
        if self.written.first().is_some_and(|was| was.execution != execution) {
            *kept -= self.written.len();
            self.written.clear();
        }
        let mut own = None;
        let mut overlap = None;
        for (index, was) in self.written.iter().enumerate() {
            let (low, high) = (was.from.max(from), was.to.min(to));
            if was.workgroup == workgroup {
                own = own.or((low <= high).then_some(index));
            } else if low < high {
                let workgroups = [was.workgroup, workgroup];
                overlap = Some(Overlap { address: low, workgroups, bytes: high - low });
            }
        }
        self.add_overlap(overlap);
        match own {
            Some(index) => {
                let was = &mut self.written[index];
                (was.from, was.to) = (was.from.min(from), was.to.max(to));
            }
            None if *kept < RUN_LIMIT => {
                self.written.push(Written { from, to, execution, workgroup });
                *kept += 1;
            }
            None => {}
        }
    }

    fn add_overlap(&mut self, found: Option<Overlap>) {
        self.overlap = Overlap::sum(self.overlap, found);
    }
}

impl Overlap {
    /// Both together; the first stands for them.
    pub(super) fn sum(known: Option<Self>, further: Option<Self>) -> Option<Self> {
        match (known, further) {
            (Some(known), Some(further)) => Some(Self { bytes: known.bytes + further.bytes, ..known }),
            (known, further) => known.or(further),
        }
    }
}

/// The OR of each pair of neighbouring bits, in the lower half.
fn pairs(bits: u64) -> u64 {
    let mut bits = (bits | bits >> 1) & 0x5555_5555_5555_5555;
    for (shift, mask) in [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0f0f_0f0f_0f0f_0f0f),
        (4, 0x00ff_00ff_00ff_00ff),
        (8, 0x0000_ffff_0000_ffff),
        (16, 0x0000_0000_ffff_ffff),
    ] {
        bits = (bits | bits >> shift) & mask;
    }
    bits
}

/// A place in a cache of `size` entries, a power of two. Buffers often lie at distances that are powers of two
/// themselves, so that the low bits alone would put them all at the same place.
#[inline]
pub(super) fn slot(number: u64, size: usize) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - size.trailing_zeros())) as usize
}

/// Enough for page numbers, and a fraction of the cost of the standard hash.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(pages: &mut Pages, site: u32, first: u64, length: u16, writer: Option<(u32, u64)>) {
        let (x, execution) = writer.unwrap_or_default();
        let workgroup = Workgroup { site, id: [x, 0, 0], count: [9, 1, 1], processor: 0 };
        let run = Run { key: 0, first, step: 0, count: 1, length, is_store: writer.is_some() };
        pages.touch(&run, &Writer { workgroup, execution });
    }

    fn overlaps(pages: &mut Pages) -> Option<Overlap> {
        pages.sorted().fold(None, |sum, (_, page)| Overlap::sum(sum, page.overlap))
    }

    #[test]
    fn an_overlap_is_seen_to_the_byte() {
        let mut pages = Pages::default();
        access(&mut pages, 0, 1000, 10, Some((0, 0)));
        access(&mut pages, 0, 1010, 10, Some((1, 0)));
        access(&mut pages, 0, 1000, 10, Some((0, 0)));
        assert_eq!(overlaps(&mut pages), None, "they touch, and one writes twice");
        access(&mut pages, 0, 1019, 5, Some((2, 0)));
        let expected = Overlap { address: 1019, workgroups: [[1, 0, 0], [2, 0, 0]], bytes: 1 };
        assert_eq!(overlaps(&mut pages), Some(expected));
    }

    #[test]
    fn executions_and_sites_may_write_over_one_another() {
        let mut pages = Pages::default();
        access(&mut pages, 0, 4096, 64, Some((0, 0)));
        access(&mut pages, 0, 4096, 64, Some((1, 1)));
        access(&mut pages, 1, 4096, 64, Some((2, 1)));
        assert_eq!(overlaps(&mut pages), None);
    }

    #[test]
    fn memory_stays_bounded_and_nothing_touched_is_lost() {
        let mut pages = Pages::default();
        let strides = 3 * PAGE_LIMIT as u64;
        for at in 0..strides {
            access(&mut pages, 0, at * 256, 1, None);
        }
        assert!(pages.pages.len() <= PAGE_LIMIT);
        let granule = pages.granule();
        let touched: u64 = pages.sorted().map(|(_, page)| u64::from(page.touched.count_ones())).sum();
        assert_eq!(touched * granule, strides * granule, "each lies in a granule of its own");
    }

    #[test]
    fn the_last_bytes_of_memory_can_be_touched() {
        let mut pages = Pages::default();
        access(&mut pages, 0, u64::MAX - 3, 16, Some((0, 0)));
        assert_eq!(pages.sorted().map(|(address, _)| address).collect::<Vec<_>>(), [u64::MAX - 255]);
    }
}
