//! Containers that compilers put code for GPUs into: clang's offload bundles, plain and compressed, and the files of
//! its newer offload packager.
//!
//! ```text
//! bundle      "__CLANG_OFFLOAD_BUNDLE__", u64 count, count times: u64 offset, u64 size, u64 length, id
//! compressed  "CCOB", u16 version, u16 method, then by version
//!             1: u32 unpacked size, u64 hash
//!             2: u32 size, u32 unpacked size, u64 hash
//!             3: u64 size, u64 unpacked size, u64 hash
//!             then the packed bundle
//! packaged    10 ff 10 ad, u32 version, u64 size, u64 offset of the entry, u64 its size
//! entry       u16 image kind, u16 offload kind, u32 flags, u64 offset of strings, u64 count,
//!             u64 image offset, u64 image size
//! string      u64 offset of the key, u64 offset of the value
//! ```
//!
//! ("Clang Offload Bundler" in clang's documentation; `llvm/Object/OffloadBinary.h` in LLVM's sources.)

use std::ops::Range;

use super::{Result, bytes, fatbin};
use crate::Error;
use crate::read::unpack::Packing;

const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const COMPRESSED: &[u8] = b"CCOB";
const PACKAGED: &[u8] = b"\x10\xff\x10\xad";

const BUNDLE_ENTRY: &str = "an entry of an offload bundle within the file";
const COMPRESSED_HEADER: &str = "the header of a compressed offload bundle";
const PACKAGE: &str = "an entry of a packaged offload file within the file";

/// The sections of host files that containers stand in, one behind the other.
const SECTIONS: [&str; 4] = [".hip_fatbin", ".llvm.offloading", ".nv_fatbin", "__nv_relfatbin"];

/// Containers in sections begin at multiples of this.
const ALIGNMENT: usize = 8;

/// Something in a container.
pub(crate) struct Part {
    pub(crate) range: Range<usize>,
    /// How it is packed, and into how many bytes it unpacks.
    pub(crate) packed: Option<(Packing, u64)>,
    pub(crate) target: Option<Vec<u8>>,
}

pub(crate) fn is(file: &[u8]) -> bool {
    [BUNDLE, COMPRESSED, PACKAGED].iter().any(|magic| file.starts_with(magic)) || fatbin::is(file)
}

/// What is in the container that `file` begins with, and its length.
pub(crate) fn parts(file: &[u8]) -> Result<(Vec<Part>, usize)> {
    if file.starts_with(BUNDLE) {
        bundle(file)
    } else if file.starts_with(COMPRESSED) {
        compressed(file)
    } else if file.starts_with(PACKAGED) {
        packaged(file)
    } else {
        fatbin::parts(file)
    }
}

/// The places of the containers in a host file.
pub(crate) fn in_elf(file: &[u8]) -> Vec<Range<usize>> {
    use object::{Object, ObjectSection};
    let Ok(elf) = object::File::parse(file) else { return Vec::new() };
    let sections = elf.sections().filter(|section| section.name().is_ok_and(|name| SECTIONS.contains(&name)));
    let places = sections.filter_map(|section| {
        let (at, size) = section.file_range()?;
        bytes::range(file, at, size)
    });
    places
        .flat_map(|place| in_section(&file[place.clone()]).map(move |range| move_by(range, place.start)))
        .collect()
}

fn move_by(range: Range<usize>, base: usize) -> Range<usize> {
    base + range.start..base + range.end
}

/// Containers one behind the other, each from where its mark is. One that cannot be read goes on to the end.
fn in_section(section: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < section.len() && !is(&section[at..]) {
            at += ALIGNMENT;
        }
        let rest = section.get(at..).filter(|rest| !rest.is_empty())?;
        let length = parts(rest).map_or(rest.len(), |(_, length)| length.clamp(1, rest.len()));
        let found = at..at + length;
        at = found.end.next_multiple_of(ALIGNMENT);
        Some(found)
    })
}

fn bundle(file: &[u8]) -> Result<(Vec<Part>, usize)> {
    let count = bytes::u64(file, BUNDLE.len() as u64, BUNDLE_ENTRY)?;
    let mut at = BUNDLE.len() as u64 + 8;
    let mut parts = Vec::new();
    let mut end = at;
    for _ in 0..count {
        let offset = bytes::u64(file, at, BUNDLE_ENTRY)?;
        let size = bytes::u64(file, at + 8, BUNDLE_ENTRY)?;
        let length = bytes::u64(file, at + 16, BUNDLE_ENTRY)?;
        let id = bytes::slice(file, at + 24, length, BUNDLE_ENTRY)?;
        let range = bytes::range(file, offset, size).ok_or(Error::damaged(at, BUNDLE_ENTRY))?;
        end = end.max(range.end as u64);
        // That of the host is empty.
        if !range.is_empty() {
            parts.push(Part { range, packed: None, target: Some(after_triple(id).to_vec()) });
        }
        at = at.saturating_add(24).saturating_add(length);
    }
    Ok((parts, end.max(at) as usize))
}

/// The processor and features behind a triple: `gfx942:xnack+` of `hipv4-amdgcn-amd-amdhsa--gfx942:xnack+`.
fn after_triple(id: &[u8]) -> &[u8] {
    let dashes = id.windows(2).position(|window| window == b"--");
    dashes.map_or(id, |at| &id[at + 2..])
}

fn compressed(file: &[u8]) -> Result<(Vec<Part>, usize)> {
    let u32 = |at| bytes::u32(file, at, COMPRESSED_HEADER).map(u64::from);
    let u64 = |at| bytes::u64(file, at, COMPRESSED_HEADER);
    let (size, length, header) = match bytes::u16(file, 4, COMPRESSED_HEADER)? {
        1 => (file.len() as u64, u32(8)?, 20),
        2 => (u32(8)?, u32(12)?, 24),
        3 => (u64(8)?, u64(16)?, 32),
        _ => {
            return Err(Error::unsupported(
                4,
                "a compressed offload bundle of a version other than 1, 2 and 3",
            ));
        }
    };
    let packing = match bytes::u16(file, 6, COMPRESSED_HEADER)? {
        0 => Packing::Zlib,
        1 => Packing::Zstd,
        _ => return Err(Error::unsupported(6, "an offload bundle compressed in an unknown way")),
    };
    let payload = size.checked_sub(header).and_then(|rest| bytes::range(file, header, rest));
    let range = payload.ok_or(Error::damaged(8, "a compressed offload bundle within the file"))?;
    let end = range.end;
    Ok((vec![Part { range, packed: Some((packing, length)), target: None }], end))
}

fn packaged(file: &[u8]) -> Result<(Vec<Part>, usize)> {
    if bytes::u32(file, 4, PACKAGE)? != 1 {
        return Err(Error::unsupported(4, "a packaged offload file of a version other than 1"));
    }
    let size = bytes::u64(file, 8, PACKAGE)?;
    let whole = bytes::range(file, 0, size).ok_or(Error::damaged(8, PACKAGE))?;
    let entry = bytes::u64(file, 16, PACKAGE)?;
    let record = bytes::slice(file, entry, 40, PACKAGE).map_err(|_| Error::damaged(16, PACKAGE))?;
    let field = |at: u64| bytes::u64(record, at, PACKAGE);
    let range = bytes::range(file, field(24)?, field(32)?).ok_or(Error::damaged(entry, PACKAGE))?;
    let target = string(file, field(8)?, field(16)?, b"arch");
    Ok((vec![Part { range, packed: None, target }], whole.end))
}

/// The value of a key in a packaged file.
fn string(file: &[u8], at: u64, count: u64, key: &[u8]) -> Option<Vec<u8>> {
    let text = |at: u64| {
        let rest = file.get(usize::try_from(at).ok()?..)?;
        // No key or target is longer.
        rest.iter().take(256).position(|&byte| byte == 0).map(|end| &rest[..end])
    };
    let pair = |index: u64| {
        let at = at.checked_add(index.checked_mul(16)?)?;
        let name = bytes::u64(file, at, PACKAGE).ok()?;
        let value = bytes::u64(file, at + 8, PACKAGE).ok()?;
        Some((text(name)?, text(value)?))
    };
    let pairs = (0..count.min(64)).map_while(pair);
    pairs.into_iter().find(|(name, _)| *name == key).map(|(_, value)| value.to_vec())
}
