//! Locks.

use hashbrown::{HashMap, HashSet};

use super::Report;
use super::payload::Payloads;
use super::rule::{Payload, Rule};
use crate::item::Item;
use crate::protocol::{LOCK_COUNT_LIMIT, LOCK_THREAD_LIMIT};

#[derive(Debug, Default)]
struct Lock {
    shared: bool,
    last: Option<i64>,
    holder: u32,
    threads: HashSet<u32>,
    /// Threads that have waited for it or obtained it.
    users: HashSet<u32>,
    /// Threads that wait, and whether to share it.
    waiting: HashSet<(u32, bool)>,
    /// How often it is held, other than shared.
    held: u32,
    readers: HashSet<u32>,
}

/// The state of all locks.
#[derive(Debug, Default)]
pub(super) struct LockRules {
    locks: HashMap<u32, Lock>,
}

impl LockRules {
    pub(super) fn check(&mut self, item: &Item<'_>, payload: &mut Payloads, report: &mut Report) {
        if let Item::LockName { .. } = item {
            payload.take(Payload::Text, report);
        }
        match *item {
            Item::LockAnnounce { id, shared, .. } => {
                let lock = Lock { shared, ..Lock::default() };
                let known = self.locks.insert(id, lock).is_some();
                report.require(!known, Rule::LockTwice { id });
            }
            Item::LockTerminate { id, .. }
            | Item::LockWait { id, .. }
            | Item::LockObtain { id, .. }
            | Item::LockRelease { id, .. }
            | Item::LockMark { id, .. }
            | Item::LockName { id } => match self.locks.get_mut(&id) {
                Some(lock) => lock.check(item, id, report),
                None => report.add(Rule::LockUnknown { id }),
            },
            _ => unreachable!("only locks come here"),
        }
    }
}

impl Lock {
    fn check(&mut self, item: &Item<'_>, id: u32, report: &mut Report) {
        match *item {
            Item::LockWait { thread, time, shared, .. } => {
                self.users.insert(thread);
                self.event(id, thread, time, shared, report);
                self.waiting.insert((thread, shared));
            }
            Item::LockObtain { thread, time, shared, .. } => {
                self.users.insert(thread);
                self.event(id, thread, time, shared, report);
                self.obtain(id, thread, shared, report);
            }
            Item::LockRelease { thread, time, .. } => {
                self.event(id, thread.unwrap_or(self.holder), time, thread.is_some(), report);
                self.release(id, thread, report);
            }
            Item::LockMark { thread, .. } => {
                report.require(self.users.contains(&thread), Rule::LockMarkWithoutUse { id, thread });
            }
            _ => {}
        }
    }

    fn obtain(&mut self, id: u32, thread: u32, shared: bool, report: &mut Report) {
        report.require(self.waiting.remove(&(thread, shared)), Rule::LockWithoutWait { id, thread });
        let is_counted = match shared {
            true => self.readers.insert(thread),
            false => self.held < LOCK_COUNT_LIMIT,
        };
        report.require(is_counted, Rule::LockObtainedTooOften { id });
        if !shared {
            self.holder = thread;
            self.held += 1;
        }
    }

    /// `reader` is the thread of a shared hold.
    fn release(&mut self, id: u32, reader: Option<u32>, report: &mut Report) {
        let was_held = match reader {
            Some(reader) => self.readers.remove(&reader),
            None => self.held > 0,
        };
        report.require(was_held, Rule::LockNotHeld { id });
        if reader.is_none() {
            self.held = self.held.saturating_sub(1);
        }
    }

    fn event(&mut self, id: u32, thread: u32, time: i64, shared: bool, report: &mut Report) {
        report.require(self.shared || !shared, Rule::LockNotShared { id });
        report.require(self.last <= Some(time), Rule::LockBackwards { id });
        self.last = self.last.max(Some(time));
        if self.threads.insert(thread) {
            report.require(self.threads.len() <= LOCK_THREAD_LIMIT, Rule::LockThreads { id });
        }
    }
}
