//! NVIDIA's fat binaries: cubins and texts in PTX for several targets.
//!
//! ```text
//! header  u32 0xba55ed50, u16 1, u16 16, u64 size of the entries
//! entry   u16 kind (1 PTX, 2 cubin), u16, u32 header size, u64 stored size, u32 compressed size, u32 offset of options,
//!         u16 minor, u16 major, u32 target, u32 offset of the name, u32 its length, u64 flags, u64, u64 unpacked size
//! ```
//!
//! (Not documented by NVIDIA; read from files of nvcc 12 and 13.)

use super::index::{Build, Index};
use super::offload::Part;
use super::unpack::Packing;
use super::{Result, bytes};
use crate::Error;
use crate::image::Format;

const MAGIC: &[u8] = b"\x50\xed\x55\xba";
const HEADER: &str = "the header of a fat binary";
const ENTRY: &str = "an entry of a fat binary within it";

const PTX: u16 = 1;
const CUBIN: u16 = 2;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
const SMALLEST_ENTRY: u64 = 64;

pub(crate) fn is(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// What is in the fat binary that `file` begins with, and its length.
pub(crate) fn parts(file: &[u8]) -> Result<(Vec<Part>, usize)> {
    bytes::slice(file, 0, 16, HEADER)?;
    let header = u64::from(bytes::u16(file, 6, HEADER)?);
    let size = bytes::u64(file, 8, HEADER)?;
    let entries = bytes::range(file, header, size).ok_or(Error::damaged(8, HEADER))?;
    let mut at = entries.start as u64;
    let mut parts = Vec::new();
    while at + SMALLEST_ENTRY <= entries.end as u64 {
        let kind = bytes::u16(file, at, ENTRY)?;
        let header = u64::from(bytes::u32(file, at + 4, ENTRY)?);
        let stored = bytes::u64(file, at + 8, ENTRY)?;
        let range = header.checked_add(at).and_then(|start| bytes::range(file, start, stored));
        let range = range.filter(|range| header >= SMALLEST_ENTRY && range.end <= entries.end);
        let range = range.ok_or(Error::damaged(at, ENTRY))?;
        let next = range.end as u64;
        if kind == PTX || kind == CUBIN {
            parts.push(part(file, at, kind, range)?);
        }
        at = next;
    }
    Ok((parts, entries.end))
}

fn part(file: &[u8], at: u64, kind: u16, mut range: std::ops::Range<usize>) -> Result<Part> {
    let compressed = bytes::u32(file, at + 16, ENTRY)? as usize;
    let target = bytes::u32(file, at + 28, ENTRY)?;
    let flags = bytes::u64(file, at + 40, ENTRY)?;
    let length = bytes::u64(file, at + 56, ENTRY)?;
    let packing = match flags {
        _ if flags & FLAG_LZ4 != 0 => Some(Packing::Lz4),
        _ if flags & FLAG_ZSTD != 0 => Some(Packing::Zstd),
        _ => None,
    };
    if packing.is_some() {
        // What is stored is padded.
        range.end = range.start + compressed.min(range.len());
    }
    let family = if kind == PTX { "compute" } else { "sm" };
    let target = Some(format!("{family}_{target}").into_bytes());
    Ok(Part { range, packed: packing.map(|packing| (packing, length)), target })
}

/// The container itself, as an image that its contents follow.
pub(crate) struct Fatbin;

impl Build for Fatbin {
    fn format(&self) -> Format {
        Format::Fatbin
    }

    fn target(&self) -> Option<&[u8]> {
        None
    }

    fn build(&self, _image: &[u8]) -> Index {
        Index::default()
    }
}
