//! Runs recorded kernels again, on the CPU, in a process of its own.
//!
//! [`Replay`] says how often and within which limits; [`Replay::llvm`] runs a launch that LLVM recorded on the host,
//! [`Replay::recording`] a dispatch that this crate's [`recorder`] did. Before
//! each run, memory and globals are what they were when the launch was recorded, LLVM's at the same addresses. What
//! each run computed is left in files, to be [compared](crate::diff) with what was recorded.
//!
//! # The child
//!
//! Recorded code may crash, hang or do anything else, so it never runs in the caller's process: [`Replay`] starts a
//! program, which calls [`serve`] and nothing else. That may be the caller's own program:
//!
//! ```no_run
//! use std::process::{Command, ExitCode};
//! use zonecast_recordings::{llvm::Recording, replay};
//!
//! fn main() -> ExitCode {
//!     if std::env::args().nth(1).as_deref() == Some("serve-replay") {
//!         return replay::serve();
//!     }
//!     let mut child = Command::new(std::env::current_exe().unwrap());
//!     child.arg("serve-replay");
//!     let recording = Recording::open("recordings/8999975377531113871_7661461400537895360").unwrap();
//!     let replayed = replay::Replay::default().llvm(&recording, &mut child).unwrap();
//!     println!("{} runs", replayed.runs.len());
//!     ExitCode::SUCCESS
//! }
//! ```
//!
//! # Tracing
//!
//! Each run is a zone of a lane named `replay`, at the kernel's own source where the image carries it.

mod job;
#[cfg(target_os = "linux")]
mod serve;
mod symbols;
mod trace;
mod word;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use tempfile::TempDir;
use zonecast::{Time, sources};
use zonecast_embed::Executable;

use crate::child::{self, Failure, Limits};
use crate::llvm::{Generation, Note, Part, Recording};
use crate::recorder::{self, Argument};
use crate::{Error, ImageKind};

use self::job::{Answer, Answers, Job, Words};
use self::trace::Trace;
pub use self::word::Word;

/// How often another child is tried if the recorded addresses are taken in one. Where things are differs from
/// process to process.
const ATTEMPTS: usize = 8;

/// How to replay. With the default, once, within the default [`Limits`].
#[derive(Clone, Debug)]
pub struct Replay {
    /// How many runs; at least one.
    pub repeat: u32,
    /// What all runs together may use. [`Limits::output`] is of no account: what they compute goes into files.
    pub limits: Limits,
    /// Folders with libraries that the image needs, such as `libomp.so.5`, before those that the system searches.
    pub library_path: Vec<PathBuf>,
    /// Arguments to be passed instead of those recorded.
    pub arguments: Vec<(usize, Word)>,
    /// An image to load instead of the one recorded.
    pub image: Option<PathBuf>,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            repeat: 1,
            limits: Limits::default(),
            library_path: Vec::new(),
            arguments: Vec::new(),
            image: None,
        }
    }
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// When the kernel was called.
    pub start: Time,
    /// When it returned.
    pub end: Time,
    /// Which of [`Replayed::outputs`] it computed; as many as there are, if none is kept that it could be.
    pub output: usize,
}

/// What came of a replay.
#[derive(Debug)]
pub struct Replayed {
    /// All runs.
    pub runs: Vec<Run>,
    /// The memory after a run, a file for each outcome: one, unless the kernel computes now this, now that. Only the first
    /// few are kept.
    outputs: Vec<PathBuf>,
    /// Deleted with the outputs in it.
    _folder: TempDir,
}

impl Replayed {
    /// Files with the memory after a run, one for each different outcome of the first eight. They are deleted with this value.
    pub fn outputs(&self) -> &[PathBuf] {
        &self.outputs
    }
}

/// Why a recording cannot be replayed. `Display` says it in a sentence.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// The recording is incomplete, contradicts itself, or is of a kind that cannot be run here.
    Recording(Error),
    /// The child crashed, hung, or says what is wrong.
    Child(Failure),
    /// The recorded address is taken in each child that was tried.
    Taken(u64),
    /// The child answered something else than it was asked for.
    Answer(String),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recording(error) => error.fmt(f),
            Self::Child(failure) => write!(f, "the replay failed: {failure}"),
            Self::Taken(base) => {
                write!(f, "the recorded address {base:#x} is taken in each of {ATTEMPTS} processes")
            }
            Self::Answer(what) => write!(f, "the child's answer makes no sense: {what}"),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Recording(error) => Some(error),
            Self::Child(failure) => Some(failure),
            _ => None,
        }
    }
}

impl From<Error> for ReplayError {
    fn from(error: Error) -> Self {
        Self::Recording(error)
    }
}

impl Replay {
    /// Replays a launch that LLVM recorded on the host. `child` is a program that calls [`serve`].
    ///
    /// # Errors
    ///
    /// If the recording lacks what is needed, names or sizes in it contradict the image, the image is not for this machine, or
    /// the child fails.
    pub fn llvm(&self, recording: &Recording, child: &mut Command) -> Result<Replayed, ReplayError> {
        self.llvm_watched(recording, child, &mut |_| ())
    }

    /// As [`llvm`](Self::llvm), and tells of each run when it is over.
    ///
    /// # Errors
    ///
    /// As [`llvm`](Self::llvm).
    pub fn llvm_watched(
        &self,
        recording: &Recording,
        child: &mut Command,
        watch: &mut (dyn FnMut(Run) + Send),
    ) -> Result<Replayed, ReplayError> {
        let _zone = zonecast::zone!("replay");
        let words = self.words(recording)?;
        let (image, kernel) = (words.image.clone(), words.kernel.clone());
        self.run(Job::Words(words), child, &mut Trace::new(&image, &kernel), watch)
    }

    /// Replays a launch that a [`Recorder`](crate::recorder::Recorder) recorded in this file, of an IREE executable for CPUs.
    /// Each time `watch` is told of a run. `child` is a program that calls [`serve`].
    ///
    /// Other arguments can be given for constants only, since bindings have no address.
    ///
    /// # Errors
    ///
    /// If the file is damaged, the launch was on another kind of device, its image was not recorded, or the child
    /// fails.
    pub fn recording(
        &self,
        file: &Path,
        child: &mut Command,
        watch: &mut (dyn FnMut(Run) + Send),
    ) -> Result<Replayed, ReplayError> {
        let _zone = zonecast::zone!("replay");
        let recording = recorder::Recording::read(file)?;
        let (job, executable) = self.dispatch(&recording, file).map_err(|error| error.in_file(file))?;
        let mut trace = Trace::of(sources::register(executable), &recording.description.kernel);
        self.run(Job::Dispatch(job), child, &mut trace, watch)
    }

    /// What the child is to do, and what it will run.
    fn dispatch(
        &self,
        recording: &recorder::Recording,
        file: &Path,
    ) -> Result<(job::Dispatch, Executable), Error> {
        let launch = &recording.description;
        if launch.backend != recorder::cpu::NAME {
            let what = format!("a replay of what was launched on {}, rather than on a CPU", launch.backend);
            return Err(Error::unsupported(what));
        }
        if recording.image.is_empty() && self.image.is_none() {
            return Err(Error::missing("a replay needs the image, and it was not recorded"));
        }
        let constants = launch.arguments.iter().filter(|argument| argument.pointee.is_none());
        let constant =
            |argument: &Argument| argument.bytes.as_slice().try_into().ok().map(u32::from_le_bytes);
        let constants: Option<Vec<u32>> = constants.map(constant).collect();
        let mut constants = constants.ok_or_else(|| Error::contradiction("constants of four bytes"))?;
        for &(index, word) in &self.arguments {
            let value = u32::try_from(word.at(0));
            let Some((place, value)) = constants.get_mut(index).zip(value.ok()) else {
                let count = constants.len();
                let what = format!("argument {index} is none of the {count} constants of 32 bits");
                return Err(Error::missing(what));
            };
            *place = value;
        }
        let image = self.image.as_deref().map(absolute).transpose()?;
        let executable = match &image {
            Some(image) => Executable::open(image),
            None => Executable::from_bytes(recording.image.clone(), &launch.kernel),
        };
        let executable = executable.map_err(|error| Error::contradiction(format!("an image: {error};")))?;
        Ok((job::Dispatch { file: absolute(file)?, image, constants }, executable))
    }

    /// What the child is to do.
    fn words(&self, recording: &Recording) -> Result<Words, Error> {
        let _zone = zonecast::zone!("check the recording");
        let json = recording.json();
        let refuse = |what: String| Err(Error::unsupported(what).in_file(json));
        if let Some(note) = recording.notes().iter().find(|note| matches!(note, Note::Misnamed { .. })) {
            return refuse(note.to_string());
        }
        let Some(base) = recording.description().base else {
            return refuse(format!(
                "a replay of what {} recorded: it has no address",
                recording.generation()
            ));
        };
        let needed = |part| {
            let missing = || Error::missing("a replay needs this file, and it is not there");
            let path = recording.path(part).ok_or_else(|| missing().in_file(recording.place(part)))?;
            Ok::<_, Error>(path.to_owned())
        };
        let input = needed(Part::Input)?;
        let image = self.image.clone().map_or_else(|| needed(Part::Image), Ok)?;
        let bytes = std::fs::read(&image).map_err(|error| Error::io(error).in_file(&image))?;
        let kind = ImageKind::of(&bytes);
        if !kind.is_for_host() {
            let what = format!("the image is {kind}; only launches on this machine's CPU can be replayed");
            return Err(Error::unsupported(what).in_file(&image));
        }
        let length = recording.len(Part::Input).max(recording.len(Part::Output)).unwrap_or(0);
        let words = Words {
            kernel: recording.description().kernel.clone(),
            base,
            length,
            words: self.passed(recording, base)?,
            globals_file: recording.path(Part::Globals).map(absolute).transpose()?,
            globals: recording.globals().to_vec(),
            image: absolute(&image)?,
            input: absolute(&input)?,
        };
        symbols::check(&bytes, &words).map_err(|error| error.in_file(&image))?;
        Ok(words)
    }

    /// The words that the kernel is given.
    fn passed(&self, recording: &Recording, base: u64) -> Result<Vec<u64>, Error> {
        let wrong = |what: String| Err(Error::missing(what).in_file(recording.json()));
        let mut words = recording.description().arguments.clone();
        let count = words.len();
        let lost = recording.generation() == Generation::Second;
        let mut given = vec![!lost; count];
        for &(index, word) in &self.arguments {
            let Some((place, given)) = words.get_mut(index).zip(given.get_mut(index)) else {
                return wrong(format!("there is no argument {index}; there are {count}, counted from 0"));
            };
            (*place, *given) = (word.at(base), true);
        }
        match given.iter().position(|given| !given) {
            None => Ok(words),
            Some(index) => wrong(format!(
                "{} recorded no values of arguments, so all {count} must be given; there is none for argument {index}",
                recording.generation()
            )),
        }
    }

    fn run(
        &self,
        job: Job,
        child: &mut Command,
        trace: &mut Trace,
        watch: &mut (dyn FnMut(Run) + Send),
    ) -> Result<Replayed, ReplayError> {
        let folder = tempfile::tempdir().map_err(Error::io)?;
        let repeat = self.repeat.max(1);
        let text = job.to_json(repeat, folder.path()).to_string();
        self.prepare(child)?;
        let limits = Limits { output: 1 << 32, ..self.limits };
        for _ in 0..ATTEMPTS {
            let mut answers = Answers::default();
            let mut runs = Vec::new();
            let mut strange = None;
            let mut take = |piece: &[u8]| {
                for answer in answers.take(piece) {
                    match answer {
                        Ok(Answer::Run(run)) => {
                            let run = trace.run(run);
                            runs.push(run);
                            watch(run);
                        }
                        Ok(Answer::Taken) => strange = Some(None),
                        Err(line) => strange = Some(Some(line)),
                    }
                }
            };
            child::run_watched(child, text.as_bytes(), &limits, &mut take).map_err(ReplayError::Child)?;
            match strange {
                Some(None) => continue,
                Some(Some(line)) => return Err(ReplayError::Answer(line)),
                None if runs.len() != repeat as usize => {
                    return Err(ReplayError::Answer(format!("{} runs instead of {repeat}", runs.len())));
                }
                None => return Ok(Replayed { runs, outputs: outputs(folder.path()), _folder: folder }),
            }
        }
        Err(ReplayError::Taken(job.base()))
    }

    fn prepare(&self, child: &mut Command) -> Result<(), Error> {
        if !self.library_path.is_empty() {
            let system = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
            let folders = self.library_path.iter().cloned().chain(std::env::split_paths(&system));
            let joined = std::env::join_paths(folders.filter(|folder| !folder.as_os_str().is_empty()));
            let wrong = |error| Error::io(std::io::Error::new(std::io::ErrorKind::InvalidInput, error));
            child.env("LD_LIBRARY_PATH", joined.map_err(wrong)?);
        }
        Ok(())
    }
}

/// What the child's program calls: does the replay that its parent asks for. Returns what `main` is to return.
pub fn serve() -> ExitCode {
    #[cfg(target_os = "linux")]
    let done = serve::serve();
    #[cfg(not(target_os = "linux"))]
    let done: Result<(), String> = Err("recordings can be replayed on Linux only".to_owned());
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|error| Error::io(error).in_file(path))
}

/// The files that the child left.
fn outputs(folder: &Path) -> Vec<PathBuf> {
    (0..).map(|number| folder.join(job::output_name(number))).take_while(|file| file.is_file()).collect()
}
