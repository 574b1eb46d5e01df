//! `zonecast profile`: when dispatches ran, from IREE's profiles.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use zonecast_embed::Executable;
use zonecast_recordings::executions::Executions;
use zonecast_recordings::hal_replay::HalReplay;
use zonecast_recordings::instruments::Stream;
use zonecast_recordings::places::Places;
use zonecast_recordings::profile::Profile;
use zonecast_recordings::{Contents, Note};

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
    /// What `--instrument_file` wrote in the same run: each dispatch tells what it touched, and has its own text
    #[arg(long, value_name = "FILE")]
    instruments: Option<PathBuf>,
    /// What `--device_replay_output` wrote in the same run: each dispatch tells what it was given
    #[arg(long, value_name = "X.ireereplay")]
    replay: Option<PathBuf>,
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
    let mut places = places(&arguments.module, &arguments.sources, names)?;
    let (executions, mut is_whole) = executions(arguments, &mut places)?;
    let program = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let target = Target { to: arguments.to, output: arguments.output.as_deref(), port: arguments.port };
    let timeline = profile.timeline(&places, &executions);
    for gap in profile.gaps().into_iter().chain(executions.gaps(&profile)) {
        eprintln!("zonecast: {}: {gap}", path.display());
    }
    is_whole &= warn(path, &profile.notes);
    show(&timeline, &program, &target)?;
    // What there is has been shown.
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the run's other recordings say, also of where kernels come from; and whether they are whole.
fn executions(arguments: &Arguments, places: &mut Places) -> Result<(Executions, bool), Failure> {
    let mut executions = Executions::default();
    let mut is_whole = true;
    if let Some(path) = &arguments.replay {
        let contents = Contents::open(path)?;
        let replay = HalReplay::read(&contents).map_err(|error| about(path, &error))?;
        is_whole &= warn(path, &replay.notes);
        executions.add_replay(&replay).map_err(|error| about(path, &error))?;
        add_executables(places, &replay);
    }
    if let Some(path) = &arguments.instruments {
        let contents = Contents::open(path)?;
        let stream = Stream::read(&contents).map_err(|error| about(path, &error))?;
        is_whole &= warn(path, stream.notes());
        executions.add_instruments(&stream);
        places.add_instruments(&stream);
    }
    Ok((executions, is_whole))
}

/// Tells of what was odd; false if there was something.
fn warn(path: &Path, notes: &[Note]) -> bool {
    notes.iter().for_each(|note| eprintln!("zonecast: {}: {note}", path.display()));
    notes.is_empty()
}

/// The kernels of a replay's executables.
pub(crate) fn add_executables(places: &mut Places, replay: &HalReplay<'_>) {
    for executable in replay.executables() {
        if let Ok(opened) = Executable::from_bytes(executable.bytes.to_vec(), "executable") {
            places.add_module(&opened);
        }
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
