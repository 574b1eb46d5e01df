//! What parent and child say to each other: a job as JSON, and a line of JSON for each run.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::llvm::Global;

/// A kernel that takes words: LLVM's on the host.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) kernel: String,
    pub(super) image: PathBuf,
    /// Where the memory is to be.
    pub(super) base: u64,
    pub(super) length: u64,
    /// The memory before the launch; may be shorter than `length`.
    pub(super) input: PathBuf,
    pub(super) globals_file: Option<PathBuf>,
    pub(super) globals: Vec<Global>,
    pub(super) words: Vec<u64>,
}

/// A dispatch of an IREE executable for CPUs.
#[derive(Debug)]
pub(super) struct Dispatch {
    /// The recording.
    pub(super) file: PathBuf,
    /// Instead of the image in it.
    pub(super) image: Option<PathBuf>,
    pub(super) constants: Vec<u32>,
}

/// What the child is to run.
#[derive(Debug)]
pub(super) enum Job {
    Words(Words),
    Dispatch(Dispatch),
}

/// What the child runs, how often, and where it leaves what came of it.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) job: Job,
    pub(super) repeat: u64,
    pub(super) folder: PathBuf,
}

/// When a run began and ended, in nanoseconds of the system's monotonic clock, and which outcome it had.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawRun {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) output: u64,
}

#[derive(Debug)]
pub(super) enum Answer {
    Run(RawRun),
    /// The address is taken in this process.
    Taken,
}

/// The file of an outcome.
pub(super) fn output_name(number: u64) -> String {
    format!("{number}.output")
}

impl Job {
    pub(super) fn base(&self) -> u64 {
        match self {
            Self::Words(words) => words.base,
            Self::Dispatch(_) => 0,
        }
    }

    pub(super) fn to_json(&self, repeat: u32, folder: &Path) -> Value {
        let (kind, job) = match self {
            Self::Words(words) => ("words", words.to_json()),
            Self::Dispatch(dispatch) => ("dispatch", dispatch.to_json()),
        };
        json!({ "repeat": repeat, "folder": path(folder), kind: job })
    }
}

impl Order {
    /// Reads what [`Job::to_json`] wrote; `None` if it is something else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let words = Words::parse(&value["words"]).map(Job::Words);
        Some(Self {
            job: words.or_else(|| Dispatch::parse(&value["dispatch"]).map(Job::Dispatch))?,
            repeat: value["repeat"].as_u64()?,
            folder: to_path(&value["folder"])?,
        })
    }
}

impl Words {
    fn to_json(&self) -> Value {
        let globals = self.globals.iter().map(|g| json!([g.name, g.range.start, g.range.end]));
        json!({
            "kernel": self.kernel,
            "image": path(&self.image),
            "base": self.base,
            "length": self.length,
            "input": path(&self.input),
            "globals_file": self.globals_file.as_deref().map(path),
            "globals": globals.collect::<Vec<_>>(),
            "words": self.words,
        })
    }

    fn parse(value: &Value) -> Option<Self> {
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let global = |value: &Value| {
            let range = number(&value[1])?..number(&value[2])?;
            Some(Global { name: value[0].as_str()?.to_owned(), range })
        };
        Some(Self {
            kernel: value["kernel"].as_str()?.to_owned(),
            image: to_path(&value["image"])?,
            base: value["base"].as_u64()?,
            length: value["length"].as_u64()?,
            input: to_path(&value["input"])?,
            globals_file: to_path(&value["globals_file"]),
            globals: value["globals"].as_array()?.iter().map(global).collect::<Option<_>>()?,
            words: value["words"].as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?,
        })
    }
}

impl Dispatch {
    fn to_json(&self) -> Value {
        json!({
            "file": path(&self.file),
            "image": self.image.as_deref().map(path),
            "constants": self.constants,
        })
    }

    fn parse(value: &Value) -> Option<Self> {
        let constant = |value: &Value| u32::try_from(value.as_u64()?).ok();
        Some(Self {
            file: to_path(&value["file"])?,
            image: to_path(&value["image"]),
            constants: value["constants"].as_array()?.iter().map(constant).collect::<Option<_>>()?,
        })
    }
}

impl Answer {
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Run(run) => json!([run.start, run.end, run.output]),
            Self::Taken => Value::Null,
        }
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(line).ok()?;
        if value.is_null() {
            return Some(Self::Taken);
        }
        let (start, end) = (value[0].as_i64()?, value[1].as_i64()?);
        Some(Self::Run(RawRun { start, end, output: value[2].as_u64()? }))
    }
}

/// Puts lines together from the pieces in which they come.
#[derive(Debug, Default)]
pub(super) struct Answers {
    rest: Vec<u8>,
}

impl Answers {
    /// The answers that are whole now; of a line that is none, the line.
    pub(super) fn take(&mut self, piece: &[u8]) -> Vec<Result<Answer, String>> {
        self.rest.extend_from_slice(piece);
        let whole = self.rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        let answer =
            |line: &[u8]| Answer::parse(line).ok_or_else(|| String::from_utf8_lossy(line).into_owned());
        lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(answer).collect()
    }
}

/// As bytes, since paths need not be UTF-8.
fn path(path: &Path) -> Value {
    path.as_os_str().as_encoded_bytes().into()
}

fn to_path(value: &Value) -> Option<PathBuf> {
    let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
    let bytes: Vec<u8> = value.as_array()?.iter().map(byte).collect::<Option<_>>()?;
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
        .map(|path: std::ffi::OsString| path.into());
    #[cfg(not(unix))]
    String::from_utf8(bytes).ok().map(Into::into)
}
