//! Sentences for the person who runs the program, on standard error.

use std::fmt::Arguments;
use std::io::Write;

/// Says a sentence. A standard error that is closed is no reason to stop the program.
#[cold]
pub(crate) fn sentence(sentence: Arguments<'_>) {
    let _ = std::io::stderr().write_fmt(format_args!("zonecast: {sentence}\n"));
}
