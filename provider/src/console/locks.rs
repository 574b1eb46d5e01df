//! Locks of the traced program: what is known of each, and how long each thread waits for and keeps
//! them.

use core::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::fragment::{Fragment, Kind};
use super::registry;
use crate::{Location, LockId, Name};

/// A lock announced. Never freed but used again, so that a late call finds something.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// No other lock of the program has this number; 0 when the lock is gone.
    number: AtomicU64,
    name: AtomicPtr<c_char>,
    waits: AtomicPtr<Fragment>,
    holds: AtomicPtr<Fragment>,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Record {
    /// A new lock, named after its location.
    pub(super) fn announce(location: &'static Location) -> &'static Self {
        let record = registry::take_lock().unwrap_or_else(|| Box::leak(Box::default()));
        record.set_name(location.title());
        record.number.store(NUMBERS.fetch_add(1, Ordering::Relaxed), Ordering::Release);
        record
    }

    /// Gives it another name.
    pub(super) fn rename(&self, name: &str) {
        // Interned names are bounded in number, and so are the fragments made of them.
        self.set_name(Name::intern(name).as_c_str());
    }

    fn set_name(&self, name: &'static CStr) {
        self.name.store(name.as_ptr().cast_mut(), Ordering::Release);
        let fragment = |kind| core::ptr::from_ref(Fragment::of_name(kind, name)).cast_mut();
        self.waits.store(fragment(Kind::LockWait), Ordering::Release);
        self.holds.store(fragment(Kind::LockHold), Ordering::Release);
    }

    /// The lock is gone.
    pub(super) fn terminate(&'static self) {
        if self.number.swap(0, Ordering::AcqRel) != 0 {
            registry::keep_lock(self);
        }
    }

    /// The lock of an id.
    pub(super) fn of(id: LockId) -> Option<&'static Self> {
        // SAFETY: ids are 0 or were made by `id` from a record, and records are never freed.
        let record = unsafe { core::ptr::with_exposed_provenance::<Self>(id.0 as usize).as_ref() };
        record.filter(|record| record.number() != 0)
    }

    pub(super) fn id(&'static self) -> LockId {
        LockId(core::ptr::from_ref(self).expose_provenance() as u64)
    }

    pub(super) fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    pub(super) fn name(&self) -> &'static CStr {
        // SAFETY: it points to a `&'static CStr` since `announce`.
        unsafe { CStr::from_ptr(self.name.load(Ordering::Acquire)) }
    }

    /// What its waits (`Kind::LockWait`) or holds are counted under.
    pub(super) fn fragment(&self, kind: Kind) -> &'static Fragment {
        let fragment = if kind == Kind::LockWait { &self.waits } else { &self.holds };
        // SAFETY: both point to a `&'static Fragment` since `announce`.
        unsafe { &*fragment.load(Ordering::Acquire) }
    }
}

/// The locks that a thread waits for and holds. There are few at a time.
#[derive(Debug, Default)]
pub(super) struct Held(Vec<(u64, Kind, u64)>);

/// A program that never says that it released a lock is not remembered without end.
const MOST: usize = 256;

impl Held {
    /// A wait or a hold of the lock of this number begins.
    pub(super) fn begin(&mut self, number: u64, kind: Kind, now: u64) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push((number, kind, now));
    }

    /// It ends: how long it was, if its beginning is known.
    pub(super) fn end(&mut self, number: u64, kind: Kind, now: u64) -> Option<u64> {
        let at = self.0.iter().rposition(|held| (held.0, held.1) == (number, kind))?;
        Some(now.saturating_sub(self.0.remove(at).2))
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
