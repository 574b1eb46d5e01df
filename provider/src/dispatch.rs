//! Dispatch sites: each kernel of an executable, tied to its own line of its own source.
//!
//! A compiler may have kept several texts of one kernel, one a *stage*: as it was cut out of the
//! program, as it was configured, as it was lowered. [`sites`] takes the first of them,
//! `0.source`; [`sites_at`] takes another one, or the user's own file. The environment variable
//! `ZONECAST_STAGE` has the last word (`original` stands for the user's file), so that whoever
//! looks at a trace need not build the program again.

use std::fmt;

use zonecast_embed::{Export, SourceLocation};

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
/// A kernel that lacks the stage is placed in the user's file; one without any location, in the
/// module's own file at line 0.
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
            module_file(module)
        );
        return Sites { images: Vec::new() };
    }
    let images = module.executable().images();
    let sites = |image: zonecast_embed::Image<'_>| image.exports().map(|e| site(module, e, stage)).collect();
    Sites { images: images.map(sites).collect() }
}

fn site(module: &Module, export: Export<'_>, stage: Stage<'_>) -> Site {
    let name = String::from_utf8_lossy(export.name()).into_owned();
    let (file, line) = match location(export, stage) {
        Some(at) => (module.claim(export.image().index(), at.file), at.line),
        None => (module_file(module), 0),
    };
    let parts = LocationParts { name: &name, function: &name, file: &file, line, color: 0 };
    Site { place: Location::intern(parts), name }
}

fn location<'a>(export: Export<'a>, stage: Stage<'_>) -> Option<SourceLocation<'a>> {
    let staged = match stage {
        Stage::Named(name) => export.stage(name).and_then(|stage| stage.location),
        Stage::Original => None,
    };
    staged.or_else(|| export.location())
}

fn module_file(module: &Module) -> String {
    let executable = module.executable();
    executable.path().map_or_else(|| executable.name().to_owned(), |path| path.to_string_lossy().into_owned())
}

/// The dispatch sites of a module, by image and ordinal as the executable has them.
#[derive(Clone, Debug)]
pub struct Sites {
    images: Vec<Vec<Site>>,
}

impl Sites {
    /// The site of an export, by its image's index and its own ordinal.
    #[must_use]
    pub fn get(&self, image: usize, ordinal: usize) -> Option<&Site> {
        self.images.get(image)?.get(ordinal)
    }

    /// The first site of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Site> {
        self.iter().find(|site| site.name() == name)
    }

    /// Begins a zone for one dispatch of the kernel of this name: at its site, or merely with its name
    /// if there is none. To dispatch often, keep the [`Site`].
    pub fn zone(&self, name: &str) -> Zone {
        self.named(name).map_or_else(|| crate::zone!(name = name), Site::zone)
    }

    /// All sites, image after image.
    pub fn iter(&self) -> impl Iterator<Item = &Site> {
        self.images.iter().flatten()
    }
}

/// A kernel that is dispatched: begin a zone here for each dispatch.
#[derive(Clone)]
pub struct Site {
    place: Interned,
    name: String,
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

    /// The text that its zones name, if the module has it.
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
