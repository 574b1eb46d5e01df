//! Where recordings go.

use std::path::PathBuf;

use crate::Error;

use super::{Instance, Keep, Recording};

/// Takes recordings. Called outside of the recorder's lock, by the thread that launched.
pub trait Sink: Send + Sync {
    /// Takes one.
    ///
    /// # Errors
    ///
    /// If it cannot be kept.
    fn store(&self, instance: &Instance, recording: Recording) -> Result<(), Error>;
}

impl<F: Fn(&Instance, Recording) -> Result<(), Error> + Send + Sync> Sink for F {
    fn store(&self, instance: &Instance, recording: Recording) -> Result<(), Error> {
        self(instance, recording)
    }
}

/// A folder with a file for each recording: `KERNEL-HASH-OCCURRENCE.zcrec`. With [`Keep::Last`] there is
/// no occurrence in the name, and each recording replaces the one before.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The folder. It is made if it is not there.
    pub path: PathBuf,
    /// What the recorder's [`Choice`](super::Choice) says.
    pub keep: Keep,
}

impl Folder {
    /// The file of a recording.
    pub fn file(&self, instance: &Instance, occurrence: u64) -> PathBuf {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let kernel: String =
            instance.kernel.chars().take(80).map(|c| if is_plain(c) { c } else { '_' }).collect();
        let hash = instance.hash();
        self.path.join(match self.keep {
            Keep::Last => format!("{kernel}-{hash:016x}.zcrec"),
            _ => format!("{kernel}-{hash:016x}-{occurrence}.zcrec"),
        })
    }
}

impl Sink for Folder {
    fn store(&self, instance: &Instance, recording: Recording) -> Result<(), Error> {
        std::fs::create_dir_all(&self.path).map_err(|error| Error::io(error).in_file(&self.path))?;
        recording.write(&self.file(instance, recording.occurrence))
    }
}
