//! `zonecast serve`.

use std::path::PathBuf;

use clap::Args;
use zonecast_tracy_wire::{Recording, Server};

use crate::Failure;
use crate::files::about;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The recording, as `zonecast capture --record` wrote it
    recording: PathBuf,
    /// Where to listen
    #[arg(short, long, default_value = "127.0.0.1")]
    address: String,
    /// The port to listen at
    #[arg(short, long, default_value_t = 8086)]
    port: u16,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut recording =
        Recording::open(&arguments.recording).map_err(|error| about(&arguments.recording, &error))?;
    let server = Server::bind((arguments.address.as_str(), arguments.port))
        .map_err(|error| format!("{}:{}: {error}", arguments.address, arguments.port))?;
    let program = &recording.welcome().program;
    eprintln!("zonecast: serving {program} at {}; connect the Tracy 0.14 profiler", server.address()?);
    Ok(server.serve(&mut recording)?)
}
