//! What can go wrong between two programs that do not trust each other.

use std::fmt;
use std::io;
use std::time::Duration;

use crate::protocol::{PROTOCOL_VERSION, tracy_release};

/// Bytes that are no stream of protocol 82.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// A frame's compressed size is beyond what any client sends.
    FrameTooLarge {
        /// The size that the frame claims.
        claimed: u32,
    },
    /// The frame's LZ4 block is damaged, or larger than a frame may be.
    Lz4 {
        /// LZ4's own words.
        reason: String,
    },
    /// The first byte of an item is no kind of protocol 82.
    UnknownItem {
        /// The byte.
        byte: u8,
        /// Where it stands in its frame.
        offset: usize,
    },
    /// The frame ends inside an item.
    Truncated {
        /// Where the item begins in its frame.
        offset: usize,
    },
    /// An item's text is not built as its kind demands.
    Malformed {
        /// What is wrong with it.
        what: &'static str,
        /// Where the item begins in its frame.
        offset: usize,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameTooLarge { claimed } => {
                write!(f, "a frame claims {claimed} compressed bytes, more than any client sends")
            }
            Self::Lz4 { reason } => write!(f, "a frame does not decompress: {reason}"),
            Self::UnknownItem { byte, offset } => {
                write!(
                    f,
                    "byte {byte} at offset {offset} of a frame is no item of protocol {PROTOCOL_VERSION}"
                )
            }
            Self::Truncated { offset } => {
                write!(f, "a frame ends inside the item at its offset {offset}")
            }
            Self::Malformed { what, offset } => {
                write!(f, "the item at offset {offset} of a frame is malformed: {what}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Why a connection did not become a whole capture.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Nothing answered at the address before the deadline.
    Unreachable {
        /// The address that was tried.
        address: String,
        /// How long it was tried.
        waited: Duration,
        /// The last refusal.
        last: io::Error,
    },
    /// The receiver was told to stop before a client had greeted it.
    Stopped {
        /// The address that was tried.
        address: String,
    },
    /// The client speaks another protocol.
    OtherProtocol {
        /// Its protocol, where the client could be made to say it.
        protocol: Option<u32>,
    },
    /// The client already has its one server, or had it.
    NotAvailable,
    /// What answered at the address is no Tracy client.
    NotTracy {
        /// What it said instead.
        answer: Option<u8>,
    },
    /// Another process answered than the one that was to be captured.
    WrongProcess {
        /// The process that was expected.
        expected: u64,
        /// The process that answered.
        found: u64,
    },
    /// The client sent bytes that are no stream of this protocol.
    Decode(DecodeError),
    /// The client sent nothing, not even a sign of life, for this long.
    Stalled {
        /// How long nothing came.
        waited: Duration,
    },
    /// The connection broke before the client said it was done.
    Disconnected {
        /// What the socket reported; `None` when the client just closed it.
        source: Option<io::Error>,
    },
    /// Writing the recording failed.
    Record(io::Error),
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { address, waited, last } => {
                write!(
                    f,
                    "no Tracy client answered at {address} within {:.1} s: {last}",
                    waited.as_secs_f64()
                )
            }
            Self::Stopped { address } => write!(f, "stopped before a Tracy client answered at {address}"),
            Self::OtherProtocol { protocol } => other_protocol(f, *protocol),
            Self::NotAvailable => {
                f.write_str("the client has, or had, a server already, and takes no second one")
            }
            Self::NotTracy { answer: Some(byte) } => {
                write!(f, "what answered is no Tracy client: it greeted with the byte {byte}")
            }
            Self::NotTracy { answer: None } => f.write_str("what answered is no Tracy client: it hung up"),
            Self::WrongProcess { expected, found } => {
                write!(f, "process {found} answered where process {expected} was expected")
            }
            Self::Decode(error) => error.fmt(f),
            Self::Stalled { waited } => {
                write!(f, "the client sent nothing for {:.1} s", waited.as_secs_f64())
            }
            Self::Disconnected { source: None } => {
                f.write_str("the client closed the connection before it said it was done")
            }
            Self::Disconnected { source: Some(error) } => write!(f, "the connection broke: {error}"),
            Self::Record(error) => write!(f, "the recording could not be written: {error}"),
        }
    }
}

fn other_protocol(f: &mut fmt::Formatter<'_>, protocol: Option<u32>) -> fmt::Result {
    let ours = tracy_release(PROTOCOL_VERSION).unwrap_or("?");
    match protocol {
        Some(number) => match tracy_release(number) {
            Some(release) => write!(f, "the client speaks protocol {number}, Tracy {release}")?,
            None => write!(f, "the client speaks protocol {number}, of a Tracy release not known here")?,
        },
        None => f.write_str("the client speaks another protocol, and does not say which")?,
    }
    write!(f, "; this is a receiver for protocol {PROTOCOL_VERSION}, Tracy {ours}")
}

/// Why a capture is not whole, and whatever was captured until then.
///
/// Everything that the client sent before the fault is kept: [`into_partial`](Self::into_partial)
/// yields it.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    partial: Option<Box<crate::Capture>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self { kind, partial: None }
    }

    pub(crate) fn with_partial(kind: ErrorKind, partial: crate::Capture) -> Self {
        Self { kind, partial: Some(Box::new(partial)) }
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// What had arrived before the fault, if the connection had been made.
    #[must_use]
    pub fn partial(&self) -> Option<&crate::Capture> {
        self.partial.as_deref()
    }

    /// Gives up what had arrived before the fault, if the connection had been made.
    #[must_use]
    pub fn into_partial(self) -> Option<crate::Capture> {
        self.partial.map(|capture| *capture)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Unreachable { last: error, .. }
            | ErrorKind::Disconnected { source: Some(error) }
            | ErrorKind::Record(error) => Some(error),
            ErrorKind::Decode(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

impl From<DecodeError> for ErrorKind {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}
