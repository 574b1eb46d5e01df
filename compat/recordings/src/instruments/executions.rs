//! Each execution of a dispatch site on its own: which parts of which buffers it touched.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::buffers::Buffer;
use super::map::{AccessMap, Begun, Filter, Visitor, size, walk_from};
use super::pages::Writer;
use super::record::{Event, Workgroup};
use super::ring::Ring;
use super::runs::Run;
use super::stream::Module;

/// So many executions are kept: the last ones.
const LIMIT: usize = 1 << 17;

/// The executions of each site of a module, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    sites: BTreeMap<u32, Kept>,
    count: usize,
}

/// What is kept of a site: its last executions.
#[derive(Clone, Debug, Default)]
struct Kept {
    /// The number of the first one.
    first: u64,
    list: VecDeque<Execution>,
}

/// One execution of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// Its grid.
    pub grid: [u32; 3],
    /// How many workgroups are known of: less than the grid has, if the ring forgot some, or if they had not all
    /// begun.
    pub workgroups: u64,
    /// What it touched, by address.
    pub touched: Vec<Touched>,
}

/// What an execution did with one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The buffer's number in the [`AccessMap`].
    pub buffer: usize,
    /// The first byte touched, and the one behind the last.
    pub range: [u64; 2],
    /// Bytes loaded.
    pub read: u64,
    /// Bytes stored.
    pub written: u64,
}

impl Execution {
    /// Whether all its workgroups are known of.
    pub fn is_whole(&self) -> bool {
        self.workgroups == size(self.grid)
    }
}

impl Executions {
    /// Tells the executions of a module apart. One has as many workgroups as its grid; those of one site that ran at the
    /// same time cannot be told apart. `map` is the module's, of all that it did.
    pub fn of(module: &Module<'_>, map: &AccessMap) -> Self {
        let mut found = Find { buffers: map.buffers(), executions: Self::default() };
        walk_from(module, &Filter::default(), &mut found, begun_before(module));
        found.executions
    }

    /// The last executions of a site; all, but for what the ring forgot, unless there were very many.
    pub fn of_site(&self, site: u32) -> impl DoubleEndedIterator<Item = &Execution> + ExactSizeIterator {
        self.sites.get(&site).map(|kept| kept.list.iter()).unwrap_or_default()
    }

    fn entry(&mut self, site: u32, number: u64) -> Option<&mut Execution> {
        let kept = self.sites.entry(site).or_default();
        if number >= kept.first + kept.list.len() as u64 {
            kept.list.push_back(Execution::default());
            self.count += 1;
            if self.count > LIMIT && kept.list.len() > 1 {
                kept.list.pop_front();
                kept.first += 1;
                self.count -= 1;
            }
        }
        kept.list.get_mut(usize::try_from(number.checked_sub(kept.first)?).ok()?)
    }
}

/// What is left of a site's first execution, if a ring has lost its beginning: what does not make whole ones.
fn begun_before(module: &Module<'_>) -> HashMap<u32, Begun> {
    if module.rings().iter().all(|ring| Ring::lost(ring) == 0) {
        return HashMap::new();
    }
    // The grid of each site's first workgroups, how many there are, and whether another grid came.
    let mut leading: HashMap<u32, ([u32; 3], u64, bool)> = HashMap::new();
    for record in module.records() {
        if let Event::Workgroup(Workgroup { site, count, .. }) = record.event {
            let (grid, known, is_over) = leading.entry(site).or_insert((count, 0, false));
            *is_over |= *grid != count;
            *known += u64::from(!*is_over);
        }
    }
    let cut = leading.into_iter().filter_map(|(site, (grid, known, _))| {
        let left = known % size(grid);
        (left > 0).then(|| (site, Begun::before_the_last(grid, left)))
    });
    cut.collect()
}

struct Find<'m> {
    buffers: &'m [Buffer],
    executions: Executions,
}

impl Visitor for Find<'_> {
    fn workgroup(&mut self, writer: &Writer) {
        if let Some(execution) = self.executions.entry(writer.workgroup.site, writer.execution) {
            execution.grid = writer.workgroup.count;
            execution.workgroups += 1;
        }
    }

    fn run(&mut self, run: &Run, writer: &Writer) {
        let (first, step) = run.ascending();
        let buffer = |at: u64| self.buffers.partition_point(|one| one.begin <= at).saturating_sub(1);
        if buffer(first) == buffer(run.last()) {
            return self.add(buffer(first), run, writer);
        }
        for index in 0..run.count {
            let first = first + index * step;
            self.add(buffer(first), &Run { first, step: 0, count: 1, ..*run }, writer);
        }
    }
}

impl Find<'_> {
    fn add(&mut self, buffer: usize, run: &Run, writer: &Writer) {
        let Some(execution) = self.executions.entry(writer.workgroup.site, writer.execution) else { return };
        let index = match execution.touched.binary_search_by_key(&buffer, |touched| touched.buffer) {
            Ok(index) => index,
            Err(index) => {
                let none = Touched { buffer, range: [u64::MAX, 0], read: 0, written: 0 };
                execution.touched.insert(index, none);
                index
            }
        };
        let touched = &mut execution.touched[index];
        let end = run.last().saturating_add(run.length.into());
        touched.range = [touched.range[0].min(run.ascending().0), touched.range[1].max(end)];
        let bytes = run.count * u64::from(run.length);
        *(if run.is_store { &mut touched.written } else { &mut touched.read }) += bytes;
    }
}
