//! Zones as their times come in.

use zonecast::Time;

use super::queries::{Mark, Place, Query};

/// A moment of a zone.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    /// In nanoseconds of the device's.
    pub(super) device: i64,
    /// When it was asked for; none if it was asked for once and took place again.
    pub(super) recorded: Option<Time>,
}

/// A zone that has both of its times.
pub(super) struct Zone {
    pub(super) place: Place,
    pub(super) begin: Moment,
    pub(super) end: Moment,
    pub(super) depth: u32,
}

/// A zone whose begin was told. What never took place has no moment.
struct Told {
    order: u64,
    place: Place,
    begin: Option<Moment>,
    end: Option<Moment>,
    /// Where the one is that it lies in.
    parent: Option<usize>,
}

/// The zones whose times a thread is telling.
#[derive(Default)]
pub(super) struct Trees {
    zones: Vec<Told>,
    /// Where the zones are whose end was not told, the innermost last.
    open: Vec<usize>,
    /// The order of the event whose time was told last; 0 if there is none.
    pub(super) last: u64,
}

impl Trees {
    /// Whether nothing waits for a time.
    pub(super) fn is_empty(&self) -> bool {
        self.zones.is_empty()
    }

    /// Takes in an event. Returns zones that are whole, each before those that lie in it, once no other is
    /// around them.
    pub(super) fn take(&mut self, query: Query, moment: Option<Moment>) -> Vec<Zone> {
        self.last = query.order;
        match query.mark {
            Mark::Begin { place, parent } => {
                // What is open and does not hold it will never end: its list is over.
                while self.open.last().is_some_and(|open| Some(self.zones[*open].order) != parent) {
                    self.open.pop();
                }
                let whole = self.whole();
                let parent = self.open.last().copied();
                self.open.push(self.zones.len());
                self.zones.push(Told { order: query.order, place, begin: moment, end: None, parent });
                whole
            }
            Mark::End { begin } => {
                let Some(depth) = self.open.iter().rposition(|open| self.zones[*open].order == begin) else {
                    return Vec::new();
                };
                self.zones[self.open[depth]].end = moment;
                self.open.truncate(depth);
                self.whole()
            }
        }
    }

    /// The zones that have both times, once none is open.
    fn whole(&mut self) -> Vec<Zone> {
        if !self.open.is_empty() {
            return Vec::new();
        }
        let told = std::mem::take(&mut self.zones);
        // How many zones that are shown one in each of them lies in.
        let mut depths: Vec<u32> = Vec::with_capacity(told.len());
        let mut whole = Vec::with_capacity(told.len());
        for zone in told {
            let depth = zone.parent.map_or(0, |parent| depths[parent]);
            let moments = zone.begin.zip(zone.end);
            depths.push(depth + u32::from(moments.is_some()));
            whole.extend(moments.map(|(begin, end)| Zone { place: zone.place, begin, end, depth }));
        }
        whole
    }
}
