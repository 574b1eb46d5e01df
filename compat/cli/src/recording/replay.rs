//! `zonecast recording replay`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use zonecast_recordings::child::Limits;
use zonecast_recordings::diff::Outcome;
use zonecast_recordings::replay::{Replay, Replayed, Run, Word};

use super::diff::{View, report};
use super::recorded::{Recorded, open};
use crate::files::about;
use crate::sources::plain;
use crate::{FOUND, Failure};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A recording of a launch on a CPU
    recording: PathBuf,
    /// How often to run it; memory and globals are restored each time
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Pass another word: `1=16`, `1=-1`, `2=+0x40` (an offset into the memory), `3=f32:1.5`
    #[arg(long = "arg", value_name = "ARGUMENT=WORD", value_parser = word)]
    words: Vec<(usize, Word)>,
    /// Load this image instead of the one recorded
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Where libraries are that the image needs, such as libomp.so.5
    #[arg(long, value_name = "DIR")]
    library_path: Vec<PathBuf>,
    /// End it if all runs together take longer
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time: u64,
    /// How much memory the process may use
    #[arg(long, value_name = "MIB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    memory: u64,
    /// Keep what was computed beside the recording, for `diff`
    #[arg(long)]
    save_output: bool,
    #[command(flatten)]
    view: View,
}

fn word(text: &str) -> Result<(usize, Word), String> {
    let (argument, word) = text.split_once('=').ok_or("write it as ARGUMENT=WORD")?;
    let argument = argument.parse().map_err(|error| format!("{argument}: {error}"))?;
    Ok((argument, word.parse()?))
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let _session = zonecast::start();
    let recorded = Recorded::open(&arguments.recording)?;
    let notes: Vec<String> = match &recorded {
        Recorded::Llvm(recording) => recording.notes().iter().map(ToString::to_string).collect(),
        Recorded::Own(_, recording) => recording.gaps.clone(),
    };
    notes.iter().for_each(|note| eprintln!("zonecast: {}", plain(note.as_bytes())));
    let replayed = replay(arguments, &recorded)?;
    tell(&replayed.runs);
    if arguments.save_output {
        let place = recorded.replay_output();
        fs::copy(&replayed.outputs()[0], &place).map_err(|error| about(&place, &error))?;
    }
    compare(arguments, &recorded, &replayed)
}

fn compare(arguments: &Arguments, recorded: &Recorded, replayed: &Replayed) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for (number, output) in replayed.outputs().iter().enumerate() {
        let Some(mut expected) = recorded.output()? else {
            println!("there is no recorded output to compare with");
            return Ok(code);
        };
        let runs = replayed.runs.iter().filter(|run| run.output == number).count();
        if runs < replayed.runs.len() {
            println!("{runs} of {} runs computed this:", replayed.runs.len());
        }
        let outcomes = arguments.view.compare(recorded, &mut expected, &mut open(output)?)?;
        report(&outcomes)?;
        if !outcomes.iter().all(Outcome::is_within) {
            code = ExitCode::from(FOUND);
        }
    }
    match replayed.runs.iter().filter(|run| run.output >= replayed.outputs().len()).count() {
        0 => Ok(code),
        others => {
            println!("{others} further runs computed still other things");
            Ok(ExitCode::from(FOUND))
        }
    }
}

fn replay(arguments: &Arguments, recorded: &Recorded) -> Result<Replayed, Failure> {
    let replay = Replay {
        repeat: arguments.repeat,
        limits: Limits {
            time: Duration::from_secs(arguments.time),
            memory: arguments.memory << 20,
            ..Limits::default()
        },
        library_path: arguments.library_path.clone(),
        arguments: arguments.words.clone(),
        image: arguments.image.clone(),
    };
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["recording", "serve-replay"]);
    // Draws on terminals only.
    let progress = ProgressBar::new(arguments.repeat.into());
    let mut watch = |_| progress.inc(1);
    let replayed = match recorded {
        Recorded::Llvm(recording) => replay.llvm_watched(recording, &mut child, &mut watch),
        Recorded::Own(file, _) => replay.recording(file, &mut child, &mut watch),
    };
    progress.finish_and_clear();
    Ok(replayed?)
}

fn tell(runs: &[Run]) {
    let mut times: Vec<i64> = runs.iter().map(|run| run.end - run.start).collect();
    times.sort_unstable();
    let (least, median, most) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    match runs.len() {
        1 => println!("one run, {least} ns"),
        count => println!("{count} runs, {least} ns at least, {median} ns in the middle, {most} ns at most"),
    }
}
