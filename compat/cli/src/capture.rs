//! `zonecast capture`.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use zonecast_tracy_wire::{Capture, Error, Keep, Receiver, Recording};

use crate::files::{Folder, Output, about, print};
use crate::format::Format;
use crate::{FOUND, Failure};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Where the program runs
    #[arg(short, long, default_value = "127.0.0.1")]
    address: String,
    /// Where it listens
    #[arg(short, long, default_value_t = 8086)]
    port: u16,
    /// Stop after so many seconds; otherwise when the program ends, or at Ctrl-C
    #[arg(short, long, value_parser = seconds)]
    seconds: Option<Duration>,
    /// How many seconds to wait for the program to be there
    #[arg(long, value_parser = seconds, default_value = "60")]
    wait: Duration,
    /// Read this recording instead of capturing a program
    #[arg(long, conflicts_with_all = ["record", "seconds"])]
    from: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Summary)]
    format: Format,
    /// Where to write it; otherwise to standard output
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Also keep the stream itself in this file, for `zonecast serve` and `zonecast compare`
    #[arg(long)]
    record: Option<PathBuf>,
    /// Also write the source files that the program embeds into this folder
    #[arg(long)]
    sources: Option<PathBuf>,
    /// Check the stream against the rules of Tracy's server, and exit with 3 if it breaks one
    #[arg(long)]
    check: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    // What cannot be written to is said before anything is captured, not after.
    let output = arguments.output.as_deref().map(Output::open).transpose()?;
    let sources = arguments.sources.as_deref().map(Folder::create).transpose()?;
    let (capture, fault) = match obtain(&arguments) {
        Ok(capture) => (capture, None),
        Err(Fault::Told(failure)) => return Err(failure),
        Err(Fault::Captured(error)) => {
            let told = error.to_string();
            match error.into_partial() {
                Some(partial) => (partial, Some(told)),
                None => return Err(told.into()),
            }
        }
    };
    write(&arguments, &capture, output)?;
    if let Some(folder) = sources {
        write_sources(folder, &capture)?;
    }
    for violation in capture.violations() {
        eprintln!("zonecast: {violation}");
    }
    match fault {
        // What there is has been written.
        Some(told) => Err(told.into()),
        None if !capture.violations().is_empty() => Ok(ExitCode::from(FOUND)),
        None => Ok(ExitCode::SUCCESS),
    }
}

enum Fault {
    Captured(Error),
    Told(Failure),
}

impl<E: Into<Failure>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Told(error.into())
    }
}

fn obtain(arguments: &Arguments) -> Result<Capture, Fault> {
    let keep = if arguments.format == Format::Summary { Keep::Statistics } else { Keep::Everything };
    if let Some(path) = &arguments.from {
        let mut recording = Recording::open(path).map_err(|error| about(path, &error))?;
        if !recording.is_complete() {
            eprintln!("zonecast: {}: the recording ends before the program did", path.display());
        }
        let replayed = recording.replay(|engine| engine.keep(keep).check(arguments.check));
        return Ok(replayed.map_err(|error| about(path, &error))?);
    }
    let mut receiver = Receiver::new(&arguments.address, arguments.port)
        .connect_within(arguments.wait)
        .keep(keep)
        .check(arguments.check)
        .stop_when(stop_at_interrupt()?);
    if let Some(limit) = arguments.seconds {
        receiver = receiver.stop_after(limit);
    }
    if let Some(path) = &arguments.record {
        receiver = receiver.record_to(Output::open(path)?);
    }
    let progress = progress(arguments);
    let shown = progress.clone();
    receiver = receiver.on_progress(move |capture| show(&shown, capture));
    let captured = receiver.capture();
    progress.finish_and_clear();
    captured.map_err(Fault::Captured)
}

/// A flag that Ctrl-C sets. A second Ctrl-C ends the program at once.
fn stop_at_interrupt() -> Result<Arc<AtomicBool>, ctrlc::Error> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(flag)
}

/// Shown on a terminal, and nowhere else.
fn progress(arguments: &Arguments) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or(ProgressStyle::default_spinner());
    bar.set_style(style);
    bar.set_message(format!("waiting for {}:{}", arguments.address, arguments.port));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn show(bar: &ProgressBar, capture: &Capture) {
    let (items, bytes) = (HumanCount(capture.item_count()), HumanBytes(capture.byte_count()));
    bar.set_message(format!("{}: {items} items, {bytes}", capture.program()));
}

fn write(arguments: &Arguments, capture: &Capture, file: Option<BufWriter<Output>>) -> Result<(), Failure> {
    match (&arguments.output, file) {
        (Some(path), Some(mut file)) => {
            let written = arguments.format.write(capture, &mut file).and_then(|()| file.flush());
            written.map_err(|error| about(path, &error))
        }
        _ => print(|output| arguments.format.write(capture, output)),
    }
}

fn write_sources(mut folder: Folder, capture: &Capture) -> Result<(), Failure> {
    let mut missed = 0;
    for (path, text) in capture.sources() {
        if let Err(failure) = folder.write(path, text, capture.program()) {
            eprintln!("zonecast: {failure}");
            missed += 1;
        }
    }
    if missed == 0 { Ok(()) } else { Err(format!("{missed} source files were not written").into()) }
}
