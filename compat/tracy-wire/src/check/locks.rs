//! Locks.

use hashbrown::{HashMap, HashSet};

use super::Report;
use super::payload::Payloads;
use super::rule::{Payload, Rule};
use crate::item::Item;
use crate::protocol::LOCK_THREAD_LIMIT;

#[derive(Debug)]
struct Lock {
    shared: bool,
    last: i64,
    holder: u32,
    threads: HashSet<u32>,
    /// Threads that have waited for it or obtained it.
    users: HashSet<u32>,
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
                let lock = Lock {
                    shared,
                    last: i64::MIN,
                    holder: 0,
                    threads: HashSet::new(),
                    users: HashSet::new(),
                };
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
            }
            Item::LockObtain { thread, time, shared, .. } => {
                self.users.insert(thread);
                self.event(id, thread, time, shared, report);
                if !shared {
                    self.holder = thread;
                }
            }
            Item::LockRelease { thread, time, .. } => {
                self.event(id, thread.unwrap_or(self.holder), time, thread.is_some(), report);
            }
            Item::LockMark { thread, .. } => {
                report.require(self.users.contains(&thread), Rule::LockMarkWithoutUse { id, thread });
            }
            _ => {}
        }
    }

    fn event(&mut self, id: u32, thread: u32, time: i64, shared: bool, report: &mut Report) {
        report.require(self.shared || !shared, Rule::LockNotShared { id });
        report.require(self.last <= time, Rule::LockBackwards { id });
        self.last = self.last.max(time);
        if self.threads.insert(thread) {
            report.require(self.threads.len() <= LOCK_THREAD_LIMIT, Rule::LockThreads { id });
        }
    }
}
