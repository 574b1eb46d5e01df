//! Running a measured program, with a profiler connected where one has to be.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use zonecast_tracy_wire::child::free_port;
use zonecast_tracy_wire::{Keep, Receiver};

use crate::Error;

/// How long a program may be silent. Under valgrind it is some fifty times slower, besides what else the machine does.
const PATIENCE: Duration = Duration::from_secs(600);

/// A folder that is gone in the end, for what the programs write.
pub(crate) fn folder() -> Result<tempfile::TempDir, Error> {
    tempfile::tempdir().map_err(|e| Error::File(std::env::temp_dir(), e))
}

/// Runs a program whose console lines go to `folder`, and returns what it printed. With `drained`,
/// it waits for a profiler, and one takes all that it sends.
///
/// # Errors
/// If it cannot be run, fails, or cannot be drained.
pub(crate) fn run(mut command: Command, folder: &Path, tracy: bool, drained: bool) -> Result<String, Error> {
    command.env("ZONECAST_FILE", folder.join("ours")).env("MEASURED_FILE", folder.join("peers"));
    let port = free_port();
    if tracy {
        command.env("TRACY_PORT", port.to_string());
    }
    if !drained {
        return output(command);
    }
    command.env("MEASURED_CONNECTED", "1");
    let drain = Drain::start(port);
    let printed = output(command);
    let ended = drain.stop();
    // A program that failed is the better explanation of a broken connection.
    let printed = printed?;
    ended.map(|()| printed)
}

fn output(mut command: Command) -> Result<String, Error> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let advice = "it is there when `cost` or `ratio` starts";
    let output = command.output().map_err(|source| Error::Missing { tool, advice, source })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::Run { command: format!("{command:?}"), status: output.status, output: said });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A profiler that keeps next to nothing, on a thread of its own.
struct Drain {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), Error>>,
}

impl Drain {
    fn start(port: u16) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let mut receiver = Receiver::new("127.0.0.1", port)
            .connect_within(PATIENCE)
            .stall_after(PATIENCE)
            .keep(Keep::Statistics)
            .ask_for_sources(false)
            .stop_when(Arc::clone(&over));
        let told = Arc::clone(&over);
        let thread = std::thread::spawn(move || match receiver.capture() {
            Ok(_) => Ok(()),
            // The program exits without a farewell once it has been measured.
            Err(_) if told.load(Ordering::Relaxed) => Ok(()),
            Err(e) => Err(Error::Server(e)),
        });
        Self { over, thread }
    }

    fn stop(self) -> Result<(), Error> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("a receiver does not panic")
    }
}
