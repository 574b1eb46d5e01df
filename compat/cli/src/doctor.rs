//! `zonecast doctor`: failures that nobody complains of, a sentence each.

mod files;
#[cfg(feature = "gpu")]
mod gpu;
mod lockfile;
mod port;
mod profiler;
mod program;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::files::print;
use crate::sources::plain;
use crate::{FOUND, Failure};

#[derive(Args)]
pub(crate) struct Arguments {
    /// What to look at: modules and executables, traced programs, recordings of captures, a Cargo.lock. Without
    /// any, the project in this folder and this machine; then tracy-capture is run, if there is one, against a
    /// port of the doctor's own
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Say also why no zones can be recorded on GPUs, where no card is to be seen
    #[cfg(feature = "gpu")]
    #[arg(long)]
    gpu: bool,
}

/// What is looked at without a file.
const CHECKS: [fn(&mut Findings); 3] = [lockfile::check_project, port::check, profiler::check];

/// What was found wrong.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    /// One sentence: what is wrong, and the remedy.
    fn add(&mut self, sentence: impl AsRef<str>) {
        self.0.push(plain(sentence.as_ref().as_bytes()));
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut findings = Findings::default();
    if arguments.files.is_empty() {
        CHECKS.iter().for_each(|check| check(&mut findings));
    } else {
        files::check(&arguments.files, &mut findings);
    }
    #[cfg(feature = "gpu")]
    if arguments.files.is_empty() || arguments.gpu {
        gpu::check(arguments.gpu, &mut findings);
    }
    let sentences = findings.0;
    print(|output| {
        use std::io::Write;
        if sentences.is_empty() {
            return writeln!(output, "nothing is wrong");
        }
        sentences.iter().try_for_each(|sentence| writeln!(output, "{sentence}"))
    })?;
    Ok(if sentences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}
