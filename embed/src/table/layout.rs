//! The numbers of `FORMAT.md`.

pub(crate) const MAGIC: &[u8; 8] = b"ZONECAST";
pub(crate) const VERSION: u32 = 1;
pub(crate) const HEADER_SIZE: u32 = 64;
pub(crate) const ALIGNMENT: u32 = 8;

/// Fields of the header. Each string is an offset and a length, each array an offset and a count.
pub(crate) mod header {
    pub(crate) const VERSION: u64 = 8;
    pub(crate) const HEADER_SIZE: u64 = 12;
    pub(crate) const TABLE_SIZE: u64 = 16;
    pub(crate) const NAME: u64 = 24;
    pub(crate) const TARGET: u64 = 32;
    pub(crate) const EXPORTS: u64 = 40;
    pub(crate) const STAGES: u64 = 48;
    pub(crate) const SOURCES: u64 = 56;
}

pub(crate) mod export {
    pub(crate) const SIZE: u64 = 32;
    pub(crate) const NAME: u64 = 0;
    pub(crate) const LOCATION: u64 = 8;
    pub(crate) const FIRST_STAGE: u64 = 20;
    pub(crate) const STAGE_COUNT: u64 = 24;
    pub(crate) const MOST_STAGES: u32 = 1024;
}

pub(crate) mod stage {
    pub(crate) const SIZE: u64 = 24;
    pub(crate) const NAME: u64 = 0;
    pub(crate) const LOCATION: u64 = 8;
}

/// A string and, behind it, a line.
pub(crate) mod location {
    pub(crate) const FILE: u64 = 0;
    pub(crate) const LINE: u64 = 8;
}

pub(crate) mod source {
    pub(crate) const SIZE: u64 = 24;
    pub(crate) const PATH: u64 = 0;
    pub(crate) const TEXT: u64 = 8;
    pub(crate) const LENGTH: u64 = 16;
    pub(crate) const FLAGS: u64 = 20;
    pub(crate) const FLAG_ZSTD: u32 = 1;
    /// The most that a compressed text may unpack to.
    pub(crate) const MOST_UNPACKED: u32 = 64 << 20;
}
