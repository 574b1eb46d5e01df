//! Callstacks, each kept once, and the frames their addresses stand for.

use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

use super::{Questions, TextId, Texts, Unasked};
use crate::ask::Question;

/// Index of a callstack in a capture.
pub(crate) type CallstackId = u32;

/// A place in the code that an address stands for. Inlining makes one address several frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) function: TextId,
    pub(crate) file: TextId,
    /// The line in the file.
    pub(crate) line: u32,
    /// Where the function begins.
    pub(crate) symbol: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CallstackEntry {
    /// A return address of native code.
    Address(u64),
    /// A frame of an interpreted language.
    Interpreted(Frame),
}

/// The callstacks of one connection.
#[derive(Debug, Default)]
pub(crate) struct Callstacks {
    all: Vec<Arc<[CallstackEntry]>>,
    ids: HashMap<Arc<[CallstackEntry]>, CallstackId>,
    frames: HashMap<u64, Option<Vec<Frame>>>,
    symbols: HashSet<u64>,
    open_symbols: HashSet<u64>,
    staging: Option<Staging>,
}

/// An answer of which not every frame has come.
#[derive(Debug)]
struct Staging {
    address: u64,
    missing: u8,
    frames: Vec<Frame>,
}

impl Callstacks {
    /// The callstack with these return addresses, eight bytes each; asks for those not seen before.
    pub(crate) fn native(&mut self, bytes: &[u8], questions: &mut Questions) -> CallstackId {
        let entries: Vec<CallstackEntry> = bytes
            .chunks_exact(8)
            .map(|chunk| CallstackEntry::Address(u64::from_le_bytes(chunk.try_into().unwrap_or_default())))
            .collect();
        for entry in &entries {
            if let CallstackEntry::Address(address) = *entry {
                self.notice_address(address, questions);
            }
        }
        self.intern(entries)
    }

    /// Interpreted frames on top of `below`. `None` if the bytes are not built that way.
    pub(crate) fn interpreted(
        &mut self,
        bytes: &[u8],
        below: Option<CallstackId>,
        texts: &mut Texts,
    ) -> Option<CallstackId> {
        let (&count, mut rest) = bytes.split_first()?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let (line, after) = rest.split_first_chunk::<4>()?;
            let (function, after) = take_text(after)?;
            let (file, after) = take_text(after)?;
            rest = after;
            entries.push(CallstackEntry::Interpreted(Frame {
                function: texts.intern(function),
                file: texts.intern(file),
                line: u32::from_le_bytes(*line),
                symbol: 0,
            }));
        }
        if let Some(below) = below {
            entries.extend_from_slice(&self.all[below as usize]);
        }
        Some(self.intern(entries))
    }

    fn intern(&mut self, entries: Vec<CallstackEntry>) -> CallstackId {
        if let Some(&id) = self.ids.get(&entries[..]) {
            return id;
        }
        let id = self.all.len() as CallstackId;
        let entries: Arc<[CallstackEntry]> = entries.into();
        self.all.push(Arc::clone(&entries));
        self.ids.insert(entries, id);
        id
    }

    fn notice_address(&mut self, address: u64, questions: &mut Questions) {
        self.frames.entry(address).or_insert_with(|| {
            questions.ask(Question::CallstackFrame(address));
            None
        });
    }

    pub(crate) fn begin_frames(&mut self, address: u64, count: u8, _image: TextId) -> Result<(), Unasked> {
        if !matches!(self.frames.get(&address), Some(None)) {
            return Err(Unasked);
        }
        self.staging = Some(Staging { address, missing: count, frames: Vec::new() });
        self.end_frames_if_whole();
        Ok(())
    }

    pub(crate) fn add_frame(&mut self, frame: Frame, questions: &mut Questions) -> Result<(), Unasked> {
        let staging = self.staging.as_mut().ok_or(Unasked)?;
        staging.frames.push(frame);
        staging.missing -= 1;
        if frame.symbol != 0 && self.symbols.insert(frame.symbol) {
            self.open_symbols.insert(frame.symbol);
            questions.ask(Question::Symbol(frame.symbol));
        }
        self.end_frames_if_whole();
        Ok(())
    }

    fn end_frames_if_whole(&mut self) {
        if let Some(staging) = self.staging.take_if(|staging| staging.missing == 0) {
            self.frames.insert(staging.address, Some(staging.frames));
        }
    }

    pub(crate) fn symbol_answered(&mut self, symbol: u64) -> Result<(), Unasked> {
        if self.open_symbols.remove(&symbol) { Ok(()) } else { Err(Unasked) }
    }

    /// Whether an answer has begun and not ended.
    pub(crate) fn is_staging(&self) -> bool {
        self.staging.is_some()
    }

    pub(crate) fn entries(&self, id: CallstackId) -> &[CallstackEntry] {
        &self.all[id as usize]
    }

    /// The frames that `address` stands for, innermost first; empty while they are not known.
    pub(crate) fn frames(&self, address: u64) -> &[Frame] {
        self.frames.get(&address).and_then(Option::as_deref).unwrap_or_default()
    }
}

/// A 16-bit length and so many bytes.
fn take_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))
}
