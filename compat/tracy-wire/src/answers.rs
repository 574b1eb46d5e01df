//! A client's answers, told apart from the rest of its stream and given again.
//!
//! Another receiver asks in another order, so a stream that is served again must not carry its old
//! answers: they are cut out ([`Splitter`]), kept by what they answer ([`Answers`]), and given when
//! they are asked for ([`AnswerSession`]). What nobody asked the client for is answered as by a
//! client that does not know.

use hashbrown::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::ask::Question;
use crate::decode::measure;
use crate::encode::Encoder;
use crate::error::DecodeError;
use crate::item::Item;
use crate::names::UNKNOWN;
use crate::protocol::Kind;

/// What an unknown address is called, in a client's own words.
const UNKNOWN_FRAME: &[u8] = b"[unknown]";

/// One item of an answer, with the strings that came with it.
pub(crate) struct AnswerItem<'a> {
    kind: Kind,
    /// The item alone.
    item: &'a [u8],
    /// Its strings and it.
    whole: &'a [u8],
}

/// Tells answers from the rest.
#[derive(Default)]
pub(crate) struct Splitter {
    /// Strings whose item has not come: they belong to it, whatever it is.
    held: Vec<u8>,
}

impl Splitter {
    /// Hands items of `frame` to `data` or `answer`. The items that a server makes of the end of a
    /// stream are handed to nobody.
    pub(crate) fn split(
        &mut self,
        frame: &[u8],
        mut data: impl FnMut(&[u8]),
        mut answer: impl FnMut(AnswerItem<'_>),
    ) -> Result<(), DecodeError> {
        let mut rest = frame;
        while !rest.is_empty() {
            let (kind, length) = measure(rest)?;
            let (item, after) = rest.split_at(length);
            rest = after;
            match kind {
                Kind::SingleStringData
                | Kind::SingleStringData8
                | Kind::SecondStringData
                | Kind::SecondStringData8 => self.held.extend_from_slice(item),
                Kind::Terminate => {}
                _ if is_answer(kind) => {
                    self.held.extend_from_slice(item);
                    answer(AnswerItem { kind, item, whole: &self.held });
                    self.held.clear();
                }
                _ => {
                    if !self.held.is_empty() {
                        data(&self.held);
                        self.held.clear();
                    }
                    data(item);
                }
            }
        }
        Ok(())
    }
}

fn is_answer(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::StringData
            | Kind::ThreadName
            | Kind::PlotName
            | Kind::FrameName
            | Kind::FiberName
            | Kind::ExternalName
            | Kind::ExternalThreadName
            | Kind::SourceLocation
            | Kind::SourceCode
            | Kind::AckSourceCodeNotAvailable
            | Kind::SymbolCode
            | Kind::AckSymbolCodeNotAvailable
            | Kind::AckServerQueryNoop
            | Kind::CallstackFrameSize
            | Kind::CallstackFrame
            | Kind::SymbolInformation
    )
}

/// The text that is being transferred, and the last one that was.
#[derive(Clone, Default)]
struct Transfer {
    expected: usize,
    bytes: Vec<u8>,
}

impl Transfer {
    fn begin(&mut self, length: u64) {
        // A path; nobody's word is taken for more.
        self.expected = usize::try_from(length).unwrap_or(0).min(1 << 16);
        self.bytes.clear();
    }

    fn part(&mut self, low: u64, high: u32) {
        self.bytes.extend_from_slice(&low.to_le_bytes());
        self.bytes.extend_from_slice(&high.to_le_bytes());
        self.bytes.truncate(self.expected);
    }

    fn path(&self) -> &[u8] {
        self.bytes.strip_suffix(&[0]).unwrap_or(&self.bytes)
    }
}

/// Everything that a client answered.
#[derive(Default)]
pub(crate) struct Answers {
    /// Texts at pointers and of threads, by the answer's kind.
    texts: HashMap<(Kind, u64), Vec<u8>>,
    locations: HashMap<u64, Vec<u8>>,
    callstack_frames: HashMap<u64, Vec<u8>>,
    symbols: HashMap<u64, Vec<u8>>,
    sources: HashMap<Vec<u8>, Vec<u8>>,
    /// Questions whose answers do not repeat what was asked.
    asked_locations: VecDeque<u64>,
    asked_sources: HashMap<u64, Vec<u8>>,
    transfer: Transfer,
    /// The address whose frames are coming.
    frames_of: u64,
}

impl Answers {
    /// Notes a question that the recorded receiver asked.
    pub(crate) fn asked(&mut self, bytes: &[u8]) {
        let question = bytes.try_into().ok().and_then(Question::from_bytes);
        match question {
            Some(Question::SourceLocation(pointer)) => self.asked_locations.push_back(pointer),
            Some(Question::DataTransfer(length)) => self.transfer.begin(length),
            Some(Question::DataTransferPart(low, high)) => self.transfer.part(low, high),
            Some(Question::SourceCode { id }) => {
                self.asked_sources.insert(u64::from(id), self.transfer.path().to_vec());
            }
            _ => {}
        }
    }

    /// Notes an answer.
    pub(crate) fn add(&mut self, answer: AnswerItem<'_>) {
        let AnswerItem { kind, item, whole } = answer;
        let field = |at: usize| u64::from_le_bytes(item[at..at + 8].try_into().unwrap_or_default());
        match kind {
            Kind::StringData | Kind::ThreadName | Kind::PlotName | Kind::FrameName | Kind::FiberName => {
                self.texts.insert((kind, field(1)), item[11..].to_vec());
            }
            Kind::ExternalName | Kind::ExternalThreadName => {
                self.texts.insert((kind, field(1)), item[11..].to_vec());
            }
            Kind::SourceLocation => {
                if let Some(pointer) = self.asked_locations.pop_front() {
                    self.locations.insert(pointer, whole.to_vec());
                }
            }
            Kind::SourceCode => {
                if let Some(path) = self.asked_sources.remove(&field(1)) {
                    self.sources.insert(path, item[13..].to_vec());
                }
            }
            Kind::CallstackFrameSize => {
                self.frames_of = field(1);
                self.callstack_frames.insert(self.frames_of, whole.to_vec());
            }
            Kind::CallstackFrame => {
                if let Some(frames) = self.callstack_frames.get_mut(&self.frames_of) {
                    frames.extend_from_slice(whole);
                }
            }
            Kind::SymbolInformation => drop(self.symbols.insert(field(5), whole.to_vec())),
            _ => {}
        }
    }

    /// The text of that kind; or of another kind at the same pointer, which is the same string.
    fn text(&self, kind: Kind, pointer: u64) -> &[u8] {
        let strings = [kind, Kind::StringData, Kind::PlotName, Kind::FrameName, Kind::FiberName];
        let same = strings.iter().take(if is_number(kind) { 1 } else { strings.len() });
        let mut known = same.filter_map(|kind| self.texts.get(&(*kind, pointer)));
        known.next().map_or(UNKNOWN.as_bytes(), Vec::as_slice)
    }
}

/// Answers to one receiver.
pub(crate) struct AnswerSession {
    answers: Arc<Answers>,
    encoder: Encoder,
    transfer: Transfer,
}

impl AnswerSession {
    pub(crate) fn new(answers: Arc<Answers>) -> Self {
        Self { answers, encoder: Encoder::default(), transfer: Transfer::default() }
    }

    /// Appends the answer to `question` to `out`, as items; nothing to those that end a connection.
    pub(crate) fn answer(&mut self, question: Question, out: &mut Vec<u8>) {
        let answers = Arc::clone(&self.answers);
        match question {
            Question::Terminate | Question::Disconnect => {}
            Question::String(pointer) => {
                self.push(&Item::StringData { pointer, text: answers.text(Kind::StringData, pointer) });
            }
            Question::ThreadName(thread) => {
                self.push(&Item::ThreadName { thread, text: answers.text(Kind::ThreadName, thread) });
            }
            Question::PlotName(pointer) => {
                self.push(&Item::PlotName { pointer, text: answers.text(Kind::PlotName, pointer) });
            }
            Question::FrameName(pointer) => {
                self.push(&Item::FrameName { pointer, text: answers.text(Kind::FrameName, pointer) });
            }
            Question::FiberName(pointer) => {
                self.push(&Item::FiberName { pointer, text: answers.text(Kind::FiberName, pointer) });
            }
            Question::ExternalName(thread) => {
                let text = answers.text(Kind::ExternalThreadName, thread);
                self.push(&Item::ExternalThreadName { thread, text });
                self.push(&Item::ExternalName { thread, text: answers.text(Kind::ExternalName, thread) });
            }
            Question::SourceLocation(pointer) => match answers.locations.get(&pointer) {
                Some(recorded) => out.extend_from_slice(recorded),
                None => self.push(&Item::SourceLocation { name: 0, function: 0, file: 0, line: 0, color: 0 }),
            },
            Question::CallstackFrame(address) => match answers.callstack_frames.get(&address) {
                Some(recorded) => out.extend_from_slice(recorded),
                None => self.unknown_frame(address),
            },
            Question::Symbol(symbol) => match answers.symbols.get(&symbol) {
                Some(recorded) => out.extend_from_slice(recorded),
                None => {
                    self.push(&Item::SingleString(UNKNOWN_FRAME));
                    self.push(&Item::SymbolInformation { line: 0, symbol });
                }
            },
            Question::SymbolCode { .. } => self.push(&Item::SymbolCodeNotAvailable),
            Question::SourceCode { id } => match answers.sources.get(self.transfer.path()) {
                Some(text) => self.push(&Item::SourceCode { id: u64::from(id), text }),
                None => self.push(&Item::SourceCodeNotAvailable { id }),
            },
            Question::DataTransfer(length) => {
                self.transfer.begin(length);
                self.push(&Item::Acknowledge);
            }
            Question::DataTransferPart(low, high) => {
                self.transfer.part(low, high);
                self.push(&Item::Acknowledge);
            }
            Question::Parameter { .. } => self.push(&Item::Acknowledge),
        }
        out.extend_from_slice(&self.encoder.take());
    }

    fn push(&mut self, item: &Item<'_>) {
        self.encoder.push(item);
    }

    fn unknown_frame(&mut self, address: u64) {
        self.push(&Item::SingleString(UNKNOWN_FRAME));
        self.push(&Item::CallstackFrameSize { address, frames: 1 });
        self.push(&Item::SingleString(UNKNOWN_FRAME));
        self.push(&Item::SecondString(UNKNOWN_FRAME));
        self.push(&Item::CallstackFrame { line: 0, symbol: 0, symbol_size: 0 });
    }
}

/// Whether the text belongs to a thread's number and not to a pointer.
fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::ThreadName | Kind::ExternalName | Kind::ExternalThreadName)
}
