//! From what a person names to the files of recordings.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::Error;

use super::{Recording, Report};

/// Longer than any report of a program that ended.
const LONGEST_REPORT: u64 = 64 << 20;

/// The descriptions that a path stands for: itself if it is a `.json` file, the one beside it if it is what the names of
/// a recording's files begin with, or all `.json` files in it if it is a folder, by name.
///
/// # Errors
///
/// If there is nothing of that name, or the folder cannot be read.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if path.is_dir() {
        let mut files: Vec<_> = entries(path)?.into_iter().filter(|file| is_json(file)).collect();
        files.sort();
        return Ok(files);
    }
    if path.is_file() {
        return match is_json(path) {
            true => Ok(vec![path.to_owned()]),
            false => Err(Error::unknown("recording: give its .json file").in_file(path)),
        };
    }
    // A stem may hold dots of its own, so nothing is replaced.
    let mut json = path.as_os_str().to_owned();
    json.push(".json");
    match Path::new(&json).is_file() {
        true => Ok(vec![json.into()]),
        false => {
            Err(Error::missing("there is no such recording, nor one whose files begin like that")
                .in_file(path))
        }
    }
}

/// Opens all recordings that a path stands for, and puts beside each what a report in its folder says of it.
/// Files that are no recordings, or damaged ones, are told as errors beside them.
///
/// # Errors
///
/// As [`find`].
pub fn find_all(path: &Path) -> Result<(Vec<Recording>, Vec<Error>), Error> {
    let (mut recordings, mut errors) = (Vec::new(), Vec::new());
    for json in find(path)? {
        match Recording::open_json(&json) {
            Ok(recording) => recordings.push(recording),
            Err(error) => errors.push(error),
        }
    }
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    let reports = folder.map(reports).unwrap_or_default();
    for recording in &mut recordings {
        let name = recording.json().file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(line) = reports.iter().find_map(|report| report.line(&name)) {
            recording.set_report(line.clone());
        }
    }
    Ok((recordings, errors))
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    // The folder of a bare file name.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let paths = || -> std::io::Result<_> { fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect() };
    paths().map_err(|error| Error::io(error).in_file(folder))
}

/// The reports in a folder. The user chose their names, so each small file that begins like one is one.
fn reports(folder: &Path) -> Vec<Report> {
    let files = entries(folder).unwrap_or_default();
    files.iter().filter_map(|file| Report::parse(&text(file)?)).collect()
}

/// A file's text, if it begins like a report.
fn text(file: &Path) -> Option<String> {
    let about = fs::metadata(file).ok()?;
    if !about.is_file() || about.len() > LONGEST_REPORT {
        return None;
    }
    let mut bytes = vec![0; 3];
    let mut file = fs::File::open(file).ok()?;
    file.read_exact(&mut bytes).ok()?;
    if bytes != b"===" {
        return None;
    }
    file.take(LONGEST_REPORT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
