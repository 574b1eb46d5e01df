//! `zonecast recording`.

pub(crate) mod diff;
mod recorded;
mod replay;
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
    /// Run a recorded kernel again on this machine's CPU, and compare what it computes; exit with 3 if that differs
    Replay(replay::Arguments),
    /// The process in which `replay` runs the kernel
    #[command(hide = true)]
    ServeReplay,
}

pub(crate) fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Show(arguments) => show::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::ServeReplay => Ok(zonecast_recordings::replay::serve()),
    }
}
