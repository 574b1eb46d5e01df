//! Lanes: timelines that are not threads.
//!
//! A thread's zones are recorded as they happen. What a GPU did, what a library measured by itself or
//! what a profile says is known only afterwards, with its times. A [`Lane`] takes such zones: whole,
//! at given [`Time`]s, one after the other or as a tree.
//!
//! Viewers search a timeline by its order, so a lane keeps it: zones come by their start, each ends
//! after it began, siblings do not overlap, children lie within their parent. A zone that would break
//! this by a little (two clocks never agree to the nanosecond) is moved just as far as needed; one
//! that is over before the last zone of its lane ended is left out and counted.

use crate::select::provider;
use crate::{Interned, LaneId, LaneInfo, LaneKind, LaneZone, Location, Time};

/// A timeline for zones whose times are already known. It is closed when this is dropped.
///
/// ```
/// use zonecast::{Lane, Time, location};
///
/// let mut lane = Lane::new("decoder");
/// let start = Time::now();
/// // … somebody measures 250 microseconds …
/// lane.zone_at(location!("frame"), start, start.plus(250_000));
/// assert_eq!(lane.left_out(), 0);
/// ```
#[derive(Debug)]
pub struct Lane {
    id: LaneId,
    /// The last zone ended here.
    end: Time,
    left_out: u64,
    order: Order,
}

impl Lane {
    /// A lane of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self::of_kind(name, LaneKind::Custom)
    }

    /// A lane of this name, which is one of a GPU's or the like.
    #[must_use]
    pub fn of_kind(name: &str, kind: LaneKind) -> Self {
        Self::of(LaneInfo { name, kind, group: None })
    }

    /// A lane of this name, shown as one row of a group: all lanes of the same group and kind are together.
    ///
    /// In Tracy, the group is a GPU context of that name, and each lane is a thread in it; the profiler asks for no
    /// names of such threads, so it shows the group's alone. Where zonecast was built without Tracy's headers, each
    /// lane is a context of its own. The console shows both names.
    ///
    /// ```
    /// use zonecast::{Lane, LaneKind};
    ///
    /// let streams = ["compute", "copy"].map(|name| Lane::in_group("GPU 0", name, LaneKind::Custom));
    /// ```
    #[must_use]
    pub fn in_group(group: &str, name: &str, kind: LaneKind) -> Self {
        Self::of(LaneInfo { name, kind, group: Some(group) })
    }

    fn of(lane: LaneInfo<'_>) -> Self {
        let id = provider!(|p| p.lane_create(lane));
        Self { id, end: Time::FIRST, left_out: 0, order: Order::default() }
    }

    /// Records a zone.
    pub fn zone_at(&mut self, location: &'static Location, start: Time, end: Time) {
        self.zones(&mut [LaneZone::new(location, start, end)]);
    }

    /// Records a zone at a place learnt at run time.
    pub fn zone_at_interned(&mut self, place: &Interned, start: Time, end: Time) {
        let name = place.shared_name();
        self.zones(&mut [LaneZone { name, ..LaneZone::new(place.location(), start, end) }]);
    }

    /// Records a tree of zones, or several: each zone before its children, siblings by their start.
    /// Depths are counted from the outermost. Times are put in order in place.
    ///
    /// ```
    /// use zonecast::{Lane, LaneZone, Time, location};
    ///
    /// let at = |ns| Time::from_ns(ns);
    /// let mut lane = Lane::new("queue 0");
    /// lane.zones(&mut [
    ///     LaneZone::new(location!("pass"), at(1_000), at(9_000)),
    ///     LaneZone::new(location!("draw"), at(1_000), at(5_000)).at_depth(1),
    ///     LaneZone::new(location!("draw"), at(5_500), at(9_000)).at_depth(1),
    /// ]);
    /// ```
    pub fn zones(&mut self, zones: &mut [LaneZone<'_>]) {
        let mut rest = zones;
        while !rest.is_empty() {
            let (tree, others) = rest.split_at_mut(tree_len(rest));
            rest = others;
            if tree[0].end < self.end {
                self.left_out += tree.len() as u64;
            } else {
                self.tree_until(tree, Time::LAST);
            }
        }
    }

    /// Records one tree, which is known to come after all before; nothing of it ends after `ceiling` unless
    /// there is no room.
    pub(crate) fn tree_until(&mut self, tree: &mut [LaneZone<'_>], ceiling: Time) {
        self.order.put(tree, self.end, ceiling);
        self.end = tree.first().map_or(self.end, |root| root.end);
        provider!(|p| p.lane_zones(self.id, tree));
    }

    /// How many zones were left out because they were over before the last one ended.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        provider!(|p| p.lane_close(self.id));
    }
}

/// How many zones the first tree has.
fn tree_len(zones: &[LaneZone<'_>]) -> usize {
    let outermost = zones[0].depth;
    1 + zones[1..].iter().take_while(|zone| zone.depth > outermost).count()
}

/// Puts the times of zones in order. Kept by whoever does so often, so that nothing is allocated.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// For each zone, the shortest that its children can be made: a nanosecond for each leaf.
    least: Vec<i64>,
    levels: Vec<Level>,
}

/// The zones at one depth that share a parent, while they are put in order.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// The next one begins no earlier.
    from: Time,
    /// All of them end by then.
    until: Time,
    /// What those still to come need at least.
    pending: i64,
}

impl Order {
    /// Puts zones in order: within `floor` and `ceiling`, in sequence, children within parents, none
    /// shorter than a nanosecond. Where the ceiling leaves no room for that, it gives way.
    pub(crate) fn put(&mut self, zones: &mut [LaneZone<'_>], floor: Time, ceiling: Time) {
        let outermost = self.measure(zones);
        self.levels[0] = Level { from: floor, until: ceiling, pending: outermost };
        for (zone, &least) in zones.iter_mut().zip(&self.least) {
            let depth = zone.depth as usize;
            let level = &mut self.levels[depth];
            level.pending -= least.max(1);
            let until = level.until.plus(-level.pending);
            zone.start = zone.start.min(until.plus(-least.max(1))).max(level.from);
            zone.end = zone.end.min(until).max(zone.start.plus(least.max(1)));
            level.from = zone.end;
            self.levels[depth + 1] = Level { from: zone.start, until: zone.end, pending: least };
        }
    }

    /// Makes depths follow one another and fills in `least`. Returns what all zones need together.
    fn measure(&mut self, zones: &mut [LaneZone<'_>]) -> i64 {
        let mut deepest = 0;
        let mut allowed = 0;
        let base = zones.first().map_or(0, |zone| zone.depth);
        for zone in &mut *zones {
            zone.depth = zone.depth.saturating_sub(base).min(allowed);
            allowed = zone.depth + 1;
            deepest = deepest.max(zone.depth as usize);
        }
        self.least.clear();
        self.least.resize(zones.len(), 0);
        self.levels.clear();
        self.levels.resize(deepest + 2, Level::default());
        for (zone, least) in zones.iter().zip(&mut self.least).rev() {
            let depth = zone.depth as usize;
            *least = core::mem::take(&mut self.levels[depth + 1].pending);
            self.levels[depth].pending += (*least).max(1);
        }
        self.levels[0].pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location;

    fn ordered(zones: &[(u32, i64, i64)], floor: i64, ceiling: i64) -> Vec<(i64, i64)> {
        let zone = |&(depth, start, end): &(u32, i64, i64)| {
            LaneZone::new(location!("z"), Time::from_ns(start), Time::from_ns(end)).at_depth(depth)
        };
        let mut zones: Vec<_> = zones.iter().map(zone).collect();
        Order::default().put(&mut zones, Time::from_ns(floor), Time::from_ns(ceiling));
        zones.iter().map(|zone| (zone.start.ns(), zone.end.ns())).collect()
    }

    #[test]
    fn what_is_in_order_stays() {
        let zones = [(0, 10, 50), (1, 10, 20), (2, 12, 13), (1, 20, 50), (0, 60, 61)];
        assert_eq!(ordered(&zones, 0, 100), [(10, 50), (10, 20), (12, 13), (20, 50), (60, 61)]);
    }

    #[test]
    fn children_are_moved_into_their_parent_and_behind_their_siblings() {
        assert_eq!(ordered(&[(0, 10, 50), (1, 5, 30), (1, 25, 60)], 0, 100), [(10, 50), (10, 30), (30, 50)]);
    }

    #[test]
    fn a_parent_of_no_length_gets_room_for_its_children() {
        let zones = [(0, 10, 10), (1, 10, 10), (2, 10, 10), (2, 10, 10), (1, 10, 10)];
        assert_eq!(ordered(&zones, 0, 100), [(10, 13), (10, 12), (10, 11), (11, 12), (12, 13)]);
    }

    #[test]
    fn limits_hold_while_there_is_room() {
        assert_eq!(ordered(&[(0, 10, 50)], 20, 40), [(20, 40)]);
        assert_eq!(ordered(&[(0, 90, 95), (1, 91, 92)], 0, 40), [(39, 40), (39, 40)]);
        assert_eq!(ordered(&[(0, 10, 11)], 40, 40), [(40, 41)]);
    }

    #[test]
    fn depths_follow_one_another() {
        assert_eq!(ordered(&[(3, 0, 9), (7, 1, 2), (1, 20, 30)], 0, 100), [(0, 9), (1, 2), (20, 30)]);
    }
}
