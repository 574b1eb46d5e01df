//! Why a recording could not be read or written: what, where, and what was expected there.

use std::borrow::Cow;
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
    /// The file is of no kind, or of another one than was asked for; the text says what was expected.
    Unknown(Cow<'static, str>),
    /// The file is of a version that is not understood: the format's name, and the version found.
    Version(&'static str, [u16; 2]),
    /// The contents are of a known kind, but of a variant that is not understood.
    Unsupported(Cow<'static, str>),
    /// The contents contradict their own format, or what lies beside them; the text says what was expected instead.
    Damaged(Cow<'static, str>),
    /// What was asked for is not there; the text is a sentence.
    Missing(Cow<'static, str>),
}

impl Error {
    fn new(kind: ErrorKind, offset: Option<u64>) -> Self {
        Self { kind, offset, file: None }
    }

    pub(crate) fn io(error: io::Error) -> Self {
        Self::new(ErrorKind::Io(error), None)
    }

    pub(crate) fn unknown(expected: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unknown(expected.into()), None)
    }

    pub(crate) fn version(format: &'static str, found: [u16; 2]) -> Self {
        Self::new(ErrorKind::Version(format, found), None)
    }

    pub(crate) fn unsupported(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unsupported(what.into()), None)
    }

    pub(crate) fn damaged(offset: u64, expected: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Damaged(expected.into()), Some(offset))
    }

    /// As [`damaged`](Self::damaged), for what has no place in the file.
    pub(crate) fn contradiction(expected: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Damaged(expected.into()), None)
    }

    pub(crate) fn missing(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Missing(what.into()), None)
    }

    /// For an error found in a part: makes its offset one of the whole.
    pub(crate) fn moved_by(mut self, base: u64) -> Self {
        self.offset = self.offset.map(|offset| offset.saturating_add(base));
        self
    }

    /// The place, and all else in words.
    pub(crate) fn into_parts(mut self) -> (Option<u64>, String) {
        let offset = self.offset.take();
        (offset, self.to_string())
    }

    pub(crate) fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.file = Some(path.as_ref().to_string_lossy().into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Where, in bytes from the file's start.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// The path of the file, or of the folder.
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
            ErrorKind::Version(format, [major, minor]) => {
                write!(f, "{format} of version {major}.{minor} is not understood")?;
            }
            ErrorKind::Unsupported(what) => write!(f, "not understood: {what}")?,
            ErrorKind::Damaged(expected) => write!(f, "damaged: expected {expected}")?,
            ErrorKind::Missing(what) => write!(f, "{what}")?,
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
            Kind::Damaged(expected) | Kind::Unsupported(expected) => ErrorKind::Damaged((*expected).into()),
            _ => ErrorKind::Damaged("an executable".into()),
        };
        Self::new(kind, error.offset())
    }
}
