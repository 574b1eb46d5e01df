//! What turns a client's bytes into a capture and into questions, without any socket.

use crate::ask::Question;
use crate::builder::{Builder, Keep, Target};
use crate::capture::Capture;
use crate::check::Checker;
use crate::decode::Decoder;
use crate::error::DecodeError;
use crate::item::Item;
use crate::protocol::Kind;
use crate::welcome::Welcome;

/// A capture under construction.
///
/// A [`Receiver`](crate::Receiver) drives one over a socket. Streams built by hand, recordings and
/// fuzzers drive it directly: [`feed`](Self::feed) what the client says, send it what
/// [`next_question`](Self::next_question) yields (or do not, and some names stay unknown), and
/// [`finish`](Self::finish).
pub struct Engine {
    capture: Capture,
    decoder: Decoder,
    builder: Builder,
    checker: Option<Checker>,
}

impl Engine {
    /// Begins a capture of the client that said `welcome`. Everything is kept, and no source file
    /// is asked for.
    #[must_use]
    pub fn new(welcome: Welcome) -> Self {
        Self {
            capture: Capture::new(welcome),
            decoder: Decoder::default(),
            builder: Builder::new(Keep::Everything),
            checker: None,
        }
    }

    /// Says what of the stream to keep.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.builder = Builder::new(keep);
        self
    }

    /// Says whether to ask for source files, if the client gives any.
    #[must_use]
    pub fn ask_for_sources(mut self, ask: bool) -> Self {
        self.capture.names.sources.enabled = ask && self.capture.welcome.gives_sources();
        self
    }

    /// Says whether to check the stream against the real server's rules. What breaks them is in
    /// [`Capture::violations`] in the end.
    #[must_use]
    pub fn check(mut self, check: bool) -> Self {
        self.checker = check.then(|| Checker::new(&self.capture.welcome));
        self
    }

    /// Takes in one frame, decompressed.
    ///
    /// # Errors
    /// The first item that cannot be read. What came before it in the frame is kept, and nothing
    /// after it can be read.
    pub fn feed(&mut self, frame: &[u8]) -> Result<(), DecodeError> {
        self.capture.bytes += frame.len() as u64;
        let Self { capture, decoder, builder, checker } = self;
        let Capture { welcome, names, tables, statistics, ended, items, .. } = capture;
        let mut to = Target { names, tables, statistics, welcome };
        decoder.decode(frame, |kind, item, _| {
            *items += 1;
            *ended |= kind == Kind::Terminate;
            if let Some(checker) = checker {
                checker.item(&item);
            }
            builder.item(&item, &mut to);
            Ok(())
        })
    }

    /// Takes in one item, with absolute times.
    pub fn item(&mut self, item: &Item<'_>) {
        if let Some(checker) = &mut self.checker {
            checker.item(item);
        }
        let Capture { welcome, names, tables, statistics, .. } = &mut self.capture;
        self.builder.item(item, &mut Target { names, tables, statistics, welcome });
        self.capture.items += 1;
        self.capture.ended |= *item == Item::Terminate;
    }

    /// The next question for the client, if one is due and not too many are open.
    pub fn next_question(&mut self) -> Option<Question> {
        let question = self.capture.names.questions.next()?;
        if let Some(checker) = &mut self.checker {
            checker.asked(question);
        }
        Some(question)
    }

    /// Says that the client was told to stop, which excuses what is open.
    pub(crate) fn stopped(&mut self) {
        if let Some(checker) = &mut self.checker {
            checker.asked(Question::Disconnect);
        }
    }

    /// Whether the client has said that it is done.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.capture.ended
    }

    /// Whether every question was answered and no item waits for its second half.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let names = &self.capture.names;
        names.questions.is_settled() && !names.callstacks.is_staging() && self.builder.is_settled()
    }

    /// The capture so far.
    #[must_use]
    pub fn capture(&self) -> &Capture {
        &self.capture
    }

    /// Ends the capture.
    #[must_use]
    pub fn finish(mut self) -> Capture {
        self.builder.finish(&mut self.capture.tables);
        self.capture.violations = self.checker.map(Checker::finish).unwrap_or_default();
        self.capture
    }
}
