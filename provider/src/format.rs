//! Texts to be formatted, without a new allocation for each.

use core::cell::Cell;
use core::fmt::{Arguments, Write};

/// Longer buffers are given back rather than kept by the thread.
const KEPT: usize = 64 * 1024;

thread_local! {
    static BUFFER: Cell<String> = const { Cell::new(String::new()) };
}

/// Calls `f` with the text that `arguments` make: the literal itself where there is nothing to
/// format, else in a buffer that the thread keeps.
///
/// The buffer is taken out while it is used, so a `Display` that traces finds an empty one. A
/// `Display` that fails leaves the text up to there; a dying thread uses a buffer of its own.
#[inline]
pub(crate) fn with(arguments: Arguments<'_>, f: impl FnOnce(&str)) {
    // Known to the compiler where this is inlined.
    match arguments.as_str() {
        Some(literal) => f(literal),
        None => with_formatted(arguments, f),
    }
}

fn with_formatted(arguments: Arguments<'_>, f: impl FnOnce(&str)) {
    let mut buffer = BUFFER.try_with(Cell::take).unwrap_or_default();
    buffer.clear();
    let _ = buffer.write_fmt(arguments);
    f(&buffer);
    if buffer.capacity() <= KEPT {
        let _ = BUFFER.try_with(|kept| kept.set(buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::with;

    #[test]
    fn literals_are_passed_on_and_formats_nest() {
        with(format_args!("plain"), |t| assert_eq!(t, "plain"));
        let mut seen = Vec::new();
        with(format_args!("outer {}", 1), |outer| {
            with(format_args!("inner {}", 2), |inner| seen.push(inner.to_owned()));
            seen.push(outer.to_owned());
        });
        assert_eq!(seen, ["inner 2", "outer 1"]);
    }
}
