//! Reading a recording: what the client said of itself, and what it answered.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use crate::answers::{AnswerSession, Answers, Splitter};
use crate::ask::Question;
use crate::capture::Capture;
use crate::engine::Engine;
use crate::frame::{FrameDecoder, check_size};
use crate::record::{END, FRAME, MAGIC, QUESTIONS, WELCOME};
use crate::welcome::Welcome;

/// A recorded stream.
///
/// ```no_run
/// use zonecast_tracy_wire::Recording;
///
/// let mut recording = Recording::open("run.zctracy")?;
/// println!("{} zones", recording.replay(|engine| engine)?.zones().count());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Recording {
    file: BufReader<File>,
    welcome: Welcome,
    answers: Arc<Answers>,
    /// Where the records after the welcome message begin.
    begin: u64,
    complete: bool,
}

/// One record.
enum Record<'a> {
    Frame(&'a [u8]),
    Questions(&'a [u8]),
    End,
}

impl Recording {
    /// Opens a recording and reads through it once, keeping the client's answers.
    ///
    /// # Errors
    /// If the file cannot be read, or is no recording ([`io::ErrorKind::InvalidData`]), or holds a
    /// frame that is damaged. A file that ends too soon is no error: see
    /// [`is_complete`](Self::is_complete).
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(1 << 18, File::open(path)?);
        let welcome = read_welcome(&mut file)?;
        let begin = file.stream_position()?;
        let mut recording = Self { file, welcome, answers: Arc::default(), begin, complete: false };
        recording.collect_answers()?;
        Ok(recording)
    }

    /// What the client said of itself.
    #[must_use]
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Whether the client said that it was done; if not, the recording was cut or stopped.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Begins to answer one receiver.
    pub(crate) fn answers(&self) -> AnswerSession {
        AnswerSession::new(Arc::clone(&self.answers))
    }

    fn collect_answers(&mut self) -> io::Result<()> {
        let mut answers = Answers::default();
        let mut splitter = Splitter::default();
        let mut complete = false;
        self.each_record(|record| match record {
            Record::Frame(items) => {
                splitter.split(items, |_| {}, |answer| answers.add(answer)).map_err(invalid)
            }
            Record::Questions(questions) => {
                questions.chunks_exact(Question::SIZE).for_each(|bytes| answers.asked(bytes));
                Ok(())
            }
            Record::End => {
                complete = true;
                Ok(())
            }
        })?;
        self.answers = Arc::new(answers);
        self.complete = complete;
        Ok(())
    }

    /// Hands over what the client said without being asked, frame by frame.
    pub(crate) fn each_frame(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut splitter = Splitter::default();
        let mut data = Vec::new();
        self.each_record(|record| {
            let Record::Frame(items) = record else { return Ok(()) };
            data.clear();
            splitter.split(items, |item| data.extend_from_slice(item), |_| {}).map_err(invalid)?;
            if data.is_empty() { Ok(()) } else { each(&data) }
        })
    }

    fn each_record(&mut self, mut each: impl FnMut(Record<'_>) -> io::Result<()>) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.begin))?;
        let mut frames = FrameDecoder::default();
        let mut bytes = Vec::new();
        while let Some(kind) = read_record(&mut self.file, &mut bytes)? {
            match kind {
                FRAME => each(Record::Frame(frames.decode(&bytes).map_err(invalid)?))?,
                QUESTIONS => each(Record::Questions(&bytes))?,
                END => each(Record::End)?,
                _ => return Err(invalid(format!("a record of the unknown kind {kind}"))),
            }
        }
        Ok(())
    }

    /// Makes a capture of the recording, by the engine that `configure` returns.
    ///
    /// # Errors
    /// If the file cannot be read, or was changed since it was opened.
    pub fn replay(&mut self, configure: impl FnOnce(Engine) -> Engine) -> io::Result<Capture> {
        let mut engine = configure(Engine::new(self.welcome.clone()).ask_for_sources(true));
        let mut answers = self.answers();
        let mut reply = Vec::new();
        let mut feed = |engine: &mut Engine, items: &[u8]| -> io::Result<()> {
            engine.feed(items).map_err(invalid)?;
            while let Some(question) = engine.next_question() {
                reply.clear();
                answers.answer(question, &mut reply);
                engine.feed(&reply).map_err(invalid)?;
            }
            Ok(())
        };
        let replayed = self.each_frame(|items| feed(&mut engine, items));
        if replayed.is_ok() && self.complete {
            engine.item(&crate::item::Item::Terminate);
        } else {
            engine.stopped();
        }
        replayed.map(|()| engine.finish())
    }
}

fn read_welcome(file: &mut impl Read) -> io::Result<Welcome> {
    let mut magic = [0; MAGIC.len()];
    let no_recording = || invalid("the file is no recording of a Tracy stream");
    file.read_exact(&mut magic).map_err(|_| no_recording())?;
    let mut bytes = Vec::new();
    if magic != MAGIC || read_record(file, &mut bytes)? != Some(WELCOME) {
        return Err(no_recording());
    }
    let (message, addition) = bytes.split_first_chunk().ok_or_else(no_recording)?;
    let mut welcome = Welcome::from_bytes(message);
    if let Ok(addition) = addition.try_into() {
        welcome.add_on_demand(addition);
    }
    Ok(welcome)
}

/// Reads a record into `bytes`. `None` at the end of the file, or where it was cut.
fn read_record(file: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<Option<u8>> {
    let mut head = [0; 5];
    if !read_whole(file, &mut head)? {
        return Ok(None);
    }
    let [kind, length @ ..] = head;
    // A record is a frame, or fewer bytes.
    let length = check_size(u32::from_le_bytes(length)).map_err(invalid)?;
    bytes.resize(length, 0);
    Ok(read_whole(file, bytes)?.then_some(kind))
}

fn read_whole(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
