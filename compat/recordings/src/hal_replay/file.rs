//! The records of a replay.

use crate::note::Note;
use crate::{Error, bytes};

const MAGIC: &[u8; 4] = b"IRRP";
const HEADER: u64 = 24;
const RECORD: u64 = 96;
const IS_OPTIONAL: u16 = 1;

/// The payload of `executable_cache.prepare_executable`.
const PREPARE: u32 = 7;

/// A replay's records, in the order of the calls.
#[derive(Clone, Debug, Default)]
pub struct HalReplay<'a> {
    /// The format's version.
    pub version: [u16; 2],
    /// Whether it was finished.
    pub is_finished: bool,
    /// Its records.
    pub records: Vec<Record<'a>>,
    /// What was odd.
    pub notes: Vec<Note>,
}

/// A record: a session, an object, an operation, a blob, or something that could not be recorded.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Where in the file.
    pub offset: u64,
    /// Its number in the order of calls.
    pub sequence: u64,
    /// The object that it is about.
    pub object: u64,
    /// Another one, for instance that which was made.
    pub related: u64,
    /// 1 session, 2 object, 3 operation, 4 blob, 5 unsupported.
    pub kind: u16,
    /// Whether a reader may skip it.
    pub is_optional: bool,
    /// The shape of the payload.
    pub payload_kind: u32,
    /// Of an object: 1 device, 2 allocator, 3 pool, 4 buffer, 5 command buffer, 6 executable cache, 7 executable,
    /// 8 semaphore, 9 file, 10 event, 11 channel, 12 host call.
    pub object_kind: u32,
    /// See [`operation_name`].
    pub operation: u32,
    /// What the call returned; 0 is success.
    pub status: u32,
    /// The rest.
    pub payload: &'a [u8],
}

/// An executable that was prepared.
#[derive(Clone, Copy, Debug)]
pub struct Executable<'a> {
    /// Its number, by which dispatches name it.
    pub id: u64,
    /// Its format, such as `embedded-elf-x86_64`.
    pub format: &'a str,
    /// The file.
    pub bytes: &'a [u8],
}

impl<'a> HalReplay<'a> {
    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// If they do not begin as a replay of version 2. What is wrong later becomes a note, and what came before it is
    /// there.
    pub fn read(file: &'a [u8]) -> Result<Self, Error> {
        if !file.starts_with(MAGIC) {
            return Err(Error::unknown("replay of IREE's, which begins with IRRP"));
        }
        let header = bytes::slice(file, 0, HEADER, "the header of a replay, 24 bytes")?;
        let version = [bytes::u16(header, 4), bytes::u16(header, 6)];
        if version[0] != 2 {
            return Err(Error::version("an IREE replay", version));
        }
        let length = bytes::u64(header, 16);
        let mut replay = Self { version, is_finished: length != 0, ..Self::default() };
        let end = if length == 0 { file.len() as u64 } else { length };
        if end > file.len() as u64 {
            replay.note(file.len() as u64, format!("the file is cut: it says that it has {length} bytes"));
        }
        let file = &file[..usize::try_from(end).unwrap_or(usize::MAX).min(file.len())];
        let mut offset = u64::from(bytes::u32(header, 8));
        while offset < file.len() as u64 {
            match record(file, offset) {
                Ok((record, length)) => {
                    replay.records.push(record);
                    offset += length;
                }
                Err(error) => {
                    let (place, what) = error.into_parts();
                    replay.note(place.unwrap_or(offset), format!("{what}; nothing behind it is read"));
                    break;
                }
            }
        }
        Ok(replay)
    }

    fn note(&mut self, offset: u64, what: String) {
        self.notes.push(Note { offset, what });
    }

    /// The executables, in the order in which they were prepared.
    pub fn executables(&self) -> impl Iterator<Item = Executable<'a>> {
        self.records.iter().filter(|record| record.payload_kind == PREPARE).filter_map(Record::executable)
    }
}

impl<'a> Record<'a> {
    /// The executable that this prepares.
    pub(super) fn executable(&self) -> Option<Executable<'a>> {
        const FIXED: usize = 40;
        let length = usize::try_from(bytes::u64(self.payload, 8)).ok()?;
        let format = bytes::u32(self.payload, 28) as usize;
        let begin = FIXED.checked_add(format)?;
        let name = self.payload.get(FIXED..begin)?;
        let bytes = self.payload.get(begin..begin.checked_add(length)?)?;
        Some(Executable { id: self.related, format: std::str::from_utf8(name).unwrap_or("?"), bytes })
    }
}

fn record(file: &[u8], offset: u64) -> Result<(Record<'_>, u64), Error> {
    let header = bytes::slice(file, offset, RECORD, "the header of a record, 96 bytes")?;
    let word = |index: usize| bytes::u64(header, 8 * index);
    let (length, own) = (word(0), u64::from(bytes::u32(header, 56)));
    let whole = bytes::slice(file, offset, length, "all of a record")?;
    let damaged = |_| Error::damaged(offset, "a record that holds its header and payload");
    if own < RECORD {
        return Err(damaged(()));
    }
    let payload = bytes::slice(whole, own, word(1), "").map_err(|_| damaged(()))?;
    let record = Record {
        offset,
        sequence: word(2),
        object: word(5),
        related: word(6),
        kind: bytes::u16(header, 60),
        is_optional: bytes::u16(header, 62) & IS_OPTIONAL != 0,
        payload_kind: bytes::u32(header, 64),
        object_kind: bytes::u32(header, 68),
        operation: bytes::u32(header, 72),
        status: bytes::u32(header, 76),
        payload,
    };
    Ok((record, length))
}

/// The name of an operation; its number stands for one that is not known.
pub fn operation_name(operation: u32) -> String {
    const NAMES: [(u32, &str); 40] = [
        (1, "device.trim"),
        (2, "device.query_i64"),
        (5, "device.assign_topology_info"),
        (7, "device.create_command_buffer"),
        (8, "device.create_event"),
        (9, "device.create_executable_cache"),
        (10, "device.import_file"),
        (11, "device.create_semaphore"),
        (13, "device.queue_alloca"),
        (14, "device.queue_dealloca"),
        (15, "device.queue_fill"),
        (16, "device.queue_update"),
        (17, "device.queue_copy"),
        (18, "device.queue_read"),
        (19, "device.queue_write"),
        (20, "device.queue_host_call"),
        (21, "device.queue_dispatch"),
        (22, "device.queue_execute"),
        (23, "device.queue_flush"),
        (24, "device.profiling_begin"),
        (25, "device.profiling_flush"),
        (26, "device.profiling_end"),
        (50, "replay.scope_begin"),
        (51, "replay.scope_end"),
        (102, "allocator.allocate_buffer"),
        (103, "allocator.import_buffer"),
        (200, "buffer.map_range"),
        (201, "buffer.unmap_range"),
        (202, "buffer.invalidate_range"),
        (203, "buffer.flush_range"),
        (300, "command_buffer.begin"),
        (301, "command_buffer.end"),
        (304, "command_buffer.execution_barrier"),
        (309, "command_buffer.fill_buffer"),
        (310, "command_buffer.update_buffer"),
        (311, "command_buffer.copy_buffer"),
        (313, "command_buffer.dispatch"),
        (402, "executable_cache.prepare_executable"),
        (501, "executable.function_info"),
        (503, "executable.lookup_function_by_name"),
    ];
    let known = NAMES.iter().find(|(number, _)| *number == operation);
    known.map_or_else(|| format!("operation {operation}"), |(_, name)| (*name).to_owned())
}
