//! What the client was asked, and what it answered.
//!
//! The stream names strings, threads and source locations by pointers and numbers. [`Names`]
//! notices each at first sight, asks for it, and takes the answer in when it comes, often much
//! later. Until then, and for ever if the client dies, a name reads [`UNKNOWN`].

mod callstacks;
mod locations;
mod questions;
mod sources;
mod texts;

use hashbrown::HashMap;

use crate::ask::Question;
use crate::item::Item;

pub(crate) use callstacks::{CallstackEntry, CallstackId, Callstacks, Frame};
pub(crate) use locations::{LocationData, LocationId, Locations};
pub(crate) use questions::Questions;
pub(crate) use sources::Sources;
pub(crate) use texts::{TextId, TextRef, Texts};

/// How a name reads that the client was asked for and has not told.
pub const UNKNOWN: &str = "???";

/// Every name of one connection.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) texts: Texts,
    pub(crate) locations: Locations,
    pub(crate) callstacks: Callstacks,
    pub(crate) sources: Sources,
    pub(crate) questions: Questions,
    /// Strings at pointers; `None` while the answer is open.
    strings: HashMap<u64, Option<TextId>>,
    threads: HashMap<u64, Option<TextId>>,
    plots: HashMap<u64, Option<TextId>>,
    frames: HashMap<u64, Option<TextId>>,
    fibers: HashMap<u64, Option<TextId>>,
    externals: HashMap<u64, Option<TextId>>,
}

/// The answers that came for nothing that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unasked;

impl Names {
    /// Asks for the string at `pointer` unless that was done; pointer 0 is no string.
    pub(crate) fn notice_string(&mut self, pointer: u64) {
        if pointer != 0 {
            ask_once(&mut self.strings, pointer, Question::String(pointer), &mut self.questions);
        }
    }

    pub(crate) fn notice_thread(&mut self, thread: u64) {
        ask_once(&mut self.threads, thread, Question::ThreadName(thread), &mut self.questions);
    }

    pub(crate) fn notice_plot(&mut self, name: u64) {
        ask_once(&mut self.plots, name, Question::PlotName(name), &mut self.questions);
    }

    /// Frame set 0 is the main one, which has no name to ask for.
    pub(crate) fn notice_frame(&mut self, name: u64) {
        if name != 0 {
            ask_once(&mut self.frames, name, Question::FrameName(name), &mut self.questions);
        }
    }

    pub(crate) fn notice_fiber(&mut self, name: u64) {
        ask_once(&mut self.fibers, name, Question::FiberName(name), &mut self.questions);
    }

    pub(crate) fn notice_external(&mut self, thread: u64) {
        ask_once(&mut self.externals, thread, Question::ExternalName(thread), &mut self.questions);
    }

    /// The location at `pointer`, asked for at first sight.
    #[inline]
    pub(crate) fn location(&mut self, pointer: u64) -> LocationId {
        self.locations.at_pointer(pointer, &mut self.questions)
    }

    /// Takes an answer in. Items that are no answers are left alone.
    ///
    /// `first` and `second` are the pending strings, which some answers come with.
    pub(crate) fn answer(&mut self, item: &Item<'_>, first: &[u8], second: &[u8]) -> Result<(), Unasked> {
        match *item {
            Item::StringData { pointer, text } => self.answer_string(pointer, text)?,
            Item::ThreadName { thread, text } => settle(&mut self.threads, thread, self.texts.intern(text))?,
            Item::PlotName { pointer, text } => settle(&mut self.plots, pointer, self.texts.intern(text))?,
            Item::FrameName { pointer, text } => settle(&mut self.frames, pointer, self.texts.intern(text))?,
            Item::FiberName { pointer, text } => settle(&mut self.fibers, pointer, self.texts.intern(text))?,
            Item::ExternalName { thread, text } => {
                settle(&mut self.externals, thread, self.texts.intern(text))?;
            }
            Item::SourceLocation { .. } => self.answer_location(item)?,
            Item::SourceCode { id, text } => self.sources.answer(id, Some(text))?,
            Item::SourceCodeNotAvailable { id } => self.sources.answer(u64::from(id), None)?,
            Item::CallstackFrameSize { address, frames } => {
                let image = self.texts.intern(first);
                self.callstacks.begin_frames(address, frames, image)?;
            }
            // One of several in the answer that `CallstackFrameSize` began, and not counted itself.
            Item::CallstackFrame { .. } => return self.answer_frame(item, first, second),
            Item::SymbolInformation { symbol, .. } => {
                let file = self.texts.intern(first);
                self.sources.notice(file, &self.texts, &mut self.questions);
                self.callstacks.symbol_answered(symbol)?;
            }
            Item::SymbolCode { .. } | Item::SymbolCodeNotAvailable | Item::Acknowledge => {}
            _ => return Ok(()),
        }
        self.questions.answered();
        Ok(())
    }

    fn answer_string(&mut self, pointer: u64, text: &[u8]) -> Result<(), Unasked> {
        let text = self.texts.intern(text);
        settle(&mut self.strings, pointer, text)?;
        if self.locations.is_file(pointer) {
            self.sources.notice(text, &self.texts, &mut self.questions);
        }
        Ok(())
    }

    fn answer_location(&mut self, item: &Item<'_>) -> Result<(), Unasked> {
        let Item::SourceLocation { name, function, file, line, color } = *item else { return Ok(()) };
        self.locations.answer(LocationData {
            name: TextRef::pointer(name),
            function: TextRef::pointer(function),
            file: TextRef::pointer(file),
            line,
            color,
        })?;
        for pointer in [name, file, function] {
            self.notice_string(pointer);
        }
        if let Some(&Some(path)) = self.strings.get(&file) {
            self.sources.notice(path, &self.texts, &mut self.questions);
        }
        Ok(())
    }

    fn answer_frame(&mut self, item: &Item<'_>, first: &[u8], second: &[u8]) -> Result<(), Unasked> {
        let Item::CallstackFrame { line, symbol, .. } = *item else { return Ok(()) };
        let function = self.texts.intern(first);
        let file = self.texts.intern(second);
        self.sources.notice(file, &self.texts, &mut self.questions);
        let frame = Frame { function, file, line, symbol };
        self.callstacks.add_frame(frame, &mut self.questions)
    }

    /// The location that came with its texts.
    pub(crate) fn location_payload(&mut self, location: &crate::item::Location<'_>) -> LocationId {
        let file = self.texts.intern(location.file);
        self.sources.notice(file, &self.texts, &mut self.questions);
        self.locations.with_content(LocationData {
            name: location.name.map_or(TextRef::None, |name| TextRef::Text(self.texts.intern(name))),
            function: TextRef::Text(self.texts.intern(location.function)),
            file: TextRef::Text(file),
            line: location.line,
            color: location.color,
        })
    }

    pub(crate) fn text(&self, text: TextRef) -> Option<&str> {
        match text {
            TextRef::None => None,
            TextRef::Text(id) => Some(self.texts.get(id)),
            TextRef::Pointer(pointer) => Some(self.string(pointer)),
        }
    }

    pub(crate) fn string(&self, pointer: u64) -> &str {
        self.read(&self.strings, pointer)
    }

    pub(crate) fn thread(&self, thread: u64) -> &str {
        self.read(&self.threads, thread)
    }

    pub(crate) fn plot(&self, name: u64) -> &str {
        self.read(&self.plots, name)
    }

    pub(crate) fn frame(&self, name: u64) -> &str {
        if name == 0 { "Frame" } else { self.read(&self.frames, name) }
    }

    pub(crate) fn fiber(&self, name: u64) -> &str {
        self.read(&self.fibers, name)
    }

    fn read<'a>(&'a self, map: &HashMap<u64, Option<TextId>>, key: u64) -> &'a str {
        match map.get(&key) {
            Some(&Some(text)) => self.texts.get(text),
            _ => UNKNOWN,
        }
    }

    /// How many names were asked for and never told.
    pub(crate) fn open(&self) -> usize {
        let maps = [&self.strings, &self.threads, &self.plots, &self.frames, &self.fibers, &self.externals];
        let names: usize = maps.iter().map(|map| map.values().filter(|text| text.is_none()).count()).sum();
        names + self.locations.open()
    }
}

fn ask_once(map: &mut HashMap<u64, Option<TextId>>, key: u64, question: Question, questions: &mut Questions) {
    map.entry(key).or_insert_with(|| {
        questions.ask(question);
        None
    });
}

fn settle(map: &mut HashMap<u64, Option<TextId>>, key: u64, text: TextId) -> Result<(), Unasked> {
    match map.get_mut(&key) {
        Some(slot @ None) => {
            *slot = Some(text);
            Ok(())
        }
        _ => Err(Unasked),
    }
}
