//! Sections, and what is said of the machine.

use hashbrown::{HashMap, HashSet};

use super::Report;
use super::payload::Payloads;
use super::rule::{Payload, Rule};
use crate::item::Item;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Entered,
    /// Its end came first, from another thread's queue.
    Left,
}

/// What is known of the machine.
#[derive(Debug, Default)]
pub(super) struct SystemRules {
    sections: HashMap<u32, Section>,
    processors: HashSet<u32>,
    load: Option<i64>,
    switches: HashMap<u8, (i64, u32)>,
}

impl SystemRules {
    pub(super) fn check(&mut self, item: &Item<'_>, payload: &mut Payloads, report: &mut Report) {
        match *item {
            Item::SectionEnter { id, .. } => {
                payload.take(Payload::Text, report);
                match self.sections.remove(&id) {
                    Some(Section::Left) => {}
                    open => {
                        report.require(open.is_none(), Rule::SectionEnterTwice { id });
                        self.sections.insert(id, Section::Entered);
                    }
                }
            }
            Item::SectionLeave { id, .. } => match self.sections.remove(&id) {
                Some(Section::Entered) => {}
                left => {
                    report.require(left.is_none(), Rule::SectionLeaveTwice { id });
                    self.sections.insert(id, Section::Left);
                }
            },
            Item::CpuTopology { thread, .. } => {
                report.require(self.processors.insert(thread), Rule::TopologyTwice { thread });
            }
            Item::SysTime { time, .. } => {
                report.require(self.load.is_none_or(|last| last <= time), Rule::LoadBackwards);
                self.load = self.load.max(Some(time));
            }
            Item::ContextSwitch { time, old_thread, new_thread, cpu, .. } => {
                self.switch(time, (old_thread, new_thread), cpu, report);
            }
            _ => {}
        }
    }

    fn switch(&mut self, time: i64, (left, entered): (u32, u32), cpu: u8, report: &mut Report) {
        if let Some(&(last, running)) = self.switches.get(&cpu) {
            report.require(last <= time, Rule::SwitchBackwards { cpu });
            if left != 0 {
                report.require(running == left, Rule::SwitchFromOther { cpu, running, left });
            }
        }
        if entered != 0 {
            self.switches.insert(cpu, (time, entered));
        }
    }
}
