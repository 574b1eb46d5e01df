//! The file with the device's global variables.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use crate::Error;

use super::Generation;

/// A global variable as it was before the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its symbol; what is not UTF-8 is refused.
    pub name: String,
    /// Where its bytes are in the file.
    pub range: Range<usize>,
}

/// Reads the file's table. `file` is what errors name.
///
/// Up to the second generation there is no count: entries of a NUL-terminated name, a `u32` size and that many bytes
/// follow one another to the end of the file. The third writes a `u32` count, and for each entry a `u32` length
/// of its name with the NUL, a `u64` size, the name and the bytes.
///
/// # Errors
///
/// If the entries do not end where the file does, or a name is none.
pub fn globals(bytes: &[u8], generation: Generation, file: &Path) -> Result<Vec<Global>, Error> {
    let mut walk = Walk { bytes, at: 0, file };
    let mut globals = Vec::new();
    if generation == Generation::Third {
        // An empty file: there were none.
        let count = if bytes.is_empty() { 0 } else { walk.u32("the number of globals")? };
        for _ in 0..count {
            globals.push(walk.counted()?);
        }
        if walk.at != bytes.len() {
            return Err(walk.damaged(format!("the end after {count} globals")));
        }
    } else {
        while walk.at < bytes.len() {
            globals.push(walk.terminated()?);
        }
    }
    Ok(globals)
}

/// Writes the third generation's form.
///
/// ```
/// use std::path::Path;
/// use zonecast_recordings::llvm::{Generation, globals, write_globals};
///
/// let file = write_globals(&[("scale", &3_u32.to_le_bytes())]);
/// let read = globals(&file, Generation::Third, Path::new("example"))?;
/// assert_eq!((read[0].name.as_str(), &file[read[0].range.clone()]), ("scale", &[3, 0, 0, 0][..]));
/// # Ok::<(), zonecast_recordings::Error>(())
/// ```
///
/// # Panics
///
/// If there are 2^32 globals, or a name is as long.
pub fn write_globals(globals: &[(&str, &[u8])]) -> Vec<u8> {
    let u32_of = |length| u32::try_from(length).expect("fewer than 2^32");
    let mut out = u32_of(globals.len()).to_le_bytes().to_vec();
    for (name, bytes) in globals {
        out.extend(u32_of(name.len() + 1).to_le_bytes());
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend(name.as_bytes());
        out.push(0);
        out.extend(*bytes);
    }
    out
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    file: &'a Path,
}

impl<'a> Walk<'a> {
    fn damaged(&self, expected: impl Into<Cow<'static, str>>) -> Error {
        Error::damaged(self.at as u64, expected).in_file(self.file)
    }

    fn take(&mut self, length: u64, what: impl Into<Cow<'static, str>>) -> Result<&'a [u8], Error> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let taken = end.and_then(|end| self.bytes.get(self.at..end)).ok_or_else(|| self.damaged(what))?;
        self.at += taken.len();
        Ok(taken)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, Error> {
        let bytes = self.take(4, what)?;
        Ok(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    fn counted(&mut self) -> Result<Global, Error> {
        let length = self.u32("the length of a global's name")?;
        let size = self.take(8, "the size of a global")?;
        let size = u64::from_le_bytes(size.try_into().expect("eight bytes"));
        let name = match self.take(length.into(), "a global's name")? {
            [name @ .., 0] => self.name(name)?,
            _ => return Err(self.damaged("a global's name that ends in NUL")),
        };
        self.global(name, size)
    }

    fn terminated(&mut self) -> Result<Global, Error> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| byte == 0);
        let end = end.ok_or_else(|| self.damaged("a global's name that ends in NUL"))?;
        let name = self.name(&rest[..end])?;
        self.at += end + 1;
        let size = self.u32("the size of a global")?;
        self.global(name, size.into())
    }

    fn name(&self, name: &[u8]) -> Result<String, Error> {
        let symbol = |name: &&str| !name.is_empty() && !name.contains(char::is_control);
        let name = std::str::from_utf8(name).ok().filter(symbol);
        name.map(str::to_owned).ok_or_else(|| self.damaged("a symbol as a global's name"))
    }

    fn global(&mut self, name: String, size: u64) -> Result<Global, Error> {
        let start = self.at;
        self.take(size, format!("{size} bytes of the global {name}"))?;
        Ok(Global { name, range: start..self.at })
    }
}
