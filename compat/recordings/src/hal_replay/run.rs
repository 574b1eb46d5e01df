//! Running a replay again: the parent's side and the child's.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use serde_json::{Value, json};

use super::file::HalReplay;
use super::machine::{Machine, Watch};
use crate::child::{self, Failure, Limits};
use crate::{Contents, Error};

/// What is to be run, and how.
#[derive(Clone, Debug)]
pub struct Job {
    /// The replay.
    pub file: PathBuf,
    /// How often, each time from the beginning.
    pub repeat: u32,
    /// Executables to run instead of recorded ones, by their numbers.
    pub instead: Vec<(u64, PathBuf)>,
    /// Where outputs go: `run N/dispatch N binding N NAME.bin`, for what each dispatch changed, and
    /// `run N/read N buffer N.bin`, for what the host read.
    pub outputs: PathBuf,
    /// What all runs together may use.
    pub limits: Limits,
}

/// A dispatch that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatched {
    /// In which run.
    pub run: u32,
    /// The kernel's name.
    pub name: String,
    /// When it began and ended, in nanoseconds since the run began.
    pub begin: i64,
    /// See `begin`.
    pub end: i64,
}

/// What came of a job.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// All dispatches of all runs, in order.
    pub dispatches: Vec<Dispatched>,
}

/// Why a replay could not be run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The file cannot be read, or a folder not be made.
    Recording(Error),
    /// The child crashed, broke a limit, or says what it cannot do.
    Child(Failure),
    /// The child answered something that makes no sense.
    Answer,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recording(error) => error.fmt(f),
            Self::Child(failure) => write!(f, "the replay failed: {failure}"),
            Self::Answer => f.write_str("the replay failed: the child's answer makes no sense"),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs a job in a child process: a program that calls [`serve`].
///
/// # Errors
///
/// If the recording cannot be read, holds what cannot be replayed on this machine, or the child fails.
pub fn run(job: &Job, program: &mut Command) -> Result<Replayed, RunError> {
    let path = |path: &Path| std::path::absolute(path).map_err(|error| RunError::Recording(Error::io(error)));
    let instead: Result<Vec<Value>, RunError> =
        job.instead.iter().map(|(id, file)| Ok(json!([id, path(file)?]))).collect();
    let text = json!({
        "file": path(&job.file)?, "repeat": job.repeat.max(1), "instead": instead?, "outputs": path(&job.outputs)?,
    });
    let answer = child::run(program, text.to_string().as_bytes(), &job.limits).map_err(RunError::Child)?;
    let text = String::from_utf8(answer).map_err(|_| RunError::Answer)?;
    let dispatches =
        text.lines().map(|line| dispatched(line).ok_or(RunError::Answer)).collect::<Result<_, _>>()?;
    Ok(Replayed { dispatches })
}

fn dispatched(line: &str) -> Option<Dispatched> {
    let value: Value = serde_json::from_str(line).ok()?;
    Some(Dispatched {
        run: u32::try_from(value["run"].as_u64()?).ok()?,
        name: value["name"].as_str()?.to_owned(),
        begin: value["begin"].as_i64()?,
        end: value["end"].as_i64()?,
    })
}

/// What the child's program calls: does the job that its parent gives it. Returns what `main` is to return.
pub fn serve() -> ExitCode {
    match serve_job() {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

fn serve_job() -> Result<(), String> {
    child::enter().map_err(|error| error.to_string())?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string())?;
    let job: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let contents =
        Contents::open(job["file"].as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
    let replay = HalReplay::read(&contents).map_err(|error| error.to_string())?;
    if let Some(note) = replay.notes.first() {
        return Err(format!("the replay is damaged: {note}"));
    }
    let mut instead = HashMap::new();
    for pair in job["instead"].as_array().into_iter().flatten() {
        let (id, path) = (pair[0].as_u64().unwrap_or_default(), pair[1].as_str().unwrap_or_default());
        instead.insert(id, fs::read(path).map_err(|error| format!("{path}: {error}"))?);
    }
    let mut machine = Machine::new(instead);
    for run in 0..job["repeat"].as_u64().unwrap_or(1) {
        let folder = Path::new(job["outputs"].as_str().unwrap_or_default()).join(format!("run {run}"));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut watch = Keep { run, folder, begin: Instant::now(), count: 0, reads: 0, name: String::new() };
        machine.run(&replay, &mut watch)?;
    }
    Ok(())
}

/// Times dispatches, and keeps what they write.
struct Keep {
    run: u64,
    folder: PathBuf,
    begin: Instant,
    count: u32,
    reads: u32,
    name: String,
}

impl Watch for Keep {
    fn dispatch(&mut self, name: &str, run: &mut dyn FnMut() -> Result<(), String>) -> Result<(), String> {
        self.count += 1;
        name.clone_into(&mut self.name);
        let begin = self.begin.elapsed().as_nanos() as i64;
        run()?;
        let end = self.begin.elapsed().as_nanos() as i64;
        let line = json!({"run": self.run, "name": name, "begin": begin, "end": end});
        writeln!(std::io::stdout(), "{line}").map_err(|error| error.to_string())
    }

    fn written(&mut self, binding: usize, after: &[u8]) -> Result<(), String> {
        // A name comes from the file: only what is plain in it becomes part of a path.
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        let name: String = self.name.chars().take(100).map(plain).collect();
        self.keep(&format!("dispatch {:04} binding {binding} {name}.bin", self.count - 1), after)
    }

    fn read_by_host(&mut self, buffer: u64, bytes: &[u8]) -> Result<(), String> {
        self.reads += 1;
        self.keep(&format!("read {:04} buffer {buffer}.bin", self.reads - 1), bytes)
    }
}

impl Keep {
    fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.folder.join(name);
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    }
}
