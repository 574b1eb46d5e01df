//! The child in which recordings are replayed, for programs that do not start themselves as one.

use std::process::ExitCode;

fn main() -> ExitCode {
    zonecast_recordings::replay::serve()
}
