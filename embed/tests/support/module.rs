//! IREE modules of any size, made by hand.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// A data segment of a module.
pub(crate) enum Segment<'a> {
    /// So many bytes of zeros, which take no room on disk.
    Weights(u64),
    /// An executable.
    Executable(&'a [u8]),
}

impl Segment<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Weights(length) => *length,
            Self::Executable(bytes) => bytes.len() as u64,
        }
    }
}

/// Writes a module without zip wrapping, whose segments stand one behind the other at multiples of 64.
pub(crate) fn write(path: &Path, segments: &[Segment<'_>]) -> std::io::Result<()> {
    let mut next = 0;
    let mut places = Vec::new();
    for segment in segments {
        places.push((next, segment.len()));
        next = (next + segment.len()).next_multiple_of(64);
    }
    let buffer = buffer(&places);
    let mut file = File::create(path)?;
    file.write_all(&(buffer.len() as u32).to_le_bytes())?;
    file.write_all(&buffer)?;
    let external = (4 + buffer.len() as u64).next_multiple_of(64);
    for (segment, (offset, _)) in segments.iter().zip(places) {
        if let Segment::Executable(bytes) = segment {
            file.seek(SeekFrom::Start(external + offset))?;
            file.write_all(bytes)?;
        }
    }
    file.set_len(external + next)
}

/// The module's FlatBuffer: a root table with nothing but the segments (slot 9), each of which has nothing but
/// its offset and length (slots 3 and 4).
fn buffer(places: &[(u64, u64)]) -> Vec<u8> {
    const ROOT: u32 = 32;
    const LIST: u32 = 40;
    let mut out = Vec::new();
    out.extend(ROOT.to_le_bytes());
    out.extend(b"IREE");
    let numbers =
        |out: &mut Vec<u8>, numbers: &[u16]| out.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
    numbers(&mut out, &[24, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]);
    out.extend((ROOT - 8).to_le_bytes());
    out.extend((LIST - (ROOT + 4)).to_le_bytes());
    out.extend((places.len() as u32).to_le_bytes());
    let fields = (out.len() + 4 * places.len()).next_multiple_of(8);
    let first = fields + 16;
    for index in 0..places.len() {
        out.extend(((first + 24 * index - out.len()) as u32).to_le_bytes());
    }
    out.resize(fields, 0);
    numbers(&mut out, &[14, 24, 0, 0, 0, 8, 16, 0]);
    for (offset, length) in places {
        out.extend(((out.len() - fields) as u32).to_le_bytes());
        out.extend([0; 4]);
        out.extend(offset.to_le_bytes());
        out.extend(length.to_le_bytes());
    }
    out
}

/// How much of a mapped file is in this process's memory, in KiB; `None` if it is not mapped.
#[cfg(target_os = "linux")]
pub(crate) fn resident(path: &Path) -> Option<u64> {
    let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
    let name = path.to_str()?;
    let mut lines = maps.lines().skip_while(|line| !line.ends_with(name)).skip(1);
    let line = lines.find_map(|line| line.strip_prefix("Rss:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
