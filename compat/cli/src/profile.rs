//! `zonecast profile`: when dispatches ran, from IREE's profiles.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use zonecast_embed::Executable;
use zonecast_recordings::Contents;
use zonecast_recordings::places::Places;
use zonecast_recordings::profile::Profile;

use crate::Failure;
use crate::files::about;
use crate::timeline::{Target, To, show};

/// Show when dispatches ran, from IREE's profiles, with the kernels' own sources
///
/// FILE is what `iree-run-module --device_profiling_mode=… --device_profiling_output=FILE` wrote.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The profile
    file: PathBuf,
    /// Where to show it
    #[arg(long, default_value = "console")]
    to: To,
    /// A module that ran, for the places and texts of its kernels
    #[arg(long, value_name = "X.vmfb")]
    module: Vec<PathBuf>,
    /// A folder that the compiler dumped files into (`--iree-hal-dump-executable-files-to`), for their texts
    #[arg(long, value_name = "FOLDER")]
    sources: Vec<PathBuf>,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The port that the Tracy profiler connects to
    #[arg(long, default_value_t = 8086)]
    port: u16,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let path = &arguments.file;
    let contents = Contents::open(path)?;
    let profile = Profile::read(&contents).map_err(|error| about(path, &error))?;
    let names = profile.functions.values().map(|function| function.name.as_str());
    let places = places(&arguments.module, &arguments.sources, names)?;
    let program = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let target = Target { to: arguments.to, output: arguments.output.as_deref(), port: arguments.port };
    let timeline = profile.timeline(&places);
    for gap in profile.gaps() {
        eprintln!("zonecast: {}: {gap}", path.display());
    }
    for note in &profile.notes {
        eprintln!("zonecast: {}: {note}", path.display());
    }
    show(&timeline, &program, &target)?;
    match profile.notes[..] {
        [] => Ok(ExitCode::SUCCESS),
        // What there is has been shown.
        _ => Ok(ExitCode::FAILURE),
    }
}

/// Where kernels come from, by modules and dumped files.
pub(crate) fn places<'n>(
    modules: &[PathBuf],
    folders: &[PathBuf],
    names: impl Iterator<Item = &'n str> + Clone,
) -> Result<Places, Failure> {
    let mut places = Places::default();
    for module in modules {
        places.add_module(&open(module)?);
    }
    for folder in folders {
        places.add_folder(folder, names.clone())?;
    }
    Ok(places)
}

fn open(path: &Path) -> Result<Executable, Failure> {
    Executable::open(path).map_err(|error| error.to_string().into())
}
