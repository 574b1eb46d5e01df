//! One recorded launch, with all of its files.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::diff::{Element, Region};

use super::{Description, Global, ReportLine, Stem, find, globals};

/// Larger than any description: a launch of as many arguments as are read takes a few MiB.
const LONGEST_DESCRIPTION: u64 = 16 << 20;

/// A released form of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// LLVM 16. It can be looked at, and not replayed: there is neither image nor address.
    First,
    /// LLVM 18 to 22. Arguments are lost.
    Second,
    /// Since April 2026.
    Third,
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "LLVM 16",
            Self::Second => "LLVM 18 to 22",
            Self::Third => "LLVM since April 2026",
        })
    }
}

/// What can lie beside a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Device memory before the launch.
    Input,
    /// Device memory after it.
    Output,
    /// Device memory after a replay.
    ReplayOutput,
    /// The global variables before it.
    Globals,
    /// The device image, as it was loaded.
    Image,
    /// The LLVM bitcode that the image was compiled from when the program ran.
    Bitcode,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Input, Self::Output, Self::ReplayOutput, Self::Globals, Self::Image, Self::Bitcode];

    /// How its file name goes on after the stem.
    pub fn extension(self, generation: Generation) -> &'static str {
        match (self, generation) {
            (Self::Input, Generation::Third) => "record_input",
            (Self::Input, _) => "memory",
            (Self::Output, Generation::Third) => "record_output",
            (Self::Output, _) => "original.output",
            (Self::ReplayOutput, Generation::Third) => "replay_output",
            (Self::ReplayOutput, _) => "replay.output",
            (Self::Globals, _) => "globals",
            (Self::Image, _) => "image",
            (Self::Bitcode, _) => "bc",
        }
    }

    /// Whether the recorder of that generation writes it by itself.
    fn is_expected(self, generation: Generation) -> bool {
        match self {
            Self::Input | Self::Output => true,
            Self::Globals | Self::Image => generation > Generation::First,
            Self::ReplayOutput | Self::Bitcode => false,
        }
    }
}

/// Something worth saying to a person about a recording. `Display` says it in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A file is not there.
    Missing(PathBuf),
    /// The file names are hashes, and not those of what is in the description.
    Misnamed {
        /// What the files are called.
        named: Stem,
        /// What they should be called.
        described: Stem,
    },
    /// The file names are no hashes, so that nothing can be checked.
    Renamed,
    /// The arguments are addresses of variables of the recording program.
    ArgumentsLost,
    /// The launch does not keep to the kernel's limits.
    OutsideLimits,
    /// There is more memory after the launch than before it.
    Grown {
        /// Bytes before.
        input: u64,
        /// Bytes after.
        output: u64,
    },
    /// A key of the description that is not understood.
    UnknownKey(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(file) => write!(f, "{} is not there", file.display()),
            Self::Misnamed { named, described } => write!(
                f,
                "the files are named {named}, and the kernel and launch described are {described}: \
                 one of them was changed"
            ),
            Self::Renamed => f.write_str("the files have been renamed, so that their names check nothing"),
            Self::ArgumentsLost => f.write_str(
                "the arguments are addresses in the recording program, not values: \
                 LLVM 18 to 22 do not record what a kernel was given",
            ),
            Self::OutsideLimits => f.write_str("the launch is outside of the kernel's own limits"),
            Self::Grown { input, output } => write!(
                f,
                "there are {input} bytes of memory before the launch and {output} after it: \
                 more was allocated meanwhile, or the first file is cut"
            ),
            Self::UnknownKey(key) => write!(f, "the description has a key that is not understood: {key:?}"),
        }
    }
}

/// What an argument points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// Which of [`Recording::buffers`].
    pub buffer: usize,
    /// How many bytes into the recorded memory.
    pub offset: u64,
}

/// One 8-byte word that the kernel was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The word.
    pub word: u64,
    /// Into the recorded memory; `None` for a number, and in generations that do not tell.
    pub pointee: Option<Pointee>,
}

/// One recorded launch. Holds names and tables; the memory and the image stay in their files.
#[derive(Clone, Debug)]
pub struct Recording {
    json: PathBuf,
    generation: Generation,
    description: Description,
    parts: Vec<(Part, PathBuf, u64)>,
    globals: Vec<Global>,
    report: Option<ReportLine>,
    notes: Vec<Note>,
}

impl Recording {
    /// Opens a recording by its `.json` file, by what the names of its files begin with, or by the folder that
    /// holds it and no other.
    ///
    /// # Errors
    ///
    /// If it is none, is of a form that was never released, contradicts itself, or the folder holds several.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let mut files = find(path)?;
        match (files.pop(), files.len()) {
            (Some(json), 0) => Self::open_json(&json),
            (Some(_), others) => {
                let what = format!("single recording: there are {} in this folder; name one", others + 1);
                Err(Error::unknown(what).in_file(path))
            }
            (None, _) => Err(Error::missing("there is no recording in this folder").in_file(path)),
        }
    }

    pub(super) fn open_json(json: &Path) -> Result<Self, Error> {
        let text = read_at_most(json, LONGEST_DESCRIPTION)?;
        let description = Description::parse(&text, json)?;
        let generation = generation(&description, json)?;
        let parts = parts(json, generation)?;
        let mut recording = Self {
            json: json.to_owned(),
            generation,
            description,
            parts,
            globals: Vec::new(),
            report: None,
            notes: Vec::new(),
        };
        recording.check_lengths()?;
        if let Some(file) = recording.path(Part::Globals) {
            recording.globals = globals(&recording.read(Part::Globals)?, generation, file)?;
        }
        recording.notes = recording.find_notes();
        Ok(recording)
    }

    /// The description's file.
    pub fn json(&self) -> &Path {
        &self.json
    }

    /// Which form it has.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// What was launched, and how.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The global variables, as in the file [`Part::Globals`].
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }

    /// What is worth saying about it.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What a [report](super::Report) says of it, if there is one in the same folder.
    pub fn report(&self) -> Option<&ReportLine> {
        self.report.as_ref()
    }

    pub(super) fn set_report(&mut self, line: ReportLine) {
        self.report = Some(line);
    }

    /// The file of a part; `None` if it is not there.
    pub fn path(&self, part: Part) -> Option<&Path> {
        self.parts.iter().find(|(kind, ..)| *kind == part).map(|(_, path, _)| path.as_path())
    }

    /// The length of a part's file in bytes; `None` if it is not there.
    pub fn len(&self, part: Part) -> Option<u64> {
        self.parts.iter().find(|(kind, ..)| *kind == part).map(|&(.., length)| length)
    }

    /// Where the file of a part is, or would be.
    pub fn place(&self, part: Part) -> PathBuf {
        beside(&self.json, part.extension(self.generation))
    }

    /// The bytes of a part.
    ///
    /// # Errors
    ///
    /// If it is not there, cannot be read, or has changed since the recording was opened.
    pub fn read(&self, part: Part) -> Result<Vec<u8>, Error> {
        let missing = || Error::missing("this file of the recording is not there").in_file(self.place(part));
        let (path, length) = self.path(part).zip(self.len(part)).ok_or_else(missing)?;
        let bytes = read_at_most(path, length)?;
        if bytes.len() as u64 != length {
            return Err(
                Error::contradiction(format!("the {length} bytes that it had just now")).in_file(path)
            );
        }
        Ok(bytes)
    }

    /// Where the recorded memory is cut by the arguments that point into it, as offsets. The allocations
    /// themselves are not recorded.
    pub fn buffers(&self) -> Vec<Range<u64>> {
        let length = self.len(Part::Input).or(self.len(Part::Output)).unwrap_or(0);
        let mut cuts: Vec<u64> = self.offsets().flatten().chain([0, length]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }

    /// The arguments, with what they point at.
    pub fn arguments(&self) -> impl Iterator<Item = Argument> {
        let buffers = self.buffers();
        self.description.arguments.iter().zip(self.offsets()).map(move |(&word, offset)| {
            let of = |offset| buffers.iter().position(|buffer| buffer.contains(&offset));
            let pointee = offset.and_then(|offset| Some(Pointee { buffer: of(offset)?, offset }));
            Argument { word, pointee }
        })
    }

    /// For each argument that points into the memory, where.
    fn offsets(&self) -> impl Iterator<Item = Option<u64>> {
        let base = self.description.base.filter(|_| self.generation == Generation::Third);
        let length = self.len(Part::Input).or(self.len(Part::Output)).unwrap_or(0);
        let offset =
            move |&word: &u64| base.and_then(|base| word.checked_sub(base)).filter(|&at| at < length);
        self.description.arguments.iter().map(offset)
    }

    /// The memory by [buffer](Self::buffers), to be compared: each is named after the arguments that point at it, and
    /// looked at as what `element` says of those.
    pub fn regions(&self, element: impl Fn(&[usize]) -> Element) -> Vec<Region> {
        let pointees: Vec<_> = self.arguments().map(|argument| argument.pointee).collect();
        let region = |(buffer, range): (usize, Range<u64>)| {
            let points_here = |pointee: &Option<Pointee>| pointee.is_some_and(|p| p.buffer == buffer);
            let of: Vec<usize> = (0..pointees.len()).filter(|&index| points_here(&pointees[index])).collect();
            let name = of.iter().map(|index| format!("argument {index}")).collect::<Vec<_>>().join(", ");
            let name = if of.is_empty() { "memory".to_owned() } else { name };
            Region { name, range, element: element(&of) }
        };
        self.buffers().into_iter().enumerate().map(region).collect()
    }

    /// The lengths of the files against each other and what is described.
    fn check_lengths(&self) -> Result<(), Error> {
        let described = self.description.memory_size.filter(|_| self.generation < Generation::Third);
        for part in [Part::Input, Part::Output] {
            let Some((path, length)) = self.path(part).zip(self.len(part)) else { continue };
            if described.is_some_and(|described| described != length) {
                let expected = format!("{} bytes, as described; there are {length}", described.unwrap_or(0));
                return Err(Error::contradiction(expected).in_file(path));
            }
            if self.description.reserved.is_some_and(|reserved| length > reserved) {
                let expected = format!("no more bytes than were reserved; there are {length}");
                return Err(Error::contradiction(expected).in_file(path));
            }
        }
        match (self.len(Part::Input), self.len(Part::Output)) {
            (Some(input), Some(output)) if output < input => {
                let expected = format!("at least the {input} bytes of the input; there are {output}");
                Err(Error::contradiction(expected).in_file(self.place(Part::Output)))
            }
            _ => Ok(()),
        }
    }

    fn find_notes(&self) -> Vec<Note> {
        let description = &self.description;
        let mut notes = Vec::new();
        let missing = |part: &Part| part.is_expected(self.generation) && self.path(*part).is_none();
        notes.extend(Part::ALL.into_iter().filter(missing).map(|part| Note::Missing(self.place(part))));
        if self.generation == Generation::Third {
            let shared = description.shared_memory.unwrap_or(0);
            let described = Stem::of(&description.kernel, description.teams, description.threads, shared);
            match self.json.file_stem().and_then(|stem| Stem::parse(stem.to_str()?)) {
                None => notes.push(Note::Renamed),
                Some(named) if named != described => notes.push(Note::Misnamed { named, described }),
                Some(_) => {}
            }
        }
        if self.generation == Generation::Second && !description.arguments.is_empty() {
            notes.push(Note::ArgumentsLost);
        }
        let outside =
            |limits: Option<super::Limits>, count| limits.is_some_and(|limits| !limits.admit(count));
        if outside(description.teams_limits, description.teams)
            || outside(description.threads_limits, description.threads)
        {
            notes.push(Note::OutsideLimits);
        }
        if let (Some(input), Some(output)) = (self.len(Part::Input), self.len(Part::Output))
            && output > input
        {
            notes.push(Note::Grown { input, output });
        }
        notes.extend(description.unknown_keys.iter().cloned().map(Note::UnknownKey));
        notes
    }
}

/// Tells the forms apart by their keys, and where those leave it open by the names of the files.
fn generation(description: &Description, json: &Path) -> Result<Generation, Error> {
    let newest = [Part::Input, Part::Output].map(|part| beside(json, part.extension(Generation::Third)));
    // Before its release, the newest form had the older names for the launch's shape.
    let renamed = description.renamed || newest.iter().any(|path| path.exists());
    match (description.reserved, description.base, description.memory_size) {
        (Some(_), Some(_), _) if renamed && description.shared_memory.is_some() => Ok(Generation::Third),
        (Some(_), ..) if !renamed => {
            let what = "a form that only revisions of LLVM's pull request 190588 wrote, and no release; \
                        record again with a released LLVM";
            Err(Error::unsupported(what).in_file(json))
        }
        (None, Some(_), Some(_)) if !description.renamed => Ok(Generation::Second),
        (None, None, Some(_)) if !description.renamed => Ok(Generation::First),
        _ => Err(Error::unsupported("a set of keys that no release of LLVM writes").in_file(json)),
    }
}

/// The files beside a description. What is there and is no regular file is refused.
fn parts(json: &Path, generation: Generation) -> Result<Vec<(Part, PathBuf, u64)>, Error> {
    let mut parts = Vec::new();
    for part in Part::ALL {
        let path = beside(json, part.extension(generation));
        match std::fs::metadata(&path) {
            Ok(about) if about.is_file() => parts.push((part, path, about.len())),
            Ok(_) => return Err(Error::contradiction("a regular file").in_file(path)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(error).in_file(path)),
        }
    }
    Ok(parts)
}

/// `.json` replaced; stems may hold dots of their own.
fn beside(json: &Path, extension: &str) -> PathBuf {
    json.with_extension(extension)
}

/// A file that is there, regular, and of at most that length.
fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let read = || {
        let about = std::fs::metadata(path).map_err(Error::io)?;
        if !about.is_file() || about.len() > most {
            return Err(Error::contradiction(format!("a file of at most {most} bytes")));
        }
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(Error::io)?;
        Ok(bytes)
    };
    read().map_err(|error| error.in_file(path))
}
