//! The instructions of a module.

use std::ops::Range;

use super::super::{Result, bytes};
use super::HEADER;
use crate::Error;

const INSTRUCTION: &str = "an instruction within the SPIR-V module";
const WORD: usize = 4;

#[derive(Clone, Copy)]
pub(super) struct Instruction<'a> {
    pub(super) opcode: u16,
    module: &'a [u8],
    /// Where its first operand is, and where it ends.
    start: usize,
    end: usize,
}

/// All instructions, up to the first that is not whole.
pub(super) fn all(module: &[u8]) -> impl Iterator<Item = Result<Instruction<'_>>> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        if at >= module.len() {
            return None;
        }
        let read = read(module, at);
        at = read.as_ref().map_or(module.len(), |instruction| instruction.end);
        Some(read)
    })
}

fn read(module: &[u8], at: usize) -> Result<Instruction<'_>> {
    let head = bytes::u32(module, at as u64, INSTRUCTION)?;
    let end = at + WORD * (head >> 16) as usize;
    if end == at || end > module.len() {
        return Err(Error::damaged(at as u64, INSTRUCTION));
    }
    Ok(Instruction { opcode: head as u16, module, start: at + WORD, end })
}

impl<'a> Instruction<'a> {
    /// An operand of one word.
    pub(super) fn word(&self, operand: usize) -> Option<u32> {
        let at = self.start + WORD * operand;
        if at + WORD > self.end { None } else { bytes::u32(self.module, at as u64, INSTRUCTION).ok() }
    }

    /// Where the text is that begins at an operand. It ends at a NUL, or with the instruction.
    pub(super) fn text(&self, operand: usize) -> Option<Range<usize>> {
        let start = self.start + WORD * operand;
        let text = self.module.get(start..self.end)?;
        let length = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        Some(start..start + length)
    }

    pub(super) fn bytes(&self, operand: usize) -> Option<&'a [u8]> {
        self.module.get(self.text(operand)?)
    }
}
