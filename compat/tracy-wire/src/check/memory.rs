//! Memory.

use hashbrown::{HashMap, HashSet};

use super::payload::Payloads;
use super::rule::{Payload, Rule};
use super::{Leniency, Report};
use crate::item::Item;

/// The pool of what is not named.
const NAMELESS: u64 = 0;

#[derive(Debug)]
struct Pool {
    active: HashSet<u64>,
    last_allocation: i64,
}

impl Default for Pool {
    fn default() -> Self {
        Self { active: HashSet::new(), last_allocation: i64::MIN }
    }
}

/// The state of all pools.
#[derive(Debug, Default)]
pub(super) struct MemoryRules {
    pools: HashMap<u64, Pool>,
}

impl MemoryRules {
    pub(super) fn check(
        &mut self,
        item: &Item<'_>,
        payload: &mut Payloads,
        lenient: &Leniency,
        report: &mut Report,
    ) {
        match *item {
            Item::MemAlloc { time, address, named, callstack, .. } => {
                let pool = self.pool(named, payload, report);
                let is_new = pool.active.insert(address);
                report.require(is_new || lenient.allocations, Rule::MemoryAllocTwice { address });
                report.require(pool.last_allocation <= time, Rule::MemoryBackwards);
                pool.last_allocation = pool.last_allocation.max(time);
                payload.take_if(callstack, Payload::SerialCallstack, report);
            }
            Item::MemFree { address, named, callstack, .. } => {
                let was_there = self.pool(named, payload, report).active.remove(&address);
                let excused = lenient.frees || address == 0;
                report.require(was_there || excused, Rule::MemoryFreeUnknown { address });
                payload.take_if(callstack, Payload::SerialCallstack, report);
            }
            Item::MemDiscard { pool, callstack, .. } => {
                payload.take_if(callstack, Payload::SerialCallstack, report);
                let pending = payload.is_waiting(Payload::Pool);
                report.require(!pending, Rule::PayloadUnused { payload: Payload::Pool });
                match self.pools.get_mut(&pool) {
                    Some(known) => known.active.clear(),
                    None => report.add(Rule::MemoryDiscardUnknown { pool }),
                }
            }
            _ => unreachable!("only memory items come here"),
        }
    }

    fn pool(&mut self, named: bool, payload: &mut Payloads, report: &mut Report) -> &mut Pool {
        let pool = if named {
            payload.take(Payload::Pool, report);
            payload.pool
        } else {
            let pending = payload.is_waiting(Payload::Pool);
            report.require(!pending, Rule::PayloadUnused { payload: Payload::Pool });
            NAMELESS
        };
        self.pools.entry(pool).or_default()
    }
}
