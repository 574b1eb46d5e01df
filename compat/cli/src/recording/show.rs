//! `zonecast recording show`.

mod own;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use zonecast_embed::Executable;
use zonecast_recordings::ImageKind;
use zonecast_recordings::llvm::{Argument, Limits, Note, Part, Recording, find_all};
use zonecast_recordings::recorder::container::Container;

use super::recorded::Recorded;
use crate::files::{about, print};
use crate::sources::plain;
use crate::{FOUND, Failure};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Recordings of LLVM's offload runtime (.json files, or what the names of their files begin with) or of
    /// zonecast's recorder, or folders of them
    #[arg(required = true, value_name = "RECORDING")]
    recordings: Vec<PathBuf>,
    /// How to write what there is
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// A recording's image.
struct Image {
    kind: ImageKind,
    length: u64,
    /// How many source texts it carries.
    sources: usize,
    /// Where the kernel is, if the image says so.
    place: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (mut recordings, mut failed) = (Vec::new(), false);
    for path in &arguments.recordings {
        let (found, failures) = find(path)?;
        failures.iter().for_each(|failure| eprintln!("zonecast: {failure}"));
        failed |= !failures.is_empty() || found.is_empty();
        if found.is_empty() && failures.is_empty() {
            eprintln!("zonecast: {}: there is no recording in this folder", path.display());
        }
        recordings.extend(found);
    }
    match arguments.format {
        Format::Text => print(|out| recordings.iter().try_for_each(|recorded| text(out, recorded)))?,
        Format::Json => {
            let all: Vec<_> = recordings.iter().map(object).collect();
            print(|out| writeln!(out, "{:#}", Value::from(all)))?;
        }
    }
    Ok(match () {
        () if failed => ExitCode::FAILURE,
        () if recordings.iter().any(is_misnamed) => ExitCode::from(FOUND),
        () => ExitCode::SUCCESS,
    })
}

fn is_misnamed(recorded: &Recorded) -> bool {
    match recorded {
        Recorded::Llvm(recording) => recording.notes().iter().any(|n| matches!(n, Note::Misnamed { .. })),
        Recorded::Own(..) => false,
    }
}

/// All recordings that a path stands for, of either kind, and what could not be read.
fn find(path: &Path) -> Result<(Vec<Recorded>, Vec<Failure>), Failure> {
    if Container::is_one(path) {
        return Ok((vec![Recorded::open(path)?], Vec::new()));
    }
    let (llvm, errors) = find_all(path)?;
    let mut found: Vec<_> = llvm.into_iter().map(Recorded::Llvm).collect();
    let mut failures: Vec<Failure> = errors.into_iter().map(Failure::from).collect();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| about(path, &error))?;
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        for file in files.iter().filter(|file| Container::is_one(file)) {
            match Recorded::open(file) {
                Ok(recorded) => found.push(recorded),
                Err(failure) => failures.push(failure),
            }
        }
    }
    Ok((found, failures))
}

fn text(out: &mut impl Write, recorded: &Recorded) -> io::Result<()> {
    match recorded {
        Recorded::Llvm(recording) => llvm_text(out, recording),
        Recorded::Own(file, recording) => own::text(out, file, recording),
    }
}

fn object(recorded: &Recorded) -> Value {
    match recorded {
        Recorded::Llvm(recording) => llvm_object(recording),
        Recorded::Own(file, recording) => own::object(file, recording),
    }
}

fn llvm_text(out: &mut impl Write, recording: &Recording) -> io::Result<()> {
    let described = recording.description();
    let mut line = |key: &str, value: String| writeln!(out, "  {key:<13} {value}");
    line("file", recording.json().display().to_string())?;
    line("kernel", plain(described.kernel.as_bytes()))?;
    line("recorded by", recording.generation().to_string())?;
    line("launch", launch(recording))?;
    for (key, limits) in
        [("team limits", described.teams_limits), ("thread limits", described.threads_limits)]
    {
        if let Some(limits) = limits {
            line(key, within(limits))?;
        }
    }
    line("memory", memory(recording))?;
    for (index, argument) in recording.arguments().enumerate() {
        line(&format!("argument {index}"), word(argument))?;
    }
    for global in recording.globals() {
        line("global", format!("{}, {} bytes", plain(global.name.as_bytes()), global.range.len()))?;
    }
    match image(recording) {
        Some(Ok(image)) => line("image", image.to_string())?,
        Some(Err(failure)) => line("image", failure.to_string())?,
        None => {}
    }
    if let Some(report) = recording.report() {
        line("occurrences", format!("{}, the recorded one took {} ns", report.occurrences, report.time))?;
    }
    for note in recording.notes() {
        line("note", plain(note.to_string().as_bytes()))?;
    }
    writeln!(out)
}

fn launch(recording: &Recording) -> String {
    let described = recording.description();
    let shared = described.shared_memory.map(|bytes| format!(", {bytes} bytes of shared memory"));
    format!(
        "{} teams x {} threads{}, trip count {}, on device {}",
        described.teams,
        described.threads,
        shared.unwrap_or_default(),
        described.trip_count,
        described.device
    )
}

fn within(limits: Limits) -> String {
    match limits.most {
        0 => "none".to_owned(),
        most => format!("{} to {most}", limits.least),
    }
}

fn memory(recording: &Recording) -> String {
    let length = |part| recording.len(part).map_or("no bytes".to_owned(), |bytes| format!("{bytes} bytes"));
    let base = recording.description().base.map(|base| format!(", at {base:#x}"));
    let (before, after) = (length(Part::Input), length(Part::Output));
    format!("{before} before, {after} after{}", base.unwrap_or_default())
}

fn word(argument: Argument) -> String {
    let word = argument.word;
    match argument.pointee {
        Some(pointee) => format!("{word:#x}, buffer {} at offset {:#x}", pointee.buffer, pointee.offset),
        None => format!("{word:#x} ({})", word.cast_signed()),
    }
}

fn llvm_object(recording: &Recording) -> Value {
    let described = recording.description();
    let limits = |limits: Option<Limits>| limits.map(|limits| json!([limits.least, limits.most]));
    let argument = |argument: Argument| {
        let pointee = argument.pointee.map(|p| json!({ "buffer": p.buffer, "offset": p.offset }));
        json!({ "word": argument.word, "pointee": pointee })
    };
    let image = image(recording).map(|image| match image {
        Ok(image) => image.object(),
        Err(failure) => json!({ "error": failure.to_string() }),
    });
    let report = recording.report();
    json!({
        "file": recording.json().to_string_lossy(),
        "kernel": described.kernel,
        "recorded_by": recording.generation().to_string(),
        "teams": described.teams,
        "threads": described.threads,
        "shared_memory": described.shared_memory,
        "trip_count": described.trip_count,
        "device": described.device,
        "teams_limits": limits(described.teams_limits),
        "threads_limits": limits(described.threads_limits),
        "base": described.base,
        "reserved": described.reserved,
        "input_bytes": recording.len(Part::Input),
        "output_bytes": recording.len(Part::Output),
        "buffers": recording.buffers().iter().map(|buffer| json!([buffer.start, buffer.end])).collect::<Vec<_>>(),
        "arguments": recording.arguments().map(argument).collect::<Vec<_>>(),
        "globals": recording.globals().iter()
            .map(|global| json!({ "name": global.name, "bytes": global.range.len() })).collect::<Vec<_>>(),
        "image": image,
        "occurrences": report.map(|report| report.occurrences),
        "time_ns": report.map(|report| report.time),
        "notes": recording.notes().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// `None` if there is no image.
fn image(recording: &Recording) -> Option<Result<Image, Failure>> {
    let path = recording.path(Part::Image)?;
    Some(read_image(path, &recording.description().kernel))
}

fn read_image(path: &Path, kernel: &str) -> Result<Image, Failure> {
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| about(path, &error))?;
    let length = file.metadata().map_err(|error| about(path, &error))?.len();
    io::Read::read_to_end(&mut io::Read::take(file, 64), &mut head).map_err(|error| about(path, &error))?;
    // Most images carry no sources, and to the reader of sources they are then nothing.
    let executable = Executable::open(path).unwrap_or_else(|_| Executable::empty(""));
    Ok(Image::of(&head, length, &executable, kernel))
}

impl Image {
    fn of(head: &[u8], length: u64, executable: &Executable, kernel: &str) -> Self {
        let mut exports = executable.images().flat_map(|image| image.exports());
        let export = exports.find(|export| export.name() == kernel.as_bytes());
        let stage = export.and_then(|export| export.stage("0.source")?.location);
        let place = stage.or_else(|| export?.location());
        Self {
            kind: ImageKind::of(head),
            length,
            sources: executable.images().map(|image| image.sources().len()).sum(),
            place: place.map(|place| format!("{}:{}", plain(place.file), place.line)),
        }
    }

    fn object(&self) -> Value {
        json!({
            "kind": self.kind.to_string(),
            "bytes": self.length,
            "sources": self.sources,
            "place": self.place,
        })
    }
}

impl std::fmt::Display for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} bytes, ", self.kind, self.length)?;
        match self.sources {
            0 => write!(f, "no embedded source")?,
            count => write!(f, "{count} embedded sources")?,
        }
        match &self.place {
            Some(place) => write!(f, ", the kernel is at {place}"),
            None => Ok(()),
        }
    }
}
