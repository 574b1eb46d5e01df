//! Executables that are registered, and the places of their kernels.
//!
//! IREE's runtime tells of a dispatch its function's name, but shows it elsewhere: at the first
//! function of the executable (local-sync), or at its own code (local-task). The executable itself
//! knows better, so a zone with the name of an exported function begins at that function's place.

use std::collections::HashMap;
use std::ffi::{OsStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use zonecast::embed::Executable;
use zonecast::sources::Module;
use zonecast::{Interned, dispatch, sources};

use crate::guard::guarded;
use crate::say::sentence;
use crate::text;

/// Names modules to register, separated as `PATH` is.
const MODULES: &str = "ZONECAST_IREE_MODULES";
/// `0` leaves zones where the runtime says they are.
const CORRECT: &str = "ZONECAST_IREE_CORRECT";

static REGISTERED: RwLock<Vec<(PathBuf, &'static Module)>> = RwLock::new(Vec::new());
static SITES: RwLock<Option<HashMap<Box<str>, Site>>> = RwLock::new(None);
/// Whether `SITES` holds any, so that other programs pay a load and no lock.
static ANY_SITES: AtomicBool = AtomicBool::new(false);

/// Where functions of one name are.
enum Site {
    One(Interned),
    /// Several executables export the name, from different places.
    Many,
}

/// Registers the program's own table, and what the environment names, the first time it is called.
pub(crate) fn from_environment() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        guarded((), || {
            add_sites(sources::program());
            let modules = std::env::var_os(MODULES).unwrap_or_default();
            for path in std::env::split_paths(&modules).filter(|path| !path.as_os_str().is_empty()) {
                register(&path);
            }
        });
    });
}

/// # Safety
///
/// `path` is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_register_module(path: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    guarded(false, || unsafe { named(path) }.and_then(register).is_some())
}

/// # Safety
///
/// `path` is null or a C string; `length` is null or can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_module_bytes(path: *const c_char, length: *mut usize) -> *const u8 {
    // SAFETY: the caller's promise.
    let module = guarded(None, || unsafe { named(path) }.and_then(register));
    let bytes = module.map(|module| module.executable().bytes());
    // SAFETY: the caller's promise.
    if let Some(length) = unsafe { length.as_mut() } {
        *length = bytes.map_or(0, <[u8]>::len);
    }
    bytes.map_or(std::ptr::null(), <[u8]>::as_ptr)
}

/// # Safety
///
/// `path` is null or a C string.
unsafe fn named<'a>(path: *const c_char) -> Option<&'a Path> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: the caller's promise.
    unsafe { text::c_str(path) }.map(|path| Path::new(OsStr::from_bytes(path.to_bytes())))
}

/// Maps a module for good, unless it was before and has not changed.
fn register(path: &Path) -> Option<&'static Module> {
    let known = |(of, module): &(PathBuf, &'static Module)| {
        (of == path && module.executable().unchanged()).then_some(*module)
    };
    if let Some(module) = REGISTERED.read().iter().find_map(known) {
        return Some(module);
    }
    let executable = match Executable::open(path) {
        Ok(executable) => executable,
        Err(error) => {
            sentence(format_args!("{error}; its kernels are shown where the runtime says they are"));
            return None;
        }
    };
    // Locations and texts may be asked for until the end.
    let module: &'static Module = Box::leak(Box::new(sources::register(executable)));
    add_sites(module);
    REGISTERED.write().push((path.to_owned(), module));
    Some(module)
}

fn add_sites(module: &Module) {
    if std::env::var_os(CORRECT).is_some_and(|correct| correct == "0") {
        return;
    }
    let mut known = SITES.write();
    let known = known.get_or_insert_default();
    for site in dispatch::sites(module).iter() {
        let place = site.place().clone();
        known
            .entry(site.name().into())
            .and_modify(|known| {
                let same = matches!(known, Site::One(at) if std::ptr::eq(at.location(), place.location()));
                if !same {
                    *known = Site::Many;
                }
            })
            .or_insert(Site::One(place.clone()));
    }
    ANY_SITES.store(!known.is_empty(), Ordering::Release);
}

/// The place of the exported function of this name.
pub(crate) fn site(function: &str) -> Option<Interned> {
    from_environment();
    if !ANY_SITES.load(Ordering::Acquire) {
        return None;
    }
    static CORRECTED: Once = Once::new();
    static UNSURE: Once = Once::new();
    match SITES.read().as_ref()?.get(function)? {
        Site::One(place) => {
            CORRECTED.call_once(|| {
                sentence(format_args!(
                    "dispatches are shown at their own functions in the modules registered, \
                     not where the runtime says they are; {CORRECT}=0 leaves them alone"
                ));
            });
            Some(place.clone())
        }
        Site::Many => {
            UNSURE.call_once(|| {
                sentence(format_args!(
                    "several modules export {function} from different places; \
                     such dispatches are shown where the runtime says they are"
                ));
            });
            None
        }
    }
}

/// A registered module that has this very text under this path, and its image.
pub(crate) fn with_text(path: &[u8], text: &[u8]) -> Option<(&'static Module, usize)> {
    let modules = REGISTERED.read();
    modules.iter().find_map(|(_, module)| {
        // A file that was written to is not looked at.
        let executable = Some(module.executable()).filter(|executable| executable.unchanged())?;
        let has = |found: &[u8]| std::ptr::eq(found, text) || found == text;
        let found = executable.images().find(|image| image.sources().find(path).is_some_and(has))?;
        Some((*module, found.index()))
    })
}
