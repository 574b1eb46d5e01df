//! Why bytes could not be read: what, where, and what was expected there.

use std::fmt;
use std::io;

/// What went wrong, at which offset of which file.
///
/// `Display` gives one sentence with all of it.
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
    /// The file could not be opened, mapped or read.
    Io(io::Error),
    /// The contents begin like nothing that this build understands.
    Unknown(Magic),
    /// The contents are of a known kind, but of a version or variant that is not understood.
    Unsupported(&'static str),
    /// The contents contradict their own format; the text says what was expected instead.
    Damaged(&'static str),
}

/// The first bytes of contents that were not recognised (at most eight).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Magic {
    bytes: [u8; 8],
    len: u8,
}

impl Magic {
    pub(crate) fn of(contents: &[u8]) -> Self {
        let len = contents.len().min(8);
        let mut bytes = [0; 8];
        bytes[..len].copy_from_slice(&contents[..len]);
        Self { bytes, len: len as u8 }
    }

    /// The bytes themselves; fewer than eight if the contents are shorter.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Debug for Magic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Hexadecimal, with the printable bytes after it: `7f 45 4c 46 ".ELF"`.
impl fmt::Display for Magic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.as_bytes() {
            write!(f, "{byte:02x} ")?;
        }
        let printable = self.as_bytes().iter().map(|&b| if b.is_ascii_graphic() { b as char } else { '.' });
        write!(f, "\"{}\"", printable.collect::<String>())
    }
}

impl Error {
    fn new(kind: ErrorKind, offset: Option<u64>) -> Self {
        Self { kind, offset, file: None }
    }

    pub(crate) fn io(error: io::Error) -> Self {
        Self::new(ErrorKind::Io(error), None)
    }

    pub(crate) fn unknown(contents: &[u8]) -> Self {
        Self::new(ErrorKind::Unknown(Magic::of(contents)), Some(0))
    }

    pub(crate) fn unsupported(offset: u64, what: &'static str) -> Self {
        Self::new(ErrorKind::Unsupported(what), Some(offset))
    }

    pub(crate) fn damaged(offset: u64, expected: &'static str) -> Self {
        Self::new(ErrorKind::Damaged(expected), Some(offset))
    }

    /// For an error found in a part: makes its offset one of the whole.
    pub(crate) fn moved_by(mut self, base: u64) -> Self {
        self.offset = self.offset.map(|offset| offset.saturating_add(base));
        self
    }

    /// The same error once more, for one that a reader has kept.
    #[cfg(feature = "_index")]
    pub(crate) fn again(&self) -> Self {
        let kind = match &self.kind {
            ErrorKind::Io(error) => ErrorKind::Io(error.kind().into()),
            ErrorKind::Unknown(magic) => ErrorKind::Unknown(*magic),
            ErrorKind::Unsupported(what) => ErrorKind::Unsupported(what),
            ErrorKind::Damaged(expected) => ErrorKind::Damaged(expected),
        };
        Self { kind, offset: self.offset, file: self.file.clone() }
    }

    /// For an error found in what was unpacked: gives it the place of the packed part.
    #[cfg(feature = "offload")]
    pub(crate) fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    pub(crate) fn in_file(mut self, file: &str) -> Self {
        self.file = Some(file.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Where in the file (or in the bytes given), in bytes from its start. For a library that is
    /// already loaded, the address in memory.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// The file's path, or the name given with the bytes.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        if let Some(offset) = self.offset {
            write!(f, "at offset {offset:#x}: ")?;
        }
        match &self.kind {
            ErrorKind::Io(error) => write!(f, "{error}"),
            ErrorKind::Unknown(magic) if magic.len == 0 => write!(f, "there are no contents"),
            ErrorKind::Unknown(magic) => {
                write!(f, "unknown contents, beginning {magic}")?;
                if let Some(kind) = crate::read::familiar(magic.as_bytes()) {
                    write!(f, " ({kind})")?;
                }
                write!(f, "; understood: {}", crate::read::UNDERSTOOD)
            }
            ErrorKind::Unsupported(what) => write!(f, "not understood: {what}"),
            ErrorKind::Damaged(expected) => write!(f, "damaged: expected {expected}"),
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
