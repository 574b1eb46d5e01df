//! Frames and their images.

use hashbrown::{HashMap, HashSet};

use super::payload::Payloads;
use super::rule::{Payload, Rule};
use super::{Leniency, Report};
use crate::item::{FrameSort, Item};
use crate::welcome::Welcome;

#[derive(Debug)]
struct Set {
    continuous: bool,
    /// The last frame's time: its start, or its end once it has one.
    last: i64,
    open: bool,
}

/// The state of all frame sets.
#[derive(Debug, Default)]
pub(super) struct FrameRules {
    sets: HashMap<u64, Set>,
    screens: HashMap<u32, i64>,
    images: HashSet<u32>,
}

impl FrameRules {
    pub(super) fn check(
        &mut self,
        item: &Item<'_>,
        payload: &mut Payloads,
        welcome: &Welcome,
        lenient: &Leniency,
        report: &mut Report,
    ) {
        match *item {
            Item::FrameMark { time, name, sort: FrameSort::Continuous } => {
                let set = self.sets.entry(name).or_insert(Set { continuous: true, last: time, open: false });
                report.require(set.continuous, Rule::FrameSortMixed { name });
                report.require(set.last <= time, Rule::FrameBackwards { name });
                set.last = set.last.max(time);
            }
            Item::FrameMark { time, name, sort: FrameSort::Start } => {
                let set = self.sets.entry(name).or_insert(Set { continuous: false, last: time, open: false });
                report.require(!set.continuous, Rule::FrameSortMixed { name });
                report.require(!set.open, Rule::FrameStartTwice { name });
                report.require(set.last <= time, Rule::FrameBackwards { name });
                (set.last, set.open) = (set.last.max(time), true);
            }
            Item::FrameMark { time, name, sort: FrameSort::End } => self.end(time, name, lenient, report),
            Item::FrameVsync { time, id } => {
                let last = self.screens.entry(id).or_insert(time);
                report.require(*last <= time, Rule::FrameBackwards { name: u64::from(id) });
                *last = time.max(*last);
            }
            Item::FrameImageData { image } => {
                payload.set(Payload::Image, report);
                payload.image = image.len();
            }
            Item::FrameImage { frame, width, height, .. } => {
                payload.take(Payload::Image, report);
                // DXT1 has half a byte per pixel.
                let (expected, found) = (usize::from(width) * usize::from(height) / 2, payload.image);
                report.require(expected == found && found % 8 == 0, Rule::FrameImageSize { expected, found });
                let ignored = welcome.on_demand.is_some_and(|it| u64::from(frame) <= it.frames);
                let is_new = ignored || self.images.insert(frame);
                report.require(is_new, Rule::FrameImageTwice { frame });
            }
            _ => unreachable!("only frames come here"),
        }
    }

    fn end(&mut self, time: i64, name: u64, lenient: &Leniency, report: &mut Report) {
        let Some(set) = self.sets.get_mut(&name) else {
            return report.require(lenient.frame_ends, Rule::FrameEndWithoutStart { name });
        };
        report.require(!set.continuous, Rule::FrameSortMixed { name });
        report.require(set.continuous || set.open, Rule::FrameEndTwice { name });
        (set.last, set.open) = (set.last.max(time), false);
    }
}
