//! What a client says of itself before the stream begins.

use crate::protocol::welcome_flags;

/// The welcome message, and what an on-demand client adds to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Welcome {
    /// Nanoseconds per tick of the client's clock.
    pub timer_multiplier: f64,
    /// The tick at which the program began: nanosecond 0 of a capture.
    pub init_begin: i64,
    /// The tick at which the client was ready.
    pub init_end: i64,
    /// The clock's smallest step, in ticks.
    pub resolution: u64,
    /// When the program began, in seconds since 1970.
    pub epoch: u64,
    /// When its executable was last written, in seconds since 1970; 0 if that is not known.
    pub executable_time: u64,
    /// The process.
    pub pid: u64,
    /// Ticks between two samples.
    pub sampling_period: i64,
    /// See [`welcome_flags`].
    pub flags: u8,
    /// 0 unknown, 1 x86, 2 x86-64, 3 arm, 4 arm64.
    pub cpu_architecture: u8,
    /// The processor's maker, padded with zero bytes.
    pub cpu_manufacturer: [u8; 12],
    /// The processor's model.
    pub cpu_id: u32,
    /// The program, at most 63 bytes of it.
    pub program: String,
    /// The machine and its system, in words.
    pub host: String,
    /// What an on-demand client adds.
    pub on_demand: Option<OnDemand>,
}

/// Where an on-demand client stood when the server came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDemand {
    /// Frames so far.
    pub frames: u64,
    /// The current tick.
    pub current_time: u64,
}

const PROGRAM_AT: usize = 82;
const HOST_AT: usize = PROGRAM_AT + 64;

impl Default for Welcome {
    /// A client whose ticks are nanoseconds since its own beginning; for streams built by hand.
    fn default() -> Self {
        Self {
            timer_multiplier: 1.0,
            init_begin: 0,
            init_end: 0,
            resolution: 1,
            epoch: 0,
            executable_time: 1,
            pid: 0,
            sampling_period: 0,
            flags: welcome_flags::CODE_TRANSFER,
            cpu_architecture: 0,
            cpu_manufacturer: [0; 12],
            cpu_id: 0,
            program: String::new(),
            host: String::new(),
            on_demand: None,
        }
    }
}

impl Welcome {
    /// Bytes of the message, without an on-demand client's addition.
    pub const SIZE: usize = 1170;
    /// Bytes of that addition.
    pub const ON_DEMAND_SIZE: usize = 16;

    /// Reads the message.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let word = |at: usize| {
            let mut field = [0; 8];
            field.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(field)
        };
        let mut cpu_manufacturer = [0; 12];
        cpu_manufacturer.copy_from_slice(&bytes[66..78]);
        Self {
            timer_multiplier: f64::from_bits(word(0)),
            init_begin: word(8) as i64,
            init_end: word(16) as i64,
            resolution: word(24),
            epoch: word(32),
            executable_time: word(40),
            pid: word(48),
            sampling_period: word(56) as i64,
            flags: bytes[64],
            cpu_architecture: bytes[65],
            cpu_manufacturer,
            cpu_id: u32::from_le_bytes([bytes[78], bytes[79], bytes[80], bytes[81]]),
            program: until_nul(&bytes[PROGRAM_AT..HOST_AT]),
            host: until_nul(&bytes[HOST_AT..]),
            on_demand: None,
        }
    }

    /// Adds what an on-demand client says next.
    pub fn add_on_demand(&mut self, bytes: [u8; Self::ON_DEMAND_SIZE]) {
        let [frames @ .., t0, t1, t2, t3, t4, t5, t6, t7] = bytes;
        self.on_demand = Some(OnDemand {
            frames: u64::from_le_bytes(frames),
            current_time: u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]),
        });
    }

    /// The message as a client sends it, with an on-demand client's addition if there is one.
    /// Names that are too long for it are cut.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::SIZE + Self::ON_DEMAND_SIZE);
        bytes.extend_from_slice(&self.timer_multiplier.to_le_bytes());
        bytes.extend_from_slice(&self.init_begin.to_le_bytes());
        bytes.extend_from_slice(&self.init_end.to_le_bytes());
        for word in [self.resolution, self.epoch, self.executable_time, self.pid] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&self.sampling_period.to_le_bytes());
        bytes.extend_from_slice(&[self.flags, self.cpu_architecture]);
        bytes.extend_from_slice(&self.cpu_manufacturer);
        bytes.extend_from_slice(&self.cpu_id.to_le_bytes());
        push_padded(&mut bytes, &self.program, HOST_AT - PROGRAM_AT);
        push_padded(&mut bytes, &self.host, Self::SIZE - HOST_AT);
        if let Some(on_demand) = self.on_demand {
            bytes.extend_from_slice(&on_demand.frames.to_le_bytes());
            bytes.extend_from_slice(&on_demand.current_time.to_le_bytes());
        }
        bytes
    }

    /// Whether the client records only while a server is connected.
    #[must_use]
    pub fn is_on_demand(&self) -> bool {
        self.flags & welcome_flags::ON_DEMAND != 0
    }

    /// Whether the client may be asked for source text.
    #[must_use]
    pub fn gives_sources(&self) -> bool {
        self.flags & welcome_flags::CODE_TRANSFER != 0 && self.executable_time != 0
    }

    /// Nanoseconds from the program's beginning to the tick `time`, computed as the profiler does.
    ///
    /// ```
    /// let mut welcome = zonecast_tracy_wire::Welcome::default();
    /// welcome.init_begin = 1_000;
    /// welcome.timer_multiplier = 0.5;
    /// assert_eq!(welcome.nanoseconds(1_100), 50);
    /// ```
    #[must_use]
    #[inline]
    pub fn nanoseconds(&self, time: i64) -> i64 {
        (time.wrapping_sub(self.init_begin) as f64 * self.timer_multiplier) as i64
    }
}

fn until_nul(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// A field of `width` bytes that ends in at least one zero byte.
fn push_padded(bytes: &mut Vec<u8>, text: &str, width: usize) {
    let kept = &text.as_bytes()[..text.len().min(width - 1)];
    bytes.extend_from_slice(kept);
    bytes.resize(bytes.len() + width - kept.len(), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_survives_the_wire() {
        let welcome = Welcome {
            timer_multiplier: 0.417,
            init_begin: -5,
            pid: 4242,
            flags: welcome_flags::ON_DEMAND | welcome_flags::CODE_TRANSFER,
            cpu_manufacturer: *b"GenuineIntel",
            program: "trace_model".into(),
            host: "OS: Linux".into(),
            on_demand: Some(OnDemand { frames: 3, current_time: 99 }),
            ..Welcome::default()
        };
        let bytes = welcome.to_bytes();
        let (message, addition) = bytes.split_at(Welcome::SIZE);
        let mut read = Welcome::from_bytes(message.try_into().unwrap());
        read.add_on_demand(addition.try_into().unwrap());
        assert_eq!(read, welcome);
        assert!(read.is_on_demand() && read.gives_sources());
    }

    #[test]
    fn names_that_are_too_long_are_cut() {
        let welcome = Welcome { program: "p".repeat(100), ..Welcome::default() };
        let bytes = welcome.to_bytes();
        assert_eq!(bytes.len(), Welcome::SIZE);
        assert_eq!(Welcome::from_bytes(bytes[..].try_into().unwrap()).program, "p".repeat(63));
    }
}
