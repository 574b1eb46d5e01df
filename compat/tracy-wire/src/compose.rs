//! Recordings of what no client sent: of timelines that somebody else measured.

use std::io::{self, Write};

use crate::ask::Question;
use crate::encode::Encoder;
use crate::frame::encode_frame;
use crate::item::Item;
use crate::protocol::FRAME_LIMIT;
use crate::record::Recorder;
use crate::welcome::Welcome;

/// Items are gathered up to so many bytes.
const FRAME: usize = FRAME_LIMIT / 4;

/// Writes a recording item by item, for [`Recording`](crate::Recording) to read, [`Server`](crate::Server) to serve
/// and any Tracy of its protocol to show.
///
/// Names of threads, and strings at pointers, are items of their own: push them in any place.
///
/// ```
/// use zonecast_tracy_wire::{Composer, Item, Recording, Welcome};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("made.zctracy");
/// let mut composer = Composer::new(Box::new(std::fs::File::create(&path)?), &Welcome::default())?;
/// composer.push(&Item::ThreadName { thread: 1, text: b"queue" })?;
/// composer.push(&Item::ThreadContext { thread: 1 })?;
/// composer.push(&Item::ZoneBegin { time: 10, location: Some(0x40), callstack: false })?;
/// composer.push(&Item::ZoneEnd { time: 20 })?;
/// composer.finish()?;
///
/// let capture = Recording::open(&path)?.replay(|engine| engine)?;
/// assert_eq!(capture.zones().one().duration_ns(), Some(10));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Composer {
    recorder: Recorder,
    encoder: Encoder,
}

impl Composer {
    /// Begins a recording of a client that says this of itself.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(to: Box<dyn Write + Send>, welcome: &Welcome) -> io::Result<Self> {
        Ok(Self { recorder: Recorder::new(to, welcome)?, encoder: Encoder::default() })
    }

    /// Appends an item.
    ///
    /// # Errors
    /// If it cannot be written.
    ///
    /// # Panics
    /// If a text is longer than its kind can carry; see [`Encoder::push`].
    pub fn push(&mut self, item: &Item<'_>) -> io::Result<()> {
        self.encoder.push(item);
        if self.encoder.bytes().len() >= FRAME { self.write_frame() } else { Ok(()) }
    }

    /// Appends the text of a source file, which a server gets when it asks for that path.
    ///
    /// # Errors
    /// If it cannot be written.
    ///
    /// # Panics
    /// If the text does not fit into a frame, 256 KiB.
    pub fn source(&mut self, path: &[u8], text: &[u8]) -> io::Result<()> {
        self.write_frame()?;
        // As if a server had asked: that is how answers and questions find each other.
        let asked: Vec<u8> = Question::source_code(path, 0).flat_map(Question::to_bytes).collect();
        self.recorder.questions(&asked)?;
        self.encoder.push(&Item::SourceCode { id: 0, text });
        self.write_frame()
    }

    /// Says that this was all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.write_frame()?;
        self.recorder.end()?;
        self.recorder.flush()
    }

    fn write_frame(&mut self) -> io::Result<()> {
        let items = self.encoder.take();
        if items.is_empty() {
            return Ok(());
        }
        let mut frame = Vec::new();
        encode_frame(&items, &mut frame);
        // In a recording the length stands in the record's own header.
        self.recorder.frame(&frame[4..])
    }
}
