//! Reading and writing files, and saying which one a failure is about.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use crate::Failure;

/// An error, with the file it is about.
pub(crate) fn about(path: &Path, error: &dyn std::error::Error) -> Failure {
    format!("{}: {error}", path.display()).into()
}

/// A file that keeps what it holds until there is something to write: nobody loses the last capture
/// to one that fails.
pub(crate) struct Output {
    file: File,
    is_untouched: bool,
}

impl Output {
    /// The file at `path`, which is made if it is not there.
    pub(crate) fn open(path: &Path) -> Result<BufWriter<Self>, Failure> {
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(|error| about(path, &error))?;
        Ok(BufWriter::new(Self { file, is_untouched: true }))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Pipes and devices have nothing to be emptied.
        if std::mem::take(&mut self.is_untouched) && self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes to standard output.
pub(crate) fn print(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'_>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut output = BufWriter::new(io::stdout().lock());
    match write(&mut output).and_then(|()| output.flush()) {
        // Whoever reads our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes to a file, or to standard output if there is none.
#[cfg(feature = "recordings")]
pub(crate) fn write_to(
    output: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = output else { return print(|out| write(out)) };
    let mut file = Output::open(path)?;
    write(&mut file).and_then(|()| file.flush()).map_err(|error| about(path, &error))
}

/// A folder that texts are written into, under paths for which nobody vouches.
///
/// Whatever a path says, its text stays within the folder, follows no link, and replaces no file.
pub(crate) struct Folder {
    root: PathBuf,
    /// What was written since it was opened.
    written: HashSet<PathBuf>,
}

impl Folder {
    /// The folder at `root`, which is made if it is not there.
    pub(crate) fn create(root: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(root).map_err(|error| about(root, &error))?;
        Ok(Self { root: root.to_owned(), written: HashSet::new() })
    }

    /// Writes a text under its path. One of the same path with another text, which was written before, keeps its
    /// place; then this one goes into a folder named after the `module` that it comes from.
    ///
    /// Returns where it is, within the folder.
    pub(crate) fn write(&mut self, path: &str, text: &[u8], module: &str) -> Result<PathBuf, Failure> {
        let plain = within(path);
        let mut place = plain.clone();
        for number in 1.. {
            let target = self.root.join(&place);
            if !self.written.contains(&place) || fs::read(&target).is_ok_and(|there| there == text) {
                break;
            }
            let folder = if number == 1 { module.to_owned() } else { format!("{module}.{number}") };
            place = within(&folder).join(&plain);
        }
        self.write_at(&place, text).map_err(|error| about(&self.root.join(&place), &error))?;
        self.written.insert(place.clone());
        Ok(place)
    }

    fn write_at(&self, place: &Path, text: &[u8]) -> io::Result<()> {
        let mut folder = self.root.clone();
        for part in place.parent().into_iter().flat_map(Path::components) {
            folder.push(part);
            make_folder(&folder)?;
        }
        let target = self.root.join(place);
        match OpenOptions::new().write(true).create_new(true).open(&target) {
            Ok(mut file) => file.write_all(text),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_same(&target, text),
            Err(error) => Err(error),
        }
    }
}

/// Makes a folder, unless it is there already. A link to one is none.
fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let is_folder = fs::symlink_metadata(path)?.is_dir();
            if is_folder { Ok(()) } else { Err(occupied()) }
        }
        other => other,
    }
}

/// That the file there is a text that needs no writing.
fn check_same(path: &Path, text: &[u8]) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_file() && metadata.len() == text.len() as u64 && fs::read(path)? == text {
        return Ok(());
    }
    Err(occupied())
}

fn occupied() -> io::Error {
    let what = "something else is there already, and is left alone; use an empty folder";
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

/// A path that stays within the folder it is joined to, and that any system can have.
fn within(path: &str) -> PathBuf {
    let is_odd = |c: char| c.is_control() || r#":*?"<>|"#.contains(c);
    let parts = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "."));
    let parts = parts.map(|part| if part == ".." { "_".to_owned() } else { part.replace(is_odd, "_") });
    let path: PathBuf = parts.collect();
    if path.as_os_str().is_empty() { "unnamed".into() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_within() {
        for (path, expected) in [
            ("../../etc/passwd", "_/_/etc/passwd"),
            ("/model/a.mlir", "model/a.mlir"),
            ("a/./b//c", "a/b/c"),
            (r"C:\model\a.py", "C_/model/a.py"),
            (r"..\..\a", "_/_/a"),
            ("a\0b\x1b[2J\n", "a_b_[2J_"),
            ("", "unnamed"),
            ("/", "unnamed"),
            ("..", "_"),
        ] {
            assert_eq!(within(path), Path::new(expected), "{path:?}");
        }
    }

    #[test]
    fn texts_of_one_path_stand_beside_each_other() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(root.path()).unwrap();
        let place = |folder: &mut Folder, text: &[u8]| folder.write("a/b.mlir", text, "module").unwrap();
        assert_eq!(place(&mut folder, b"one"), Path::new("a/b.mlir"));
        assert_eq!(place(&mut folder, b"two"), Path::new("module/a/b.mlir"));
        assert_eq!(place(&mut folder, b"three"), Path::new("module.2/a/b.mlir"));
        assert_eq!(place(&mut folder, b"two"), Path::new("module/a/b.mlir"));
        assert_eq!(fs::read(root.path().join("a/b.mlir")).unwrap(), b"one");
        assert_eq!(fs::read(root.path().join("module/a/b.mlir")).unwrap(), b"two");
    }

    #[test]
    fn what_was_there_stays() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("mine"), "precious").unwrap();
        fs::write(root.path().join("same"), "text").unwrap();
        let mut folder = Folder::create(root.path()).unwrap();
        let error = folder.write("mine", b"hostile", "module").unwrap_err();
        assert!(error.to_string().contains("is left alone"), "{error}");
        assert_eq!(fs::read(root.path().join("mine")).unwrap(), b"precious");
        assert_eq!(folder.write("same", b"text", "module").unwrap(), Path::new("same"));
        // A file cannot be a folder as well.
        assert!(folder.write("mine/within", b"text", "module").is_err());
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("new"), root.path().join("dangling")).unwrap();
        let mut folder = Folder::create(root.path()).unwrap();
        assert!(folder.write("link/a", b"text", "module").is_err());
        assert!(folder.write("dangling", b"text", "module").is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
