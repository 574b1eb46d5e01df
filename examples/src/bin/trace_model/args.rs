//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

/// Run a compiled model and trace each of its kernels beside its own source.
///
/// Without MODULE, that is the model that ships with the examples: three kernels, compiled
/// by IREE for x86-64 CPUs. A MODULE with the same three kernels is run as well, which runs
/// its own code: name no file that you do not trust. Of any other, the kernels and sources
/// are listed, it is said why they are not run, and that is no failure.
///
/// The exit code is 1 if the module cannot be read, the model that ships cannot run on this
/// machine, or a result is wrong.
#[derive(Debug, Parser)]
#[command(name = "trace_model", version, verbatim_doc_comment, after_help = AFTER)]
pub(crate) struct Args {
    /// An IREE module (.vmfb) or executable
    pub(crate) module: Option<PathBuf>,

    /// Rows in a batch
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) batch: u32,

    /// Threads that share a kernel's workgroups
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) threads: u8,

    /// A zone for each workgroup, too
    #[arg(long)]
    pub(crate) workgroups: bool,

    /// Run the model this many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) repeat: u64,

    /// Run the model for this long
    #[arg(long, value_name = "S", conflicts_with = "repeat", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) seconds: Option<Duration>,

    /// Wait for a profiler before the first run
    #[arg(long)]
    pub(crate) wait: bool,

    /// Only list what is in the module
    #[arg(long)]
    pub(crate) list: bool,
}

const AFTER: &str = "\
Environment (of the console, when it is built in):
  ZONECAST_CONSOLE=text|json|summary|text,summary|json,summary
  ZONECAST_SOURCES=N   show N lines of each kernel's source, once
  ZONECAST_STAGE=NAME  the stage of compilation to show: 0.source, 1.configured,
                       2.translated, or original for the user's own file
  ZONECAST_FILE=PATH   write there instead of to standard error
Without these, one run is shown as text with source lines and a summary, repeated runs as
a summary alone.";

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
