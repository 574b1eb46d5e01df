//! What programs do beside tracing: they wait for a viewer, and print to somebody who may stop reading.

use std::error::Error;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

/// Waits until the Tracy profiler has connected, and says so.
///
/// # Errors
///
/// If standard error cannot be written to.
pub fn wait_for_profiler() -> io::Result<()> {
    if !cfg!(feature = "tracy") {
        return writeln!(io::stderr(), "not waiting: Tracy is not built in; add `--features tracy`");
    }
    writeln!(io::stderr(), "waiting for the Tracy profiler to connect")?;
    while !zonecast::is_connected() {
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Whether whoever read the output has read enough.
#[must_use]
pub fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
