//! The second reading: runs of touched memory as buffers, and each site's use of them.

use std::collections::BTreeMap;

use super::map::Visitor;
use super::pages::{Overlap, Pages, Writer, slot};
use super::record::{Probe, Value, Workgroup};
use super::runs::Run;

/// When there are more runs, those that lie closest together are taken for one.
const BUFFER_LIMIT: usize = 1024;
/// So many equal runs at equal distances are one buffer, of which every so many bytes were touched.
const PATTERN: usize = 4;
/// So many uses have a raster each; further ones have none.
const RASTER_LIMIT: usize = 256;
/// Beyond this number, processors are counted together.
const PROCESSOR_LIMIT: usize = 4096;
const CACHE: usize = 64;

/// A run of memory that was touched: a buffer, or as much of one as was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its first byte.
    pub begin: u64,
    /// Behind its last byte.
    pub end: u64,
}

/// What was dispatched from one site.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The site's number.
    pub index: u32,
    /// How many workgroups ran.
    pub workgroups: u64,
    /// The grid of the last one.
    pub grid: [u32; 3],
    /// Whether all had that grid.
    pub is_one_grid: bool,
    /// How many workgroups ran on which processor.
    pub processors: BTreeMap<u32, u64>,
    /// The memory that it touched, by address.
    pub uses: Vec<Use>,
    /// The values at its probes.
    pub probes: Vec<Probes>,
}

impl Site {
    pub(super) fn begin(&mut self, workgroup: &Workgroup) {
        self.is_one_grid = self.workgroups == 0 || self.is_one_grid && self.grid == workgroup.count;
        (self.index, self.grid) = (workgroup.site, workgroup.count);
        self.workgroups += 1;
        let is_full = self.processors.len() >= PROCESSOR_LIMIT;
        let known = !is_full || self.processors.contains_key(&workgroup.processor);
        *self.processors.entry(if known { workgroup.processor } else { u32::MAX }).or_default() += 1;
    }
}

/// What passed one probe of a site.
#[derive(Clone, Copy, Debug)]
pub struct Probes {
    /// The probe's number in its kernel.
    pub ordinal: u8,
    /// How many values passed.
    pub count: u64,
    /// The first of them, and the last.
    pub ends: [Value; 2],
    /// The smallest and the largest, as numbers; without those that are none.
    pub range: Option<[f64; 2]>,
}

impl Probes {
    pub(super) fn add(known: &mut Vec<Self>, probe: &Probe) {
        let name = probe.value.type_name();
        let same = |probes: &Self| probes.ordinal == probe.ordinal && probes.ends[0].type_name() == name;
        let index = known.iter().position(same).unwrap_or(known.len());
        if index == known.len() {
            known.push(Self { ordinal: probe.ordinal, count: 0, ends: [probe.value; 2], range: None });
        }
        let probes = &mut known[index];
        probes.count += 1;
        probes.ends[1] = probe.value;
        if let Some(value) = probe.value.as_f64().filter(|value| !value.is_nan()) {
            let [least, most] = probes.range.unwrap_or([value; 2]);
            probes.range = Some([least.min(value), most.max(value)]);
        }
    }
}

/// What one site did with one buffer.
#[derive(Clone, Debug, Default)]
pub struct Use {
    /// The buffer's number.
    pub buffer: usize,
    /// The first byte touched, and the one behind the last.
    pub range: [u64; 2],
    /// Its loads.
    pub read: Accesses,
    /// Its stores.
    pub written: Accesses,
    /// How many bytes were touched, each counted once, in whole granules.
    pub distinct: u64,
    /// What several workgroups of one execution wrote to.
    pub overlap: Option<Overlap>,
    /// Where in the buffer which workgroups read and wrote.
    pub raster: Option<Box<Raster>>,
}

impl Use {
    /// How often each byte touched was loaded or stored, on average.
    pub fn reuse(&self) -> f64 {
        (self.read.bytes + self.written.bytes) as f64 / self.distinct.max(1) as f64
    }
}

/// Loads or stores, summed up.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// How many.
    pub count: u64,
    /// Of how many bytes.
    pub bytes: u64,
    strides: Strides,
}

impl Accesses {
    /// The most frequent distance, in bytes, from an access of a workgroup to its next one in the same buffer,
    /// and at least which share of all had it.
    pub fn stride(&self) -> Option<(i64, f64)> {
        let (stride, count) = self.strides.candidates.iter().max_by_key(|candidate| candidate.1)?;
        (*count > 0).then(|| (*stride, *count as f64 / self.strides.steps as f64))
    }

    fn add(&mut self, run: &Run) {
        self.count += run.count;
        self.bytes += run.count * u64::from(run.length);
        self.strides.add(run);
    }
}

/// Finds frequent distances in fixed memory (after Misra and Gries).
#[derive(Clone, Debug, Default)]
struct Strides {
    /// Where the workgroups' last accesses were: key and address.
    last: [(u64, u64); 8],
    steps: u64,
    candidates: [(i64, u64); 4],
}

impl Strides {
    fn add(&mut self, run: &Run) {
        // Keys are never odd, so that no slot is anybody's before it is used.
        let owner = run.key | 1;
        let last = run.first.wrapping_add(run.step.cast_unsigned().wrapping_mul(run.count - 1));
        let slot = &mut self.last[(run.key >> 5) as usize % 8];
        let (before, address) = std::mem::replace(slot, (owner, last));
        if before == owner {
            self.step(run.first.wrapping_sub(address).cast_signed(), 1);
        }
        if run.count > 1 {
            self.step(run.step, run.count - 1);
        }
    }

    fn step(&mut self, stride: i64, mut count: u64) {
        self.steps += count;
        if let Some(known) = self.candidates.iter_mut().find(|known| known.1 > 0 && known.0 == stride) {
            known.1 += count;
            return;
        }
        let least = self.candidates.iter().map(|known| known.1).min().unwrap_or(0).min(count);
        self.candidates.iter_mut().for_each(|known| known.1 -= least);
        count -= least;
        if count > 0
            && let Some(free) = self.candidates.iter_mut().find(|known| known.1 == 0)
        {
            *free = (stride, count);
        }
    }
}

/// Which part of the workgroups touched which part of a buffer: bytes read and written.
#[derive(Clone, Debug)]
pub struct Raster {
    cells: [[[u64; 2]; Self::COLUMNS]; Self::ROWS],
    size: [usize; 2],
}

impl Raster {
    /// At most so many parts of the buffer, from its first byte to its last.
    pub const COLUMNS: usize = 128;
    /// At most so many parts of the grid, in the order x, y, z.
    pub const ROWS: usize = 32;

    /// For a buffer of so many bytes and a grid of so many workgroups.
    fn new(bytes: u64, workgroups: f64) -> Self {
        let columns = bytes.clamp(1, Self::COLUMNS as u64) as usize;
        let rows = workgroups.clamp(1.0, Self::ROWS as f64) as usize;
        Self { cells: [[[0; 2]; Self::COLUMNS]; Self::ROWS], size: [columns, rows] }
    }

    /// Columns and rows.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Bytes read and written.
    pub fn cell(&self, column: usize, row: usize) -> [u64; 2] {
        self.cells[row][column]
    }

    /// Adds a run: where in the buffer it begins and its step, the buffer's length, which share of the grid is before
    /// the workgroup.
    fn add(&mut self, run: &Run, (mut begin, step): (u64, u64), length: u64, share: f64) {
        let row = ((share * self.size[1] as f64) as usize).min(self.size[1] - 1);
        let (mut count, mut each) = (run.count, u64::from(run.length));
        let mut bytes = each;
        if step <= each {
            // Without gaps they are as one.
            (count, each, bytes) = (1, (count - 1) * step + each, count * each);
        }
        for _ in 0..count {
            self.spread(begin, each, bytes, length, (row, usize::from(run.is_store)));
            begin = begin.saturating_add(step);
        }
    }

    /// Spreads bytes over the columns of a range.
    fn spread(&mut self, begin: u64, each: u64, bytes: u64, length: u64, (row, kind): (usize, usize)) {
        let columns = self.size[0];
        let column =
            |at: u64| ((u128::from(at) * columns as u128 / u128::from(length)) as usize).min(columns - 1);
        let (first, last) = (column(begin), column(begin.saturating_add(each - 1)));
        let share = (bytes / (last - first + 1) as u64).max(1);
        for cell in &mut self.cells[row][first..=last] {
            cell[kind] += share;
        }
    }
}

/// The buffers, and how to find the one that an address is in.
pub(super) struct Buffers {
    list: Vec<Buffer>,
}

impl Buffers {
    pub(super) fn find(pages: &mut Pages) -> Self {
        let mut list = patterns(&runs(pages));
        let mut gap = 16;
        while list.len() > BUFFER_LIMIT {
            list = joined(&list, |before, after| after.begin - before.end <= gap);
            gap *= 2;
        }
        Self { list }
    }

    pub(super) fn into_list(self) -> Vec<Buffer> {
        self.list
    }

    fn of(&self, address: u64) -> usize {
        self.list.partition_point(|buffer| buffer.begin <= address).saturating_sub(1)
    }
}

/// Touched granules that follow one another, whichever site touched them.
fn runs(pages: &mut Pages) -> Vec<Buffer> {
    let granule = pages.granule();
    let mut runs: Vec<Buffer> = Vec::new();
    let mut pages = pages.sorted().peekable();
    while let Some((address, page)) = pages.next() {
        let mut touched = page.touched;
        while let Some((_, also)) = pages.next_if(|next| next.0 == address) {
            touched |= also.touched;
        }
        for (begin, granules) in parts(address, touched, granule) {
            let end = begin.saturating_add(granules * granule);
            match runs.last_mut() {
                Some(last) if last.end == begin => last.end = end,
                _ => runs.push(Buffer { begin, end }),
            }
        }
    }
    runs
}

/// Joins runs of equal length at equal distances: a buffer that was read with a stride.
fn patterns(runs: &[Buffer]) -> Vec<Buffer> {
    let shape = |pair: &[Buffer]| (pair[0].end - pair[0].begin, pair[1].begin - pair[0].begin);
    let mut list = Vec::new();
    let mut rest = runs;
    while let Some((&first, _)) = rest.split_first() {
        let equal = match rest.len() {
            1 => 1,
            _ => 1 + rest.windows(2).take_while(|pair| shape(pair) == shape(rest)).count(),
        };
        let taken = if equal >= PATTERN { equal } else { 1 };
        list.push(Buffer { begin: first.begin, end: rest[taken - 1].end });
        rest = &rest[taken..];
    }
    list
}

fn joined(runs: &[Buffer], are_one: impl Fn(&Buffer, &Buffer) -> bool) -> Vec<Buffer> {
    let mut list: Vec<Buffer> = Vec::new();
    for run in runs {
        match list.last_mut() {
            Some(last) if are_one(last, run) => last.end = run.end,
            _ => list.push(*run),
        }
    }
    list
}

/// Sums up uses while the records come by.
pub(super) struct Uses<'a> {
    buffers: &'a Buffers,
    /// By site, then by buffer: where its use is.
    index: BTreeMap<(u32, usize), usize>,
    uses: Vec<(u32, Use)>,
    cache: [(u32, Buffer, usize); CACHE],
    rasters: usize,
}

impl<'a> Uses<'a> {
    pub(super) fn new(buffers: &'a Buffers) -> Self {
        let none = (0, Buffer { begin: 1, end: 0 }, 0);
        Self {
            buffers,
            index: BTreeMap::new(),
            uses: Vec::new(),
            cache: [none; CACHE],
            rasters: RASTER_LIMIT,
        }
    }

    #[inline]
    fn find(&mut self, workgroup: &Workgroup, address: u64) -> usize {
        let site = workgroup.site;
        let slot = slot(address >> 12 ^ u64::from(site) << 40, CACHE);
        let (of, buffer, at) = self.cache[slot];
        if of == site && buffer.begin <= address && address < buffer.end {
            return at;
        }
        self.look_up(slot, workgroup, address)
    }

    fn look_up(&mut self, slot: usize, workgroup: &Workgroup, address: u64) -> usize {
        let site = workgroup.site;
        let buffer = self.buffers.of(address);
        let Buffer { begin, end } = self.buffers.list[buffer];
        let at = *self.index.entry((site, buffer)).or_insert_with(|| {
            let raster = (self.rasters > 0).then(|| Box::new(Raster::new(end - begin, share(workgroup).0)));
            self.rasters = self.rasters.saturating_sub(1);
            self.uses.push((site, Use { buffer, range: [u64::MAX, 0], raster, ..Use::default() }));
            self.uses.len() - 1
        });
        self.cache[slot] = (site, self.buffers.list[buffer], at);
        at
    }

    /// Adds a run that lies within one buffer.
    fn add(&mut self, run: &Run, writer: &Writer) {
        let (lowest, step) = run.ascending();
        let at = self.find(&writer.workgroup, lowest);
        let used = &mut self.uses[at].1;
        let end = run.last().saturating_add(run.length.into());
        used.range = [used.range[0].min(lowest), used.range[1].max(end)];
        if run.is_store {
            used.written.add(run)
        } else {
            used.read.add(run)
        };
        if let Some(raster) = &mut used.raster {
            let buffer = &self.buffers.list[used.buffer];
            raster.add(
                run,
                (lowest - buffer.begin, step),
                buffer.end - buffer.begin,
                share(&writer.workgroup).1,
            );
        }
    }

    /// Gives the sites their uses.
    pub(super) fn finish(self, pages: &mut Pages, mut sites: BTreeMap<u32, Site>) -> Vec<Site> {
        let Self { buffers, index, mut uses, .. } = self;
        let granule = pages.granule();
        for (address, page) in pages.sorted() {
            for (begin, granules) in parts(address, page.touched, granule) {
                if let Some(&at) = index.get(&(page.site, buffers.of(begin))) {
                    uses[at].1.distinct += granules * granule;
                }
            }
            if let Some(overlap) = page.overlap
                && let Some(&at) = index.get(&(page.site, buffers.of(overlap.address)))
            {
                uses[at].1.overlap = Overlap::sum(uses[at].1.overlap, Some(overlap));
            }
        }
        uses.sort_by_key(|(site, used)| (*site, used.buffer));
        for (site, used) in uses {
            sites.entry(site).or_default().uses.push(used);
        }
        sites.into_values().collect()
    }
}

/// The touched granules of a page that follow one another: where they begin, and how many they are.
fn parts(address: u64, mut touched: u64, granule: u64) -> impl Iterator<Item = (u64, u64)> {
    std::iter::from_fn(move || {
        let first = (touched != 0).then(|| touched.trailing_zeros())?;
        let length = (!(touched >> first)).trailing_zeros();
        touched &= u64::MAX.checked_shl(first + length).unwrap_or(0);
        Some((address + u64::from(first) * granule, length.into()))
    })
}

/// How many workgroups a grid has, and which share of them is before this one.
fn share(workgroup: &Workgroup) -> (f64, f64) {
    let [x, y, z] = workgroup.id.map(f64::from);
    let [cx, cy, cz] = workgroup.count.map(f64::from);
    (cx * cy * cz, ((z * cy + y) * cx + x) / (cx * cy * cz))
}

impl Visitor for Uses<'_> {
    fn run(&mut self, run: &Run, writer: &Writer) {
        let (first, step) = run.ascending();
        if self.buffers.list.is_empty() {
            return;
        }
        if self.buffers.of(first) == self.buffers.of(run.last()) {
            return self.add(run, writer);
        }
        for index in 0..run.count {
            let first = first + index * step;
            self.add(&Run { first, step: 0, count: 1, ..*run }, writer);
        }
    }
}
