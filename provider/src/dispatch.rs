//! Dispatch sites: each kernel of an executable, tied to its own line of its own source.
//!
//! A compiler may have kept several texts of one kernel, one a *stage*: as it was cut out of the
//! program, as it was configured, as it was lowered. [`sites`] takes the first of them,
//! `0.source`; [`sites_at`] takes another one, or the user's own file. The environment variable
//! `ZONECAST_STAGE` has the last word (`original` stands for the user's file), so that whoever
//! looks at a trace need not build the program again.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use zonecast_embed::{Export, Format, Image, Origin, SourceLocation};

use crate::select::state::registry::Registered;
use crate::settings;
use crate::sources::Module;
use crate::{Interned, Location, LocationParts, Zone};

/// Which text of a kernel its zones name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage<'a> {
    /// The compiler's text of this stage, such as `0.source`.
    Named(&'a str),
    /// The user's own file. Its text is seldom embedded; viewers look for it on disk.
    Original,
}

impl Default for Stage<'_> {
    /// The kernel as it was cut out of the program.
    fn default() -> Self {
        Self::Named("0.source")
    }
}

/// The dispatch sites of a module, at the default [`Stage`].
///
/// See [`sources::open`](crate::sources::open) for an example.
#[must_use]
pub fn sites(module: &Module) -> Sites {
    sites_at(module, Stage::default())
}

/// The dispatch sites of a module, at a stage of the caller's choice.
///
/// There are none if the module's file was written to after it was mapped; this is said.
///
/// A kernel that lacks the stage is placed in the user's file, if the text of that is to be had, else in a listing
/// that the compiler left, such as its PTX; one without any location, in the module's own file at line 0.
///
/// Those of formats with a table of kernels are made at once. Debug information may tell of many thousands of
/// functions, and is looked through when one is first asked for; a site is made when it is asked for itself, as
/// long as the module is there.
///
/// ```
/// use zonecast::{dispatch, sources};
///
/// # let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../embed/tests/data/iree/mlp.cpu.g3.vmfb");
/// let module = sources::open(model)?;
/// for site in dispatch::sites_at(&module, dispatch::Stage::Original).iter() {
///     println!("{site:?}");
/// }
/// # Ok::<(), zonecast::embed::Error>(())
/// ```
#[must_use]
pub fn sites_at(module: &Module, stage: Stage<'_>) -> Sites {
    let wanted = settings::text("ZONECAST_STAGE");
    let stage = match wanted.as_deref() {
        Some("original") => Stage::Original,
        Some(name) => Stage::Named(name),
        None => stage,
    };
    if !module.executable().unchanged() {
        crate::say::say!(
            "{} was written to after it was mapped; its kernels have no sites",
            module_file(&module.0)
        );
        return Sites(Arc::new(Kernels::none()));
    }
    let stage = match stage {
        Stage::Named(name) => Some(name.into()),
        Stage::Original => None,
    };
    let kernels = Kernels::of(&module.0, stage);
    for image in module.executable().images().filter(|image| !image.is_looked_through()) {
        kernels.all(image.index()).for_each(drop);
    }
    Sites(Arc::new(kernels))
}

/// The sites that there are, and what the others are made from.
struct Kernels {
    module: Weak<Registered>,
    /// The stage; `None` for the user's own files.
    stage: Option<Box<str>>,
    /// By image.
    images: Vec<Slots>,
    /// The images' indices in the order in which names are looked up.
    order: Vec<usize>,
}

/// A place for the site of each export, once one of them was asked for.
type Slots = OnceLock<Box<[OnceLock<Box<Site>>]>>;

impl Kernels {
    fn none() -> Self {
        Self { module: Weak::new(), stage: None, images: Vec::new(), order: Vec::new() }
    }

    fn of(module: &Arc<Registered>, stage: Option<Box<str>>) -> Self {
        let images = module.executable().images();
        // A host program has functions named as the kernels that it launches, and is by far the largest.
        let is_host = |&index: &usize| {
            module.executable().image(index).is_some_and(|image| image.format() == Format::Dwarf)
        };
        let mut order: Vec<usize> = (0..images.len()).collect();
        order.sort_by_key(is_host);
        Self { module: Arc::downgrade(module), stage, images: images.map(|_| Slots::new()).collect(), order }
    }

    /// The module, if there is anything to be read from it: a file that was written to may have become shorter.
    fn module(&self) -> Option<Arc<Registered>> {
        self.module.upgrade().filter(|module| module.executable().unchanged())
    }

    /// Those of an image, made where they are not there yet.
    fn all(&self, image: usize) -> impl Iterator<Item = &Site> {
        let module = self.module();
        let exports = |module: &Arc<Registered>| Some(module.executable().image(image)?.exports().len());
        let slots = || self.images.get(image)?.get().map(|slots| slots.len());
        let count = module.as_ref().map_or_else(slots, exports).unwrap_or(0);
        (0..count).filter_map(move |ordinal| match &module {
            Some(module) => self.make(module, image, ordinal),
            None => self.made(image, ordinal),
        })
    }

    fn get(&self, image: usize, ordinal: usize) -> Option<&Site> {
        self.made(image, ordinal).or_else(|| {
            let module = self.module()?;
            self.make(&module, image, ordinal)
        })
    }

    fn made(&self, image: usize, ordinal: usize) -> Option<&Site> {
        self.images.get(image)?.get()?.get(ordinal)?.get().map(|site| &**site)
    }

    /// The site of an export, made unless it is there.
    fn make(&self, module: &Registered, image: usize, ordinal: usize) -> Option<&Site> {
        let slots = self.images.get(image)?;
        let image = module.executable().image(image)?;
        let slots = slots.get_or_init(|| (0..image.exports().len()).map(|_| OnceLock::new()).collect());
        let slot = slots.get(ordinal)?;
        match slot.get() {
            Some(site) => Some(site),
            None => {
                let export = image.export(ordinal)?;
                Some(slot.get_or_init(|| Box::new(site(module, export, self.stage.as_deref()))))
            }
        }
    }

    /// The first of that name, looked up in the module, or among those that were made while that was there.
    fn named(&self, name: &str) -> Option<&Site> {
        let Some(module) = self.module() else {
            let mut made = self.order.iter().flat_map(|&image| self.all(image));
            return made.find(|site| site.name == name);
        };
        let found =
            |&image: &usize| Some((image, module.executable().image(image)?.export_named(name)?.ordinal()));
        let (image, ordinal) = self.order.iter().find_map(found)?;
        self.make(&module, image, ordinal)
    }
}

fn site(module: &Registered, export: Export<'_>, stage: Option<&str>) -> Site {
    let name = String::from_utf8_lossy(export.name()).into_owned();
    let (file, line, origin) = match place(module, export, stage) {
        Some((at, origin)) => (module.claim(export.image().index(), at.file), at.line, origin),
        None => (module_file(module), 0, Origin::Missing),
    };
    let parts = LocationParts { name: &name, function: &name, file: &file, line, color: 0 };
    Site { place: Location::intern(parts), name, origin }
}

/// Where a kernel is shown, and where the text of that is.
fn place<'a>(
    module: &Registered,
    export: Export<'a>,
    stage: Option<&str>,
) -> Option<(SourceLocation<'a>, Origin)> {
    let image = export.image();
    let with_origin = |at: SourceLocation<'a>| (at, image.origin(at.file));
    let Some(stage) = stage else { return export.location().map(with_origin) };
    if let Some(at) = export.stage(stage).and_then(|stage| stage.location) {
        return Some(with_origin(at));
    }
    let own = export.location().map(with_origin);
    if own.is_some_and(|(_, origin)| origin.has_text()) {
        return own;
    }
    let other = left_by_compiler(image, export).map(with_origin);
    if let (Some((at, Origin::Newer)), Some(_)) = (own, other) {
        module.refuse(at.file);
    }
    other.or(own)
}

/// The kernel in a text that its compiler left beside debug information: what it was preprocessed to, its PTX.
fn left_by_compiler<'a>(image: Image<'a>, export: Export<'a>) -> Option<SourceLocation<'a>> {
    let mut places = export.stages().filter_map(|stage| stage.location);
    places.find(|at| image.is_looked_through() && image.find(at.file).is_some())
}

fn module_file(module: &Registered) -> String {
    let executable = module.executable();
    executable.path().map_or_else(|| executable.name().to_owned(), |path| path.to_string_lossy().into_owned())
}

/// The dispatch sites of a module, by image and ordinal as the executable has them.
#[derive(Clone)]
pub struct Sites(Arc<Kernels>);

impl Sites {
    /// The site of an export, by its image's index and its own ordinal.
    #[must_use]
    pub fn get(&self, image: usize, ordinal: usize) -> Option<&Site> {
        self.0.get(image, ordinal)
    }

    /// The first site of this name; one in code for a GPU before one in the host's.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Site> {
        self.0.named(name)
    }

    /// Begins a zone for one dispatch of the kernel of this name: at its site, or merely with its name
    /// if there is none. To dispatch often, keep the [`Site`].
    pub fn zone(&self, name: &str) -> Zone {
        self.named(name).map_or_else(|| crate::zone!(name = name), Site::zone)
    }

    /// All sites, image after image. Makes those that were not made yet.
    pub fn iter(&self) -> impl Iterator<Item = &Site> {
        (0..self.0.images.len()).flat_map(|image| self.0.all(image))
    }
}

impl fmt::Debug for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.0.images.iter().filter_map(OnceLock::get).flatten().filter_map(OnceLock::get);
        f.debug_list().entries(made).finish()
    }
}

/// A kernel that is dispatched: begin a zone here for each dispatch.
#[derive(Clone)]
pub struct Site {
    place: Interned,
    name: String,
    origin: Origin,
}

impl Site {
    /// Begins a zone for one dispatch. A static location: it costs what any zone costs.
    #[inline]
    pub fn zone(&self) -> Zone {
        Zone::begin_interned(&self.place)
    }

    /// The kernel's name, as the executable exports it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is: the file under the name by which viewers find its text, and the line.
    #[must_use]
    pub fn location(&self) -> &'static Location {
        self.place.location()
    }

    /// Where it is, for zones that are begun elsewhere.
    #[must_use]
    pub const fn place(&self) -> &Interned {
        &self.place
    }

    /// Where the text was to be had that its zones name, when the site was made.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// The text that its zones name, if there is one.
    #[must_use]
    pub fn source(&self) -> Option<crate::sources::Text> {
        crate::sources::text(self.location().file().to_bytes())
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = self.location();
        write!(f, "{} at {}:{}", self.name, location.file().to_string_lossy(), location.line())
    }
}
