//! What was odd about a recording.

use std::fmt;

/// Something odd that did not keep the rest from being read. `Display` gives a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where in the file.
    pub offset: u64,
    /// What.
    pub what: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at offset {:#x})", self.what, self.offset)
    }
}
