//! Lanes: timelines that are not threads. Their zones come whole, with their times, so that a tree is
//! written from its root downwards, one line for each zone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::calls::{self, counts, row};
use super::config::Format;
use super::event::{Context, Ended, Value};
use super::fragment::{Fragment, Kind};
use super::label::Label;
use super::lines::{Own, write_source};
use super::table::Key;
use super::thread::Thread;
use super::track::Note;
use super::{clock, json, output, registry, text};
use crate::{LaneId, LaneInfo, LaneKind, LaneZone, Name};

static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// A lane that is open.
pub(super) struct Lane {
    label: Label,
    /// What its outermost zones are counted under: its name and kind.
    name: Name,
}

impl Own {
    pub(super) fn lane_create(&mut self, lane: LaneInfo<'_>, thread: &'static Thread) -> LaneId {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let kind = match lane.kind {
            LaneKind::Custom => "custom",
            LaneKind::Cuda => "cuda",
            LaneKind::Hip => "hip",
            LaneKind::OpenCl => "opencl",
            LaneKind::Vulkan => "vulkan",
            LaneKind::Metal => "metal",
            LaneKind::WebGpu => "webgpu",
        };
        let full = lane.group.map(|group| format!("{group}: {}", lane.name));
        let full = full.as_deref().unwrap_or(lane.name);
        let name = Name::intern(&format!("{full} ({kind})"));
        let label = Label::of_lane(number, full);
        registry::set_lane(number, Some(Arc::new(Lane { label, name })));
        let fields = [("lane", Value::Unsigned(number)), ("kind", Value::Text(kind))];
        self.say("lane_create", Some(("name", full.as_bytes())), &fields, thread);
        LaneId(number)
    }

    pub(super) fn lane_zones(&mut self, lane: LaneId, tree: &[LaneZone<'_>], thread: &'static Thread) {
        let Some(lane) = registry::lane(lane.0) else { return };
        tree.iter().for_each(|zone| self.lane_zone(&lane, zone, thread));
        output::flush(thread.buffer());
    }

    fn lane_zone(&mut self, lane: &Lane, zone: &LaneZone<'_>, thread: &'static Thread) {
        let entry = row(Key::new(Kind::LaneZone, zone.location), thread, || {
            Fragment::of_location(Kind::LaneZone, zone.location)
        });
        let Some(fragment) = entry.fragment() else { return };
        let elapsed = u64::try_from(zone.end - zone.start).unwrap_or(0);
        if self.has_summary() {
            counts(entry, thread).add(elapsed);
            if zone.depth == 0 {
                counts(calls::entry(Kind::Lane, lane.name, thread), thread).add(elapsed);
            }
        }
        let config = self.config();
        let is_shown = zone.name.map_or(fragment.is_shown, |name| config.filter.shows(name.as_bytes()));
        if let Some(format) = config.lines.filter(|_| is_shown && elapsed >= config.min) {
            write_zone(format, &lane.label, zone, Ended { fragment, elapsed, is_begun: false }, thread);
        }
    }

    pub(super) fn lane_close(&mut self, lane: LaneId, thread: &'static Thread) {
        if registry::lane(lane.0).is_some() {
            registry::set_lane(lane.0, None);
            self.say("lane_close", None, &[("lane", Value::Unsigned(lane.0))], thread);
        }
    }
}

fn write_zone(
    format: Format,
    label: &Label,
    zone: &LaneZone<'_>,
    ended: Ended<'static>,
    thread: &'static Thread,
) {
    let depth = zone.depth as usize;
    let context = Context { time: clock::time_since_start(zone.start), label, depth, indent: depth };
    let notes = notes(zone, ended.elapsed);
    let notes = notes.iter().flatten().copied();
    let name = zone.name.map_or(0, str::len);
    let room = context.room(format) + ended.room(format) + super::escape::GROWTH * name;
    // SAFETY: this thread's own buffer (it is within `Thread::enter`), and formats only use the pen.
    unsafe {
        thread.buffer().line(room, |pen| match format {
            Format::Text => text::ended(pen, context, ended, notes.clone()),
            Format::Json => json::ended(pen, context, ended, notes.clone()),
        });
    }
    write_source(format, context, ended.fragment, thread);
    output::line_done(thread.buffer());
}

/// What else there is to say of a zone: its name, how long it took by another clock, and when it was
/// asked for.
fn notes<'a>(zone: &LaneZone<'a>, elapsed: u64) -> [Option<Note<'a>>; 4] {
    let differs = u64::try_from(zone.measured_ns) != Ok(elapsed);
    let moment = |key, at| Note::Number(key, clock::time_since_start(at));
    [
        zone.name.map(|name| Note::Name(name.as_bytes())),
        differs.then_some(Note::Number("measured_ns", zone.measured_ns)),
        zone.launched.map(|times| moment("launch_begin_ns", times.0)),
        zone.launched.map(|times| moment("launch_end_ns", times.1)),
    ]
}
