//! Which callsite a span belongs to, without asking the registry.
//!
//! The registry can tell, but one question costs as much as several zones. So each layer keeps a
//! small cache: written when a span is made and read when it is entered.
//!
//! A cache of ids must not outlive what they stand for: the registry uses an id again (after some
//! 260,000 other spans). Each id has one slot only. A new span overwrites its id's slot before
//! anybody can enter it, and who fills the slot later holds the span open while doing so; a slot
//! with an id in it therefore always speaks of that id's latest span.

use std::sync::atomic::{AtomicU64, Ordering};

use tracing_core::span::Id;

use crate::callsite::{self, Place};

/// Callsites with larger numbers are asked for each time.
const NUMBER_BITS: u32 = 12;
const SLOT_BITS: u32 = NUMBER_BITS + 1;
const SLOTS: usize = 1 << SLOT_BITS;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
const HAS_TEXT: u64 = 1 << NUMBER_BITS;

/// The spans of one layer, by id.
#[derive(Debug)]
pub(crate) struct Spans {
    /// The id but for the bits that the slot's index gives, whether there is a text, and the
    /// callsite's number. [`EMPTY`] if nothing was put there.
    slots: Box<[AtomicU64; SLOTS]>,
}

/// No id has all bits set.
const EMPTY: u64 = u64::MAX;

/// What is known of a span.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) place: &'static Place,
    /// Whether the registry keeps a text for it.
    pub(crate) has_text: bool,
}

impl Spans {
    pub(crate) fn new() -> Self {
        Self { slots: Box::new([const { AtomicU64::new(EMPTY) }; SLOTS]) }
    }

    /// Remembers a span of the callsite `number`. Call it while the span cannot close.
    #[inline]
    pub(crate) fn put(&self, id: &Id, number: usize, has_text: bool) {
        let (tag, slot) = split(id);
        let text = if has_text { HAS_TEXT } else { 0 };
        let word = match number as u64 {
            number @ ..=NUMBER => tag << SLOT_BITS | text | number,
            _ => EMPTY,
        };
        // Relaxed: an id reaches another thread through the program's own synchronisation.
        self.slots[slot].store(word, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self, id: &Id) -> Option<Known> {
        let (tag, slot) = split(id);
        let word = self.slots[slot].load(Ordering::Relaxed);
        if word >> SLOT_BITS != tag {
            return None;
        }
        let place = callsite::numbered((word & NUMBER) as usize)?;
        Some(Known { place, has_text: word & HAS_TEXT != 0 })
    }
}

/// What tells an id from the others of its slot, and the slot. Together they give the id back.
#[inline]
fn split(id: &Id) -> (u64, usize) {
    let id = id.into_u64();
    let tag = id >> SLOT_BITS;
    // Registries count in the low bits and put the creating thread above bit 32: without the
    // second term, all threads would fight for the first slots.
    let slot = id ^ (tag >> (33 - SLOT_BITS)).wrapping_mul(61);
    (tag, slot as usize % SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_and_slot_tell_every_id_from_every_other() {
        let ids = (1..50_000).chain((1..500).map(|n| n << 33)).chain((1..500).map(|n| u64::MAX / 2 - n));
        let mut seen = std::collections::HashSet::new();
        let count = ids.inspect(|&id| assert!(seen.insert(split(&Id::from_u64(id))))).count();
        assert_eq!(seen.len(), count);
    }

    #[test]
    fn an_empty_slot_knows_nothing() {
        let spans = Spans::new();
        assert!((1..20_000).all(|id| spans.get(&Id::from_u64(id)).is_none()));
    }
}
