//! Which path has which text.

use std::borrow::Cow;
use std::fmt;
use std::hash::Hasher;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use zonecast_embed::{DiskText, Error, ErrorKind, Executable, Origin, Source};

use crate::say::{say, say_once};
use crate::sources::{self, KEPT_BYTES, Text};

#[derive(Default)]
struct Registry {
    files: HashMap<Box<[u8]>, File>,
    kept_bytes: usize,
}

/// A path that a location names, or that was published.
struct File {
    content: Content,
    /// The lines at which locations name it, for texts that must be cut.
    lines: Vec<u32>,
}

#[derive(Clone)]
enum Content {
    Static(&'static [u8]),
    /// Owned here: published, or copied out of a module when it was unloaded.
    Kept(Arc<[u8]>),
    Mapped(Mapped),
    /// In a file on disk, which is read when somebody asks.
    Disk(DiskText),
    /// Unloaded when too much was kept already; enough is known to tell another text from it.
    Gone(Fingerprint),
}

/// A text inside a registered executable.
#[derive(Clone)]
pub(crate) struct Mapped {
    module: u64,
    executable: Arc<Executable>,
    image: usize,
    /// The path inside the executable, which need not be the one it is known under here.
    path: Box<[u8]>,
}

#[derive(Clone, PartialEq, Eq)]
struct Fingerprint {
    length: usize,
    hash: u64,
}

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);
static NEXT_MODULE: AtomicU64 = AtomicU64::new(0);

/// A registered executable and the paths that are answered from it.
pub(crate) struct Registered {
    module: u64,
    executable: Arc<Executable>,
    claimed: Mutex<Vec<Box<[u8]>>>,
}

impl Registered {
    pub(crate) fn new(executable: Arc<Executable>) -> Self {
        let module = NEXT_MODULE.fetch_add(1, Ordering::Relaxed);
        Self { module, executable, claimed: Mutex::new(Vec::new()) }
    }

    pub(crate) fn executable(&self) -> &Arc<Executable> {
        &self.executable
    }

    /// See [`Module::claim`](crate::sources::Module).
    pub(crate) fn claim(&self, image: usize, path: &[u8]) -> String {
        // Locations are UTF-8 and end at a NUL; the text is found under what they say.
        let name = String::from_utf8_lossy(path).replace('\0', "\u{fffd}");
        let source = self.executable.image(image).and_then(|image| image.named_source(path));
        match source {
            Some(source) => {
                let alias = REGISTRY.write().claim(&name, self.module_name(), &self.mapped(source));
                self.claimed.lock().push(alias.as_bytes().into());
                alias
            }
            None => self.claim_on_disk(name, path),
        }
    }

    /// As [`claim`](Self::claim), for a text that is not in the executable.
    fn claim_on_disk(&self, name: String, path: &[u8]) -> String {
        if take_from_program(path) {
            return name;
        }
        let Some(file) = self.executable.disk_text(path) else { return name };
        match file.origin() {
            Origin::Disk => REGISTRY.write().claim(&name, self.module_name(), &Content::Disk(file)),
            Origin::Newer => self.refuse(path),
            _ => name,
        }
    }

    /// Says, once for each path, that its file is newer than the executable. Returns the name under which a viewer
    /// finds a sentence about that: it may look at the disk for itself, and must not find the file there.
    pub(crate) fn refuse(&self, path: &[u8]) -> String {
        let (name, module) = (String::from_utf8_lossy(path), self.module_name());
        let alias = format!("{name} [newer than {module}]");
        let sentence = format!("{name} is newer than {module}, so its text is not shown; compile it again");
        let mut registry = REGISTRY.write();
        if !registry.files.contains_key(alias.as_bytes()) {
            say!("{sentence}");
            let content = Content::Kept(format!("// zonecast: {sentence}.\n").into_bytes().into());
            registry.files.insert(alias.as_bytes().into(), File { content, lines: Vec::new() });
        }
        alias
    }

    fn module_name(&self) -> &str {
        self.executable.name()
    }

    fn mapped(&self, source: Source<'_>) -> Content {
        let (image, path) = (source.image().index(), source.path().into());
        Content::Mapped(Mapped { module: self.module, executable: self.executable.clone(), image, path })
    }

    /// The text of a path, whichever image it is in.
    fn source(&self, path: &[u8]) -> Option<Source<'_>> {
        self.executable.images().next()?.named_source(path)
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("module", &self.module).finish_non_exhaustive()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut registry = REGISTRY.write();
        for path in self.claimed.get_mut().drain(..) {
            registry.unload(self.module, &path);
        }
    }
}

/// Where the bytes of a [`Text`] are.
pub(crate) enum TextBytes {
    Static(&'static [u8]),
    Owned(Vec<u8>),
    Shared(Arc<[u8]>),
    /// Looked up in the executable each time, so that nothing points into it that outlives it.
    Mapped(Mapped),
}

impl TextBytes {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Static(text) => text,
            Self::Owned(text) => text,
            Self::Shared(text) => text,
            Self::Mapped(text) => text.text(),
        }
    }
}

/// See [`open`](crate::sources::open).
pub(crate) fn open(path: &Path) -> Result<Executable, Error> {
    Executable::open(path)
}

/// The tables of the program itself; see [`program`](crate::sources::program).
pub(crate) fn of_program() -> Executable {
    Executable::of_program().unwrap_or_else(|error| {
        // A system that does not show a program its own file is none of the user's business.
        if !matches!(error.kind(), ErrorKind::Io(_)) {
            say!("{error}; the program's own sources are not shown");
        }
        Executable::empty("program")
    })
}

/// Has the program's own text of a path stand under it, as no other does. Whether there is one.
fn take_from_program(path: &[u8]) -> bool {
    let Some(program) = sources::program_if_known() else { return false };
    let Some(source) = program.source(path) else { return false };
    let Ok(name) = std::str::from_utf8(path) else { return false };
    REGISTRY.write().offer(name, &program.mapped(source))
}

/// See [`publish`](crate::sources::publish).
pub(crate) fn publish(path: &str, text: Cow<'static, [u8]>) {
    let mut registry = REGISTRY.write();
    if let Some(file) = registry.files.get(path.as_bytes()) {
        if !file.content.is(&text) {
            say_once!(
                "{path} was published with two texts; the first is shown (further such paths are not named)"
            );
        }
        return;
    }
    let content = match text {
        Cow::Borrowed(text) => Content::Static(text),
        Cow::Owned(text) => Content::Kept(text.into()),
    };
    registry.files.insert(path.as_bytes().into(), File { content, lines: Vec::new() });
}

/// See [`text`](crate::sources::text).
pub(crate) fn text(path: &[u8]) -> Option<Text> {
    let content = known(path).or_else(|| take_from_program(path).then(|| known(path)).flatten())?;
    // Files are asked about, and read, outside of the lock.
    Some(Text(match content {
        Content::Static(text) => TextBytes::Static(text),
        Content::Kept(text) => TextBytes::Shared(text),
        Content::Gone(_) => TextBytes::Static(GONE.as_bytes()),
        Content::Mapped(mapped) if mapped.executable.unchanged() => TextBytes::Mapped(mapped),
        Content::Mapped(mapped) => TextBytes::Owned(changed(&mapped.executable).into_bytes()),
        Content::Disk(file) => {
            TextBytes::Owned(file.read().unwrap_or_else(|| edited(file.path()).into_bytes()))
        }
    }))
}

fn known(path: &[u8]) -> Option<Content> {
    REGISTRY.read().files.get(path).map(|file| file.content.clone())
}

/// A location names `path` at `line`.
pub(crate) fn name_line(path: &str, line: u32) {
    let note = |registry: &mut Registry| {
        let file = registry.files.get_mut(path.as_bytes());
        file.map(|file| {
            if !file.lines.contains(&line) {
                file.lines.push(line)
            }
        })
    };
    let is_noted = note(&mut REGISTRY.write()).is_some();
    if !is_noted && take_from_program(path.as_bytes()) {
        note(&mut REGISTRY.write());
    }
}

/// The lines at which locations name a path.
pub(crate) fn lines(path: &[u8]) -> Vec<u32> {
    REGISTRY.read().files.get(path).map(|file| file.lines.clone()).unwrap_or_default()
}

const GONE: &str =
    "// zonecast: the module was unloaded when the texts of too many others were kept already.\n";

fn changed(executable: &Executable) -> String {
    let file = executable.path().map(|path| path.display().to_string()).unwrap_or_default();
    format!(
        "// zonecast: {file} was written to after it was mapped, so its text is not shown. \
         Write a new file and rename it over the old one.\n"
    )
}

fn edited(path: &Path) -> String {
    let path = path.display();
    format!(
        "// zonecast: {path} was written to since the executable was compiled, so its text is not shown.\n"
    )
}

impl Registry {
    /// The name under which a module's text stands after this: `name`, or one that tells it from the text
    /// that stands there.
    fn claim(&mut self, name: &str, module: &str, offered: &Content) -> String {
        if self.offer(name, offered) {
            return name.to_owned();
        }
        let alias = format!("{name} [{module}]");
        if self.offer(&alias, offered) {
            return alias;
        }
        // Two modules of one name. By content, so that loading one again brings no further name.
        let alias = format!("{name} [{module} {:016x}]", Fingerprint::of(&offered.text()).hash);
        self.offer(&alias, offered);
        alias
    }

    /// Whether the text offered stands under `path` after this.
    fn offer(&mut self, path: &str, offered: &Content) -> bool {
        let Some(file) = self.files.get_mut(path.as_bytes()) else {
            let file = File { content: offered.clone(), lines: Vec::new() };
            self.files.insert(path.as_bytes().into(), file);
            return true;
        };
        if !file.content.is_at(offered) && !file.content.is(&offered.text()) {
            return false;
        }
        // What was copied out can be borrowed again.
        let is_copy = matches!(file.content, Content::Kept(_) | Content::Gone(_));
        if is_copy && matches!(offered, Content::Mapped(_)) {
            if let Content::Kept(copy) = &file.content {
                self.kept_bytes = self.kept_bytes.saturating_sub(copy.len());
            }
            file.content = offered.clone();
        }
        true
    }

    /// Lets go of the module's mapping where `path` is answered from it.
    fn unload(&mut self, module: u64, path: &[u8]) {
        let Some(file) = self.files.get_mut(path) else { return };
        let Content::Mapped(mapped) = &file.content else { return };
        if mapped.module != module {
            return;
        }
        file.content = mapped.copied_out(KEPT_BYTES.saturating_sub(self.kept_bytes));
        if let Content::Kept(copy) = &file.content {
            self.kept_bytes += copy.len();
        }
    }
}

impl Content {
    /// The text, or what is left of it.
    fn text(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Static(own) => Cow::Borrowed(own),
            Self::Kept(own) => Cow::Borrowed(own),
            Self::Mapped(mapped) => Cow::Borrowed(mapped.text()),
            Self::Disk(file) => Cow::Owned(file.read().unwrap_or_default()),
            Self::Gone(_) => Cow::Borrowed(&[]),
        }
    }

    fn is(&self, text: &[u8]) -> bool {
        match self {
            Self::Gone(own) => *own == Fingerprint::of(text),
            // A file that was written to is not even looked at: it may have become shorter.
            Self::Mapped(mapped) => mapped.executable.unchanged() && mapped.text() == text,
            own => *own.text() == *text,
        }
    }

    /// Whether it is the very text that is offered, so that there is nothing to compare.
    fn is_at(&self, offered: &Self) -> bool {
        match (self, offered) {
            (Self::Mapped(own), Self::Mapped(other)) => {
                Arc::ptr_eq(&own.executable, &other.executable)
                    && own.image == other.image
                    && own.path == other.path
            }
            // An edited file is another text to a module that was compiled since.
            (Self::Disk(own), Self::Disk(other)) => {
                own.path() == other.path() && own.origin() == Origin::Disk
            }
            _ => false,
        }
    }
}

impl Mapped {
    fn text(&self) -> &[u8] {
        let image = self.executable.image(self.image);
        image.and_then(|image| image.find(&self.path)).map(Source::text).unwrap_or_default()
    }

    /// What is left of the text when the mapping goes: itself, if it fits into `room`.
    fn copied_out(&self, room: usize) -> Content {
        if !self.executable.unchanged() {
            return Content::Kept(changed(&self.executable).into_bytes().into());
        }
        let text = self.text();
        if text.len() <= room {
            return Content::Kept(text.into());
        }
        say_once!(
            "more than {} MiB of source text named by unloaded modules; further such texts are not kept",
            KEPT_BYTES >> 20
        );
        Content::Gone(Fingerprint::of(text))
    }
}

impl Fingerprint {
    fn of(text: &[u8]) -> Self {
        // The standard hasher: its keys are fixed, so a name made from it stays the same.
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write(text);
        Self { length: text.len(), hash: hasher.finish() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SCALE: &[u8] = include_bytes!("../../../embed/tests/data/iree/scale.cpu.g3.vmfb");

    /// Small enough for Miri.
    #[test]
    fn a_text_is_borrowed_while_it_is_mapped_and_copied_out_when_it_goes() {
        let executable = Arc::new(Executable::from_bytes(SCALE, "registry-test").unwrap());
        let image = executable.image(0).unwrap();
        let source = image.sources().get(0).unwrap();
        let (path, expected) = (source.path().to_vec(), source.text().to_vec());

        let registered = Registered::new(executable.clone());
        let name = registered.claim(0, &path);
        let borrowed = text(name.as_bytes()).unwrap();
        assert!(std::ptr::eq(&borrowed[..], source.text()));

        drop(registered);
        drop(executable);
        // What was handed out stays, and so does what is asked for now.
        assert_eq!(borrowed[..], expected);
        assert_eq!(text(name.as_bytes()).unwrap()[..], expected);
    }
}
