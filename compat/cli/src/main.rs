//! The `zonecast` command.
//!
//! Exit codes: 0 if all went well; 1 if something failed, what there was having been written; 2 for
//! arguments that make no sense; 3 if a check or a comparison found something.

mod capture;
mod compare;
mod doctor;
mod embed;
mod files;
mod format;
#[cfg(feature = "recordings")]
mod instruments;
#[cfg(feature = "recordings")]
mod profile;
#[cfg(feature = "recordings")]
mod recording;
#[cfg(feature = "recordings")]
mod replay;
mod serve;
mod sources;
#[cfg(feature = "recordings")]
mod timeline;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What a command returns when something failed: a sentence.
type Failure = Box<dyn std::error::Error>;

/// The exit code of a check or comparison that found something.
const FOUND: u8 = 3;

#[derive(Parser)]
#[command(
    name = "zonecast",
    version,
    about = "See what executables embed, and capture, serve and compare traces of Tracy 0.14 clients",
    max_term_width = 100
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Capture a running program, or read a recording
    Capture(capture::Arguments),
    /// Serve a recording to the Tracy profiler, as the recorded program would
    Serve(serve::Arguments),
    /// Compare two recordings or JSON captures, zone by zone
    Compare(compare::Arguments),
    /// Show which kernels and source texts are embedded in files, and write the texts out
    Sources(sources::Arguments),
    #[cfg(feature = "recordings")]
    /// Show, compare and replay kernel launches that a runtime has recorded
    #[command(subcommand)]
    Recording(recording::Command),
    #[cfg(feature = "recordings")]
    Instruments(instruments::Arguments),
    #[cfg(feature = "recordings")]
    Profile(profile::Arguments),
    #[cfg(feature = "recordings")]
    /// Show, unpack and run what IREE recorded of a device (.ireereplay)
    #[command(subcommand)]
    Replay(replay::Command),
    /// Put source files, and the places of kernels, into a finished ELF file
    Embed(embed::Arguments),
    /// Find failures that nobody complains of; exits with 3 if there are any
    Doctor(doctor::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Capture(arguments) => capture::run(arguments),
        Command::Serve(arguments) => serve::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Sources(arguments) => sources::run(&arguments),
        #[cfg(feature = "recordings")]
        Command::Recording(command) => recording::run(command),
        #[cfg(feature = "recordings")]
        Command::Instruments(arguments) => instruments::run(&arguments),
        #[cfg(feature = "recordings")]
        Command::Profile(arguments) => profile::run(&arguments),
        #[cfg(feature = "recordings")]
        Command::Replay(command) => replay::run(command),
        Command::Embed(arguments) => embed::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Doctor(arguments) => doctor::run(&arguments),
    };
    done.unwrap_or_else(|failure| {
        eprintln!("zonecast: {failure}");
        ExitCode::FAILURE
    })
}
