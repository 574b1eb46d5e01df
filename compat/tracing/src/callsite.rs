//! The location of each span's callsite, made once.
//!
//! A span's metadata is a static of its callsite, so its address stands for the callsite. The table
//! below maps addresses to locations; entries are never removed, so reading it needs no lock. Of a
//! program with thousands of callsites, those that find no room near their slot are in a list.

use std::sync::{OnceLock, PoisonError, RwLock};

use tracing_core::Metadata;
use zonecast::{Interned, Location, LocationParts};

/// How many bits the number of a [`Place`] has.
pub(crate) const NUMBER_BITS: u32 = 20;
const SLOT_BITS: u32 = 12;
const SLOTS: usize = 1 << SLOT_BITS;
/// How far from its own slot an entry may lie.
const PROBES: usize = 32;

static TABLE: [OnceLock<Place>; SLOTS] = [const { OnceLock::new() }; SLOTS];
/// Their numbers follow those of the table.
static LIST: RwLock<Vec<&'static Place>> = RwLock::new(Vec::new());

/// Where the spans of a callsite are.
pub(crate) struct Place {
    pub(crate) metadata: &'static Metadata<'static>,
    pub(crate) interned: Interned,
}

/// A place by its number.
#[inline]
pub(crate) fn numbered(number: usize) -> Option<&'static Place> {
    match TABLE.get(number) {
        Some(slot) => slot.get(),
        None => listed(number),
    }
}

/// The place of a callsite, and its number.
#[inline]
pub(crate) fn of(metadata: &'static Metadata<'static>) -> (usize, &'static Place) {
    let own = own_slot(metadata);
    for probe in 0..PROBES {
        let slot = (own + probe) % SLOTS;
        // Whoever else sets the slot first may have set it for this very callsite.
        let place = TABLE[slot].get().unwrap_or_else(|| add(slot, metadata));
        if std::ptr::eq(place.metadata, metadata) {
            return (slot, place);
        }
    }
    of_list(metadata)
}

#[cold]
fn add(slot: usize, metadata: &'static Metadata<'static>) -> &'static Place {
    TABLE[slot].get_or_init(|| place(metadata))
}

#[cold]
fn listed(number: usize) -> Option<&'static Place> {
    LIST.read().unwrap_or_else(PoisonError::into_inner).get(number - SLOTS).copied()
}

#[cold]
fn of_list(metadata: &'static Metadata<'static>) -> (usize, &'static Place) {
    let find = |list: &[&'static Place]| {
        let at = list.iter().position(|place| std::ptr::eq(place.metadata, metadata))?;
        Some((SLOTS + at, list[at]))
    };
    let found = find(&LIST.read().unwrap_or_else(PoisonError::into_inner));
    found.unwrap_or_else(|| {
        let mut list = LIST.write().unwrap_or_else(PoisonError::into_inner);
        find(&list).unwrap_or_else(|| {
            // Once for each callsite, which lives as long as the program.
            let place = Box::leak(Box::new(place(metadata)));
            list.push(place);
            (SLOTS + list.len() - 1, place)
        })
    })
}

/// Where a callsite is; its location is found by content.
fn place(metadata: &'static Metadata<'static>) -> Place {
    let interned = Location::intern(LocationParts {
        name: metadata.name(),
        function: metadata.module_path().unwrap_or_else(|| metadata.target()),
        file: metadata.file().unwrap_or_default(),
        line: metadata.line().unwrap_or_default(),
        color: 0,
    });
    Place { metadata, interned }
}

fn own_slot(metadata: &'static Metadata<'static>) -> usize {
    // Statics lie some 128 bytes apart; the multiplication spreads them (Knuth's golden ratio).
    let spread = (std::ptr::from_ref(metadata).addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> (u64::BITS - SLOT_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tracing_core::field::FieldSet;
    use tracing_core::{Callsite, Interest, Kind, Level, identify_callsite};

    use super::*;

    struct Site;
    static SITE: Site = Site;

    impl Callsite for Site {
        fn set_interest(&self, _: Interest) {}
        fn metadata(&self) -> &Metadata<'_> {
            unreachable!("nobody registers it")
        }
    }

    fn metadata(line: u32) -> &'static Metadata<'static> {
        let fields = FieldSet::new(&[], identify_callsite!(&SITE));
        let (file, line) = (Some("many.rs"), Some(line));
        Box::leak(Box::new(Metadata::new("many", "many", Level::INFO, file, line, None, fields, Kind::SPAN)))
    }

    #[test]
    fn more_callsites_than_the_table_has_room_for_have_their_places() {
        let callsites: Vec<_> = (0..2 * SLOTS as u32).map(metadata).collect();
        let numbers: Vec<_> = callsites.iter().map(|callsite| of(callsite).0).collect();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), callsites.len());
        for (callsite, number) in callsites.into_iter().zip(numbers) {
            assert_eq!(of(callsite).0, number);
            let place = numbered(number).unwrap();
            assert!(std::ptr::eq(place.metadata, callsite));
            assert_eq!(Some(place.interned.location().line()), callsite.line());
        }
        assert!(numbered((1 << NUMBER_BITS) - 1).is_none());
    }
}
