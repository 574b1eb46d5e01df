//! A file of instruments: chunks, and the modules that they make.

use std::collections::HashMap;
use std::fmt;

use super::metadata::Metadata;
use super::record::Record;
use super::ring::Ring;
use crate::note::Note;
use crate::{Error, bytes};

const MAGIC: &[u8; 4] = b"0IDB";
const HEADER: u64 = 16;
const METADATA: u16 = 0;
const RING: u16 = 1;

/// A part of a stream that this crate does not know.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Where in the file it begins.
    pub offset: u64,
    /// Its type.
    pub kind: u16,
    /// The version of its type.
    pub version: u16,
    /// What it holds.
    pub content: &'a [u8],
}

/// What one instrumented module wrote.
#[derive(Clone, Debug, Default)]
pub struct Module<'a> {
    metadata: Metadata<'a>,
    rings: Vec<Ring<'a>>,
}

impl<'a> Module<'a> {
    /// Its kernels and dispatch sites.
    pub fn metadata(&self) -> &Metadata<'a> {
        &self.metadata
    }

    /// Its rings. Compilers make one.
    pub fn rings(&self) -> &[Ring<'a>] {
        &self.rings
    }

    /// The records of all its rings, one ring after the other.
    pub fn records(&self) -> impl Iterator<Item = Record<'a>> {
        self.rings.iter().flat_map(Ring::records)
    }
}

/// A stream that was read: tables only, the records are read when they are asked for.
#[derive(Clone, Debug, Default)]
pub struct Stream<'a> {
    modules: Vec<Module<'a>>,
    notes: Vec<Note>,
}

impl<'a> Stream<'a> {
    /// Reads a file's bytes. A file of no bytes is a stream of no modules: no module was instrumented.
    ///
    /// # Errors
    ///
    /// If the bytes do not begin as a stream does. What is wrong later becomes a [`Note`], and what came before
    /// it is there.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        Reader::default().read(bytes)
    }

    /// The modules, in the order in which they were asked for their instruments.
    pub fn modules(&self) -> &[Module<'a>] {
        &self.modules
    }

    /// What was odd.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

/// Looks at a chunk; the error says what is wrong with it.
type Decoder<'d> = Box<dyn FnMut(Chunk<'_>) -> Result<(), String> + 'd>;

/// Reads streams that may hold chunks of your own.
///
/// ```
/// use zonecast_recordings::instruments::Reader;
///
/// let stream = b"0IDB\x63\0\0\0\x05\0\0\0\0\0\0\0hello\0\0\0\0\0\0\0\0\0\0\0";
/// let mut heard = Vec::new();
/// let mut reader = Reader::default();
/// reader.decode(0x63, |chunk| Ok(heard.extend_from_slice(chunk.content)));
/// assert!(reader.read(stream)?.notes().is_empty());
/// drop(reader);
/// assert_eq!(heard, b"hello");
/// # Ok::<(), zonecast_recordings::Error>(())
/// ```
#[derive(Default)]
pub struct Reader<'d> {
    decoders: HashMap<u16, Decoder<'d>>,
}

impl<'d> Reader<'d> {
    /// Has `decoder` look at chunks of type `kind`, unless that is one that this crate knows. Its errors become
    /// notes. The last decoder of a type counts.
    pub fn decode(&mut self, kind: u16, decoder: impl FnMut(Chunk<'_>) -> Result<(), String> + 'd) {
        self.decoders.insert(kind, Box::new(decoder));
    }

    /// Reads a stream; see [`Stream::read`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<Stream<'a>, Error> {
        if !bytes.is_empty() && !bytes.starts_with(MAGIC) {
            return Err(Error::unknown("stream of IREE's dispatch instruments"));
        }
        let mut stream = Stream::default();
        let mut offset = 0;
        while offset < bytes.len() as u64 {
            match chunk(bytes, offset) {
                Ok(chunk) => {
                    self.add(&mut stream, chunk);
                    offset += (HEADER + chunk.content.len() as u64).next_multiple_of(HEADER);
                }
                Err(error) => {
                    let (place, what) = placed(error, offset);
                    note(&mut stream, place, format!("{what}; nothing behind it is read"));
                    break;
                }
            }
        }
        Ok(stream)
    }

    fn add<'a>(&mut self, stream: &mut Stream<'a>, chunk: Chunk<'a>) {
        let Chunk { offset, kind, version, content } = chunk;
        let skipped = |what| Err((offset, what));
        let done = match kind {
            METADATA | RING if version != 0 => skipped(format!("a chunk of version {version} is skipped")),
            METADATA => {
                add_metadata(stream, content).map_err(|error| placed(error.moved_by(offset + HEADER), offset))
            }
            RING => add_ring(stream, chunk).map_err(|error| placed(error, offset)),
            _ => match self.decoders.get_mut(&kind) {
                Some(decoder) => decoder(chunk).map_err(|what| (offset, what)),
                None => skipped(format!(
                    "a chunk of the unknown type {kind} is skipped ({} bytes)",
                    content.len()
                )),
            },
        };
        if let Err((offset, what)) = done {
            note(stream, offset, what);
        }
    }
}

/// An error's place, or that of the chunk, and what it is.
fn placed(error: Error, chunk: u64) -> (u64, String) {
    let (offset, what) = error.into_parts();
    (offset.unwrap_or(chunk), what)
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("decoders", &self.decoders.keys()).finish()
    }
}

fn note(stream: &mut Stream<'_>, offset: u64, what: String) {
    stream.notes.push(Note { offset, what });
}

fn chunk(bytes: &[u8], offset: u64) -> Result<Chunk<'_>, Error> {
    let header = bytes::slice(bytes, offset, HEADER, "the header of a chunk, 16 bytes")?;
    if !header.starts_with(MAGIC) {
        return Err(Error::damaged(offset, "a chunk, which begins with 0IDB"));
    }
    let length = bytes::u64(header, 8);
    let content = bytes::slice(bytes, offset + HEADER, length, "all of a chunk's content")?;
    Ok(Chunk { offset, kind: bytes::u16(header, 4), version: bytes::u16(header, 6), content })
}

/// A module without sites, whatever is wrong with its tables: the ring behind them is not the last module's.
fn add_metadata<'a>(stream: &mut Stream<'a>, content: &'a [u8]) -> Result<(), Error> {
    let metadata = Metadata::read(content);
    let (metadata, done) = match metadata {
        Ok(metadata) => (metadata, Ok(())),
        Err(error) => (Metadata::default(), Err(error)),
    };
    stream.modules.push(Module { metadata, rings: Vec::new() });
    done
}

fn add_ring<'a>(stream: &mut Stream<'a>, chunk: Chunk<'a>) -> Result<(), Error> {
    if stream.modules.is_empty() {
        note(stream, chunk.offset, "a ring without metadata: names are not known".into());
        stream.modules.push(Module::default());
    }
    let Some(module) = stream.modules.last_mut() else { return Ok(()) };
    let sites = u32::try_from(module.metadata.site_count()).ok().filter(|&sites| sites > 0);
    let ring = Ring::read(chunk.content, sites, chunk.offset + HEADER)?;
    module.rings.push(ring);
    if !ring.is_sound() {
        let what = format!(
            "the ring's write head, {:#x}, is damaged: the order of records is not known",
            ring.head()
        );
        note(stream, chunk.offset, what);
    }
    Ok(())
}
