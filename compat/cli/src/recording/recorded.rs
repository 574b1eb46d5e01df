//! A recording of either kind: LLVM's, or one of zonecast's own.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use zonecast_recordings::diff::{Element, Region};
use zonecast_recordings::recorder::container::Container;
use zonecast_recordings::{llvm, recorder};

use crate::Failure;
use crate::files::about;

pub(super) enum Recorded {
    Llvm(llvm::Recording),
    Own(PathBuf, recorder::Recording),
}

impl Recorded {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        Ok(match Container::is_one(path) {
            true => Self::Own(path.to_owned(), recorder::Recording::read(path)?),
            false => Self::Llvm(llvm::Recording::open(path)?),
        })
    }

    /// For each argument, which region it points into.
    pub(super) fn pointees(&self) -> Vec<Option<usize>> {
        match self {
            Self::Llvm(recording) => recording.arguments().map(|a| a.pointee.map(|p| p.buffer)).collect(),
            Self::Own(_, recording) => {
                recording.description.arguments.iter().map(|a| a.pointee.map(|(buffer, _)| buffer)).collect()
            }
        }
    }

    pub(super) fn regions(&self, element: impl Fn(&[usize]) -> Element) -> Vec<Region> {
        match self {
            Self::Llvm(recording) => recording.regions(element),
            Self::Own(_, recording) => recording.regions(element),
        }
    }

    /// What it computed; `None` if that was not recorded.
    pub(super) fn output(&self) -> Result<Option<Box<dyn Read>>, Failure> {
        match self {
            Self::Llvm(recording) => recording.path(llvm::Part::Output).map(open).transpose(),
            Self::Own(_, recording) => {
                let output = || -> Box<dyn Read> { Box::new(Cursor::new(recording.output())) };
                Ok(recording.has_output().then(output))
            }
        }
    }

    /// Where what a replay computed is kept.
    pub(super) fn replay_output(&self) -> PathBuf {
        match self {
            Self::Llvm(recording) => recording.place(llvm::Part::ReplayOutput),
            Self::Own(file, _) => file.with_extension("replay_output"),
        }
    }
}

pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    Ok(Box::new(File::open(path).map_err(|error| about(path, &error))?))
}
