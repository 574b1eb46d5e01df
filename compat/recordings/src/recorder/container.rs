//! The file that a recording is kept in: named parts, each with a checksum.
//!
//! ```text
//! 0   magic 89 5A 43 52 45 43 0D 0A ("\x89ZCREC\r\n": a transfer as text would change it)
//! 8   u16 major version, u16 minor version
//! 12  u32 number of parts
//! 16  u64 offset, u64 length, u64 XXH3-64 of the directory
//! 40  u64 length of the file
//! 48  u64 XXH3-64 of bytes 0 to 47
//! 56  zeros
//! 64  the parts, each at a multiple of 64, with zeros between
//!     the directory, to the end of the file; for each part
//!         u32 length of this entry, u32 flags, u64 offset, u64 length, u64 XXH3-64 of the part,
//!         u32 length of its name, the name
//! ```
//!
//! All numbers are little-endian. Nothing in a file is without a checksum or known to be zero, so that any changed byte is found.
//!
//! **How it may grow.** A reader skips parts that it does not know, and what is in an entry after the name. A part without
//! which the rest would be misread has bit 0 of its flags set: who does not know it refuses the file. The minor
//! version is raised for new parts, the major one for whatever else.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};
use twox_hash::XxHash3_64;

use crate::Error;

const MAGIC: [u8; 8] = *b"\x89ZCREC\r\n";
const MAJOR: u16 = 1;
const MINOR: u16 = 0;
const HEADER: usize = 64;
const ALIGNMENT: u64 = 64;
/// What is checksummed of the header.
const CHECKED: usize = 48;
/// An entry without its name.
const ENTRY: usize = 36;
/// More directory than any recording has.
const LONGEST_DIRECTORY: u64 = 1 << 30;

/// Bit of a part's flags: who does not know it must not read the file.
pub const REQUIRED: u32 = 1;

/// Writes a container. It appears under its name when it is finished, whole and on the disk; until then, and if it never
/// is, what was there before stays.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: NamedTempFile,
    at: u64,
    directory: Vec<u8>,
    count: u32,
}

impl Writer {
    /// Begins a file that will have this path.
    ///
    /// # Errors
    ///
    /// If no file can be made in its folder.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let make = || {
            let mut file = temporary().tempfile_in(folder.unwrap_or(Path::new(".")))?;
            file.write_all(&[0; HEADER])?;
            Ok(file)
        };
        let file = make().map_err(|error| Error::io(error).in_file(path))?;
        Ok(Self { path: path.to_owned(), file, at: HEADER as u64, directory: Vec::new(), count: 0 })
    }

    /// Adds a part.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn part(&mut self, name: &str, flags: u32, bytes: &[u8]) -> Result<(), Error> {
        let offset = self.at;
        self.write(bytes)?;
        let entry = [
            &((ENTRY + name.len()) as u32).to_le_bytes()[..],
            &flags.to_le_bytes(),
            &offset.to_le_bytes(),
            &(bytes.len() as u64).to_le_bytes(),
            &XxHash3_64::oneshot(bytes).to_le_bytes(),
            &(name.len() as u32).to_le_bytes(),
            name.as_bytes(),
        ];
        self.directory.extend(entry.concat());
        self.count += 1;
        let padding = self.at.next_multiple_of(ALIGNMENT) - self.at;
        self.write(&[0; ALIGNMENT as usize][..padding as usize])
    }

    /// Gives the file its name, once all of it is on the disk.
    ///
    /// # Errors
    ///
    /// If that fails; then what was there before is still there.
    pub fn finish(mut self) -> Result<(), Error> {
        let directory = std::mem::take(&mut self.directory);
        let offset = self.at;
        self.write(&directory)?;
        let header = header(self.count, offset, &directory);
        let Self { path, mut file, .. } = self;
        let write = || {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)?;
            file.as_file().sync_all()?;
            let file = file.persist(&path)?;
            drop(file);
            sync_folder(&path)
        };
        write().map_err(|error| Error::io(error).in_file(&path))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|error| Error::io(error).in_file(&self.path))?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}

/// Temporary files are their owner's alone; what becomes of this one is for whom any new file is.
fn temporary() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// So that the new name, too, is on the disk.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if cfg!(unix) {
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn header(count: u32, offset: u64, directory: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        header[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&MAGIC);
    put(&MAJOR.to_le_bytes());
    put(&MINOR.to_le_bytes());
    put(&count.to_le_bytes());
    put(&offset.to_le_bytes());
    put(&(directory.len() as u64).to_le_bytes());
    put(&XxHash3_64::oneshot(directory).to_le_bytes());
    put(&(offset + directory.len() as u64).to_le_bytes());
    let hash = XxHash3_64::oneshot(&header[..CHECKED]);
    header[CHECKED..CHECKED + 8].copy_from_slice(&hash.to_le_bytes());
    header
}

/// A part of a container, as its directory has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its flags; see [`REQUIRED`].
    pub flags: u32,
    /// Where it is in the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    hash: u64,
}

/// An opened container.
#[derive(Debug)]
pub struct Container {
    path: PathBuf,
    file: File,
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
}

impl Container {
    /// Whether a file begins as a container.
    pub fn is_one(path: &Path) -> bool {
        let mut magic = [0; MAGIC.len()];
        let read = path.is_file().then(|| File::open(path).ok()?.read_exact(&mut magic).ok());
        read.flatten().is_some() && magic == MAGIC
    }

    /// Opens a container and checks everything but the parts themselves, which are checked when they are read.
    ///
    /// # Errors
    ///
    /// If it is none, is of another major version, has changed since it was written, or a part is [`REQUIRED`] that is
    /// not in `known`. What ends in `/` in `known` stands for all names that begin so.
    pub fn open(path: &Path, known: &[&str]) -> Result<Self, Error> {
        Self::open_inner(path, known).map_err(|error| error.in_file(path))
    }

    fn open_inner(path: &Path, known: &[&str]) -> Result<Self, Error> {
        if !path.is_file() {
            return Err(Error::unknown("file"));
        }
        let mut file = File::open(path).map_err(Error::io)?;
        let size = file.metadata().map_err(Error::io)?.len();
        let mut header = [0; HEADER];
        let read = file.read_exact(&mut header);
        if header[..MAGIC.len()] != MAGIC {
            return Err(Error::unknown("recording of zonecast's"));
        }
        read.map_err(|_| Error::damaged(0, "a header of 64 bytes"))?;
        let u64_at = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        if XxHash3_64::oneshot(&header[..CHECKED]) != u64_at(CHECKED) || header[CHECKED + 8..] != [0; 8] {
            return Err(Error::damaged(0, "a header with its checksum"));
        }
        let version = [8, 10].map(|at| u16::from_le_bytes([header[at], header[at + 1]]));
        if version[0] != MAJOR {
            return Err(Error::version("a recording", version));
        }
        let count = u32::from_le_bytes(header[12..16].try_into().expect("four bytes"));
        let (offset, length) = (u64_at(16), u64_at(24));
        if u64_at(40) != size || offset.checked_add(length) != Some(size) || length > LONGEST_DIRECTORY {
            return Err(Error::contradiction(format!("{} bytes; there are {size}", u64_at(40))));
        }
        let directory = read_at(&mut file, offset, length)?;
        if XxHash3_64::oneshot(&directory) != u64_at(32) {
            return Err(Error::damaged(offset, "a directory with its checksum"));
        }
        let entries = entries(&directory, offset)?;
        let names = entries.iter().enumerate().map(|(index, entry)| (entry.name.clone(), index));
        let by_name = names.collect();
        let mut container = Self { path: path.to_owned(), file, entries, by_name };
        if container.entries.len() != count as usize {
            return Err(Error::damaged(12, format!("{} as number of parts", container.entries.len())));
        }
        container.check_layout(offset)?;
        let is_known =
            |name: &str| known.iter().any(|k| *k == name || k.ends_with('/') && name.starts_with(k));
        let strange = |entry: &&Entry| entry.flags & REQUIRED != 0 && !is_known(&entry.name);
        match container.entries.iter().find(strange) {
            Some(entry) => Err(Error::unsupported(format!(
                "the part {:?}, which a newer version wrote; update zonecast",
                entry.name
            ))),
            None => Ok(container),
        }
    }

    /// Its parts, in the file's order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Reads a part.
    ///
    /// # Errors
    ///
    /// If there is none of that name, it cannot be read, or its checksum is another.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, Error> {
        let entry = self.by_name.get(name).map(|&index| &self.entries[index]);
        let entry = entry.ok_or_else(|| Error::missing(format!("there is no part {name:?} in it")));
        let read = entry.and_then(|entry| {
            let bytes = read_at(&mut self.file, entry.offset, entry.length)?;
            match XxHash3_64::oneshot(&bytes) == entry.hash {
                true => Ok(bytes),
                false => Err(Error::damaged(entry.offset, format!("a part {name:?} with its checksum"))),
            }
        });
        read.map_err(|error| error.in_file(&self.path))
    }

    /// Reads every part, known or not, to see whether it is as it was written.
    ///
    /// # Errors
    ///
    /// The first part that is not.
    pub fn verify(&mut self) -> Result<(), Error> {
        let names: Vec<_> = self.entries.iter().map(|entry| entry.name.clone()).collect();
        names.iter().try_for_each(|name| self.read(name).map(drop))
    }

    /// That parts follow one another up to the directory, with nothing but zeros between.
    fn check_layout(&mut self, directory: u64) -> Result<(), Error> {
        let mut at = HEADER as u64;
        for index in 0..self.entries.len() {
            let (offset, length) = (self.entries[index].offset, self.entries[index].length);
            if offset != at {
                return Err(Error::damaged(offset, format!("a part at {at:#x}")));
            }
            let end = offset.checked_add(length).filter(|&end| end <= directory);
            let end = end.ok_or_else(|| Error::damaged(offset, "a part that ends before the directory"))?;
            at = end.next_multiple_of(ALIGNMENT);
            let padding = read_at(&mut self.file, end, at.min(directory) - end)?;
            if padding.iter().any(|&byte| byte != 0) {
                return Err(Error::damaged(end, "zeros between parts"));
            }
        }
        match () {
            () if at != directory => Err(Error::damaged(at, format!("the directory at {directory:#x}"))),
            () if self.by_name.len() != self.entries.len() => {
                Err(Error::damaged(directory, "parts of different names"))
            }
            () => Ok(()),
        }
    }
}

/// Reads so many bytes, which the file is known to have.
fn read_at(file: &mut File, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset)).map_err(Error::io)?;
    file.take(length).read_to_end(&mut bytes).map_err(Error::io)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(Error::damaged(offset, format!("{length} bytes"))),
    }
}

fn entries(directory: &[u8], base: u64) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    let mut rest = directory;
    while !rest.is_empty() {
        let at = base + (directory.len() - rest.len()) as u64;
        let entry = || -> Option<(Entry, &[u8])> {
            let length = u32::from_le_bytes(*rest.first_chunk()?) as usize;
            let entry = rest.get(..length)?;
            let u64_at = |at: usize| Some(u64::from_le_bytes(*entry.get(at..)?.first_chunk()?));
            let name_length = u32::from_le_bytes(*entry.get(32..)?.first_chunk()?) as usize;
            let name = entry.get(ENTRY..)?.get(..name_length)?;
            let name = std::str::from_utf8(name).ok()?.to_owned();
            let flags = u32::from_le_bytes(*entry.get(4..)?.first_chunk()?);
            let entry = Entry { name, flags, offset: u64_at(8)?, length: u64_at(16)?, hash: u64_at(24)? };
            Some((entry, &rest[length..]))
        };
        let (entry, after) = entry().ok_or_else(|| Error::damaged(at, "an entry of the directory"))?;
        entries.push(entry);
        rest = after;
    }
    Ok(entries)
}
