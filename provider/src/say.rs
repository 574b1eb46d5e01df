//! What zonecast has to say for itself, in one sentence on standard error.

use std::fmt::Arguments;
use std::io::Write;

/// Says a sentence, in one piece whoever else writes. A standard error that is closed is no reason to stop
/// the program.
#[allow(dead_code, reason = "builds without a provider have nothing to say")]
#[cold]
pub(crate) fn sentence(sentence: Arguments<'_>) {
    let line = format!("zonecast: {sentence}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Says a sentence.
#[allow(unused_macros, reason = "as above")]
macro_rules! say {
    ($($sentence:tt)*) => { $crate::say::sentence(format_args!($($sentence)*)) };
}

/// Says a sentence the first time it comes by.
#[allow(unused_macros, reason = "as above")]
macro_rules! say_once {
    ($($sentence:tt)*) => {{
        static SAID: std::sync::Once = std::sync::Once::new();
        SAID.call_once(|| $crate::say::sentence(format_args!($($sentence)*)));
    }};
}

#[allow(unused_imports, reason = "as above")]
pub(crate) use {say, say_once};
