//! Why a recording could not be read: what, where, and what was expected there.

use std::fmt;
use std::io;
use std::path::Path;

/// What went wrong, at which offset of which file. `Display` says all of it in a sentence.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    offset: Option<u64>,
    file: Option<Box<str>>,
}

/// The kinds of [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file could not be opened, mapped, read or written.
    Io(io::Error),
    /// The file does not begin as one of its kind does; the text says what kind was expected.
    Unknown(&'static str),
    /// The file, or a part of it, is of a version that is not understood: the format's name, and the version.
    Version(&'static str, u32),
    /// The contents contradict their own format; the text says what was expected instead.
    Damaged(&'static str),
}

impl Error {
    fn new(kind: ErrorKind, offset: Option<u64>) -> Self {
        Self { kind, offset, file: None }
    }

    pub(crate) fn io(error: io::Error) -> Self {
        Self::new(ErrorKind::Io(error), None)
    }

    pub(crate) fn unknown(expected: &'static str) -> Self {
        Self::new(ErrorKind::Unknown(expected), Some(0))
    }

    pub(crate) fn version(format: &'static str, found: u32) -> Self {
        Self::new(ErrorKind::Version(format, found), None)
    }

    pub(crate) fn damaged(offset: u64, expected: &'static str) -> Self {
        Self::new(ErrorKind::Damaged(expected), Some(offset))
    }

    /// For an error found in a part: makes its offset one of the whole.
    pub(crate) fn moved_by(mut self, base: u64) -> Self {
        self.offset = self.offset.map(|offset| offset.saturating_add(base));
        self
    }

    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.file = Some(path.to_string_lossy().into());
        self
    }

    /// The place, and all else in words.
    pub(crate) fn into_parts(mut self) -> (Option<u64>, String) {
        let offset = self.offset.take();
        (offset, self.to_string())
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Where, in bytes from the file's start.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// The file's path.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        match &self.kind {
            ErrorKind::Io(error) => return error.fmt(f),
            ErrorKind::Unknown(expected) => write!(f, "this is no {expected}")?,
            ErrorKind::Version(format, version) => {
                write!(f, "{format} of version {version} is not understood; is there a newer zonecast?")?;
            }
            ErrorKind::Damaged(expected) => write!(f, "damaged: expected {expected}")?,
        }
        match self.offset {
            Some(offset) => write!(f, " (at offset {offset:#x})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Of a FlatBuffer: where and what, without the file, which is the recording.
impl From<zonecast_embed::Error> for Error {
    fn from(error: zonecast_embed::Error) -> Self {
        use zonecast_embed::ErrorKind as Kind;
        let kind = match error.kind() {
            Kind::Damaged(expected) | Kind::Unsupported(expected) => ErrorKind::Damaged(expected),
            _ => ErrorKind::Damaged("an executable"),
        };
        Self::new(kind, error.offset())
    }
}
