//! What a driver said of its events, by the numbers that it will tell their times by.
//!
//! A number has 16 bits, but drivers have more events than that and cut theirs off, so two that are
//! waited for may have the same. Times come list by list, each in the order in which it was recorded,
//! so the next one in that order is meant. An event in a graph that is launched again gets another
//! time each time; it stands until its number is given to another.

use std::collections::HashMap;
use std::thread::ThreadId;

use zonecast::{Interned, Location, Time};

/// How many events may be waited for under one number. Drivers have twice as many as numbers.
const UNDER_ONE: usize = 4;

/// An event that was recorded.
#[derive(Clone)]
pub(super) struct Query {
    /// Counts events in the order in which they were recorded.
    pub(super) order: u64,
    /// When it was recorded, so before it took place.
    pub(super) recorded: Time,
    pub(super) mark: Mark,
    /// Its time is known, or that it has none.
    pub(super) is_known: bool,
}

/// What an event marks. Zones go by the order of their begins.
#[derive(Clone)]
pub(super) enum Mark {
    Begin { place: Place, parent: Option<u64> },
    End { begin: u64 },
}

/// Where a zone is.
#[derive(Clone)]
pub(super) enum Place {
    Static(&'static Location),
    Interned(Interned),
}

impl Place {
    pub(super) fn location(&self) -> &'static Location {
        match self {
            Self::Static(location) => location,
            Self::Interned(place) => place.location(),
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Static(_) => None,
            Self::Interned(place) => place.shared_name(),
        }
    }
}

/// All events of a context.
#[derive(Default)]
pub(super) struct Queries {
    by_number: HashMap<u16, Vec<Query>>,
    /// The zones that each thread has begun to record and not ended, the innermost last.
    open: HashMap<ThreadId, Vec<u64>>,
    /// The order of the last event; the first one's is 1.
    last: u64,
}

impl Queries {
    pub(super) fn begin(&mut self, number: u16, place: Place) {
        let order = self.last + 1;
        let open = self.open.entry(std::thread::current().id()).or_default();
        let parent = open.last().copied();
        open.push(order);
        self.add(number, Mark::Begin { place, parent });
    }

    /// Ends the innermost zone of this thread; if there is none, of another, from which recording went
    /// over to this one.
    pub(super) fn end(&mut self, number: u16) {
        let thread = std::thread::current().id();
        let own = self.open.get_mut(&thread).filter(|open| !open.is_empty());
        let open = match own {
            Some(own) => Some(own),
            None => self.open.values_mut().max_by_key(|open| open.last().copied()),
        };
        if let Some(begin) = open.and_then(Vec::pop) {
            self.add(number, Mark::End { begin });
        }
    }

    fn add(&mut self, number: u16, mark: Mark) {
        self.last += 1;
        let query = Query { order: self.last, recorded: Time::now(), mark, is_known: false };
        let under = self.by_number.entry(number).or_default();
        let is_full = under.iter().filter(|query| !query.is_known).count() == UNDER_ONE;
        if let Some(oldest) = under.first_mut().filter(|_| is_full) {
            oldest.is_known = true;
        }
        // Its number is another's now: if it began a zone that was not ended, that will not be.
        for gone in under.extract_if(.., |query| query.is_known) {
            close(&mut self.open, gone.order);
        }
        under.push(query);
    }

    /// The event that a time is for, if the last one was for the event at `last`; and whether it is its first.
    pub(super) fn known(&mut self, number: u16, last: u64) -> Option<(&Query, bool)> {
        let under = self.by_number.get_mut(&number)?;
        let next = under.iter().position(|query| query.order > last);
        let waiting = || under.iter().position(|query| !query.is_known);
        let at = next.or_else(waiting).unwrap_or(0);
        let query = under.get_mut(at)?;
        let was_known = std::mem::replace(&mut query.is_known, true);
        Some((query, !was_known))
    }

    /// A zone whose begin never takes place is not open either.
    pub(super) fn close(&mut self, zone: u64) {
        close(&mut self.open, zone);
    }
}

fn close(open: &mut HashMap<ThreadId, Vec<u64>>, zone: u64) {
    open.retain(|_, open| {
        open.retain(|open| *open != zone);
        !open.is_empty()
    });
}
