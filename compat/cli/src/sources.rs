//! `zonecast sources`.

mod json;
mod levels;
mod selection;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use zonecast_embed::{Executable, Export, Image, Origin};

pub(crate) use self::levels::{HOW_TO_EMBED, HOW_TO_PLACE, lacks_texts, level, unplaced};
use self::selection::Selection;
use crate::Failure;
use crate::files::{Folder, print};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Modules (.vmfb), executables, libraries, objects, cubins, code objects, tables
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How to write what there is
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only this stage of compilation, such as 0.source, and the texts of it; `original` for the texts of the
    /// files that the kernels' authors wrote
    #[arg(long, value_name = "NAME")]
    stage: Option<String>,
    /// Also write the texts, whole, into this folder, each under its path
    #[arg(long, value_name = "DIR")]
    extract: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// A file, opened, and what is to be said of it.
struct Listing {
    file: String,
    executable: Executable,
    is_read: bool,
    notes: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let selection = Selection::new(arguments.stage.as_deref());
    let listings: Vec<Listing> = arguments.files.iter().map(|file| open(file, &selection)).collect();
    match arguments.format {
        Format::Text => print(|output| text::write(output, &listings, &selection))?,
        Format::Json => print(|output| json::write(output, &listings, &selection))?,
    }
    let mut failed = listings.iter().filter(|listing| listing.executable.images().len() == 0).count();
    if let Some(folder) = &arguments.extract {
        failed += extract(folder, &listings, &selection)?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Opens a file. One that cannot be read is one with nothing in it, and a note that says why.
fn open(file: &Path, selection: &Selection<'_>) -> Listing {
    let name = file.to_string_lossy().into_owned();
    match Executable::open(file) {
        Ok(executable) => {
            let mut notes: Vec<String> = executable.notes().iter().map(ToString::to_string).collect();
            notes.extend(executable.images().flat_map(levels::missing));
            notes.extend(selection.missing(&executable));
            if executable.images().len() == 0 {
                notes.push("there is no executable in it that is understood".to_owned());
            }
            Listing { file: name, executable, is_read: true, notes }
        }
        Err(error) => {
            eprintln!("zonecast: {error}");
            let executable = Executable::empty(&name);
            Listing { file: name, executable, is_read: false, notes: vec![error.to_string()] }
        }
    }
}

/// Writes all texts; returns how many could not be.
fn extract(folder: &Path, listings: &[Listing], selection: &Selection<'_>) -> Result<usize, Failure> {
    let mut folder = Folder::create(folder)?;
    let mut failed = 0;
    for Listing { executable, .. } in listings {
        let texts = |image| selection.sources(image).into_iter().chain(selection.listings(image));
        for source in executable.images().flat_map(texts) {
            let path = String::from_utf8_lossy(source.path());
            let text = source.try_text().map_err(Failure::from);
            let written = text.and_then(|text| folder.write(&path, text, executable.name()));
            if let Err(failure) = written {
                eprintln!("zonecast: {failure}");
                failed += 1;
            }
        }
    }
    Ok(failed)
}

/// Whether the image was made by a compiler that knows neither IREE's formats nor zonecast's.
fn is_of_others(image: Image<'_>) -> bool {
    let format = image.format();
    format != zonecast_embed::Format::Zonecast && !format.as_str().starts_with("iree-")
}

/// Where the text is that an export's location names. (What IREE embeds are the texts of stages.)
fn origin(export: Export<'_>) -> Option<Origin> {
    let image = export.image();
    export.location().filter(|_| is_of_others(image)).map(|at| image.origin(at.file))
}

/// Bytes from a file, fit for a terminal.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let mut plain = String::new();
    for character in String::from_utf8_lossy(bytes).chars() {
        if character.is_control() {
            plain.extend(character.escape_default());
        } else {
            plain.push(character);
        }
    }
    plain
}
