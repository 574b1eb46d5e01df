//! A profile's records and tables.

use std::collections::BTreeMap;

use super::clock::{Clock, Correlation};
use super::rows::{
    Counter, CounterSample, DeviceSpan, Function, HostSpan, MemoryEvent, QueueEvent, Region, Row,
};
use crate::note::Note;
use crate::{Error, bytes};

const MAGIC: &[u8; 4] = b"IRPF";
const HEADER: u64 = 24;
const RECORD: u64 = 104;
const CONTENT: &str = "application/vnd.iree.hal.profile.";
const SESSION_END: u16 = 3;

/// What a profile holds, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The format's version.
    pub version: [u16; 2],
    /// Whether it was finished. If not, the program still runs, or ended too soon; what there is, is sound.
    pub is_finished: bool,
    /// Kernels, by executable and ordinal.
    pub functions: BTreeMap<(u64, u32), Function>,
    /// Work that the host did for queues.
    pub host_spans: Vec<HostSpan>,
    /// Submissions.
    pub queue_events: Vec<QueueEvent>,
    /// Work on devices.
    pub device_spans: Vec<DeviceSpan>,
    /// Parts of command buffers.
    pub regions: Vec<Region>,
    /// What happened to memory.
    pub memory: Vec<MemoryEvent>,
    /// What devices count.
    pub counters: Vec<Counter>,
    /// What they counted.
    pub counter_samples: Vec<CounterSample>,
    /// Pairs of device and host time.
    pub correlations: Vec<Correlation>,
    /// For each content type, how many rows the runtime dropped.
    pub dropped: BTreeMap<String, u64>,
    /// For each content type, how many rows there were, also of types that are not kept here.
    pub rows: BTreeMap<String, u64>,
    /// What was odd.
    pub notes: Vec<Note>,
}

/// A record, without what is not used.
struct Record<'a> {
    content: &'a [u8],
    payload: &'a [u8],
    /// Where the payload begins.
    offset: u64,
    length: u64,
    device: u32,
    queue: u32,
    dropped: u64,
    status: u32,
    kind: u16,
}

impl Profile {
    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// If they do not begin as a profile of version 1. What is wrong later becomes a note, and what came before it
    /// is there.
    pub fn read(file: &[u8]) -> Result<Self, Error> {
        if !file.starts_with(MAGIC) {
            return Err(Error::unknown("profile of IREE's, which begins with IRPF"));
        }
        let header = bytes::slice(file, 0, HEADER, "the header of a profile, 24 bytes")?;
        let version = [bytes::u16(header, 4), bytes::u16(header, 6)];
        if version[0] != 1 {
            return Err(Error::version("an IREE profile", version));
        }
        let length = bytes::u64(header, 16);
        let mut profile = Self { version, is_finished: length != 0, ..Self::default() };
        let end = if length == 0 { file.len() as u64 } else { length };
        if end > file.len() as u64 {
            profile.note(file.len() as u64, format!("the file is cut: it says that it has {length} bytes"));
        }
        // What stands behind the end is somebody else's.
        let file = &file[..usize::try_from(end).unwrap_or(usize::MAX).min(file.len())];
        profile.read_records(file, bytes::u32(header, 8).into());
        Ok(profile)
    }

    fn note(&mut self, offset: u64, what: String) {
        self.notes.push(Note { offset, what });
    }

    fn read_records(&mut self, file: &[u8], mut offset: u64) {
        while offset < file.len() as u64 {
            match record(file, offset) {
                Ok(record) => {
                    self.add(&record);
                    offset += record.length;
                }
                Err(error) => {
                    let (place, what) = error.into_parts();
                    return self.note(place.unwrap_or(offset), format!("{what}; nothing behind it is read"));
                }
            }
        }
    }

    fn add(&mut self, record: &Record<'_>) {
        if record.kind == SESSION_END && record.status != 0 {
            self.note(record.offset, format!("the session ended with status {}", record.status));
        }
        let content = String::from_utf8_lossy(record.content);
        let content = content.strip_prefix(CONTENT).unwrap_or(&content);
        if record.dropped > 0 {
            let dropped = self.dropped.entry(content.to_owned()).or_default();
            *dropped = dropped.saturating_add(record.dropped);
        }
        let mut rest = record.payload;
        let mut count = 0;
        while !rest.is_empty() {
            let length = bytes::u32(rest, 0) as usize;
            if rest.len() < 4 || length < 4 || length > rest.len() {
                let at = record.offset + (record.payload.len() - rest.len()) as u64;
                self.note(at, format!("damaged: expected a row of {content} with its length"));
                break;
            }
            let (row, after) = rest.split_at(length);
            rest = after;
            count += 1;
            if !self.add_row(content, Row(row), record) {
                // What follows the row need not be rows.
                break;
            }
        }
        if count > 0 {
            *self.rows.entry(content.to_owned()).or_default() += count;
        }
    }

    /// False if the rest of the payload is not to be read as rows.
    fn add_row(&mut self, content: &str, row: Row<'_>, record: &Record<'_>) -> bool {
        match content {
            "executable-functions" => {
                let function = row.function();
                self.functions.insert((function.executable, function.ordinal), function);
            }
            "host-execution-events" => self.host_spans.push(row.host_span()),
            "queue-events" => self.queue_events.push(row.queue_event()),
            "dispatch-events" => self.device_spans.push(row.dispatch_event(record.device, record.queue)),
            "queue-device-events" => self.device_spans.push(row.queue_device_event()),
            "command-region-events" => self.regions.push(row.region()),
            "memory-events" => self.memory.push(row.memory_event()),
            "counters" => self.counters.push(row.counter()),
            "counter-samples" => self.counter_samples.push(row.counter_sample()),
            "clock-correlations" => self.correlations.extend(Correlation::read(row)),
            "executable-traces" => return false,
            _ => {}
        }
        true
    }

    /// The clocks of the devices whose ticks can be told in the host's time.
    pub fn clocks(&self) -> BTreeMap<u32, Clock> {
        let mut devices: BTreeMap<u32, Vec<Correlation>> = BTreeMap::new();
        for one in &self.correlations {
            devices.entry(one.device).or_default().push(*one);
        }
        let fitted =
            devices.into_iter().filter_map(|(device, all)| Some((device, Clock::fit(all.into_iter())?)));
        fitted.collect()
    }

    /// A kernel's name.
    pub fn function_name(&self, executable: u64, ordinal: u32) -> Option<&str> {
        self.functions.get(&(executable, ordinal)).map(|function| function.name.as_str())
    }
}

fn record(file: &[u8], offset: u64) -> Result<Record<'_>, Error> {
    let header = bytes::slice(file, offset, RECORD, "the header of a record, 104 bytes")?;
    let (length, payload) = (bytes::u64(header, 0), bytes::u64(header, 8));
    let whole = bytes::slice(file, offset, length, "all of a record")?;
    let [own, content, name] = [56, 60, 64].map(|at| u64::from(bytes::u32(header, at)));
    let damaged = |_| Error::damaged(offset, "a record that holds its parts");
    let content = bytes::slice(whole, own, content, "").map_err(damaged)?;
    let begin = own + content.len() as u64 + name;
    let payload = bytes::slice(whole, begin, payload, "").map_err(damaged)?;
    if own < RECORD {
        return Err(Error::damaged(offset, "a record's header of at least 104 bytes"));
    }
    Ok(Record {
        content,
        payload,
        offset: offset + begin,
        length,
        device: bytes::u32(header, 68),
        queue: bytes::u32(header, 72),
        dropped: bytes::u64(header, 88),
        status: bytes::u32(header, 96),
        kind: bytes::u16(header, 100),
    })
}
