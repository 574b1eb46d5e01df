//! Ids of spans that say what nearly every span has to say: of which callsite it is.
//!
//! From the low end: a one, since no id is 0; whether the span has fields; the number of its place; and a serial
//! number, which tells it from other spans of its callsite. That comes again after four million million spans.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing_core::span::Id;

use crate::callsite::{self, NUMBER_BITS, Place};

const FIELDS: u64 = 1 << 1;
const NUMBER_AT: u32 = 2;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
const SERIAL_AT: u32 = NUMBER_AT + NUMBER_BITS;

/// An id that no other open span has.
#[inline]
pub(crate) fn unique(number: usize, has_fields: bool) -> Id {
    let fields = if has_fields { FIELDS } else { 0 };
    let id = serial() << SERIAL_AT | (number as u64 & NUMBER) << NUMBER_AT | fields;
    Id::from_non_zero_u64(NonZeroU64::MIN | id)
}

/// Where the span is. `None` for an id that was not made here.
#[inline]
pub(crate) fn place(id: &Id) -> Option<&'static Place> {
    callsite::numbered((id.into_u64() >> NUMBER_AT & NUMBER) as usize)
}

#[inline]
pub(crate) fn has_fields(id: &Id) -> bool {
    id.into_u64() & FIELDS != 0
}

/// What spreads ids evenly.
#[inline]
pub(crate) fn serial_of(id: &Id) -> u64 {
    id.into_u64() >> SERIAL_AT
}

/// Threads take numbers by the block, and so share nothing for most spans.
const BLOCK: u64 = 4096;
static BLOCKS: AtomicU64 = AtomicU64::new(0);

#[inline]
fn serial() -> u64 {
    thread_local!(static NEXT: Cell<u64> = const { Cell::new(0) });
    NEXT.with(|next| {
        let mut serial = next.get();
        if serial.is_multiple_of(BLOCK) {
            serial = BLOCKS.fetch_add(BLOCK, Ordering::Relaxed);
        }
        next.set(serial + 1);
        serial
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_unique_across_threads_and_blocks() {
        const IDS: usize = 3 * BLOCK as usize;
        let make = || (0..IDS).map(|_| unique(7, true)).collect::<Vec<_>>();
        let ids = std::thread::scope(|scope| {
            let other = scope.spawn(make);
            [make(), other.join().unwrap()].concat()
        });
        assert!(ids.iter().all(has_fields));
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 2 * IDS);
    }

    #[test]
    fn an_id_says_whether_it_has_fields_whatever_its_number() {
        for number in [0, 1, NUMBER as usize] {
            assert!(has_fields(&unique(number, true)) && !has_fields(&unique(number, false)));
        }
    }
}
