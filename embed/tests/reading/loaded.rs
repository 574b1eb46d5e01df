//! Libraries that are already loaded read like their files.

use std::ptr::NonNull;

use crate::expected::{data, describe};
use libloading::{Library, Symbol};
use serde_json::Value;
use zonecast_embed::{Executable, IreeQuery, Loaded};

/// Writes the module's first executable to a file and loads that with the system's loader.
fn load(module: &Executable, folder: &std::path::Path) -> Library {
    let path = folder.join("library.so");
    std::fs::write(&path, module.image(0).unwrap().bytes().unwrap()).unwrap();
    // SAFETY: the corpus's libraries have no initialisers.
    unsafe { Library::new(path) }.unwrap()
}

/// What only a file has.
fn without_places(mut description: Value) -> Value {
    for image in description.as_array_mut().unwrap() {
        for key in ["offset", "length", "machine"] {
            image[key] = Value::Null;
        }
        for source in image["sources"].as_array_mut().unwrap() {
            source["offset"] = Value::Null;
        }
    }
    description
}

fn compare(name: &str) {
    let module = Executable::open(data(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let library = load(&module, folder.path());
    // SAFETY: the symbol is what its name says, and the library outlives all use of it below.
    let query: Symbol<'_, IreeQuery> = unsafe { library.get(b"iree_hal_executable_library_query") }.unwrap();

    // SAFETY: as before.
    let loaded = unsafe { Executable::from_loaded(Loaded::IreeQuery(*query), "loaded") }.unwrap();
    assert_eq!(describe(&loaded), without_places(describe(&module)), "{name}");
    let image = loaded.image(0).unwrap();
    assert_eq!((image.range(), image.bytes()), (None, None));
    assert_eq!((loaded.bytes(), loaded.name(), loaded.path()), (&b""[..], "loaded", None));
    for source in image.sources().iter() {
        assert_eq!(image.sources().find(source.path()), Some(source.text()));
    }

    let version = image.cpu_library().unwrap().abi_version;
    // SAFETY: as before; the function answers to the version that it has just answered to.
    let record = unsafe { query(version, std::ptr::null()) };
    let record = Loaded::IreeLibrary(NonNull::new(record.cast_mut()).unwrap());
    // SAFETY: as before.
    let by_pointer = unsafe { Executable::from_loaded(record, "loaded") }.unwrap();
    assert_eq!(describe(&by_pointer), describe(&loaded));
}

#[test]
fn libraries_of_all_versions_and_levels() {
    for name in [
        "mlp.cpu.g3.vmfb",
        "mlp.cpu.g0.vmfb",
        "many.cpu.g3.vmfb",
        "many.cpu.g2.vmfb",
        "mlp.cpusys.g3.vmfb",
        "mlp.cpu-nosym.g3.vmfb",
        "many.cpu-v4.g3.vmfb",
        "mlp.cpu-v5.g3.vmfb",
        "pyloc.cpu.g3.vmfb",
        "noloc.cpu.g3.vmfb",
    ] {
        compare(name);
    }
}

#[test]
fn a_library_that_refuses_every_version_is_an_error() {
    unsafe extern "C" fn refuse(_: u32, _: *const std::ffi::c_void) -> *const std::ffi::c_void {
        std::ptr::null()
    }
    // SAFETY: the function is a query function that answers to no version.
    let error = unsafe { Executable::from_loaded(Loaded::IreeQuery(refuse), "refusing") }.unwrap_err();
    assert!(error.to_string().contains("refusing: "), "{error}");
    assert!(error.to_string().contains("none of the versions 4, 5 and 6"), "{error}");
}
