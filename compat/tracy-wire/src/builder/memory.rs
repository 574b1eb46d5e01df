//! Memory and locks: what comes on the serial queue.

use hashbrown::HashMap;

use super::{Builder, Keep, Target};
use crate::item::Item;
use crate::model::{LockAction, LockData, LockEvent, MemoryEvent, NEVER};
use crate::names::CallstackId;

/// What is allocated, by pool and address.
#[derive(Debug, Default)]
pub(super) struct MemoryState {
    active: HashMap<u64, HashMap<u64, u64>>,
}

/// A lock that was announced.
#[derive(Debug)]
pub(super) struct LockState {
    index: usize,
    /// Who got it last: a release of an exclusive lock does not say who releases.
    holder: u32,
    /// The event by which each thread used it last.
    uses: HashMap<u32, usize>,
}

impl Builder {
    pub(super) fn memory_item(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        match *item {
            Item::MemName { pool } => {
                to.names.notice_string(pool);
                self.pool = Some(pool);
            }
            Item::MemAlloc { time, thread, address, size, named, callstack } => {
                let callstack = self.serial_callstack(callstack);
                let pool = self.pool(named);
                self.memory.active.entry(pool).or_default().insert(address, size);
                let event = self.memory_event(time, thread, address, size, callstack, to);
                self.keep_memory_event(pool, event, to);
            }
            Item::MemFree { time, thread, address, named, callstack } => {
                let callstack = self.serial_callstack(callstack);
                let pool = self.pool(named);
                let size = self.memory.active.entry(pool).or_default().remove(&address);
                let event = self.memory_event(time, thread, address, size.unwrap_or(0), callstack, to);
                self.keep_memory_event(pool, MemoryEvent { free: true, ..event }, to);
            }
            Item::MemDiscard { time, thread, pool, callstack } => {
                let callstack = self.serial_callstack(callstack);
                let active = self.memory.active.remove(&pool).unwrap_or_default();
                for (address, size) in active {
                    let event = self.memory_event(time, thread, address, size, callstack, to);
                    self.keep_memory_event(pool, MemoryEvent { free: true, ..event }, to);
                }
            }
            _ => unreachable!("only memory items come here"),
        }
    }

    /// The pending pool if the item speaks of one, the nameless pool 0 otherwise.
    fn pool(&mut self, named: bool) -> u64 {
        if named { self.pool.take().unwrap_or(0) } else { 0 }
    }

    pub(super) fn serial_callstack(&mut self, wanted: bool) -> Option<CallstackId> {
        if wanted { self.serial_callstack.take() } else { None }
    }

    fn memory_event(
        &mut self,
        time: i64,
        thread: u32,
        address: u64,
        size: u64,
        callstack: Option<CallstackId>,
        to: &mut Target<'_>,
    ) -> MemoryEvent {
        self.thread(thread, to);
        MemoryEvent { time_ns: to.welcome.nanoseconds(time), address, size, free: false, thread, callstack }
    }

    fn keep_memory_event(&self, pool: u64, event: MemoryEvent, to: &mut Target<'_>) {
        to.statistics.memory_events += 1;
        if self.keep == Keep::Everything {
            to.tables.memory.entry(pool).or_default().push(event);
        }
    }

    pub(super) fn lock_item(&mut self, item: &Item<'_>, to: &mut Target<'_>) {
        match *item {
            Item::LockAnnounce { id, time, location, shared } => {
                let data = LockData {
                    id,
                    location: to.names.location(location),
                    shared,
                    name: None,
                    announced: to.welcome.nanoseconds(time),
                    terminated: NEVER,
                    events: Vec::new(),
                };
                self.locks
                    .insert(id, LockState { index: to.tables.locks.len(), holder: 0, uses: HashMap::new() });
                to.tables.locks.push(data);
            }
            Item::LockWait { thread, id, time, shared } => {
                self.lock_event(id, (time, thread, LockAction::Wait, shared), to);
            }
            Item::LockObtain { thread, id, time, shared } => {
                if let Some(lock) = self.locks.get_mut(&id) {
                    lock.holder = thread;
                }
                self.lock_event(id, (time, thread, LockAction::Obtain, shared), to);
            }
            Item::LockRelease { thread, id, time } => {
                let holder = thread.or_else(|| Some(self.locks.get(&id)?.holder)).unwrap_or(0);
                self.lock_event(id, (time, holder, LockAction::Release, thread.is_some()), to);
            }
            Item::LockMark { thread, id, location } => {
                let location = to.names.location(location);
                let used = self.locks.get(&id).and_then(|lock| lock.uses.get(&thread)).copied();
                let Some(lock) = self.lock(id, to) else { return };
                if let Some(event) = used.and_then(|used| lock.events.get_mut(used)) {
                    event.mark = Some(location);
                }
            }
            Item::LockName { id } => {
                let name = self.take_text(to);
                if let Some(lock) = self.lock(id, to) {
                    lock.name = Some(name);
                }
            }
            Item::LockTerminate { id, time } => {
                let time = to.welcome.nanoseconds(time);
                if let Some(lock) = self.lock(id, to) {
                    lock.terminated = time;
                }
            }
            _ => unreachable!("only locks come here"),
        }
    }

    fn lock<'t>(&self, id: u32, to: &'t mut Target<'_>) -> Option<&'t mut LockData> {
        match self.locks.get(&id) {
            Some(lock) => Some(&mut to.tables.locks[lock.index]),
            None => {
                to.tables.lose("events of locks that were not announced");
                None
            }
        }
    }

    fn lock_event(&mut self, id: u32, event: (i64, u32, LockAction, bool), to: &mut Target<'_>) {
        let (time, thread, action, shared) = event;
        let time_ns = to.welcome.nanoseconds(time);
        to.statistics.lock_events += 1;
        self.thread(thread, to);
        let keep = self.keep == Keep::Everything;
        if let Some(lock) = self.lock(id, to).filter(|_| keep) {
            let place = lock.events.len();
            lock.events.push(LockEvent { time_ns, thread, action, shared, mark: None });
            if action != LockAction::Release
                && let Some(state) = self.locks.get_mut(&id)
            {
                state.uses.insert(thread, place);
            }
        }
    }
}
