//! A file's bytes, mapped.

use std::fmt;
use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::Error;

/// The bytes of a recording. They are read from the file when they are looked at, so that a large one needs
/// no memory.
///
/// The file must not be made shorter meanwhile: reading what is gone stops the process. Programs that write
/// recordings do so once.
pub struct Contents(Option<Mmap>);

impl Contents {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// If it cannot be opened or mapped.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let map = || {
            let file = File::open(path)?;
            if file.metadata()?.len() == 0 {
                // An empty range cannot be mapped.
                return Ok(Self(None));
            }
            // SAFETY: a mapping is sound as long as nobody changes the file under it, which no program can
            // prevent, and which the type's documentation asks for. Every reader of this crate checks its
            // bounds at each access, so that changed bytes give odd results and no bad slice.
            let map = unsafe { Mmap::map(&file) }?;
            Ok(Self(Some(map)))
        };
        map().map_err(|error| Error::io(error).in_file(path))
    }
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Contents({} bytes)", self.len())
    }
}
