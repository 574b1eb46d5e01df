//! Where the text is that a location names: in the executable, or, of an executable with lines alone, on disk.
//!
//! A file on disk may have been edited since it was compiled, and then its lines are others. What tells is its
//! age: a file that is newer than the executable is not shown.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where the text of a path is. `Display` says it in a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// Embedded in the executable, as a [source](crate::Image::sources).
    Embedded,
    /// In the executable, as a [listing](crate::Image::listings).
    Listing,
    /// In the file of that path, which is not newer than the executable.
    Disk,
    /// The file of that path is newer than the executable, so that its lines may be others: it is not shown.
    Newer,
    /// Nowhere.
    Missing,
}

impl Origin {
    /// One word for programs: `embedded`, `listing`, `disk`, `newer` or `missing`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Listing => "listing",
            Self::Disk => "disk",
            Self::Newer => "newer",
            Self::Missing => "missing",
        }
    }

    /// Whether there is a text to show.
    pub fn has_text(self) -> bool {
        matches!(self, Self::Embedded | Self::Listing | Self::Disk)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Embedded => "embedded",
            Self::Listing => "a listing",
            Self::Disk => "from disk",
            Self::Newer => "on disk, but newer than the executable",
            Self::Missing => "no text",
        })
    }
}

/// A file that has the text of a path, if it has not been written since an executable was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskText {
    path: PathBuf,
    /// When the executable was written.
    executable: SystemTime,
}

impl DiskText {
    /// A longer file is no source, and is not read.
    pub const LONGEST: u64 = 64 << 20;

    pub(crate) fn new(path: &[u8], executable: SystemTime) -> Option<Self> {
        Some(Self { path: path_of(path)?, executable })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is there, and not newer than the executable, by now.
    pub fn origin(&self) -> Origin {
        let is_text = |metadata: &Metadata| metadata.is_file() && metadata.len() <= Self::LONGEST;
        let written =
            std::fs::metadata(&self.path).ok().filter(is_text).and_then(|file| file.modified().ok());
        match written {
            Some(written) if written <= self.executable => Origin::Disk,
            Some(_) => Origin::Newer,
            None => Origin::Missing,
        }
    }

    /// Reads it, if its lines are still those that were compiled.
    pub fn read(&self) -> Option<Vec<u8>> {
        if self.origin() != Origin::Disk {
            return None;
        }
        let mut text = Vec::new();
        // It may be growing.
        File::open(&self.path).ok()?.take(Self::LONGEST).read_to_end(&mut text).ok()?;
        (self.origin() == Origin::Disk).then_some(text)
    }
}

#[cfg(unix)]
fn path_of(path: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(path).into())
}

#[cfg(not(unix))]
fn path_of(path: &[u8]) -> Option<PathBuf> {
    Some(std::str::from_utf8(path).ok()?.into())
}
