//! Compiles `shim/`: the few lines of C++ for what Tracy's C interface lacks.
//!
//! Which features tracy-client-sys has is not known here, since any crate of the program can
//! switch them on. So every variant is compiled, and the Rust side, which can tell, refers to one:
//! the linker takes that one out of the archive.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::headers;

/// What names a configuration of Tracy's, as a macro and in the names of our objects. Everything
/// else that Tracy spells into its names follows from the platform or is never set.
const SWITCHES: [(&str, &str); 3] =
    [("TRACY_ON_DEMAND", "od"), ("TRACY_MANUAL_LIFETIME", "ml"), ("TRACY_FIBERS", "f")];

pub(crate) fn build() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-env-changed=TRACY_CLIENT_LIB");
    println!("cargo::rerun-if-env-changed=TRACY_CLIENT_SYS_CXXFLAGS");
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    let Some(include) = headers::find() else {
        println!(
            "cargo::warning=the headers of tracy-client-sys were not found, so the profiler gets no source \
             texts; ZONECAST_TRACY_INCLUDE can name the folder that holds client/TracyProfiler.hpp"
        );
        return;
    };
    println!("cargo::rerun-if-changed={}", include.join("client/TracyProfiler.hpp").display());
    match compile(&include) {
        Ok(()) => println!("cargo::rustc-cfg=tracy_shim"),
        Err(e) => {
            println!("cargo::warning=the Tracy shim was not built, so the profiler gets no source texts: {e}")
        }
    }
}

/// A compiler set up as for tracy-client-sys.
fn compiler(include: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .include(include)
        .include("shim")
        .define("TRACY_ENABLE", None)
        .warnings(false)
        .cargo_warnings(false)
        .flag_if_supported("-fvisibility=hidden")
        .flag_if_supported("-fno-exceptions");
    // Its absence is the common case.
    let _ = build.try_flags_from_environment("TRACY_CLIENT_SYS_CXXFLAGS");
    build
}

fn compile(include: &Path) -> Result<(), cc::Error> {
    let mut library = compiler(include);
    for switches in 0..1 << SWITCHES.len() {
        library.file(variant("accessor", switches));
    }
    for on_demand in 0..2 {
        library.file(variant("sources", on_demand));
    }
    library.try_compile("zonecast_tracy_shim")
}

/// Writes a file that is `shim/{name}.cpp` with some of [`SWITCHES`] on. A file for each, because
/// an object is named after its source.
fn variant(name: &str, switches: u32) -> PathBuf {
    let on = |at: usize| switches >> at & 1 == 1;
    let used = if name == "accessor" { SWITCHES.len() } else { 1 };
    let mut suffix = String::new();
    let mut text = String::new();
    for (at, (switch, short)) in SWITCHES.iter().enumerate().take(used) {
        suffix.push_str(&format!("_{short}{}", u8::from(on(at))));
        if on(at) {
            text.push_str(&format!("#define {switch}\n"));
        }
    }
    if env::var_os("CARGO_FEATURE_TIMER_FALLBACK").is_some() {
        text.push_str("#define TRACY_TIMER_FALLBACK\n");
    }
    text.push_str(&format!(
        "#define VARIANT( name ) zonecast_tracy_##name##{suffix}\n#include \"{name}.cpp\"\n"
    ));
    let path = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(format!("{name}{suffix}.cpp"));
    fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    path
}
