//! Taking in the files that an executable's locations name, so that they travel with it.
//!
//! A compiler embeds its own intermediate forms, while a kernel's location usually names what its author
//! wrote: a Python or MLIR file on the machine that compiled. On that machine this puts it into a table.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{TableBuilder, TableError};
use crate::Executable;

/// Larger files are no source that anybody reads.
const LARGEST: u64 = 4 << 20;

/// A file that a location names, and why it was left out.
#[derive(Debug)]
pub struct Skipped {
    /// The path as the location has it.
    pub path: Vec<u8>,
    /// Why.
    pub reason: SkippedReason,
}

/// Why a file was left out.
#[derive(Debug)]
#[non_exhaustive]
pub enum SkippedReason {
    /// It is not there, or cannot be read.
    Unreadable(io::Error),
    /// It is a folder, a device, or something else than a file.
    NoFile,
    /// It is larger than 4 MiB.
    TooLarge,
    /// It is not UTF-8, or has a NUL byte in it.
    NoText,
    /// The table has another text for that path.
    Refused(TableError),
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", String::from_utf8_lossy(&self.path))?;
        match &self.reason {
            SkippedReason::Unreadable(error) => write!(f, "{error}"),
            SkippedReason::NoFile => write!(f, "not a regular file"),
            SkippedReason::TooLarge => write!(f, "larger than 4 MiB"),
            SkippedReason::NoText => write!(f, "not a text"),
            SkippedReason::Refused(error) => write!(f, "{error}"),
        }
    }
}

impl TableBuilder {
    /// Adds the files that locations in `executable` name and that are not embedded in it already, each under the
    /// path that the locations have. Relative paths count from `folder`. Returns what was left out.
    ///
    /// The paths come from the executable and may name any file that the caller can read, so do this with
    /// executables of your own only, before giving them away.
    ///
    /// # Examples
    ///
    #[cfg_attr(feature = "iree", doc = "```")]
    #[cfg_attr(not(feature = "iree"), doc = "```no_run")]
    /// use zonecast_embed::Executable;
    /// use zonecast_embed::table::TableBuilder;
    ///
    /// // It was compiled where there was a `src/mlp.mlir`, and here is none.
    /// let executable = Executable::open("tests/data/iree/mlp.cpu.g3.vmfb")?;
    /// let skipped = TableBuilder::new().located_files(&executable, "/nowhere".as_ref());
    /// assert_eq!(skipped.len(), 1);
    /// assert_eq!(skipped[0].path, b"src/mlp.mlir");
    /// # Ok::<(), zonecast_embed::Error>(())
    /// ```
    pub fn located_files(&mut self, executable: &Executable, folder: &Path) -> Vec<Skipped> {
        let mut skipped = Vec::new();
        for path in named_files(executable) {
            let added = read(path, folder)
                .and_then(|text| self.source(path, text).map(|_| ()).map_err(SkippedReason::Refused));
            if let Err(reason) = added {
                skipped.push(Skipped { path: path.to_vec(), reason });
            }
        }
        skipped
    }
}

/// The files that locations name, but for those that some image has.
fn named_files(executable: &Executable) -> BTreeSet<&[u8]> {
    let exports = executable.images().flat_map(|image| image.exports());
    let locations = exports.flat_map(|export| {
        let stages = export.stages().filter_map(|stage| stage.location);
        export.location().into_iter().chain(stages)
    });
    let is_embedded =
        |path: &[u8]| executable.images().any(|image| image.sources().find_source(path).is_some());
    locations
        .map(|location| location.file)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter(|path| !is_embedded(path))
        .collect()
}

fn read(path: &[u8], folder: &Path) -> Result<Vec<u8>, SkippedReason> {
    let path = folder.join(as_path(path).ok_or(SkippedReason::NoFile)?);
    // Asked before opening, since opening some things that are no files waits or has effects.
    if !std::fs::metadata(&path).map_err(SkippedReason::Unreadable)?.is_file() {
        return Err(SkippedReason::NoFile);
    }
    let mut text = Vec::new();
    let file = File::open(&path).map_err(SkippedReason::Unreadable)?;
    file.take(LARGEST + 1).read_to_end(&mut text).map_err(SkippedReason::Unreadable)?;
    if text.len() as u64 > LARGEST {
        return Err(SkippedReason::TooLarge);
    }
    let is_text = std::str::from_utf8(&text).is_ok() && !text.contains(&0);
    if is_text { Ok(text) } else { Err(SkippedReason::NoText) }
}

#[cfg(unix)]
fn as_path(path: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(path).into())
}

#[cfg(not(unix))]
fn as_path(path: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(path).ok().map(PathBuf::from)
}
