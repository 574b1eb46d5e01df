//! The repair that makes IREE's `--iree-hal-instrument-dispatches` work again.
//!
//! Since August 2024 modules have globals for their devices, and the pass that adds the instruments puts its
//! own global, whose initialiser asks the device for memory, in front of them. The initialiser then finds no
//! device: the compiler says nothing or an error, exits with 0, and the module fails when it is loaded. (Seen
//! with wheels of 3.0.0 to 3.13.0.) The order can be put right between two phases of the compiler.

use std::fmt;

/// Why a text was not repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixError {
    /// There are no instruments in it.
    NoInstruments,
    /// It names no device.
    NoDevices,
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoInstruments => {
                "the text has no global @__dispatch_instrumentation: compile with \
                 --iree-hal-instrument-dispatches=SIZE and --compile-to=executable-sources"
            }
            Self::NoDevices => {
                "the text has no global @__device_N: it is from a compiler that needs no repair, or of a \
                 phase before devices are assigned; use --compile-to=executable-sources"
            }
        })
    }
}

impl std::error::Error for FixError {}

/// Puts the globals of devices in front of those of the instruments. A text whose order is right comes back as
/// it is.
///
/// ```
/// let broken = "module {
///   util.global private @__dispatch_instrumentation : !hal.buffer
///   util.global private @__device_0 = #hal.device.target<\"local\">
/// }
/// ";
/// let fixed = zonecast_recordings::instruments::fix_ir(broken)?;
/// assert!(fixed.find("@__device_0") < fixed.find("@__dispatch_instrumentation"));
/// # Ok::<(), zonecast_recordings::instruments::FixError>(())
/// ```
///
/// # Errors
///
/// If there are no instruments or no devices in the text.
pub fn fix_ir(text: &str) -> Result<String, FixError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = lines.iter().position(|line| defines(line, "__dispatch_instrumentation"));
    let first = first.ok_or(FixError::NoInstruments)?;
    if !lines.iter().any(|line| defines(line, "__device_")) {
        return Err(FixError::NoDevices);
    }
    let (before, after) = lines.split_at(first);
    let (devices, rest): (Vec<&str>, Vec<&str>) = after.iter().partition(|line| defines(line, "__device_"));
    Ok([before, &devices, &rest].concat().concat())
}

/// Whether the line defines a global whose name begins so.
fn defines(line: &str, name: &str) -> bool {
    let Some(definition) = line.trim_start().strip_prefix("util.global ") else { return false };
    definition
        .split_whitespace()
        .any(|word| word.strip_prefix('@').is_some_and(|word| word.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKEN: &str = "module {\n  util.global private @__dispatch_instrumentation : !hal.buffer\n  \
        util.initializer {\n    %d = util.global.load @__device_0 : !hal.device\n  }\n  \
        util.global private @__device_0 = #a\n  util.global private mutable @__device_1 = #b\n  func @f\n}";

    #[test]
    fn devices_come_first_and_nothing_else_moves() {
        let fixed = fix_ir(BROKEN).unwrap();
        let lines: Vec<&str> = fixed.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "module {",
                "util.global private @__device_0 = #a",
                "util.global private mutable @__device_1 = #b",
                "util.global private @__dispatch_instrumentation : !hal.buffer",
                "util.initializer {",
                "%d = util.global.load @__device_0 : !hal.device",
                "}",
                "func @f",
                "}",
            ]
        );
        assert_eq!(fix_ir(&fixed).unwrap(), fixed, "once is enough");
    }

    #[test]
    fn what_cannot_be_repaired_is_said() {
        assert_eq!(fix_ir("module {}"), Err(FixError::NoInstruments));
        let old = "util.global private @__dispatch_instrumentation : !hal.buffer\n";
        assert_eq!(fix_ir(old), Err(FixError::NoDevices));
    }
}
