//! The open zones of a thread or a fiber.

use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use zonecast::{Location, Name, ZoneId, raw};

use super::FIBERS;

/// The lower bits of a zone's number count the zones of a stack, the upper ones the stacks.
const COUNT_BITS: u32 = 40;

/// The notes of every stack, by the upper bits of its zones' numbers.
static STACKS: LazyLock<Mutex<HashMap<u64, Arc<Notes>>>> = LazyLock::new(Mutex::default);

/// A zone that has begun and not ended.
#[derive(Clone, Copy)]
pub(super) struct Zone {
    pub(super) number: u64,
    pub(super) id: ZoneId,
    /// None for the ground.
    pub(super) location: Option<&'static Location>,
}

impl Zone {
    /// What the outermost zone lies on. Its number, 0, is no zone's.
    pub(super) const GROUND: Self = Self { number: 0, id: ZoneId::NONE, location: None };
}

/// The ground, and the open zones of a thread or a fiber, the innermost last, so in the order of their
/// numbers.
pub(super) struct Stack {
    zones: Vec<Zone>,
    next: u64,
    notes: Arc<Notes>,
    fiber: Option<Name>,
    /// Names of zones that have others than their locations', for fibers that begin them anew.
    names: Vec<(u64, Box<str>)>,
}

/// What other threads have to say to a stack.
#[derive(Default)]
struct Notes {
    /// Where the stack's room ends; null if there is something to read. One place, so that the next
    /// zone asks both questions at once.
    room: AtomicPtr<Zone>,
    ended: Mutex<Vec<u64>>,
}

/// Ends a zone of a stack that another thread uses, or none, at its next chance.
pub(super) fn end_elsewhere(number: u64) {
    if let Some(notes) = STACKS.lock().get(&(number >> COUNT_BITS)) {
        notes.ended.lock().push(number);
        notes.room.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}

impl Stack {
    pub(super) fn new(fiber: Option<Name>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let notes = Arc::<Notes>::default();
        STACKS.lock().insert(number, notes.clone());
        let mut zones = Vec::with_capacity(32);
        zones.push(Zone::GROUND);
        // The first stack's number is not 0, so no zone's is.
        Self { zones, next: number << COUNT_BITS, notes, fiber, names: Vec::new() }
    }

    /// Behind the innermost zone.
    pub(super) fn top(&mut self) -> *mut Zone {
        let len = self.zones.len();
        self.zones.as_mut_ptr().wrapping_add(len)
    }

    /// Where the room ends, as others may change it.
    pub(super) fn room(&self) -> *const AtomicPtr<Zone> {
        &raw const self.notes.room
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn fiber(&self) -> Option<Name> {
        self.fiber
    }

    /// Whether no zone is open.
    pub(super) fn is_empty(&self) -> bool {
        self.zones.len() == 1
    }

    /// Takes in what began and ended since [`top`](Self::top) was asked.
    ///
    /// # Safety
    ///
    /// `top` lies behind the ground and within the room, and everything below is a zone.
    pub(super) unsafe fn resume(&mut self, top: *mut Zone, next: u64) {
        // SAFETY: by this function's contract.
        unsafe { self.zones.set_len(top.offset_from_unsigned(self.zones.as_ptr())) };
        self.next = next;
    }

    /// Makes room for another zone, after ending what other threads have ended.
    pub(super) fn prepare(&mut self) {
        // First the room, then the notes: a note that comes in between takes the room again.
        self.zones.reserve(1);
        let end = self.zones.as_mut_ptr().wrapping_add(self.zones.capacity());
        self.notes.room.store(end, Ordering::Relaxed);
        self.read_notes();
    }

    /// Ends a zone of this stack, after those inside it. False if it is another stack's.
    pub(super) fn end(&mut self, number: u64) -> bool {
        if let Some(at) = self.find(number) {
            self.end_from(at);
        }
        number >> COUNT_BITS == self.next >> COUNT_BITS
    }

    /// The provider's name for a zone that is open here.
    pub(super) fn id(&self, number: u64) -> Option<ZoneId> {
        self.find(number).map(|at| self.zones[at].id)
    }

    /// Remembers the name of a zone that just began.
    pub(super) fn remember_name(&mut self, number: u64, name: &str) {
        if self.fiber.is_some() && !FIBERS {
            while self.names.last().is_some_and(|(last, _)| self.find(*last).is_none()) {
                self.names.pop();
            }
            self.names.push((number, name.into()));
        }
    }

    /// Ends all zones, the innermost first.
    pub(super) fn end_all(&mut self) {
        self.end_from(1);
    }

    /// The same, to begin them anew later.
    pub(super) fn end_for_now(&mut self) {
        self.pause_from(1);
    }

    /// Begins all zones that were ended for now, but those that other threads have ended meanwhile.
    pub(super) fn begin_anew(&mut self) {
        self.read_notes();
        self.begin_anew_from(1);
    }

    /// Where a zone is; never the ground.
    fn find(&self, number: u64) -> Option<usize> {
        self.zones.binary_search_by_key(&number, |zone| zone.number).ok().filter(|at| *at > 0)
    }

    /// Ends what other threads have ended.
    fn read_notes(&mut self) {
        let ended = std::mem::take(&mut *self.notes.ended.lock());
        for number in ended {
            let Some(at) = self.find(number) else { continue };
            let was_begun = self.zones[at].id.is_recorded();
            self.pause_from(at);
            self.zones.remove(at);
            if was_begun {
                self.begin_anew_from(at);
            }
        }
    }

    fn end_from(&mut self, at: usize) {
        self.pause_from(at);
        self.zones.truncate(at);
    }

    fn pause_from(&mut self, at: usize) {
        for zone in self.zones[at..].iter_mut().rev() {
            raw::zone_end(std::mem::replace(&mut zone.id, ZoneId::NONE));
        }
    }

    fn begin_anew_from(&mut self, at: usize) {
        for zone in &mut self.zones[at..] {
            let Some(location) = zone.location else { continue };
            zone.id = raw::zone_begin(location);
            if let Some((_, name)) = self.names.iter().rfind(|(number, _)| *number == zone.number) {
                raw::zone_name(zone.id, name);
            }
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        STACKS.lock().remove(&(self.next >> COUNT_BITS));
    }
}
