//! Where an executable's bytes live, and whether they are still those that were opened.

use std::borrow::Cow;
use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// The bytes of one executable, owned or borrowed for ever.
pub(crate) enum Storage {
    #[cfg(feature = "mmap")]
    Mapped(memmap2::Mmap),
    Memory(Cow<'static, [u8]>),
}

impl Storage {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            #[cfg(feature = "mmap")]
            Self::Mapped(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }

    #[cfg(feature = "mmap")]
    pub(crate) fn open(path: &Path) -> io::Result<(Self, Option<Stamp>)> {
        check_kind(path)?;
        let file = std::fs::File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.len() == 0 {
            // An empty range cannot be mapped.
            return Ok((Self::Memory(Cow::Borrowed(&[])), None));
        }
        // SAFETY: a mapping is sound as long as nobody changes the file under it, which no program
        // can prevent. `Executable::open` documents that duty; `Stamp` notices a breach, and every
        // accessor checks its bounds again, so that changed bytes give odd text and not a bad slice.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok((Self::Mapped(map), Some(Stamp::of(&metadata))))
    }

    #[cfg(not(feature = "mmap"))]
    pub(crate) fn open(path: &Path) -> io::Result<(Self, Option<Stamp>)> {
        check_kind(path)?;
        // Read bytes are the program's own and do not change with the file.
        Ok((Self::Memory(std::fs::read(path)?.into()), None))
    }
}

/// A file that was opened beside another, or bytes made from one.
#[cfg(feature = "_index")]
pub(crate) struct Opened {
    storage: Storage,
    stamp: Option<(std::path::PathBuf, Stamp)>,
}

#[cfg(feature = "_index")]
impl Opened {
    #[cfg(feature = "dwarf")]
    pub(crate) fn file(path: &Path) -> io::Result<Self> {
        let (storage, stamp) = Storage::open(path)?;
        Ok(Self { storage, stamp: stamp.map(|stamp| (path.to_owned(), stamp)) })
    }

    pub(crate) fn memory(bytes: Vec<u8>) -> Self {
        Self { storage: Storage::Memory(Cow::Owned(bytes)), stamp: None }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    pub(crate) fn unchanged(&self) -> bool {
        self.stamp.as_ref().is_none_or(|(path, stamp)| stamp.holds(path))
    }
}

/// That it is a file, asked before opening: to open a pipe waits for who writes into it.
fn check_kind(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// A mapped file as it was at opening.
#[derive(PartialEq, Eq)]
pub(crate) struct Stamp {
    identity: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { identity: identity(metadata), length: metadata.len(), modified: metadata.modified().ok() }
    }

    /// False only if the very file that was mapped has been written since. A file that was removed,
    /// or replaced by another of the same name, leaves the mapping whole.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        match std::fs::metadata(path) {
            Ok(metadata) => {
                let now = Self::of(&metadata);
                now.identity != self.identity || now == *self
            }
            Err(_) => true,
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere the standard library has no stable identity; length and time have to do.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}
