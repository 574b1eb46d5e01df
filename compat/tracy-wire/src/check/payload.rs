//! What items bring along for the next.

use super::Report;
use super::rule::{Payload, Rule};
use crate::item::Item;

const SORTS: usize = 8;

/// What waits to be used.
#[derive(Debug, Default)]
pub(super) struct Payloads {
    waiting: [bool; SORTS],
    /// Bytes of the image that waits.
    pub(super) image: usize,
    /// The pool that waits.
    pub(super) pool: u64,
}

impl Payloads {
    pub(super) fn set(&mut self, payload: Payload, report: &mut Report) {
        let waiting = &mut self.waiting[payload as usize];
        report.require(!*waiting, Rule::PayloadUnused { payload });
        *waiting = true;
    }

    pub(super) fn take(&mut self, payload: Payload, report: &mut Report) {
        let waiting = &mut self.waiting[payload as usize];
        report.require(*waiting, Rule::PayloadMissing { payload });
        *waiting = false;
    }

    pub(super) fn take_if(&mut self, wanted: bool, payload: Payload, report: &mut Report) {
        if wanted {
            self.take(payload, report);
        }
    }

    pub(super) fn is_waiting(&self, payload: Payload) -> bool {
        self.waiting[payload as usize]
    }

    /// Items that bring something along, and those that need a text and nothing else.
    pub(super) fn check(&mut self, item: &Item<'_>, report: &mut Report) {
        match *item {
            Item::SingleString(_) => self.set(Payload::Text, report),
            Item::SecondString(_) => self.set(Payload::SecondText, report),
            Item::MemName { pool } => {
                self.set(Payload::Pool, report);
                self.pool = pool;
            }
            Item::CallstackPayload { frames } => {
                self.set(Payload::Callstack, report);
                check_addresses(frames, report);
            }
            Item::CallstackAllocPayload { frames } => {
                // It takes the native callstack over, if there is one.
                self.waiting[Payload::Callstack as usize] = true;
                report.require(is_whole_alloc_stack(frames), Rule::CallstackBroken);
            }
            Item::CallstackSerial => {
                self.take(Payload::Callstack, report);
                self.set(Payload::SerialCallstack, report);
            }
            Item::AppInfo { .. } | Item::SectionSetup { .. } => self.take(Payload::Text, report),
            _ => {}
        }
    }
}

fn check_addresses(frames: &[u8], report: &mut Report) {
    for chunk in frames.chunks_exact(8) {
        let address = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        // The upper two bits repeat the two below them: the server stores 62.
        let canonical = (address >> 60 & 3) == address >> 62;
        report.require(canonical, Rule::CallstackAddress { address });
    }
}

fn is_whole_alloc_stack(frames: &[u8]) -> bool {
    let Some((&count, mut rest)) = frames.split_first() else { return false };
    for _ in 0..count {
        let Some(after) = rest.get(4..).and_then(skip_text).and_then(skip_text) else { return false };
        rest = after;
    }
    count <= 64
}

fn skip_text(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.get(usize::from(u16::from_le_bytes(*length))..)
}
