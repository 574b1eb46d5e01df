//! What the payloads of calls hold, and the order in which their work happens.

use std::collections::HashMap;

use zonecast_embed::Executable;

use super::file::{HalReplay, Record};
use crate::{Error, bytes};

pub(super) const OBJECT: u16 = 2;
pub(super) const OPERATION: u16 = 3;
/// The kind of a file among objects.
pub(super) const FILE: u32 = 9;
/// The length of a [`BufferRange`] in a payload.
pub(super) const RANGE: usize = 32;

/// A part of a buffer that a command was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRange {
    /// The buffer's number.
    pub buffer: u64,
    /// Where in it.
    pub offset: u64,
    /// How many bytes; `u64::MAX` for all that follow.
    pub length: u64,
    /// Which entry of the binding table is meant, if `buffer` is 0.
    slot: u32,
}

impl BufferRange {
    pub(super) fn new(buffer: u64, offset: u64, length: u64) -> Self {
        Self { buffer, offset, length, slot: 0 }
    }

    pub(super) fn read(payload: &[u8], at: usize) -> Self {
        let word = |more: usize| bytes::u64(payload, at + more);
        Self { buffer: word(0), offset: word(8), length: word(16), slot: bytes::u32(payload, at + 24) }
    }

    /// The same bytes, of a buffer rather than of an entry of the binding table.
    pub(super) fn resolve(self, table: &[Self]) -> Result<Self, String> {
        if self.buffer != 0 {
            return Ok(self);
        }
        let bound = table.get(self.slot as usize).ok_or(format!("there is no binding {}", self.slot))?;
        let left = match bound.length {
            u64::MAX => u64::MAX,
            length => length.checked_sub(self.offset).ok_or("an offset is outside of its binding")?,
        };
        if self.length != u64::MAX && self.length > left {
            return Err(format!("{} bytes are outside of binding {}", self.length, self.slot));
        }
        let offset = bound.offset.checked_add(self.offset).ok_or("an offset is outside of memory")?;
        Ok(Self::new(bound.buffer, offset, self.length.min(left)))
    }
}

/// A kernel that was called.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) executable: u64,
    pub(super) ordinal: u32,
    /// Whether its grid stands in a buffer.
    pub(super) is_indirect: bool,
    pub(super) workgroup_size: [u32; 3],
    pub(super) workgroups: [u32; 3],
    pub(super) constants: Vec<u32>,
    pub(super) bindings: Vec<BufferRange>,
}

impl Call {
    pub(super) fn read(payload: &[u8], table: &[BufferRange]) -> Result<Self, String> {
        const FIXED: usize = 120;
        const INDIRECT: u32 = 0b11;
        let numbers = |at: usize| [0, 4, 8].map(|more| bytes::u32(payload, at + more));
        let [waits, signals, length, count] = [88, 96, 104, 112].map(|at| bytes::u64(payload, at));
        let begin = timepoints(FIXED, waits, signals)?;
        let constants = tail(payload, begin, length)?;
        let bindings = ranges(payload, begin + constants.len(), count)?;
        Ok(Self {
            executable: bytes::u64(payload, 0),
            ordinal: bytes::u32(payload, 16),
            is_indirect: bytes::u32(payload, 20) & INDIRECT != 0,
            workgroup_size: numbers(24),
            workgroups: numbers(36),
            constants: constants.chunks_exact(4).map(|word| bytes::u32(word, 0)).collect(),
            bindings: bindings.into_iter().map(|of| of.resolve(table)).collect::<Result<_, _>>()?,
        })
    }
}

/// Where what follows lists of timepoints begins.
pub(super) fn timepoints(fixed: usize, waits: u64, signals: u64) -> Result<usize, String> {
    const TIMEPOINT: u64 = 16;
    let lists = waits.checked_add(signals).and_then(|count| count.checked_mul(TIMEPOINT));
    let end = lists.and_then(|lists| usize::try_from(lists).ok()?.checked_add(fixed));
    end.ok_or("damaged: expected lists of semaphores".to_owned())
}

pub(super) fn tail(payload: &[u8], begin: usize, length: u64) -> Result<&[u8], String> {
    let rest = payload.get(begin..).unwrap_or_default();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    rest.get(..length).ok_or("damaged: expected data within the payload".to_owned())
}

fn ranges(payload: &[u8], begin: usize, count: u64) -> Result<Vec<BufferRange>, String> {
    let bytes = tail(payload, begin, count.saturating_mul(RANGE as u64))?;
    Ok(bytes.chunks_exact(RANGE).map(|of| BufferRange::read(of, 0)).collect())
}

impl<'a> Record<'a> {
    /// The contents of buffers or files that came with the call: what the host wrote or imported, what an update was given,
    /// what was read from a file.
    pub(super) fn data(&self) -> Result<Option<&'a [u8]>, String> {
        /// The payload of a mapped range whose contents are known.
        const WITH_CONTENTS: u32 = 4;
        /// Of a file, that its contents are known.
        const INLINE: u32 = 2;
        let payload = self.payload;
        let words = |of: [usize; 3]| of.map(|at| bytes::u64(payload, at));
        let data = match (self.kind, self.operation) {
            (OBJECT, _) if self.object_kind == FILE && bytes::u32(payload, 60) == INLINE => {
                tail(payload, 112, bytes::u64(payload, 40))
            }
            (OPERATION, 103) => tail(payload, 56, bytes::u64(payload, 48)),
            (OPERATION, 201..=203) if self.payload_kind == WITH_CONTENTS => {
                tail(payload, 40, bytes::u64(payload, 16))
            }
            (OPERATION, 310) => tail(payload, RANGE + 24, bytes::u64(payload, RANGE + 16)),
            (OPERATION, 16) => {
                let [length, waits, signals] = words([RANGE + 24, RANGE + 32, RANGE + 40]);
                tail(payload, timepoints(RANGE + 48, waits, signals)?, length)
            }
            (OPERATION, 18) => match words([64, 72, 80]) {
                [0, ..] => return Ok(None),
                [length, waits, signals] => tail(payload, timepoints(88, waits, signals)?, length),
            },
            _ => return Ok(None),
        };
        data.map(Some)
    }
}

impl<'a> HalReplay<'a> {
    /// The records that hold contents of buffers or files, with those; damaged ones are left out.
    pub fn contents(&self) -> impl Iterator<Item = (&Record<'a>, &'a [u8])> {
        self.records.iter().filter_map(|record| Some((record, record.data().ok()??)))
    }
}

/// Is told of a record and its binding table.
type Step<'s, 'r> = dyn FnMut(&Record<'r>, &[BufferRange]) -> Result<(), String> + 's;

/// Tells `step` of every record with its binding table, in the order in which devices do the work: commands when
/// their buffer is executed, and all else when it was called. The first error ends it.
pub(super) fn in_order<'r>(replay: &HalReplay<'r>, step: &mut Step<'_, 'r>) -> Result<(), String> {
    let mut recorded: HashMap<u64, Vec<&Record<'r>>> = HashMap::new();
    for record in &replay.records {
        let done = match (record.kind, record.operation) {
            (OPERATION, 300) => {
                recorded.insert(record.object, Vec::new());
                Ok(())
            }
            (OPERATION, 301..=399) => {
                recorded.entry(record.object).or_default().push(record);
                Ok(())
            }
            (OPERATION, 22) => execute(record, &recorded, step),
            _ => step(record, &[]),
        };
        done.map_err(|error| format!("record {}: {error}", record.sequence))?;
    }
    Ok(())
}

fn execute<'r>(
    record: &Record<'_>,
    recorded: &HashMap<u64, Vec<&Record<'r>>>,
    step: &mut Step<'_, 'r>,
) -> Result<(), String> {
    let [buffer, waits, signals, count] = [0, 24, 32, 40].map(|at| bytes::u64(record.payload, at));
    let table = ranges(record.payload, timepoints(48, waits, signals)?, count)?;
    for command in recorded.get(&buffer).into_iter().flatten() {
        step(command, &table).map_err(|error| format!("command {}: {error}", command.sequence))?;
    }
    Ok(())
}

/// A dispatch of the recorded program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The kernel's name; `?` if its executable does not say.
    pub name: String,
    /// Its grid; nothing if that stood in a buffer.
    pub workgroups: Option<[u32; 3]>,
    /// Its constants.
    pub constants: Vec<u32>,
    /// What its bindings were.
    pub bindings: Vec<BufferRange>,
    /// Whether a profile was being recorded.
    pub is_profiled: bool,
}

impl HalReplay<'_> {
    /// The dispatches, in the order in which devices did them.
    ///
    /// # Errors
    ///
    /// If the calls contradict themselves; the text says which one.
    pub fn dispatches(&self) -> Result<Vec<Dispatch>, Error> {
        let mut names = Names::default();
        let mut dispatches = Vec::new();
        let mut is_profiled = false;
        in_order(self, &mut |record, table| {
            match (record.kind, record.operation) {
                (OPERATION, 24) => is_profiled = true,
                (OPERATION, 26) => is_profiled = false,
                (OPERATION, 402) => names.add(record),
                (OPERATION, 21 | 313) => {
                    let call = Call::read(record.payload, table)?;
                    let name = names.of(&call);
                    let workgroups = (!call.is_indirect).then_some(call.workgroups);
                    let Call { constants, bindings, .. } = call;
                    dispatches.push(Dispatch { name, workgroups, constants, bindings, is_profiled });
                }
                _ => {}
            }
            Ok(())
        })
        .map_err(Error::unsupported)?;
        Ok(dispatches)
    }
}

/// The names of executables' exports.
#[derive(Default)]
struct Names(HashMap<u64, Executable>);

impl Names {
    fn add(&mut self, record: &Record<'_>) {
        let opened = record
            .executable()
            .and_then(|of| Some((of.id, Executable::from_bytes(of.bytes.to_vec(), "executable").ok()?)));
        self.0.extend(opened);
    }

    fn of(&self, call: &Call) -> String {
        let image = self.0.get(&call.executable).and_then(|executable| executable.image(0));
        let export = image.and_then(|image| image.export(call.ordinal as usize));
        export.map_or("?".into(), |export| String::from_utf8_lossy(export.name())).into_owned()
    }
}
