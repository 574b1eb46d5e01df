//! The rows that a profile's chunks hold. Numbers that say nothing are all ones, identifiers that do, 0.

use crate::bytes;

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Of which executable.
    pub executable: u64,
    /// Which one of it.
    pub ordinal: u32,
    /// Its symbol; what is not UTF-8 is replaced.
    pub name: String,
}

/// A kind of work: 1 barrier, 2 dispatch, 3 execute, 4 copy, 5 fill, 6 update, 7 read, 8 write, 9 alloca, 10 dealloca,
/// 11 host call.
pub type Operation = u32;

/// The name of a kind of work.
pub fn operation_name(operation: Operation) -> &'static str {
    const NAMES: [&str; 12] = [
        "none",
        "barrier",
        "dispatch",
        "execute",
        "copy",
        "fill",
        "update",
        "read",
        "write",
        "alloca",
        "dealloca",
        "host_call",
    ];
    NAMES.get(operation as usize).copied().unwrap_or("unknown")
}

/// The name of a kind of memory event.
pub fn memory_event_name(kind: u32) -> &'static str {
    const NAMES: [&str; 13] = [
        "none",
        "slab_acquire",
        "slab_release",
        "pool_reserve",
        "pool_materialize",
        "pool_release",
        "pool_wait",
        "queue_alloca",
        "queue_dealloca",
        "buffer_allocate",
        "buffer_free",
        "buffer_import",
        "buffer_unimport",
    ];
    NAMES.get(kind as usize).copied().unwrap_or("unknown")
}

/// Work that a host thread did for a queue, in nanoseconds of the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct HostSpan {
    pub operation: Operation,
    pub status: u32,
    pub submission: u64,
    pub command_buffer: u64,
    pub executable: u64,
    pub device: u32,
    pub queue: u32,
    /// Which command of the command buffer.
    pub command: u32,
    pub function: u32,
    pub workgroups: [u32; 3],
    pub begin: i64,
    pub end: i64,
    /// Bytes that were moved or allocated.
    pub bytes: u64,
    /// Workgroups that ran, and their time in all.
    pub tiles: u64,
    pub tile_ns: i64,
    pub operations: u32,
}

/// A submission to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct QueueEvent {
    pub operation: Operation,
    pub submission: u64,
    pub device: u32,
    pub queue: u32,
    pub waits: u32,
    pub signals: u32,
    pub bytes: u64,
    /// When it was submitted.
    pub time: i64,
    /// When nothing kept it waiting any more.
    pub ready: i64,
}

/// Work on a device, in ticks of its own clock: a dispatch, or an operation of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DeviceSpan {
    pub operation: Operation,
    /// By which other rows name it.
    pub event: u64,
    pub submission: u64,
    pub command_buffer: u64,
    pub executable: u64,
    pub device: u32,
    pub queue: u32,
    pub command: u32,
    pub function: u32,
    pub workgroups: [u32; 3],
    pub bytes: u64,
    pub begin_tick: u64,
    pub end_tick: u64,
}

/// A quantity that a device counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counter {
    /// Of which set: its samples are this one's.
    pub set: u64,
    pub name: String,
    /// Its numbers in a sample: the first one, and how many. There are several where a device has several of what
    /// counts.
    pub first: u32,
    pub count: u32,
    /// See [`counter_unit_name`].
    pub unit: u32,
}

/// The unit of a counter, to stand behind a number.
pub fn counter_unit_name(unit: u32) -> &'static str {
    const NAMES: [&str; 4] = ["", "", " cycles", " bytes"];
    NAMES.get(unit as usize).copied().unwrap_or("")
}

/// What the counters of a set came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CounterSample {
    pub set: u64,
    pub device: u32,
    /// The event of the dispatch that they counted; 0 if it was something else.
    pub dispatch: u64,
    pub values: Vec<u64>,
}

/// A part of a command buffer that several workers shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Region {
    pub submission: u64,
    pub command_buffer: u64,
    pub device: u32,
    pub queue: u32,
    pub index: i32,
    pub dispatches: u32,
    pub tiles: u32,
    pub workers: u32,
    pub begin: i64,
    pub end: i64,
}

/// Something that happened to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct MemoryEvent {
    /// See [`memory_event_name`].
    pub kind: u32,
    pub time: i64,
    pub allocation: u64,
    pub pool: u64,
    pub backing: u64,
    pub device: u32,
    pub offset: u64,
    pub length: u64,
    /// Bytes that are taken from the pool, if that was said.
    pub reserved: Option<u64>,
}

/// A row's bytes: those that an older version lacks read as 0.
#[derive(Clone, Copy)]
pub(super) struct Row<'a>(pub(super) &'a [u8]);

impl Row<'_> {
    pub(super) fn u32(self, at: usize) -> u32 {
        bytes::u32(self.0, at)
    }

    pub(super) fn u64(self, at: usize) -> u64 {
        bytes::u64(self.0, at)
    }

    pub(super) fn i64(self, at: usize) -> i64 {
        self.u64(at).cast_signed()
    }

    fn grid(self, at: usize) -> [u32; 3] {
        [0, 4, 8].map(|more| self.u32(at + more))
    }

    pub(super) fn function(self) -> Function {
        let name = self.0.get(64..).unwrap_or_default();
        let name = &name[..name.len().min(self.u32(44) as usize)];
        let name = String::from_utf8_lossy(name).into_owned();
        Function { executable: self.u64(8), ordinal: self.u32(16), name }
    }

    pub(super) fn host_span(self) -> HostSpan {
        HostSpan {
            operation: self.u32(4),
            status: self.u32(12),
            submission: self.u64(24),
            command_buffer: self.u64(32),
            executable: self.u64(40),
            device: self.u32(64),
            queue: self.u32(68),
            command: self.u32(72),
            function: self.u32(76),
            workgroups: self.grid(80),
            begin: self.i64(104),
            end: self.i64(112),
            bytes: self.u64(120),
            tiles: self.u64(128),
            tile_ns: self.i64(136),
            operations: self.u32(144),
        }
    }

    pub(super) fn queue_event(self) -> QueueEvent {
        QueueEvent {
            operation: self.u32(4),
            time: self.i64(24),
            submission: self.u64(32),
            device: self.u32(64),
            queue: self.u32(68),
            waits: self.u32(72),
            signals: self.u32(76),
            bytes: self.u64(88),
            ready: self.i64(96),
        }
    }

    /// A dispatch: its device and queue stand in the chunk's header.
    pub(super) fn dispatch_event(self, device: u32, queue: u32) -> DeviceSpan {
        DeviceSpan {
            operation: 2,
            event: self.u64(8),
            submission: self.u64(16),
            command_buffer: self.u64(24),
            executable: self.u64(32),
            device,
            queue,
            command: self.u32(40),
            function: self.u32(44),
            workgroups: self.grid(48),
            bytes: 0,
            begin_tick: self.u64(72),
            end_tick: self.u64(80),
        }
    }

    pub(super) fn queue_device_event(self) -> DeviceSpan {
        DeviceSpan {
            operation: self.u32(4),
            event: self.u64(16),
            submission: self.u64(24),
            command_buffer: self.u64(32),
            executable: 0,
            device: self.u32(64),
            queue: self.u32(68),
            command: u32::MAX,
            function: u32::MAX,
            workgroups: [0; 3],
            bytes: self.u64(56),
            begin_tick: self.u64(80),
            end_tick: self.u64(88),
        }
    }

    pub(super) fn counter(self) -> Counter {
        let [block, name] = [36, 40].map(|at| self.u32(at) as usize);
        // Behind the name of the hardware's block.
        let name = self.0.get(48..).and_then(|names| names.get(block..)?.get(..name)).unwrap_or_default();
        Counter {
            set: self.u64(16),
            name: String::from_utf8_lossy(name).into_owned(),
            first: self.u32(28),
            count: self.u32(32),
            unit: self.u32(8),
        }
    }

    pub(super) fn counter_sample(self) -> CounterSample {
        let (values, _) = self.0.get(112..).unwrap_or_default().as_chunks();
        let values = values.iter().take(self.u32(104) as usize).map(|value| u64::from_le_bytes(*value));
        CounterSample {
            set: self.u64(24),
            device: self.u32(80),
            dispatch: self.u64(32),
            values: values.collect(),
        }
    }

    pub(super) fn region(self) -> Region {
        Region {
            submission: self.u64(16),
            command_buffer: self.u64(24),
            device: self.u32(40),
            queue: self.u32(44),
            index: self.u32(56).cast_signed(),
            dispatches: self.u32(60),
            tiles: self.u32(64),
            begin: self.i64(184),
            end: self.i64(192),
            workers: self.u32(216),
        }
    }

    pub(super) fn memory_event(self) -> MemoryEvent {
        const POOL_STATS: u32 = 1 << 4;
        MemoryEvent {
            kind: self.u32(4),
            time: self.i64(24),
            allocation: self.u64(32),
            pool: self.u64(40),
            backing: self.u64(48),
            device: self.u32(64),
            offset: self.u64(96),
            length: self.u64(104),
            reserved: (self.u32(8) & POOL_STATS != 0).then(|| self.u64(120)),
        }
    }
}
