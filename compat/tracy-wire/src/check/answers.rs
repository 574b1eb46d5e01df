//! Answers to what was, or was not, asked.

use hashbrown::HashMap;

use super::Report;
use super::payload::Payloads;
use super::rule::{Payload, Rule};
use crate::ask::Question;
use crate::item::Item;

/// What an answer answers: a question, less what the answer does not repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    String(u64),
    ThreadName(u64),
    PlotName(u64),
    FrameName(u64),
    FiberName(u64),
    ExternalName(u64),
    CallstackFrame(u64),
    Symbol(u64),
    SourceCode(u64),
    /// These come back in the order asked.
    SourceLocation,
    SymbolCode,
    Acknowledged,
}

/// The questions that are open.
#[derive(Debug, Default)]
pub(super) struct AnswerRules {
    /// Whether anybody told what was asked.
    informed: bool,
    open: HashMap<Asked, u32>,
    /// Frames that the last [`Item::CallstackFrameSize`] announced and that have not come.
    frames: u8,
}

impl AnswerRules {
    pub(super) fn asked(&mut self, question: Question) {
        self.informed = true;
        let asked = match question {
            Question::Terminate | Question::Disconnect => return,
            Question::String(pointer) => Asked::String(pointer),
            Question::ThreadName(thread) => Asked::ThreadName(thread),
            Question::SourceLocation(_) => Asked::SourceLocation,
            Question::PlotName(pointer) => Asked::PlotName(pointer),
            Question::FrameName(pointer) => Asked::FrameName(pointer),
            Question::FiberName(pointer) => Asked::FiberName(pointer),
            Question::ExternalName(thread) => Asked::ExternalName(thread),
            Question::CallstackFrame(address) => Asked::CallstackFrame(address),
            Question::Symbol(address) => Asked::Symbol(address),
            Question::SymbolCode { .. } => Asked::SymbolCode,
            Question::SourceCode { id } => Asked::SourceCode(u64::from(id)),
            Question::Parameter { .. } | Question::DataTransfer(_) | Question::DataTransferPart(..) => {
                Asked::Acknowledged
            }
        };
        *self.open.entry(asked).or_default() += 1;
    }

    pub(super) fn check(&mut self, item: &Item<'_>, payload: &mut Payloads, report: &mut Report) {
        let asked = match *item {
            Item::StringData { pointer, .. } => Asked::String(pointer),
            Item::ThreadName { thread, .. } => Asked::ThreadName(thread),
            Item::PlotName { pointer, .. } => Asked::PlotName(pointer),
            Item::FrameName { pointer, .. } => Asked::FrameName(pointer),
            Item::FiberName { pointer, .. } => Asked::FiberName(pointer),
            Item::ExternalName { thread, .. } => Asked::ExternalName(thread),
            Item::SourceLocation { .. } => Asked::SourceLocation,
            Item::SourceCode { id, .. } => Asked::SourceCode(id),
            Item::SourceCodeNotAvailable { id } => Asked::SourceCode(u64::from(id)),
            Item::SymbolCode { .. } | Item::SymbolCodeNotAvailable => Asked::SymbolCode,
            Item::Acknowledge => Asked::Acknowledged,
            Item::CallstackFrameSize { address, frames } => {
                payload.take(Payload::Text, report);
                report.require(self.frames == 0, Rule::AnswerFrames);
                self.frames = frames;
                Asked::CallstackFrame(address)
            }
            Item::SymbolInformation { symbol, .. } => {
                payload.take(Payload::Text, report);
                Asked::Symbol(symbol)
            }
            Item::CallstackFrame { .. } => {
                payload.take(Payload::Text, report);
                payload.take(Payload::SecondText, report);
                report.require(self.frames > 0, Rule::AnswerFrames);
                self.frames = self.frames.saturating_sub(1);
                return;
            }
            _ => return,
        };
        if self.informed {
            self.settle(asked, report);
        }
    }

    fn settle(&mut self, asked: Asked, report: &mut Report) {
        match self.open.get_mut(&asked) {
            Some(1) => drop(self.open.remove(&asked)),
            Some(open) => *open -= 1,
            None => report.add(Rule::AnswerUnasked),
        }
    }
}
