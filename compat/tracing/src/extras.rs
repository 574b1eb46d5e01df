//! What there is to know of some spans beyond their ids: a text, or that there is more than one handle.
//!
//! Most spans have neither, and while there are few that do, nobody takes a lock to learn so.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tracing_core::span::Id;

use crate::ids;
use crate::text::SpanText;

#[derive(Debug, Default)]
struct Extra {
    /// How many handles there are beside the first.
    clones: usize,
    text: Option<SpanText>,
}

/// The extras of one subscriber's spans.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    shards: [Shard; 32],
}

/// The extras of some of them. Aligned, so that no two are on one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Shard {
    /// How many spans have extras. Whoever holds a handle of a span knows of what was done to it
    /// before; so a 0 speaks the truth about each span that is asked for.
    len: AtomicUsize,
    spans: Mutex<HashMap<Id, Extra>>,
}

impl Extras {
    /// Remembers the text of a span that was just made.
    pub(crate) fn set_text(&self, id: &Id, text: SpanText) {
        self.shard(id).change(|spans| spans.entry(id.clone()).or_default().text = Some(text));
    }

    /// Adds what is recorded late.
    pub(crate) fn add_text(&self, id: &Id, late: SpanText) {
        self.shard(id).change(|spans| match &mut spans.entry(id.clone()).or_default().text {
            Some(text) => text.append(&late),
            text => *text = Some(late),
        });
    }

    /// A copy of the text of a span.
    pub(crate) fn text(&self, id: &Id) -> Option<String> {
        let shard = self.shard(id);
        if shard.is_empty() {
            return None;
        }
        shard.change(|spans| spans.get(id)?.text.as_ref().map(|text| text.0.clone()))
    }

    /// Counts one more handle of a span.
    pub(crate) fn cloned(&self, id: &Id) {
        self.shard(id).change(|spans| spans.entry(id.clone()).or_default().clones += 1);
    }

    /// Counts one handle less. True if it was the last one.
    #[inline]
    pub(crate) fn dropped(&self, id: &Id) -> bool {
        let shard = self.shard(id);
        shard.is_empty() || shard.dropped(id)
    }

    #[inline]
    fn shard(&self, id: &Id) -> &Shard {
        &self.shards[ids::serial_of(id) as usize % self.shards.len()]
    }
}

impl Shard {
    #[inline]
    fn is_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }

    fn change<R>(&self, f: impl FnOnce(&mut HashMap<Id, Extra>) -> R) -> R {
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut spans);
        self.len.store(spans.len(), Ordering::Relaxed);
        result
    }

    #[cold]
    fn dropped(&self, id: &Id) -> bool {
        self.change(|spans| {
            let Some(extra) = spans.get_mut(id) else { return true };
            let was_last = extra.clones == 0;
            extra.clones = extra.clones.saturating_sub(1);
            if was_last || extra.clones == 0 && extra.text.is_none() {
                spans.remove(id);
            }
            was_last
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_handle_is_told_and_nothing_is_kept() {
        let extras = Extras::default();
        let (plain, texted) = (ids::unique(0, false), ids::unique(0, true));
        extras.set_text(&texted, SpanText("n=1".into()));
        for id in [&plain, &texted] {
            extras.cloned(id);
            extras.cloned(id);
            assert!(!extras.dropped(id));
            assert!(!extras.dropped(id));
            assert_eq!(extras.text(id).is_some(), id == &texted);
            assert!(extras.dropped(id));
            assert_eq!(extras.text(id), None);
        }
        assert!(extras.shards.iter().all(Shard::is_empty));
    }

    #[test]
    fn late_texts_follow_early_ones() {
        let extras = Extras::default();
        let id = ids::unique(0, true);
        assert_eq!(extras.text(&id), None);
        extras.add_text(&id, SpanText("a=1".into()));
        extras.add_text(&id, SpanText("b=2".into()));
        assert_eq!(extras.text(&id).as_deref(), Some("a=1 b=2"));
    }
}
