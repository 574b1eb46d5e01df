//! `zonecast replay`: what IREE recorded of a device, shown, unpacked and run again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::time::Duration;

use clap::{Args, Subcommand};
use zonecast_recordings::Contents;
use zonecast_recordings::child::Limits;
use zonecast_recordings::diff::{Element, Region, Tolerance, compare};
use zonecast_recordings::hal_replay::{self, Dispatched, HalReplay, Job, Replayed, operation_name};
use zonecast_recordings::places::Places;
use zonecast_recordings::timeline::{Timeline, Zone};

use crate::files::{about, print};
use crate::profile::add_executables;
use crate::recording::diff::report;
use crate::timeline::{Target, To, show};
use crate::{FOUND, Failure};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the calls that were recorded
    Show {
        /// The replay, as `iree-run-module --device_replay_output=FILE` wrote it
        file: PathBuf,
    },
    /// Write into a folder what came with the calls: executables, and the contents of buffers and files
    ///
    /// Contents are what the host wrote, updates and imports, and what was read of files, each named after its call
    /// in `show`. What kernels compute is not recorded: `run -o` keeps that.
    Extract {
        /// The replay
        file: PathBuf,
        /// The folder
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// Run the recorded CPU executables again, in a process of their own, and compare what they write
    Run(Arguments),
    /// What `run` starts
    #[command(hide = true)]
    Serve,
}

#[derive(Args)]
#[command(after_help = "\
Each run begins with the recorded inputs. What its dispatches changed, and what the program read back, is \
compared with the first run's, or with --expect; the command exits with 3 if something differs. This runs the machine code in the file.")]
pub(crate) struct Arguments {
    /// The replay
    file: PathBuf,
    /// How often to run it
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Keep what each dispatch changed, and what the program read back, in this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Compare with what an earlier run kept: its folder, or one run's
    #[arg(long, value_name = "FOLDER")]
    expect: Option<PathBuf>,
    /// Run this executable instead of the recorded one of that number
    #[arg(long, value_name = "NUMBER=FILE", value_parser = substitute)]
    executable: Vec<(u64, PathBuf)>,
    /// What buffers hold: u8 to u64, i8 to i64, f16, bf16, f32 or f64
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    element: Element,
    /// So many units in the last place are admitted
    #[arg(long, value_name = "COUNT")]
    ulp: Option<u64>,
    /// This share of the larger magnitude is admitted
    #[arg(long, value_name = "SHARE")]
    relative: Option<f64>,
    /// End it if all runs together take longer
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time: u64,
    /// How much memory the process may use
    #[arg(long, value_name = "MIB", default_value_t = 8192)]
    memory: u64,
    /// Also show the first run's dispatches as zones
    #[arg(long)]
    to: Option<To>,
    /// The port that the Tracy profiler connects to
    #[arg(long, default_value_t = 8086)]
    port: u16,
}

fn substitute(text: &str) -> Result<(u64, PathBuf), String> {
    let (number, file) = text.split_once('=').ok_or("write it as NUMBER=FILE")?;
    Ok((number.parse().map_err(|error| format!("{number}: {error}"))?, file.into()))
}

pub(crate) fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Show { file } => with(&file, list),
        Command::Extract { file, output } => with(&file, |replay| extract(replay, &output)),
        Command::Run(arguments) => run_again(&arguments),
        Command::Serve => Ok(hal_replay::serve()),
    }
}

/// Reads a replay, and tells of what was odd after `work` is done with it.
fn with(path: &Path, work: impl FnOnce(&HalReplay<'_>) -> Result<(), Failure>) -> Result<ExitCode, Failure> {
    let contents = Contents::open(path)?;
    let replay = HalReplay::read(&contents).map_err(|error| about(path, &error))?;
    work(&replay)?;
    if !replay.is_finished {
        eprintln!("zonecast: {}: the recording was never finished", path.display());
    }
    replay.notes.iter().for_each(|note| eprintln!("zonecast: {}: {note}", path.display()));
    Ok(if replay.notes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn list(replay: &HalReplay<'_>) -> Result<(), Failure> {
    const OBJECTS: [&str; 13] = [
        "none",
        "device",
        "allocator",
        "pool",
        "buffer",
        "command buffer",
        "executable cache",
        "executable",
        "semaphore",
        "file",
        "event",
        "channel",
        "host call",
    ];
    print(|out| {
        for record in &replay.records {
            let what = match record.kind {
                1 => "session".to_owned(),
                2 => format!("made {}", OBJECTS.get(record.object_kind as usize).unwrap_or(&"object")),
                3 => operation_name(record.operation),
                4 => "data".to_owned(),
                _ => "a call that could not be recorded".to_owned(),
            };
            write!(out, "{:>6} {what} object {}", record.sequence, record.object)?;
            if record.related != 0 {
                write!(out, " with {}", record.related)?;
            }
            if record.status != 0 {
                write!(out, " FAILED with {}", record.status)?;
            }
            writeln!(out, ", {} bytes", record.payload.len())?;
        }
        Ok(())
    })
}

fn extract(replay: &HalReplay<'_>, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| about(folder, &error))?;
    for executable in replay.executables() {
        let path = folder.join(format!("executable {}.so", executable.id));
        fs::write(&path, executable.bytes).map_err(|error| about(&path, &error))?;
        println!("{}: {}, {} bytes", path.display(), executable.format, executable.bytes.len());
    }
    for (record, data) in replay.contents() {
        let what = if record.kind == 2 { "file".to_owned() } else { operation_name(record.operation) };
        let path = folder.join(format!("{:04} {what} object {}.bin", record.sequence, record.object));
        fs::write(&path, data).map_err(|error| about(&path, &error))?;
        println!("{}: {} bytes", path.display(), data.len());
    }
    Ok(())
}

fn run_again(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let scratch = tempfile::tempdir()?;
    let outputs = arguments.output.clone().unwrap_or_else(|| scratch.path().to_owned());
    if outputs.join("run 0").exists() {
        return Err(format!("{}: there are outputs already; use an empty folder", outputs.display()).into());
    }
    let job = Job {
        file: arguments.file.clone(),
        repeat: arguments.repeat,
        instead: arguments.executable.clone(),
        outputs: outputs.clone(),
        limits: Limits {
            time: Duration::from_secs(arguments.time),
            memory: arguments.memory << 20,
            ..Limits::default()
        },
    };
    let mut program = process::Command::new(std::env::current_exe()?);
    let replayed = hal_replay::run(&job, program.args(["replay", "serve"]))?;
    tell(&replayed);
    if let Some(to) = arguments.to {
        let timeline = timeline(&arguments.file, &replayed)?;
        show(&timeline, "replay", &Target { to, output: None, port: arguments.port })?;
    }
    let mut code = ExitCode::SUCCESS;
    if let Some(expected) = &arguments.expect {
        let run = expected.join("run 0");
        let folder = if run.is_dir() { run } else { expected.clone() };
        if !is_same(&folder, &outputs.join("run 0"), arguments)? {
            code = ExitCode::from(FOUND);
        }
    }
    for other in 1..arguments.repeat {
        if !is_same(&outputs.join("run 0"), &outputs.join(format!("run {other}")), arguments)? {
            code = ExitCode::from(FOUND);
        }
    }
    Ok(code)
}

/// How long each kernel took.
fn tell(replayed: &Replayed) {
    let mut times: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for Dispatched { name, begin, end, .. } in &replayed.dispatches {
        times.entry(name).or_default().push(end - begin);
    }
    for (name, mut times) in times {
        times.sort_unstable();
        let (least, median, most) = (times[0], times[times.len() / 2], times[times.len() - 1]);
        println!(
            "{name}: {} times, {least} ns at least, {median} ns in the middle, {most} ns at most",
            times.len()
        );
    }
}

/// The first run's dispatches, with their sources.
fn timeline(path: &Path, replayed: &Replayed) -> Result<Timeline, Failure> {
    let contents = Contents::open(path)?;
    let replay = HalReplay::read(&contents).map_err(|error| about(path, &error))?;
    let mut places = Places::default();
    add_executables(&mut places, &replay);
    let zone = |dispatched: &Dispatched| Zone {
        name: dispatched.name.clone(),
        place: places.of(&dispatched.name).cloned(),
        begin: dispatched.begin,
        end: dispatched.end,
        ..Zone::default()
    };
    let mut timeline = Timeline::default();
    timeline.add("replay", replayed.dispatches.iter().filter(|one| one.run == 0).map(zone).collect());
    for place in timeline.rows.iter().flat_map(|row| &row.zones).filter_map(|zone| zone.place.as_ref()) {
        if let Some(text) = places.text(&place.file) {
            timeline.sources.entry(place.file.clone()).or_insert_with(|| text.to_vec());
        }
    }
    Ok(timeline)
}

/// Compares what two runs changed; tells what differs.
fn is_same(a: &Path, b: &Path, arguments: &Arguments) -> Result<bool, Failure> {
    let tolerance = Tolerance { ulp: arguments.ulp, relative: arguments.relative, absolute: None };
    let (in_a, in_b) = (names(a)?, names(b)?);
    let mut is_same = true;
    for name in in_a.symmetric_difference(&in_b) {
        println!("{name}: only one of both runs changed it");
        is_same = false;
    }
    for name in in_a.intersection(&in_b) {
        let open =
            |folder: &Path| File::open(folder.join(name)).map_err(|error| about(&folder.join(name), &error));
        let (mut a, mut b) = (open(a)?, open(b)?);
        let length = a.metadata()?.len().max(b.metadata()?.len());
        let region = Region {
            name: name.trim_end_matches(".bin").to_owned(),
            range: 0..length,
            element: arguments.element,
        };
        let outcomes = compare(&mut a, &mut b, &[region], tolerance)?;
        if !outcomes.iter().all(zonecast_recordings::diff::Outcome::is_within) {
            report(&outcomes)?;
            is_same = false;
        }
    }
    if is_same {
        println!("{} buffers are the same in {} and {}", in_a.len(), a.display(), b.display());
    }
    Ok(is_same)
}

fn names(folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| about(folder, &error))?;
    let names: Result<BTreeSet<String>, std::io::Error> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    Ok(names?.into_iter().filter(|name| name.ends_with(".bin")).collect())
}
