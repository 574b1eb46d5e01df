//! A capture, and the questions that can be asked of it.

use std::collections::BTreeMap;
use std::fmt;

use crate::check::Violation;
use crate::model::{FrameImage, FrameMark, MemoryEvent, NEVER, PlotLook, Tables};
use crate::names::{Names, UNKNOWN};
use crate::select::Select;
use crate::stats::{Distribution, Statistics};
use crate::view::{Crash, FiberRun, GpuContext, GpuZone, Located, Lock, Message, Section, Thread, Zone};
use crate::welcome::Welcome;

/// Everything that a client told, put in order.
///
/// Times are in nanoseconds since the program began, computed as the profiler computes them.
///
/// ```
/// # use zonecast_tracy_wire::{Encoder, Engine, Item, Location, Welcome};
/// # let mut stream = Encoder::default();
/// # let location = Location { name: Some(b"matmul"), function: b"dispatch", file: b"model.mlir", line: 7, color: 0 };
/// # stream.push(&Item::ThreadContext { thread: 1 });
/// # stream.push(&Item::LocationPayload(location));
/// # stream.push(&Item::ZoneBegin { time: 100, location: None, callstack: false });
/// # stream.push(&Item::ZoneEnd { time: 350 });
/// # let mut engine = Engine::new(Welcome::default());
/// # engine.feed(stream.bytes()).unwrap();
/// # let capture = engine.finish();
/// let zone = capture.zones().named("matmul").one();
/// assert_eq!((zone.file(), zone.line()), ("model.mlir", 7));
/// assert_eq!(zone.duration_ns(), Some(250));
/// assert_eq!(capture.source_of(&zone), None, "this client was asked for no source");
/// ```
pub struct Capture {
    pub(crate) welcome: Welcome,
    pub(crate) names: Names,
    pub(crate) tables: Tables,
    pub(crate) statistics: Statistics,
    pub(crate) violations: Vec<Violation>,
    pub(crate) ended: bool,
    pub(crate) items: u64,
    pub(crate) bytes: u64,
}

impl Capture {
    pub(crate) fn new(welcome: Welcome) -> Self {
        Self {
            welcome,
            names: Names::default(),
            tables: Tables::default(),
            statistics: Statistics::default(),
            violations: Vec::new(),
            ended: false,
            items: 0,
            bytes: 0,
        }
    }

    /// What the client said of itself first.
    #[must_use]
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// The traced program.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.welcome.program
    }

    /// Whether the client said that it was done; if not, later items may be missing.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// How many items came.
    #[must_use]
    pub fn item_count(&self) -> u64 {
        self.items
    }

    /// How many bytes came, decompressed.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.bytes
    }

    /// Threads and fibers, in the order of their first item.
    pub fn threads(&self) -> impl Iterator<Item = Thread<'_>> {
        (0..self.tables.threads.len()).map(|index| Thread { capture: self, index })
    }

    /// CPU zones, in the order in which the client sent their beginnings.
    #[must_use]
    pub fn zones(&self) -> Select<'_, Zone<'_>> {
        Select::new((0..self.tables.zones.len()).map(|index| Zone { capture: self, index }))
    }

    /// GPU contexts, in the order of their creation.
    #[must_use]
    pub fn gpu_contexts(&self) -> Select<'_, GpuContext<'_>> {
        Select::new((0..self.tables.gpu_contexts.len()).map(|index| GpuContext { capture: self, index }))
    }

    /// GPU zones, in the order in which the client sent their beginnings.
    #[must_use]
    pub fn gpu_zones(&self) -> Select<'_, GpuZone<'_>> {
        Select::new((0..self.tables.gpu_zones.len()).map(|index| GpuZone { capture: self, index }))
    }

    /// Messages, in the order sent.
    #[must_use]
    pub fn messages(&self) -> Select<'_, Message<'_>> {
        Select::new((0..self.tables.messages.len()).map(|index| Message { capture: self, index }))
    }

    /// What the program said of itself, line by line.
    pub fn app_info(&self) -> impl Iterator<Item = &str> {
        self.tables.app_info.iter().map(|text| self.names.texts.get(*text))
    }

    /// Plots by name: (nanoseconds, value). Plots that share a name are one.
    #[must_use]
    pub fn plots(&self) -> BTreeMap<&str, Vec<(i64, f64)>> {
        let mut plots: BTreeMap<&str, Vec<(i64, f64)>> = BTreeMap::new();
        for (name, plot) in &self.tables.plots {
            plots.entry(self.names.plot(*name)).or_default().extend(&plot.points);
        }
        plots.values_mut().for_each(|points| points.sort_by_key(|(time, _)| *time));
        plots
    }

    /// How the plot `name` is to be drawn, if the program said so.
    #[must_use]
    pub fn plot_look(&self, name: &str) -> Option<PlotLook> {
        self.tables
            .plots
            .iter()
            .find_map(|(pointer, plot)| plot.look.filter(|_| self.names.plot(*pointer) == name))
    }

    /// Frame sets by name; the main one is called `Frame`.
    #[must_use]
    pub fn frames(&self) -> BTreeMap<&str, Vec<FrameMark>> {
        let mut sets: BTreeMap<&str, Vec<FrameMark>> = BTreeMap::new();
        for (name, marks) in &self.tables.frames {
            sets.entry(self.names.frame(*name)).or_default().extend(marks);
        }
        sets.values_mut().for_each(|marks| marks.sort_by_key(|mark| mark.start_ns));
        sets
    }

    /// Images of frames, in the order sent.
    #[must_use]
    pub fn frame_images(&self) -> &[FrameImage] {
        &self.tables.frame_images
    }

    /// Memory events by pool; the pool without a name is called `""`.
    #[must_use]
    pub fn memory(&self) -> BTreeMap<&str, Vec<MemoryEvent>> {
        let mut pools: BTreeMap<&str, Vec<MemoryEvent>> = BTreeMap::new();
        for (name, events) in &self.tables.memory {
            let name = if *name == 0 { "" } else { self.names.string(*name) };
            pools.entry(name).or_default().extend(events);
        }
        pools.values_mut().for_each(|events| events.sort_by_key(|event| event.time_ns));
        pools
    }

    /// Locks, in the order of their announcement.
    #[must_use]
    pub fn locks(&self) -> Select<'_, Lock<'_>> {
        Select::new((0..self.tables.locks.len()).map(|index| Lock { capture: self, index }))
    }

    /// When which thread ran which fiber.
    pub fn fiber_runs(&self) -> impl Iterator<Item = FiberRun<'_>> {
        self.tables.fiber_runs.iter().map(|run| FiberRun {
            fiber: Thread { capture: self, index: run.fiber as usize },
            carrier: Thread { capture: self, index: run.carrier as usize },
            start_ns: run.start,
            end_ns: ended(run.end),
        })
    }

    /// Sections of the run.
    pub fn sections(&self) -> impl Iterator<Item = Section<'_>> {
        self.tables.sections.iter().map(|section| Section {
            text: self.names.texts.get(section.text),
            category: self.tables.section_categories.get(&section.category).map(|t| self.names.texts.get(*t)),
            start_ns: section.start,
            end_ns: ended(section.end),
        })
    }

    /// The load of the machine: (nanoseconds, percent).
    #[must_use]
    pub fn cpu_load(&self) -> &[(i64, f32)] {
        &self.tables.cpu_load
    }

    /// How the program crashed, if it did.
    #[must_use]
    pub fn crash(&self) -> Option<Crash<'_>> {
        self.tables.crash.map(|crash| Crash {
            time_ns: crash.time,
            thread: Thread { capture: self, index: crash.thread as usize },
            text: self.names.string(crash.text),
        })
    }

    /// The source texts that the client gave, in the order asked: (path, bytes).
    pub fn sources(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.source_requests().filter_map(|(path, text)| Some((path, text?)))
    }

    /// Every path that was asked for, and the bytes if the client had them.
    pub fn source_requests(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        self.names.sources.all().map(|(path, text)| (self.names.texts.get(path), text))
    }

    /// The bytes of the file at `path`, if the client gave them.
    #[must_use]
    pub fn source(&self, path: &str) -> Option<&[u8]> {
        self.names.sources.get(self.names.texts.find_bytes(path.as_bytes())?)
    }

    /// The bytes of the file that a zone, lock or other place in the code lies in.
    #[must_use]
    pub fn source_of<'a>(&'a self, place: &impl Located<'a>) -> Option<&'a [u8]> {
        self.source(place.location().file())
    }

    /// What did not arrive, or arrived where it made no sense, by kind.
    #[must_use]
    pub fn lost(&self) -> BTreeMap<&'static str, u64> {
        let mut lost = self.tables.lost.clone();
        let names = self.names.open() as u64;
        if names > 0 {
            lost.insert("names", names);
        }
        lost
    }

    /// The real server's rules that the stream broke, if it was checked.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How long zones took, per sort of zone: the longest total first.
    #[must_use]
    pub fn summary(&self) -> Vec<Summary<'_>> {
        let mut computed = Statistics::default();
        for zone in self.tables.zones.iter().filter(|zone| zone.end != NEVER) {
            let name = self.tables.extras.get(zone.extra as usize).and_then(|extra| extra.name);
            computed.zone(zone.location, name, zone.end.saturating_sub(zone.start));
        }
        for zone in self.tables.gpu_zones.iter().filter(|zone| zone.end != NEVER && zone.start >= 0) {
            computed.gpu_zone(zone.location, zone.end.saturating_sub(zone.start));
        }
        let rows = self.statistics.rows().iter().chain(computed.rows());
        let mut summary: Vec<Summary<'_>> = rows.map(|row| self.summarize(row)).collect();
        summary.sort_by(|a, b| b.durations.total().cmp(&a.durations.total()).then(a.name.cmp(b.name)));
        summary
    }

    fn summarize(&self, row: &crate::stats::Row) -> Summary<'_> {
        let location = self.names.locations.get(row.location);
        let function = self.names.text(location.function).unwrap_or(UNKNOWN);
        let own = self.names.text(location.name).unwrap_or(function);
        Summary {
            name: row.name.map_or(own, |name| self.names.texts.get(name)),
            function,
            file: self.names.text(location.file).unwrap_or(UNKNOWN),
            line: location.line,
            gpu: row.gpu,
            durations: row.durations.clone(),
        }
    }

    /// How many of the things that statistics mode counts came.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let statistics = &self.statistics;
        BTreeMap::from([
            ("messages", statistics.messages),
            ("plot values", statistics.plot_values),
            ("frames", statistics.frames),
            ("memory events", statistics.memory_events),
            ("lock events", statistics.lock_events),
        ])
    }
}

/// Counts: the whole would be of no help.
impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("program", &self.program())
            .field("items", &self.items)
            .field("threads", &self.tables.threads.len())
            .field("zones", &self.tables.zones.len())
            .field("gpu_zones", &self.tables.gpu_zones.len())
            .field("messages", &self.tables.messages.len())
            .field("lost", &self.lost())
            .finish_non_exhaustive()
    }
}

/// `None` for what never ended.
pub(crate) fn ended(time: i64) -> Option<i64> {
    (time != NEVER).then_some(time)
}

/// How long one sort of zone took.
#[derive(Clone, Debug)]
pub struct Summary<'a> {
    /// The zone's name: its own, or its location's, or its function.
    pub name: &'a str,
    /// The function it lies in.
    pub function: &'a str,
    /// The file it lies in.
    pub file: &'a str,
    /// The line in the file.
    pub line: u32,
    /// Whether it ran on a GPU.
    pub gpu: bool,
    /// The durations.
    pub durations: Distribution,
}
