//! A device as far as replays need one: buffers, files and kernels, on this machine's CPU.

use std::collections::HashMap;
use std::ops::Range;

use zonecast_dispatch::{Binding, Buffer, Dispatch, Library, Workers};
use zonecast_embed::Executable;

use super::call::{BufferRange, Call, FILE, OBJECT, OPERATION, RANGE, in_order, tail, timepoints};
use super::file::{HalReplay, Record, operation_name};
use crate::bytes;

const UNSUPPORTED: u16 = 5;
const BUFFER: u32 = 4;

/// A range within a buffer that there is.
type Place = (u64, Range<usize>);

/// Is told of each dispatch: its name, and what it is about to use; what it returns is told when it is over.
pub(super) trait Watch {
    fn dispatch(&mut self, name: &str, run: &mut dyn FnMut() -> Result<(), String>) -> Result<(), String>;
    fn written(&mut self, binding: usize, after: &[u8]) -> Result<(), String>;
    /// The host reads this of a buffer.
    fn read_by_host(&mut self, buffer: u64, bytes: &[u8]) -> Result<(), String>;
}

/// The state of a replay.
#[derive(Default)]
pub(super) struct Machine<'r> {
    buffers: HashMap<u64, Buffer>,
    /// Those of the run before, to be used anew: kernels that write addresses down write the same each time.
    spare: HashMap<u64, Buffer>,
    /// Contents that came before their buffer.
    imported: HashMap<u64, &'r [u8]>,
    /// Files whose contents are part of the recording.
    files: HashMap<u64, &'r [u8]>,
    libraries: HashMap<u64, Library>,
    /// Executables that are to be run instead.
    instead: HashMap<u64, Vec<u8>>,
}

impl<'r> Machine<'r> {
    pub(super) fn new(instead: HashMap<u64, Vec<u8>>) -> Self {
        Self { instead, ..Self::default() }
    }

    /// Goes through all records, from the beginning.
    pub(super) fn run(&mut self, replay: &HalReplay<'r>, watch: &mut dyn Watch) -> Result<(), String> {
        self.spare = std::mem::take(&mut self.buffers);
        in_order(replay, &mut |record, table| self.step(record, table, watch))
    }

    fn step(
        &mut self,
        record: &Record<'r>,
        table: &[BufferRange],
        watch: &mut dyn Watch,
    ) -> Result<(), String> {
        match (record.kind, record.operation) {
            (OBJECT, _) if record.object_kind == BUFFER => self.make_buffer(record),
            (OBJECT, _) if record.object_kind == FILE => {
                self.files.extend(record.data()?.map(|data| (record.object, data)));
                Ok(())
            }
            // What failed then had no effect.
            (OPERATION, _) if record.status != 0 => Ok(()),
            (OPERATION, 402) => self.load(record),
            (OPERATION, 103) => {
                self.imported.extend(record.data()?.map(|data| (record.related, data)));
                Ok(())
            }
            (OPERATION, 200) => self.host_read(record, watch),
            (OPERATION, 201..=203) => self.host_write(record),
            (OPERATION, 309) => self.fill(record, table),
            (OPERATION, 16 | 310) => self.update(record, table),
            (OPERATION, 311) => self.copy(record, table),
            (OPERATION, 313) => self.dispatch(record, table, watch),
            (OPERATION, 15) => self.queue_fill(record),
            (OPERATION, 17) => self.copy(record, &[]),
            (OPERATION, 18) => self.queue_read(record),
            (OPERATION, 21) => self.dispatch(record, &[], watch),
            (OPERATION, 19 | 20 | 305..=307 | 312) => {
                Err(format!("{} cannot be replayed", operation_name(record.operation)))
            }
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
        let spare = self.spare.remove(&record.object).filter(|spare| spare.len() == size);
        let mut buffer = spare.unwrap_or_else(|| Buffer::zeroed(size));
        buffer.fill(0);
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
        let Some(data) = record.data()? else { return Ok(()) };
        let range = BufferRange::new(record.object, bytes::u64(record.payload, 0), data.len() as u64);
        self.write(range, data)
    }

    /// The host maps a buffer to read from it: what it finds there came out of the recorded work.
    fn host_read(&mut self, record: &Record<'_>, watch: &mut dyn Watch) -> Result<(), String> {
        const READ: u32 = 1;
        if bytes::u32(record.payload, 20) & READ == 0 {
            return Ok(());
        }
        let [offset, length] = [0, 8].map(|at| bytes::u64(record.payload, at));
        let place = self.place(BufferRange::new(record.object, offset, length))?;
        watch.read_by_host(record.object, self.bytes(&place))
    }

    /// From a file, if what was read is part of the recording.
    fn queue_read(&mut self, record: &Record<'_>) -> Result<(), String> {
        let target = BufferRange::read(record.payload, 16);
        let [file, offset] = [0, 8].map(|at| bytes::u64(record.payload, at));
        if let Some(data) = record.data()? {
            return self.write(target, data);
        }
        let contents = *self.files.get(&file).ok_or(
            "it reads a file that is not part of the recording; record with --device_replay_file_policy=capture-ranges",
        )?;
        let place = self.place(target)?;
        let begin = usize::try_from(offset).unwrap_or(usize::MAX);
        let data = tail(contents, begin, place.1.len() as u64)?;
        self.bytes(&place).copy_from_slice(data);
        Ok(())
    }

    /// Puts `data` at the beginning of a range.
    fn write(&mut self, target: BufferRange, data: &[u8]) -> Result<(), String> {
        let place = self.place(target)?;
        let target = self.bytes(&place);
        let length = target.len().min(data.len());
        target[..length].copy_from_slice(&data[..length]);
        Ok(())
    }

    /// The bytes that a range means.
    fn place(&self, of: BufferRange) -> Result<Place, String> {
        let BufferRange { buffer, offset, length, .. } = of;
        let size = self.buffers.get(&buffer).ok_or(format!("there is no buffer {buffer}"))?.len() as u64;
        let end = if length == u64::MAX { size } else { offset.saturating_add(length) };
        match offset <= end && end <= size {
            true => Ok((buffer, offset as usize..end as usize)),
            false => Err(format!("{length} bytes from {offset} are outside of buffer {buffer}")),
        }
    }

    fn bytes(&mut self, (buffer, range): &Place) -> &mut [u8] {
        self.buffers.get_mut(buffer).map_or(&mut [], |buffer| &mut buffer[range.clone()])
    }

    fn fill(&mut self, record: &Record<'_>, table: &[BufferRange]) -> Result<(), String> {
        let pattern = tail(record.payload, RANGE + 16, bytes::u64(record.payload, RANGE + 8))?;
        self.fill_with(BufferRange::read(record.payload, 0).resolve(table)?, pattern)
    }

    fn queue_fill(&mut self, record: &Record<'_>) -> Result<(), String> {
        let [waits, signals, length] = [16, 24, 32].map(|at| bytes::u64(record.payload, RANGE + at));
        let pattern = tail(record.payload, timepoints(RANGE + 40, waits, signals)?, length)?;
        self.fill_with(BufferRange::read(record.payload, 0), pattern)
    }

    fn fill_with(&mut self, target: BufferRange, pattern: &[u8]) -> Result<(), String> {
        let place = self.place(target)?;
        if pattern.is_empty() {
            return Err("a fill without a pattern".to_owned());
        }
        self.bytes(&place).iter_mut().zip(pattern.iter().cycle()).for_each(|(byte, &value)| *byte = value);
        Ok(())
    }

    fn update(&mut self, record: &Record<'_>, table: &[BufferRange]) -> Result<(), String> {
        let data = record.data()?.unwrap_or_default();
        self.write(BufferRange::read(record.payload, 0).resolve(table)?, data)
    }

    fn copy(&mut self, record: &Record<'_>, table: &[BufferRange]) -> Result<(), String> {
        let [source, target] = [0, RANGE].map(|at| BufferRange::read(record.payload, at).resolve(table));
        let source = self.place(source?)?;
        let data = self.bytes(&source).to_vec();
        self.write(target?, &data)
    }

    fn dispatch(
        &mut self,
        record: &Record<'_>,
        table: &[BufferRange],
        watch: &mut dyn Watch,
    ) -> Result<(), String> {
        let called = Call::read(record.payload, table)?;
        if called.is_indirect {
            return Err("a dispatch whose grid stands in a buffer cannot be replayed".to_owned());
        }
        let places: Vec<Place> =
            called.bindings.iter().map(|of| self.place(*of)).collect::<Result<_, _>>()?;
        let before: Vec<Vec<u8>> = places.iter().map(|place| self.bytes(place).to_vec()).collect();
        let mut bindings: Vec<Binding<'_>> = places.iter().map(|place| self.binding(place)).collect();
        let Call { executable, ordinal, workgroup_size, workgroups, constants, .. } = &called;
        let library = self.libraries.get(executable).ok_or(format!("there is no executable {executable}"))?;
        let ordinal = *ordinal as usize;
        let name = library.exports().nth(ordinal).unwrap_or("?").to_owned();
        let mut call = Some(Dispatch {
            ordinal,
            workgroups: *workgroups,
            workgroup_size: (*workgroup_size != [0; 3]).then_some(*workgroup_size),
            constants,
            bindings: &mut bindings,
        });
        watch.dispatch(&name, &mut || {
            let Some(call) = call.take() else { return Ok(()) };
            // SAFETY: the recorded program gave the kernel these buffers, of these sizes, with this grid. Whoever asks for
            // a replay trusts that, and this is a process of its own.
            unsafe { library.dispatch(call, &Workers::none(), &()) }.map_err(|error| error.to_string())
        })?;
        for (index, (place, before)) in places.iter().zip(&before).enumerate() {
            let after = self.bytes(place);
            if after != before {
                watch.written(index, after)?;
            }
        }
        Ok(())
    }

    /// Kernels are given ranges that may overlap, as in the recorded program.
    fn binding<'b>(&mut self, place: &Place) -> Binding<'b> {
        let bytes = self.bytes(place);
        let (start, length) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: the buffer stays where it is until the dispatch is over: nothing is added to or taken from `buffers`
        // before. `Binding` keeps a pointer alone, so that no two slices live at once.
        Binding::write(unsafe { std::slice::from_raw_parts_mut(start, length) })
    }
}
