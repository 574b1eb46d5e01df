//! What can go wrong while measuring.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why there is no figure.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A program that measuring needs is not there.
    Missing {
        /// The program.
        tool: String,
        /// What for, and how to get it.
        advice: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// No item has this name.
    Unknown(String),
    /// The measured program was not built.
    Build {
        /// For which feature set.
        set: &'static str,
        /// How cargo ended.
        status: ExitStatus,
    },
    /// The measured program failed.
    Run {
        /// What was run.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        output: String,
    },
    /// What was measured makes no sense.
    Odd {
        /// Of which item or file.
        what: String,
        /// What is odd about it.
        reason: &'static str,
    },
    /// A file could not be read or made.
    File(PathBuf, io::Error),
    /// Tracy was not drained.
    Server(zonecast_tracy_wire::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { tool, advice, source } => write!(f, "cannot run {tool} ({source}): {advice}"),
            Self::Unknown(name) => write!(f, "no item is named {name}; `--list` prints all names"),
            Self::Build { set, status } => {
                write!(f, "the program with feature set {set} was not built: cargo ended with {status}")
            }
            Self::Run { command, status, output } => {
                write!(f, "{command} ended with {status}; it said:\n{}", output.trim_end())
            }
            Self::Odd { what, reason } => write!(f, "{what}: {reason}"),
            Self::File(path, source) => write!(f, "{}: {source}", path.display()),
            Self::Server(source) => write!(f, "the measured program's events could not be drained: {source}"),
        }
    }
}

impl std::error::Error for Error {}
