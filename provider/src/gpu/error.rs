//! What can go wrong with a GPU's driver, as values.

use core::fmt;

/// Why a device cannot be timed, or a zone not recorded.
///
/// As large as a pointer, so that results of calls on the way of a program's thread are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Box<ErrorKind>,
}

/// The sorts of [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The driver's library is not on this machine, under none of these names.
    LibraryMissing {
        /// The names tried.
        tried: Vec<String>,
    },
    /// The library that was found is a stub to link against, not a driver.
    Stub {
        /// The call that told.
        call: &'static str,
    },
    /// The library lacks a function that is needed: it is too old.
    SymbolMissing {
        /// The function.
        symbol: &'static str,
    },
    /// There is no device.
    NoDevice {
        /// The call that told.
        call: &'static str,
    },
    /// The driver has shut down, as it does when the program ends.
    Ended {
        /// The call that told.
        call: &'static str,
    },
    /// A call failed.
    Call {
        /// The driver's function.
        call: &'static str,
        /// What it returned.
        code: u32,
        /// The driver's name for that.
        name: String,
    },
    /// The driver cannot do this.
    Unsupported {
        /// What.
        what: &'static str,
    },
}

impl Error {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// A call that failed, for backends.
    #[must_use]
    pub fn call(call: &'static str, code: u32, name: impl Into<String>) -> Self {
        ErrorKind::Call { call, code, name: name.into() }.into()
    }

    /// Something that a backend cannot do.
    #[must_use]
    pub fn unsupported(what: &'static str) -> Self {
        ErrorKind::Unsupported { what }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind: Box::new(kind) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            ErrorKind::LibraryMissing { tried } => {
                write!(
                    f,
                    "the GPU driver's library was not found (tried {}); install the driver",
                    tried.join(", ")
                )
            }
            ErrorKind::Stub { call } => write!(
                f,
                "the GPU driver's library is a stub to link against ({call} says so); take its folder out of \
                 LD_LIBRARY_PATH so that the driver's own is found"
            ),
            ErrorKind::SymbolMissing { symbol } => {
                write!(f, "the GPU driver's library has no {symbol}; a newer driver is needed")
            }
            ErrorKind::NoDevice { call } => write!(f, "the GPU driver finds no device ({call} says so)"),
            ErrorKind::Ended { call } => write!(f, "the GPU driver has shut down ({call} says so)"),
            ErrorKind::Call { call, code, name } => write!(f, "{call} failed with {code} ({name})"),
            ErrorKind::Unsupported { what } => write!(f, "this GPU driver has no {what}"),
        }
    }
}

impl std::error::Error for Error {}
