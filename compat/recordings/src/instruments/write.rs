//! Writing a stream, from any Rust program.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use flatbuffers::{FlatBufferBuilder, WIPOffset};

use super::metadata::Function;
use super::record::{STEP, Value, Workgroup};
use super::ring::{HEAD, PADDING};

/// Slots of the metadata's tables, and where a slot stands in a table.
const fn slot(index: u16) -> u16 {
    4 + 2 * index
}

/// A ring that any number of threads write to at once, without locks: a record costs one atomic addition and a
/// store for every 8 bytes. When it is full, the oldest records are overwritten.
///
/// What [`save`](Self::save) writes is read by [`Stream`](super::Stream), by `zonecast instruments` and by IREE's
/// own tool.
///
/// ```
/// use zonecast_recordings::instruments::{Function, InstrumentRing, Stream, Value, Workgroup};
///
/// let ring = InstrumentRing::new(1 << 16);
/// let key = ring.workgroup(Workgroup { site: 0, id: [0, 0, 0], count: [1, 1, 1], processor: 3 });
/// ring.load(key, 0x1000, 16);
/// ring.value(key, 0, Value::F32(0.5));
/// ring.store(key, 0x2000, 16);
///
/// let functions = [Function { name: b"scale", target: None, layout: None, source: None }];
/// let mut file = Vec::new();
/// ring.save(&functions, &[0], &mut file)?;
/// let stream = Stream::read(&file).unwrap();
/// assert_eq!(stream.modules()[0].records().count(), 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct InstrumentRing {
    /// The ring, its padding, and the head as the last word.
    words: Box<[AtomicU64]>,
    size: u64,
}

/// A workgroup that was recorded: its later records name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);

impl InstrumentRing {
    /// The longest text that fits behind the last place of the ring.
    pub const LONGEST_TEXT: usize = (PADDING - HEAD - 8) as usize;

    /// A ring of `size` bytes, or the next power of two from 128 up.
    ///
    /// # Panics
    ///
    /// If it does not fit into memory, or into the 40 bits that keys have.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let size = (size.max(128) as u64).checked_next_power_of_two().filter(|size| *size <= 1 << 40);
        let size = size.expect("a ring has at most 2^40 bytes");
        let words = (size + PADDING) / 8;
        Self { words: (0..words).map(|_| AtomicU64::new(0)).collect(), size }
    }

    fn head(&self) -> &AtomicU64 {
        &self.words[self.words.len() - 1]
    }

    /// Reserves room and fills it. A thread that reads meanwhile may see a part.
    #[inline]
    fn write(&self, words: &[u64]) -> u64 {
        let length = (words.len() as u64 * 8).next_multiple_of(STEP);
        let place = self.head().fetch_add(length, Ordering::Relaxed) & (self.size - 1);
        let first = (place / 8) as usize;
        for (slot, word) in self.words[first..first + words.len()].iter().zip(words) {
            slot.store(*word, Ordering::Relaxed);
        }
        place
    }

    /// Records that a workgroup began.
    #[inline]
    pub fn workgroup(&self, workgroup: Workgroup) -> Key {
        let Workgroup { site, id, count, processor } = workgroup;
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        Key(self.write(&[
            pair(site << 8, id[0]),
            pair(id[1], id[2]),
            pair(count[0], count[1]),
            pair(count[2], processor),
        ]))
    }

    /// Records that a workgroup read `length` bytes at `address`.
    #[inline]
    pub fn load(&self, workgroup: Key, address: u64, length: u16) {
        self.write(&[4 | u64::from(length) << 8 | workgroup.0 << 24, address]);
    }

    /// Records that a workgroup wrote `length` bytes at `address`.
    #[inline]
    pub fn store(&self, workgroup: Key, address: u64, length: u16) {
        self.write(&[5 | u64::from(length) << 8 | workgroup.0 << 24, address]);
    }

    /// Records what passed a probe.
    #[inline]
    pub fn value(&self, workgroup: Key, ordinal: u8, value: Value) {
        let (kind, bits) = value.to_bits();
        self.write(&[2 | u64::from(kind) << 8 | u64::from(ordinal) << 16 | workgroup.0 << 24, bits]);
    }

    /// Records a text; what is longer than [`LONGEST_TEXT`](Self::LONGEST_TEXT) is cut.
    pub fn print(&self, workgroup: Key, text: &str) {
        let text = &text.as_bytes()[..text.len().min(Self::LONGEST_TEXT)];
        let mut words = vec![1 | (text.len() as u64) << 8 | workgroup.0 << 24];
        words.extend(text.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        }));
        self.write(&words);
    }

    /// How many bytes of older records were overwritten.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.head().load(Ordering::Relaxed).saturating_sub(self.size)
    }

    /// Writes a stream of this ring: the kernels, for each dispatch site the index of its kernel, and the
    /// records. Let the writing threads end first; what they write meanwhile may be torn.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    pub fn save(&self, functions: &[Function<'_>], sites: &[u32], out: &mut impl Write) -> io::Result<()> {
        chunk(0, &metadata(functions, sites), out)?;
        header(1, self.words.len() * 8, out)?;
        for words in self.words.chunks(512) {
            let bytes: Vec<u8> =
                words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
            out.write_all(&bytes)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for InstrumentRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InstrumentRing({} bytes)", self.size)
    }
}

fn header(kind: u16, length: usize, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"0IDB")?;
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&0_u16.to_le_bytes())?;
    out.write_all(&(length as u64).to_le_bytes())
}

fn chunk(kind: u16, content: &[u8], out: &mut impl Write) -> io::Result<()> {
    header(kind, content.len(), out)?;
    out.write_all(content)?;
    out.write_all(&[0; 16][..content.len().next_multiple_of(16) - content.len()])
}

fn metadata(functions: &[Function<'_>], sites: &[u32]) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let functions: Vec<_> = functions.iter().map(|of| function(&mut builder, of)).collect();
    let sites: Vec<_> = sites
        .iter()
        .map(|&function| {
            let table = builder.start_table();
            builder.push_slot(slot(0), function, 0);
            builder.end_table(table)
        })
        .collect();
    let (functions, sites) = (builder.create_vector(&functions), builder.create_vector(&sites));
    let root = builder.start_table();
    builder.push_slot_always(slot(2), functions);
    builder.push_slot_always(slot(3), sites);
    let root = builder.end_table(root);
    builder.finish(root, Some("IDBD"));
    builder.finished_data().to_vec()
}

fn function<'a>(
    builder: &mut FlatBufferBuilder<'a>,
    function: &Function<'_>,
) -> WIPOffset<flatbuffers::TableFinishedWIPOffset> {
    let texts = [Some(function.name), function.target, function.layout, function.source];
    let texts = texts.map(|text| text.map(|text| builder.create_string(&String::from_utf8_lossy(text))));
    let table = builder.start_table();
    for (index, text) in (0..).zip(texts) {
        if let Some(text) = text {
            builder.push_slot_always(slot(index), text);
        }
    }
    builder.end_table(table)
}
