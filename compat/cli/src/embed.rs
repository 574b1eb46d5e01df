//! `zonecast embed`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use zonecast_embed::table::{Export, Skipped, TableBuilder, attach};
use zonecast_embed::{Error, ErrorKind, Executable, Image};

use crate::Failure;
use crate::files::about;

#[derive(Args)]
#[command(group = ArgGroup::new("contents").required(true).multiple(true))]
pub(crate) struct Arguments {
    /// An ELF file: a library, program, object, cubin or AMD code object
    input: PathBuf,
    /// Where to write it with the table in it; it may be the same file
    #[arg(short, long)]
    output: PathBuf,
    /// Source files to put in, each under the path by which it is given here
    #[arg(long, value_name = "FILE", num_args = 1.., group = "contents")]
    source: Vec<PathBuf>,
    /// A kernel, and where it is written; once for each
    #[arg(long, value_name = "NAME=FILE:LINE", value_parser = placed, group = "contents")]
    export: Vec<Placed>,
    /// Put in the files that locations name, of the kernels given here and of those in INPUT
    #[arg(long, group = "contents")]
    from_locations: bool,
}

/// A kernel and where it is written.
#[derive(Clone)]
struct Placed {
    name: String,
    file: String,
    line: u32,
}

fn placed(text: &str) -> Result<Placed, String> {
    let parts = text.split_once('=').and_then(|(name, place)| Some((name, place.rsplit_once(':')?)));
    let (name, (file, line)) = parts.ok_or("not of the form NAME=FILE:LINE")?;
    if name.is_empty() || file.is_empty() {
        return Err("the name or the file is empty".to_owned());
    }
    let line = line.parse().map_err(|_| format!("{line:?} is not the number of a line"))?;
    Ok(Placed { name: name.to_owned(), file: file.to_owned(), line })
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = fs::read(&arguments.input).map_err(|error| about(&arguments.input, &error))?;
    let table = table(arguments, &input)?.build()?;
    let contents = Executable::from_bytes(table.clone(), "table")?;
    let count = |of: fn(Image<'_>) -> usize| contents.images().map(of).sum::<usize>();
    let (exports, sources) = (count(|image| image.exports().len()), count(|image| image.sources().len()));
    if exports + sources == 0 {
        return Err(format!("{}: there is nothing to put in", arguments.input.display()).into());
    }
    let output = attach(&input, &table).map_err(|error| about(&arguments.input, &error))?;
    write(arguments, &output).map_err(|error| about(&arguments.output, &error))?;
    println!("{}: source texts put in: {sources}; kernels: {exports}", arguments.output.display());
    Ok(())
}

fn table(arguments: &Arguments, input: &[u8]) -> Result<TableBuilder, Failure> {
    let mut table = TableBuilder::new();
    table.name(arguments.input.file_stem().unwrap_or_default().as_encoded_bytes());
    for Placed { name, file, line } in &arguments.export {
        table.export(Export::new(name).at(file, *line))?;
    }
    for path in &arguments.source {
        table.source_file(path).map_err(|error| about(path, &error))?;
    }
    if arguments.from_locations {
        let name = arguments.input.to_string_lossy();
        let named_here = Executable::from_bytes(table.build()?, &name)?;
        for executable in [open(input, &name)?, named_here] {
            let skipped = table.located_files(&executable, Path::new(""));
            skipped.iter().for_each(say);
        }
    }
    Ok(table)
}

/// What is in the file already. There may be nothing.
fn open(input: &[u8], name: &str) -> Result<Executable, Error> {
    match Executable::from_bytes(input.to_vec(), name) {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_) | ErrorKind::Unknown(_)) => {
            Ok(Executable::empty(name))
        }
        other => other,
    }
}

fn say(skipped: &Skipped) {
    eprintln!("zonecast: left out {}", crate::sources::plain(skipped.to_string().as_bytes()));
}

/// Writes a new file and renames it over what is there, which a program may have mapped.
fn write(arguments: &Arguments, contents: &[u8]) -> std::io::Result<()> {
    let parent = arguments.output.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(parent.unwrap_or(Path::new(".")))?;
    file.write_all(contents)?;
    fs::set_permissions(file.path(), fs::metadata(&arguments.input)?.permissions())?;
    file.persist(&arguments.output)?;
    Ok(())
}
