//! Source texts: which executables carry which, and the text of a path when somebody asks.
//!
//! [`open`] and [`register`] keep an executable's handle and read none of its texts. A path becomes known when
//! a location names it ([`dispatch::sites`](crate::dispatch::sites) does that for kernels) or when
//! [`publish`] says so. Those of tables in the [`program`] itself are known from the start. When a viewer meets such a location it asks for the path once, and the text
//! is answered straight from the mapped file.
//!
//! **Equal paths, different texts.** Compilers name files by what they compile, so two modules often
//! share paths. A viewer keeps the first text it gets for a path. So a path that stands already
//! keeps its text, and the later module's file gets another name: `PATH [MODULE]`.
//!
//! **Unloading.** Dropping a [`Module`] releases its mapping. Texts that locations name are copied out
//! first (up to [`KEPT_BYTES`] in all), because a viewer may ask late.
//!
//! **Lines without texts.** Most compilers for GPUs record where a kernel is and not what stands there. Then the
//! text is that of the file on disk, if it is there and not newer than the executable: an edited file has other
//! lines, and a viewer gets a sentence instead. [`Site::origin`](crate::dispatch::Site::origin) tells which it was.
//!
//! **Files that change.** Write a new module and rename it over the old: the mapping stays whole.
//! A file written in place is noticed before its text is shown, and the viewer gets a sentence
//! instead.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use zonecast_embed::{Error, Executable};

use crate::select::provider;
use crate::select::state::registry::{self, Registered, TextBytes};

/// How many bytes of text are kept in all for modules that were unloaded.
pub const KEPT_BYTES: usize = 64 << 20;

/// Opens a file and makes its texts known, for as long as the guard lives. Copies nothing.
///
/// Without a provider nothing is opened: the module is empty, and so are its sites.
///
/// # Errors
///
/// If the file cannot be read; see [`Executable::open`].
///
/// ```
/// use zonecast::{dispatch, sources};
///
/// # let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../embed/tests/data/iree/many.cpu.g3.vmfb");
/// let module = sources::open(model)?;
/// let sites = dispatch::sites(&module);
/// let _zone = sites.zone("f11_dispatch_0_elementwise_240_f32");
/// # Ok::<(), zonecast::embed::Error>(())
/// ```
pub fn open(path: impl AsRef<Path>) -> Result<Module, Error> {
    registry::open(path.as_ref()).map(register)
}

/// Makes the texts of an executable that is open already known, as [`open`] does.
///
/// Builds with a provider read IREE's formats and zonecast's tables; the features `dwarf`, `offload`, `cubin`,
/// `spirv` and `triton` add those of other compilers.
pub fn register(executable: impl Into<Arc<Executable>>) -> Module {
    let module = Module(Arc::new(Registered::new(executable.into())));
    provider!(|p| p.sources_ready());
    module
}

/// The program itself, with the tables that are embedded in its own file: by its build script and
/// [`embed_table!`](crate::embed::embed_table), by its C code, or by `zonecast embed` when it was finished.
/// Nothing if there are none.
///
/// [`start`](crate::start) does this; then any location that names a path of these tables has its text. Call it
/// for the sites of the kernels in them. It costs nothing but the first time, and little then. (What is in other
/// formats in the program's file is not looked at; [`open`] does that.)
///
/// ```
/// use zonecast::{dispatch, sources};
///
/// // In a program, OUT_DIR, where its build script has written the table.
/// zonecast::embed::embed_table!(concat!(
///     env!("CARGO_MANIFEST_DIR"), "/../embed/tests/data/tables/example.zonecast"));
///
/// let _session = zonecast::start();
/// let sites = dispatch::sites(sources::program());
/// let _zone = sites.zone("blur");
/// ```
pub fn program() -> &'static Module {
    PROGRAM.get_or_init(|| {
        crate::built::keep();
        let executable = registry::of_program();
        let has_tables = executable.images().len() > 0;
        let module = Module(Arc::new(Registered::new(executable.into())));
        if has_tables {
            provider!(|p| p.sources_ready());
        }
        module
    })
}

static PROGRAM: OnceLock<Module> = OnceLock::new();

/// The program itself, if somebody has asked for it before.
#[allow(dead_code, reason = "builds without a provider answer nobody")]
pub(crate) fn program_if_known() -> Option<&'static Registered> {
    PROGRAM.get().map(|module| &*module.0)
}

/// An executable whose texts are known until this is dropped.
#[must_use = "dropping the module unloads its texts"]
pub struct Module(pub(crate) Arc<Registered>);

impl Module {
    /// The executable registered.
    #[must_use]
    pub fn executable(&self) -> &Arc<Executable> {
        self.0.executable()
    }

    /// Says that a location of the executable's image `image` names `path`. The text is that image's own, else
    /// another image's, such as an attached table's. Returns the name under which viewers will find it: `path`
    /// itself, unless another text stands there. If no image has it, it is that of the file on disk, as long as that
    /// is not newer than the executable. Non-UTF-8 is replaced. Nothing is copied.
    ///
    /// [`dispatch::sites`](crate::dispatch::sites) does this for kernels; bridges do it for other
    /// places that they learn of.
    ///
    /// ```
    /// use zonecast::{embed::Executable, sources};
    ///
    /// # let bytes = include_bytes!("../../embed/tests/data/tables/example.zonecast");
    /// let module = sources::register(Executable::from_bytes(&bytes[..], "example")?);
    /// assert_eq!(module.claim(0, b"b.0.source.mlir"), "b.0.source.mlir");
    /// # Ok::<(), zonecast::embed::Error>(())
    /// ```
    pub fn claim(&self, image: usize, path: &[u8]) -> String {
        self.0.claim(image, path)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Module").field(&self.executable().name()).finish()
    }
}

/// Makes one text known under `path`, for good. The first text of a path stays.
///
/// ```
/// zonecast::sources::publish("kernels/add.wgsl", "@compute fn add() {}".as_bytes());
/// ```
pub fn publish(path: &str, text: impl Into<Cow<'static, [u8]>>) {
    registry::publish(path, text.into());
    provider!(|p| p.sources_ready());
}

/// The text of a path that a location names, whole. For providers.
#[must_use]
pub fn text(path: &[u8]) -> Option<Text> {
    registry::text(path)
}

/// As [`text`], in at most `limit` bytes, with every line in its place.
///
/// Of a longer text, the lines around the locations that name it are kept and all others become
/// empty; the first line says so.
#[must_use]
pub fn text_for(path: &[u8], limit: usize) -> Option<Text> {
    let text = registry::text(path)?;
    if text.len() <= limit {
        return Some(text);
    }
    let windowed = window::around(&text, &registry::lines(path), limit, path.ends_with(b".py"));
    Some(Text(TextBytes::Owned(windowed)))
}

/// A source text, kept for as long as this lives. Any bytes, as the executable has them.
pub struct Text(pub(crate) TextBytes);

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.len())
    }
}

mod window;
