//! A timeline that was measured elsewhere, in every format that a capture can have.
//!
//! It is composed as a recording of Tracy's stream: each row a thread, each zone a zone with its place and text. So
//! the profiler shows it as a run of its own, with sources, and every other format is written from what a
//! receiver makes of the stream.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use zonecast_recordings::timeline::{Memory, Row, Timeline, Zone};
use zonecast_tracy_wire::{Composer, Item, Location, Recording, Server, Welcome};

use crate::Failure;
use crate::files::{about, write_to};
use crate::format::Format;

/// Rows are threads to Tracy; this is the first one's number.
const FIRST_ROW: u32 = 1;
/// The names of memory pools are strings at these addresses.
const FIRST_POOL: u64 = 0x1000;
/// Texts that belong to zones and messages are cut to what the stream can carry.
const TEXT_LIMIT: usize = 65_000;
/// As much of a name as the stream can carry in any place.
const NAME_LIMIT: usize = 20_000;

/// Where a timeline is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    /// Zones as an indented list
    Console,
    /// The Tracy 0.14 profiler: waits for it to connect; with -o, a recording for `zonecast serve`
    Tracy,
    /// A trace for ui.perfetto.dev
    Perfetto,
    /// Everything, as one JSON object: the same as of `zonecast capture --format json`
    Json,
}

/// How and where.
pub(crate) struct Target<'t> {
    pub(crate) to: To,
    pub(crate) output: Option<&'t Path>,
    pub(crate) port: u16,
}

/// Shows a timeline under the name of what it is of.
pub(crate) fn show(timeline: &Timeline, program: &str, target: &Target<'_>) -> Result<(), Failure> {
    let format = match target.to {
        To::Tracy => return to_tracy(timeline, program, target),
        To::Console => Format::Text,
        To::Perfetto => Format::Perfetto,
        To::Json => Format::Json,
    };
    let folder = tempfile::tempdir()?;
    let mut recording = record(timeline, program, &folder.path().join("timeline"))?;
    let capture = recording.replay(|engine| engine)?;
    write_to(target.output, |mut out| format.write(&capture, &mut out))
}

fn to_tracy(timeline: &Timeline, program: &str, target: &Target<'_>) -> Result<(), Failure> {
    if let Some(path) = target.output {
        record(timeline, program, path)?;
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let mut recording = record(timeline, program, &folder.path().join("timeline"))?;
    let server =
        Server::bind(("127.0.0.1", target.port)).map_err(|error| format!("port {}: {error}", target.port))?;
    eprintln!("zonecast: serving {program} at {}; connect the Tracy 0.14 profiler", server.address()?);
    Ok(server.serve(&mut recording)?)
}

fn record(timeline: &Timeline, program: &str, path: &Path) -> Result<Recording, Failure> {
    compose(timeline, program, path).map_err(|error| about(path, &error))?;
    Recording::open(PathBuf::from(path)).map_err(|error| about(path, &error))
}

fn compose(timeline: &Timeline, program: &str, path: &Path) -> io::Result<()> {
    // A tick is a nanosecond of the host's clock, and the run begins with what happened first.
    let begin = timeline.begin();
    let welcome =
        Welcome { init_begin: begin, init_end: begin, program: program.to_owned(), ..Welcome::default() };
    let file = io::BufWriter::new(File::create(path)?);
    let mut composer = Composer::new(Box::new(file), &welcome)?;
    for (thread, row) in (FIRST_ROW..).zip(&timeline.rows) {
        push_row(&mut composer, thread, row)?;
    }
    push_memory(&mut composer, &timeline.memory)?;
    for message in &timeline.messages {
        composer.push(&Item::ThreadContext { thread: FIRST_ROW })?;
        composer.push(&Item::SingleString(cut(&message.text, TEXT_LIMIT)))?;
        let (literal, color, metadata, callstack) = (None, None, 0x20, false);
        composer.push(&Item::Message { time: message.time, literal, color, metadata, callstack })?;
    }
    for (path, text) in &timeline.sources {
        composer.source(path.as_bytes(), text)?;
    }
    composer.finish()
}

fn push_row(composer: &mut Composer, thread: u32, row: &Row) -> io::Result<()> {
    composer.push(&Item::ThreadName { thread: thread.into(), text: cut(&row.name, NAME_LIMIT) })?;
    composer.push(&Item::ThreadContext { thread })?;
    let mut open: Vec<i64> = Vec::new();
    for zone in &row.zones {
        while open.len() > zone.depth as usize {
            let time = open.pop().unwrap_or_default();
            composer.push(&Item::ZoneEnd { time })?;
        }
        push_zone(composer, zone)?;
        open.push(zone.end);
    }
    open.into_iter().rev().try_for_each(|time| composer.push(&Item::ZoneEnd { time }))
}

fn push_zone(composer: &mut Composer, zone: &Zone) -> io::Result<()> {
    let (file, line) = zone.place.as_ref().map_or(("", 0), |place| (place.file.as_str(), place.line));
    let name = cut(&zone.name, NAME_LIMIT);
    composer.push(&Item::LocationPayload(Location {
        name: None,
        function: name,
        file: cut(file, NAME_LIMIT),
        line,
        color: 0,
    }))?;
    composer.push(&Item::ZoneBegin { time: zone.begin, location: None, callstack: false })?;
    if !zone.text.is_empty() {
        composer.push(&Item::SingleString(cut(&zone.text, TEXT_LIMIT)))?;
        composer.push(&Item::ZoneText)?;
    }
    Ok(())
}

fn push_memory(composer: &mut Composer, events: &[Memory]) -> io::Result<()> {
    let mut pools = BTreeMap::new();
    for event in events {
        let next = FIRST_POOL + 16 * pools.len() as u64;
        let pool = *pools.entry(event.pool.as_str()).or_insert(next);
        if pool == next {
            composer.push(&Item::StringData { pointer: pool, text: cut(&event.pool, NAME_LIMIT) })?;
        }
        composer.push(&Item::MemName { pool })?;
        let (thread, named, callstack) = (FIRST_ROW, true, false);
        let Memory { time, address, .. } = *event;
        composer.push(&match event.taken {
            Some(size) => Item::MemAlloc { time, thread, address, size, named, callstack },
            None => Item::MemFree { time, thread, address, named, callstack },
        })?;
    }
    Ok(())
}

/// At most so many bytes, and whole characters.
fn cut(text: &str, limit: usize) -> &[u8] {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[..end]
}
