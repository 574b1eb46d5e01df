//! The access map: what each dispatch site touched, summed up in memory that does not grow with the recording.
//!
//! A stream has addresses and no buffers. So the records are read twice: first to see which memory was touched
//! at all, where runs of touched bytes are taken for [`Buffer`]s, then to sum up each site's use of each.

use std::collections::{BTreeMap, HashMap};

use super::buffers::{Buffer, Buffers, Probes, Site, Uses};
use super::pages::{Pages, Writer};
use super::record::{Access, Event, Probe, Record, Workgroup};
use super::ring::Ring;
use super::runs::{Run, Runs};
use super::stream::Module;

/// What is looked at of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only what was dispatched from this site.
    pub site: Option<u32>,
    /// Only what this workgroup of each grid did.
    pub workgroup: Option<[u32; 3]>,
}

impl Filter {
    /// Whether a record of `ring` is to be looked at. What belongs to nobody known is, if all is.
    pub(super) fn keeps(&self, ring: &Ring<'_>, record: &Record<'_>) -> bool {
        *self == Self::default()
            || match record.event {
                Event::Workgroup(workgroup) => self.keeps_workgroup(&workgroup),
                Event::Torn { .. } => false,
                _ => key(&record.event)
                    .and_then(|key| ring.workgroup(key, record.at))
                    .is_some_and(|workgroup| self.keeps_workgroup(&workgroup)),
            }
    }

    #[inline]
    fn keeps_workgroup(&self, workgroup: &Workgroup) -> bool {
        self.site.is_none_or(|site| site == workgroup.site)
            && self.workgroup.is_none_or(|id| id == workgroup.id)
    }
}

/// Whose record it is.
fn key(event: &Event<'_>) -> Option<u64> {
    match event {
        Event::Workgroup(_) | Event::Torn { .. } => None,
        Event::Print(print) => Some(print.key),
        Event::Value(probe) => Some(probe.key),
        Event::Load(access) | Event::Store(access) => Some(access.key),
    }
}

/// What a module's workgroups did, summed up.
#[derive(Clone, Debug, Default)]
pub struct AccessMap {
    sites: Vec<Site>,
    buffers: Vec<Buffer>,
    counts: Counts,
    granule: u64,
    is_complete: bool,
}

/// What of a module's records was used, and what was not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) records: u64,
    pub(super) lost_bytes: u64,
    pub(super) torn_bytes: u64,
    pub(super) orphans: u64,
}

impl AccessMap {
    /// Sums up what `filter` keeps of a module.
    pub fn of(module: &Module<'_>, filter: &Filter) -> Self {
        let mut survey = Survey::default();
        walk(module, filter, &mut survey);
        survey.counts.lost_bytes = module.rings().iter().map(Ring::lost).sum();
        let (granule, is_complete) = (survey.pages.granule(), survey.pages.is_complete());
        let buffers = Buffers::find(&mut survey.pages);
        let mut uses = Uses::new(&buffers);
        walk(module, filter, &mut uses);
        let sites = uses.finish(&mut survey.pages, survey.sites);
        Self { sites, buffers: buffers.into_list(), counts: survey.counts, granule, is_complete }
    }

    /// The dispatch sites that did something, in order.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The runs of memory that were touched, by address: numbered for a module, whichever sites use them.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// How many records there were.
    pub fn records(&self) -> u64 {
        self.counts.records
    }

    /// How many bytes of older records were overwritten.
    pub fn lost_bytes(&self) -> u64 {
        self.counts.lost_bytes
    }

    /// How many bytes of the ring are no records.
    pub fn torn_bytes(&self) -> u64 {
        self.counts.torn_bytes
    }

    /// How many records belong to workgroups whose own record was overwritten; they are not in the map.
    pub fn orphans(&self) -> u64 {
        self.counts.orphans
    }

    /// To how many bytes it is known what was touched: 4, and more if very much was.
    pub fn granule(&self) -> u64 {
        self.granule
    }

    /// Whether every write was compared with every other, so that no overlap can have been missed.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

/// Is told of each record, or run of records, and whose it is.
pub(super) trait Visitor {
    fn workgroup(&mut self, _: &Writer) {}
    fn probe(&mut self, _: &Probe, _: &Writer) {}
    fn other(&mut self) {}
    fn run(&mut self, run: &Run, writer: &Writer);
    fn torn(&mut self, _: u64) {}
    /// So many records that belong to nobody known.
    fn orphans(&mut self, _: u64) {}
}

/// Goes through a module's records.
fn walk(module: &Module<'_>, filter: &Filter, visitor: &mut impl Visitor) {
    walk_from(module, filter, visitor, HashMap::new());
}

/// As [`walk`], where executions have begun before the first record.
pub(super) fn walk_from(
    module: &Module<'_>,
    filter: &Filter,
    visitor: &mut impl Visitor,
    executions: HashMap<u32, Begun>,
) {
    let mut walk = Walk { filter, visitor, executions, runs: Runs::default(), current: None };
    for ring in module.rings() {
        walk.ring(ring);
    }
}

struct Walk<'w, V> {
    filter: &'w Filter,
    visitor: &'w mut V,
    executions: HashMap<u32, Begun>,
    runs: Runs,
    /// The last key, and whose it is.
    current: Option<(u64, Option<Writer>)>,
}

impl<V: Visitor> Walk<'_, V> {
    fn ring(&mut self, ring: &Ring<'_>) {
        let mut records = ring.records();
        self.current = None;
        loop {
            records.skip_runs(&mut self.runs);
            let Some(record) = records.next() else { break };
            self.record(ring, &record);
        }
        for (run, writer) in self.runs.end(None) {
            ended(self.filter, self.visitor, &run, writer);
        }
    }

    fn record(&mut self, ring: &Ring<'_>, record: &Record<'_>) {
        let writer = key(&record.event).and_then(|key| self.writer(ring, key, record.at));
        match &record.event {
            Event::Workgroup(workgroup) => self.workgroup(workgroup, record.at % ring.size()),
            Event::Load(access) => self.access(access, false, writer),
            Event::Store(access) => self.access(access, true, writer),
            Event::Torn { length } => self.visitor.torn(*length),
            Event::Print(_) | Event::Value(_) => match writer {
                None => self.visitor.orphans(1),
                Some(writer) if !self.filter.keeps_workgroup(&writer.workgroup) => {}
                Some(writer) => match &record.event {
                    Event::Value(probe) => self.visitor.probe(probe, &writer),
                    _ => self.visitor.other(),
                },
            },
        }
    }

    fn workgroup(&mut self, workgroup: &Workgroup, key: u64) {
        // From here on the key is this one's.
        for (run, writer) in self.runs.end(Some(key)) {
            ended(self.filter, self.visitor, &run, writer);
        }
        let execution = self.executions.entry(workgroup.site).or_default().begin(workgroup);
        let writer = Writer { workgroup: *workgroup, execution };
        self.current = Some((key, Some(writer)));
        if self.filter.keeps_workgroup(workgroup) {
            self.visitor.workgroup(&writer);
        }
    }

    fn access(&mut self, access: &Access, is_store: bool, writer: Option<Writer>) {
        if let Some((run, writer)) = self.runs.add(access, is_store, writer) {
            ended(self.filter, self.visitor, &run, writer);
        }
    }

    fn writer(&mut self, ring: &Ring<'_>, key: u64, at: u64) -> Option<Writer> {
        if let Some((cached, writer)) = self.current
            && cached == key
        {
            return writer;
        }
        let writer = ring.workgroup(key, at).map(|workgroup| {
            let execution = self.executions.get(&workgroup.site).map_or(0, |known| known.current);
            Writer { workgroup, execution }
        });
        self.current = Some((key, writer));
        writer
    }
}

fn ended(filter: &Filter, visitor: &mut impl Visitor, run: &Run, writer: Option<Writer>) {
    match writer {
        None => visitor.orphans(run.count),
        Some(writer) if filter.keeps_workgroup(&writer.workgroup) => visitor.run(run, &writer),
        Some(_) => {}
    }
}

/// Tells the executions of a site apart: one has as many workgroups as its grid.
#[derive(Clone, Copy, Default)]
pub(super) struct Begun {
    grid: [u32; 3],
    begun: u64,
    current: u64,
}

impl Begun {
    /// Where so many workgroups follow before the end of an execution of this grid.
    pub(super) fn before_the_last(grid: [u32; 3], left: u64) -> Self {
        Self { grid, begun: size(grid) - left, current: 0 }
    }

    /// A workgroup began. Returns the number of its execution.
    fn begin(&mut self, workgroup: &Workgroup) -> u64 {
        if self.grid != workgroup.count || self.begun == size(workgroup.count) {
            self.current += u64::from(self.begun > 0);
            (self.grid, self.begun) = (workgroup.count, 0);
        }
        self.begun += 1;
        self.current
    }
}

/// How many workgroups a grid has.
pub(super) fn size(grid: [u32; 3]) -> u64 {
    grid.iter().fold(1_u64, |size, &count| size.saturating_mul(count.into()))
}

/// The first reading: what was touched, and what needs no buffers to be counted.
#[derive(Default)]
struct Survey {
    pages: Pages,
    sites: BTreeMap<u32, Site>,
    counts: Counts,
}

impl Visitor for Survey {
    fn workgroup(&mut self, writer: &Writer) {
        self.counts.records += 1;
        self.sites.entry(writer.workgroup.site).or_default().begin(&writer.workgroup);
    }

    fn probe(&mut self, probe: &Probe, writer: &Writer) {
        self.counts.records += 1;
        Probes::add(&mut self.sites.entry(writer.workgroup.site).or_default().probes, probe);
    }

    fn other(&mut self) {
        self.counts.records += 1;
    }

    fn run(&mut self, run: &Run, writer: &Writer) {
        self.counts.records += run.count;
        self.pages.touch(run, writer);
    }

    fn torn(&mut self, length: u64) {
        self.counts.torn_bytes += length;
    }

    fn orphans(&mut self, count: u64) {
        self.counts.records += count;
        self.counts.orphans += count;
    }
}
