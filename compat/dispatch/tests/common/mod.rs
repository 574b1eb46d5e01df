//! What the tests share: loading the files beside them.

use zonecast_dispatch::{Error, Library};
use zonecast_embed::Executable;

/// A file of `tests/data`.
pub(crate) fn open(name: &str) -> Executable {
    Executable::open(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Loads its first image.
pub(crate) fn try_load(name: &str) -> Result<Library, Error> {
    let executable = open(name);
    // SAFETY: the files are part of this crate, made by IREE's compiler or from `native/kernels.c`.
    unsafe { Library::load(executable.image(0).unwrap()) }
}

/// As `try_load`, for files that can be loaded.
#[allow(dead_code, reason = "some tests only load what is refused")]
pub(crate) fn load(name: &str) -> Library {
    try_load(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}
