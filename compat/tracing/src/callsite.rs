//! The location of each span's callsite, made once.
//!
//! A span's metadata is a static of its callsite, so its address stands for the callsite. The table
//! below maps addresses to locations; entries are never removed, so reading it needs no lock.

use std::sync::OnceLock;

use tracing_core::Metadata;
use zonecast::{Interned, Location, LocationParts};

/// How many bits the number of a [`Place`] has.
pub(crate) const NUMBER_BITS: u32 = 12;
const SLOTS: usize = 1 << NUMBER_BITS;
/// How far from its own slot an entry may lie.
const PROBES: usize = 32;

static TABLE: [OnceLock<Place>; SLOTS] = [const { OnceLock::new() }; SLOTS];

/// Where the spans of a callsite are.
pub(crate) struct Place {
    metadata: &'static Metadata<'static>,
    pub(crate) interned: Interned,
}

/// A place by its number.
#[inline]
pub(crate) fn numbered(number: usize) -> Option<&'static Place> {
    TABLE[number % SLOTS].get()
}

/// The place of a callsite, and its number. `None` if a program has so many callsites that the
/// table is full around this one's slot.
#[inline]
pub(crate) fn of(metadata: &'static Metadata<'static>) -> Option<(usize, &'static Place)> {
    let own = own_slot(metadata);
    for probe in 0..PROBES {
        let slot = (own + probe) % SLOTS;
        // Whoever else sets the slot first may have set it for this very callsite.
        let place = TABLE[slot].get().unwrap_or_else(|| add(slot, metadata));
        if std::ptr::eq(place.metadata, metadata) {
            return Some((slot, place));
        }
    }
    None
}

#[cold]
fn add(slot: usize, metadata: &'static Metadata<'static>) -> &'static Place {
    TABLE[slot].get_or_init(|| Place { metadata, interned: intern(metadata) })
}

/// The location of a callsite, found by content.
pub(crate) fn intern(metadata: &Metadata<'_>) -> Interned {
    Location::intern(LocationParts {
        name: metadata.name(),
        function: metadata.module_path().unwrap_or_else(|| metadata.target()),
        file: metadata.file().unwrap_or_default(),
        line: metadata.line().unwrap_or_default(),
        color: 0,
    })
}

fn own_slot(metadata: &'static Metadata<'static>) -> usize {
    // Statics lie some 128 bytes apart; the multiplication spreads them (Knuth's golden ratio).
    let spread = (std::ptr::from_ref(metadata).addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> (u64::BITS - NUMBER_BITS)) as usize
}
