//! A device as far as replays need one: buffers, command buffers and kernels, on this machine's CPU.

use std::collections::HashMap;
use std::ops::Range;

use zonecast_dispatch::{Binding, Buffer, Dispatch, Library, Workers};
use zonecast_embed::Executable;

use super::file::{HalReplay, Record, operation_name};
use crate::bytes;

const OBJECT: u16 = 2;
const OPERATION: u16 = 3;
const UNSUPPORTED: u16 = 5;
const BUFFER: u32 = 4;
const REF: usize = 32;

/// Is told of each dispatch: its name, and what it is about to use; what it returns is told when it is over.
pub(super) trait Watch {
    fn dispatch(&mut self, name: &str, run: &mut dyn FnMut() -> Result<(), String>) -> Result<(), String>;
    fn written(&mut self, binding: usize, after: &[u8]) -> Result<(), String>;
}

/// A range of a buffer, or of a slot of the binding table.
#[derive(Clone, Copy)]
struct Ref {
    buffer: u64,
    offset: u64,
    length: u64,
    slot: u32,
}

impl Ref {
    fn read(payload: &[u8], at: usize) -> Self {
        let word = |more: usize| bytes::u64(payload, at + more);
        Self { buffer: word(0), offset: word(8), length: word(16), slot: bytes::u32(payload, at + 24) }
    }
}

/// The state of a replay.
#[derive(Default)]
pub(super) struct Machine<'r> {
    buffers: HashMap<u64, Buffer>,
    /// Contents that came before their buffer.
    imported: HashMap<u64, &'r [u8]>,
    libraries: HashMap<u64, Library>,
    commands: HashMap<u64, Vec<Record<'r>>>,
    /// Executables that are to be run instead.
    instead: HashMap<u64, Vec<u8>>,
}

impl<'r> Machine<'r> {
    pub(super) fn new(instead: HashMap<u64, Vec<u8>>) -> Self {
        Self { instead, ..Self::default() }
    }

    /// Goes through all records.
    pub(super) fn run(&mut self, replay: &HalReplay<'r>, watch: &mut dyn Watch) -> Result<(), String> {
        for record in &replay.records {
            self.step(record, watch).map_err(|error| format!("record {}: {error}", record.sequence))?;
        }
        Ok(())
    }

    fn step(&mut self, record: &Record<'r>, watch: &mut dyn Watch) -> Result<(), String> {
        match (record.kind, record.operation) {
            (OBJECT, _) if record.object_kind == BUFFER => self.make_buffer(record),
            (OPERATION, 402) => self.load(record),
            (OPERATION, 103) => {
                self.imported
                    .insert(record.related, tail(record.payload, 56, bytes::u64(record.payload, 48))?);
                Ok(())
            }
            (OPERATION, 200..=203) => self.host_write(record),
            (OPERATION, 300) => {
                self.commands.insert(record.object, Vec::new());
                Ok(())
            }
            (OPERATION, 305..=307 | 312 | 18..=20) => {
                Err(format!("{} cannot be replayed", operation_name(record.operation)))
            }
            (OPERATION, 309..=311 | 313) => {
                self.commands.entry(record.object).or_default().push(*record);
                Ok(())
            }
            (OPERATION, 22) => self.execute(record, watch),
            (OPERATION, 21) => self.dispatch(record, &[], watch),
            (OPERATION, 15) => self.queue_fill(record),
            (OPERATION, 16) => self.queue_update(record),
            (OPERATION, 17) => self.copy(record, &[]),
            (UNSUPPORTED, _) if !record.is_optional => {
                Err("the recorder could not record this call".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn make_buffer(&mut self, record: &Record<'_>) -> Result<(), String> {
        let size = usize::try_from(bytes::u64(record.payload, 0)).map_err(|error| error.to_string())?;
        if size > 1 << 40 {
            return Err(format!("a buffer of {size} bytes is too large"));
        }
        let mut buffer = Buffer::zeroed(size);
        if let Some(contents) = self.imported.remove(&record.object) {
            let length = contents.len().min(size);
            buffer[..length].copy_from_slice(&contents[..length]);
        }
        self.buffers.insert(record.object, buffer);
        Ok(())
    }

    fn load(&mut self, record: &Record<'_>) -> Result<(), String> {
        let executable = record.executable().ok_or("damaged: expected an executable")?;
        let contents = self.instead.get(&executable.id).cloned().unwrap_or_else(|| executable.bytes.to_vec());
        let name = format!("executable {}", executable.id);
        let opened = Executable::from_bytes(contents, &name).map_err(|error| error.to_string())?;
        let image = opened.image(0).ok_or("there is nothing in the executable")?;
        // SAFETY: whoever asks for a replay trusts what it holds, and this is a process of its own.
        let library = unsafe { Library::load(image) }.map_err(|error| error.to_string())?;
        self.libraries.insert(executable.id, library);
        Ok(())
    }

    /// What the host wrote while it had a buffer mapped; other calls hold no data.
    fn host_write(&mut self, record: &Record<'_>) -> Result<(), String> {
        const WITH_DATA: u32 = 4;
        if record.payload_kind != WITH_DATA {
            return Ok(());
        }
        let (offset, length) = (bytes::u64(record.payload, 0), bytes::u64(record.payload, 16));
        let data = tail(record.payload, 40, length)?;
        self.write(record.object, offset, data)
    }

    fn write(&mut self, buffer: u64, offset: u64, data: &[u8]) -> Result<(), String> {
        let range = self.range(Ref { buffer, offset, length: data.len() as u64, slot: 0 }, &[])?;
        self.bytes(&range).copy_from_slice(data);
        Ok(())
    }

    /// The buffer and the bytes of it that a reference means.
    fn range(&self, of: Ref, table: &[Ref]) -> Result<(u64, Range<usize>), String> {
        let (buffer, base, limit) = match of.buffer {
            0 => {
                let bound = table.get(of.slot as usize).ok_or(format!("there is no binding {}", of.slot))?;
                (bound.buffer, bound.offset, bound.length)
            }
            buffer => (buffer, 0, u64::MAX),
        };
        let size = self.buffers.get(&buffer).ok_or(format!("there is no buffer {buffer}"))?.len() as u64;
        let limit = base.saturating_add(limit).min(size);
        let begin = base.checked_add(of.offset).filter(|&begin| begin <= limit);
        let begin = begin.ok_or(format!("offset {} is outside of buffer {buffer}", of.offset))?;
        let end = if of.length == u64::MAX { limit } else { begin.saturating_add(of.length) };
        match end <= limit {
            true => Ok((buffer, begin as usize..end as usize)),
            false => Err(format!("{} bytes are outside of buffer {buffer}", of.length)),
        }
    }

    fn bytes(&mut self, (buffer, range): &(u64, Range<usize>)) -> &mut [u8] {
        self.buffers.get_mut(buffer).map_or(&mut [], |buffer| &mut buffer[range.clone()])
    }

    fn execute(&mut self, record: &Record<'r>, watch: &mut dyn Watch) -> Result<(), String> {
        let payload = record.payload;
        let [buffer, waits, signals, count] = [0, 24, 32, 40].map(|at| bytes::u64(payload, at));
        let table = refs(payload, timepoints(48, waits, signals)?, count)?;
        for command in self.commands.get(&buffer).cloned().unwrap_or_default() {
            let done = match command.operation {
                309 => self.fill(&command, &table),
                310 => self.update(&command, &table),
                311 => self.copy(&command, &table),
                _ => self.dispatch(&command, &table, watch),
            };
            done.map_err(|error| format!("command {}: {error}", command.sequence))?;
        }
        Ok(())
    }

    fn fill(&mut self, record: &Record<'_>, table: &[Ref]) -> Result<(), String> {
        let pattern = tail(record.payload, REF + 16, bytes::u64(record.payload, REF + 8))?.to_vec();
        self.fill_with(Ref::read(record.payload, 0), table, &pattern)
    }

    fn queue_fill(&mut self, record: &Record<'_>) -> Result<(), String> {
        let [waits, signals, length] = [16, 24, 32].map(|at| bytes::u64(record.payload, REF + at));
        let pattern = tail(record.payload, timepoints(REF + 40, waits, signals)?, length)?.to_vec();
        self.fill_with(Ref::read(record.payload, 0), &[], &pattern)
    }

    fn fill_with(&mut self, target: Ref, table: &[Ref], pattern: &[u8]) -> Result<(), String> {
        let range = self.range(target, table)?;
        if pattern.is_empty() {
            return Err("a fill without a pattern".to_owned());
        }
        self.bytes(&range).iter_mut().zip(pattern.iter().cycle()).for_each(|(byte, &value)| *byte = value);
        Ok(())
    }

    fn update(&mut self, record: &Record<'_>, table: &[Ref]) -> Result<(), String> {
        let data = tail(record.payload, REF + 24, bytes::u64(record.payload, REF + 16))?;
        self.update_with(Ref::read(record.payload, 0), table, data)
    }

    fn queue_update(&mut self, record: &Record<'_>) -> Result<(), String> {
        let [length, waits, signals] = [24, 32, 40].map(|at| bytes::u64(record.payload, REF + at));
        let data = tail(record.payload, timepoints(REF + 48, waits, signals)?, length)?;
        self.update_with(Ref::read(record.payload, 0), &[], data)
    }

    fn update_with(&mut self, target: Ref, table: &[Ref], data: &[u8]) -> Result<(), String> {
        let range = self.range(target, table)?;
        let target = self.bytes(&range);
        let length = target.len().min(data.len());
        target[..length].copy_from_slice(&data[..length]);
        Ok(())
    }

    fn copy(&mut self, record: &Record<'_>, table: &[Ref]) -> Result<(), String> {
        let source = self.range(Ref::read(record.payload, 0), table)?;
        let data = self.bytes(&source).to_vec();
        self.update_with(Ref::read(record.payload, REF), table, &data)
    }

    fn dispatch(&mut self, record: &Record<'_>, table: &[Ref], watch: &mut dyn Watch) -> Result<(), String> {
        const FIXED: usize = 120;
        const INDIRECT: u32 = 0b11;
        let payload = record.payload;
        let numbers = |at: usize| [0, 4, 8].map(|more| bytes::u32(payload, at + more));
        let ordinal = bytes::u32(payload, 16) as usize;
        if bytes::u32(payload, 20) & INDIRECT != 0 {
            return Err("a dispatch whose grid stands in a buffer cannot be replayed".to_owned());
        }
        let [waits, signals, length, count] = [88, 96, 104, 112].map(|at| bytes::u64(payload, at));
        let begin = timepoints(FIXED, waits, signals)?;
        let constants: Vec<u32> =
            tail(payload, begin, length)?.chunks_exact(4).map(|word| bytes::u32(word, 0)).collect();
        let bound = refs(payload, begin + constants.len() * 4, count)?;
        let ranges: Vec<_> = bound.iter().map(|of| self.range(*of, table)).collect::<Result<_, _>>()?;
        let before: Vec<Vec<u8>> = ranges.iter().map(|range| self.bytes(range).to_vec()).collect();
        let mut bindings: Vec<Binding<'_>> = ranges.iter().map(|range| self.binding(range)).collect();
        let executable = bytes::u64(payload, 0);
        let library =
            self.libraries.get(&executable).ok_or(format!("there is no executable {executable}"))?;
        let name = library.exports().nth(ordinal).unwrap_or("?").to_owned();
        let size = numbers(24);
        let mut call = Some(Dispatch {
            ordinal,
            workgroups: numbers(36),
            workgroup_size: (size != [0; 3]).then_some(size),
            constants: &constants,
            bindings: &mut bindings,
        });
        watch.dispatch(&name, &mut || {
            let Some(call) = call.take() else { return Ok(()) };
            // SAFETY: the recorded program gave the kernel these buffers, of these sizes, with this grid. Whoever asks for
            // a replay trusts that, and this is a process of its own.
            unsafe { library.dispatch(call, &Workers::none(), &()) }.map_err(|error| error.to_string())
        })?;
        for (index, (range, before)) in ranges.iter().zip(&before).enumerate() {
            let after = self.bytes(range);
            if after != before {
                watch.written(index, after)?;
            }
        }
        Ok(())
    }

    /// Kernels are given ranges that may overlap, as in the recorded program.
    fn binding<'b>(&mut self, range: &(u64, Range<usize>)) -> Binding<'b> {
        let bytes = self.bytes(range);
        let (start, length) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: the buffer stays where it is until the dispatch is over: nothing is added to or taken from `buffers`
        // before. `Binding` keeps a pointer alone, so that no two slices live at once.
        Binding::write(unsafe { std::slice::from_raw_parts_mut(start, length) })
    }
}

/// Where what follows lists of timepoints begins.
fn timepoints(fixed: usize, waits: u64, signals: u64) -> Result<usize, String> {
    const TIMEPOINT: u64 = 16;
    let lists = waits.checked_add(signals).and_then(|count| count.checked_mul(TIMEPOINT));
    let end = lists.and_then(|lists| usize::try_from(lists).ok()?.checked_add(fixed));
    end.ok_or("damaged: expected lists of semaphores".to_owned())
}

fn tail(payload: &[u8], begin: usize, length: u64) -> Result<&[u8], String> {
    let rest = payload.get(begin..).unwrap_or_default();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    rest.get(..length).ok_or("damaged: expected data within the payload".to_owned())
}

fn refs(payload: &[u8], begin: usize, count: u64) -> Result<Vec<Ref>, String> {
    let bytes = tail(payload, begin, count.saturating_mul(REF as u64))?;
    Ok(bytes.chunks_exact(REF).map(|of| Ref::read(of, 0)).collect())
}
