//! An opened file, or bytes in memory, with one or more executables in it.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::time::{Instant, SystemTime};

use crate::image::Images;
use crate::origin::DiskText;
use crate::read::{self, Contents, Found};
use crate::storage::{Stamp, Storage};
use crate::table::layout::HEADER_SIZE;
use crate::{Error, Image, Note};

/// An opened file, or a range of bytes, and the [`Image`]s found in it.
///
/// It owns the mapping that everything else borrows from. Opening it looks at the tables only, allocates
/// a little for each image and nothing for each source, and reads no byte of any source's text. Share
/// it between threads by reference or in an `Arc`.
pub struct Executable {
    storage: Storage,
    name: String,
    path: Option<PathBuf>,
    stamp: Option<Stamp>,
    made: Made,
    found: Vec<Found>,
    unreadable: Vec<Error>,
}

/// When an executable was made, or a time at which it was.
enum Made {
    At(SystemTime),
    /// Just before its bytes were handed over, as a compiler inside the program does.
    Before(Instant),
    /// Its bytes are part of the program.
    WithProgram,
    Unknown,
}

fn written(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}

impl Executable {
    /// Opens a file and finds what is in it, by content and not by its name.
    ///
    /// A folder of Triton's cache stands for the file in it that describes the kernel (feature `triton`).
    ///
    /// The file is mapped (without feature `mmap`, read). Every count, offset and length that leads to
    /// a name, a location or a source is checked here; nothing in the file is run.
    ///
    /// While it is open, **do not write into the file or shorten it**: write a new one and rename it over
    /// the old. [`unchanged`](Self::unchanged) notices most breaches of this.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, is not of a known kind, or contradicts itself. In a container, parts
    /// that cannot be read are left out and become [notes](Self::notes), unless nothing else is in it.
    ///
    /// # Examples
    ///
    #[cfg_attr(feature = "iree", doc = "```")]
    #[cfg_attr(not(feature = "iree"), doc = "```no_run")]
    /// use zonecast_embed::Executable;
    ///
    /// let executable = Executable::open("tests/data/iree/mlp.cpu.g3.vmfb")?;
    /// for image in executable.images() {
    ///     for export in image.exports() {
    ///         let stage = export.stage("0.source").unwrap().location.unwrap();
    ///         let text = image.sources().find(stage.file).unwrap();
    ///         println!("{} is at line {} of:", String::from_utf8_lossy(export.name()), stage.line);
    ///         println!("{}", String::from_utf8_lossy(text));
    ///     }
    /// }
    /// # assert_eq!(executable.image(0).unwrap().exports().len(), 3);
    /// # Ok::<(), zonecast_embed::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::open_with(path, |bytes| read::contents(bytes, Some(path)))
    }

    fn open_with(path: &Path, look: impl Fn(&[u8]) -> Result<Contents, Error>) -> Result<Self, Error> {
        let in_file = |error: Error| error.in_file(&path.to_string_lossy());
        #[cfg(feature = "triton")]
        if path.is_dir()
            && let Some(metadata) = read::triton::metadata_in(path)
        {
            return Self::open(metadata);
        }
        let (storage, stamp) = Storage::open(path).map_err(|error| in_file(Error::io(error)))?;
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let Contents { found, unreadable } = look(storage.bytes()).map_err(in_file)?;
        let unreadable = unreadable.into_iter().map(in_file).collect();
        let made = written(path).map_or(Made::Unknown, Made::At);
        Ok(Self { storage, name, path: Some(path.to_owned()), stamp, made, found, unreadable })
    }

    /// The zonecast tables of the running program, in its own file: those that [`embed_table!`](crate::embed_table)
    /// or its C code put there, or that were attached later. Empty if it has none.
    ///
    /// Looks at nothing else that may be in the file, so that it costs little however large the program is.
    ///
    /// # Errors
    ///
    /// If the program's file cannot be opened, or its tables cannot be read.
    ///
    /// ```
    /// let own = zonecast_embed::Executable::of_program()?;
    /// println!("{} tables", own.images().len());
    /// # Ok::<(), zonecast_embed::Error>(())
    /// ```
    pub fn of_program() -> Result<Self, Error> {
        let path = std::env::current_exe().map_err(Error::io)?;
        Self::open_with(&path, read::tables_in_elf)
    }

    /// Finds what is in bytes that the program has: owned ones, or ones that live for ever.
    ///
    /// `name` stands for the module in messages and wherever two modules must be told apart.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    ///
    /// # Examples
    ///
    #[cfg_attr(feature = "iree", doc = "```")]
    #[cfg_attr(not(feature = "iree"), doc = "```no_run")]
    /// use zonecast_embed::Executable;
    ///
    /// static MODEL: &[u8] = include_bytes!(concat!(
    ///     env!("CARGO_MANIFEST_DIR"), "/tests/data/iree/scale.cpu.g3.vmfb"));
    ///
    /// let executable = Executable::from_bytes(MODEL, "scale")?;
    /// let image = executable.image(0).unwrap();
    /// assert_eq!(image.name(), b"scale_dispatch_0");
    /// assert_eq!(image.target(), Some(&b"x86_64"[..]));
    /// assert_eq!(image.sources().len(), 3);
    ///
    /// let error = Executable::from_bytes(&b"plain text"[..], "notes").unwrap_err();
    /// assert!(error.to_string().starts_with("notes: at offset 0x0: unknown contents"));
    /// # Ok::<(), zonecast_embed::Error>(())
    /// ```
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>, name: &str) -> Result<Self, Error> {
        let in_file = |error: Error| error.in_file(name);
        let bytes = bytes.into();
        let made = match &bytes {
            Cow::Borrowed(_) => Made::WithProgram,
            Cow::Owned(_) => Made::Before(Instant::now()),
        };
        let storage = Storage::Memory(bytes);
        let Contents { found, unreadable } = read::contents(storage.bytes(), None).map_err(in_file)?;
        let unreadable = unreadable.into_iter().map(in_file).collect();
        Ok(Self { storage, name: name.to_owned(), path: None, stamp: None, made, found, unreadable })
    }

    /// Borrows the tables of a library that is already loaded, in place.
    ///
    /// Prefer the file when there is one: it can be checked, this cannot.
    ///
    /// # Safety
    ///
    /// * `loaded` is what its variant says, and its tables are laid out as that interface prescribes,
    ///   with every pointer relocated.
    /// * The library stays loaded, and its tables and texts unmodified, until the `Executable` is dropped.
    ///
    /// # Errors
    ///
    /// If the query function refuses every version that is understood, or the tables contradict
    /// themselves in a way that can be seen without knowing their bounds.
    pub unsafe fn from_loaded(loaded: Loaded, name: &str) -> Result<Self, Error> {
        let in_file = |error: Error| error.in_file(name);
        let (bytes, found) = match loaded {
            Loaded::Table(table) => {
                // SAFETY: the caller says that a table begins there, and it is no shorter than its header.
                let header = unsafe { std::slice::from_raw_parts(table.as_ptr(), HEADER_SIZE as usize) };
                let size = read::table_size(header).map_err(in_file)?;
                // SAFETY: the caller says that all of the table is there, and stays until this value is dropped.
                let bytes = unsafe { std::slice::from_raw_parts(table.as_ptr().cast_const(), size as usize) };
                (bytes, read::contents(bytes, None).map_err(in_file)?.found)
            }
            // SAFETY: the caller's promises are those that `Found::loaded` asks for.
            #[cfg(feature = "iree")]
            other => (&[][..], vec![unsafe { Found::loaded(other) }.map_err(in_file)?]),
        };
        let storage = Storage::Memory(Cow::Borrowed(bytes));
        let name = name.to_owned();
        Ok(Self {
            storage,
            name,
            path: None,
            stamp: None,
            made: Made::Unknown,
            found,
            unreadable: Vec::new(),
        })
    }

    /// An executable with nothing in it, for programs that have none to show.
    ///
    /// ```
    /// assert_eq!(zonecast_embed::Executable::empty("none").images().len(), 0);
    /// ```
    pub fn empty(name: &str) -> Self {
        Self {
            storage: Storage::Memory(Cow::Borrowed(&[])),
            name: name.to_owned(),
            path: None,
            stamp: None,
            made: Made::Unknown,
            found: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    /// Everything: the whole file, or the bytes given. Empty for a loaded library.
    pub fn bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    /// The path it was opened by.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The file's name without directory and last extension, or the name given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// False if the mapped file has been written to since it was opened, as far as its length and time
    /// of modification tell. The texts may then be of another version, or torn: show none of them.
    pub fn unchanged(&self) -> bool {
        let itself = match (&self.path, &self.stamp) {
            (Some(path), Some(stamp)) => stamp.holds(path),
            _ => true,
        };
        itself && self.found.iter().all(|found| found.reader.unchanged())
    }

    /// The file on disk that may have the text of a path, for locations whose text is not
    /// [embedded](Image::named_source). A relative path counts from the current folder.
    ///
    /// Of bytes that the program owns it is taken that they were just made; borrowed ones are as old as the
    /// program. `None` if the executable's age is not known, as that of a loaded library.
    pub fn disk_text(&self, path: impl AsRef<[u8]>) -> Option<DiskText> {
        let made = match self.made {
            Made::At(time) => time,
            Made::Before(moment) => SystemTime::now().checked_sub(moment.elapsed())?,
            Made::WithProgram => written(&std::env::current_exe().ok()?)?,
            Made::Unknown => return None,
        };
        DiskText::new(path.as_ref(), made)
    }

    /// What was found, in order of offset in the file as far as containers keep that order.
    pub fn images(&self) -> Images<'_> {
        Images::new(self)
    }

    /// The image of that index.
    pub fn image(&self, index: usize) -> Option<Image<'_>> {
        (index < self.found.len()).then(|| Image::new(self, index))
    }

    /// Things worth saying to a person. Checks the order of every source table, so it reads all paths.
    pub fn notes(&self) -> Vec<Note<'_>> {
        let unreadable = self.unreadable.iter().map(Note::Unreadable);
        unreadable.chain(self.images().flat_map(Image::notes)).collect()
    }

    /// What errors name as the file.
    pub(crate) fn place(&self) -> Cow<'_, str> {
        self.path.as_ref().map_or(Cow::Borrowed(&*self.name), |path| path.to_string_lossy())
    }

    pub(crate) fn found(&self) -> &[Found] {
        &self.found
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable")
            .field("name", &self.name)
            .field("path", &self.path)
            .field("bytes", &self.bytes().len())
            .field("images", &self.images().collect::<Vec<_>>())
            .finish()
    }
}

/// Something in memory that [`Executable::from_loaded`] can read.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Loaded {
    /// The first byte of a zonecast table, for instance the symbol `zonecast_table` that `dlsym` gave.
    Table(NonNull<u8>),
    /// An IREE library's query function, for instance the symbol `iree_hal_executable_library_query`
    /// that `dlsym` gave. It is called, without an environment, once for each version understood
    /// until it answers.
    #[cfg(feature = "iree")]
    IreeQuery(IreeQuery),
    /// What such a function returned.
    #[cfg(feature = "iree")]
    IreeLibrary(NonNull<std::ffi::c_void>),
}

/// The query function of an IREE executable library: takes the interface version and an environment,
/// and returns the library or null.
#[cfg(feature = "iree")]
pub type IreeQuery =
    unsafe extern "C" fn(version: u32, environment: *const std::ffi::c_void) -> *const std::ffi::c_void;
