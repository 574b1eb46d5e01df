//! `zonecast recording`.

mod diff;
mod show;

use std::process::ExitCode;

use clap::Subcommand;

use crate::Failure;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show what was launched, how, and with what
    Show(show::Arguments),
    /// Compare what two runs of a kernel computed, number by number; exit with 3 if they differ
    Diff(diff::Arguments),
}

pub(crate) fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Show(arguments) => show::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
    }
}
