//! Compiles `shim/`: the C++ for what Tracy's C interface lacks.
//!
//! Which features tracy-client-sys has is not known here, since any crate of the program can
//! switch them on. So every variant is compiled, and the Rust side, which can tell, refers to one:
//! the linker takes that one out of the archive.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::{headers, layout};

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
        warn(
            "the headers of tracy-client-sys were not found; ZONECAST_TRACY_INCLUDE can name the folder \
             that holds client/TracyProfiler.hpp",
        );
        return;
    };
    println!("cargo::rerun-if-changed={}", include.join("client/TracyProfiler.hpp").display());
    match compile(&include) {
        Ok(is_tsc) => {
            println!("cargo::rustc-cfg=tracy_shim");
            if is_tsc && may_be_inline() {
                println!("cargo::rustc-cfg=tracy_inline");
            }
        }
        Err(e) => warn(&format!("the Tracy shim was not built: {e}")),
    }
}

fn warn(what: &str) {
    println!("cargo::warning={what}. The profiler gets no source texts, and zones cost more.");
}

/// Where the inline path has been tried, or is so near that it may be.
fn may_be_inline() -> bool {
    let is = |what: &str, value: &str| env::var(what).is_ok_and(|v| v == value);
    is("CARGO_CFG_TARGET_ARCH", "x86_64") && env::var_os("CARGO_CFG_UNIX").is_some()
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
        .flag_if_supported("-fno-exceptions")
        .flag_if_supported("-Wno-invalid-offsetof");
    if env::var_os("CARGO_FEATURE_TIMER_FALLBACK").is_some() {
        build.define("TRACY_TIMER_FALLBACK", None);
    }
    // Its absence is the common case.
    let _ = build.try_flags_from_environment("TRACY_CLIENT_SYS_CXXFLAGS");
    build
}

fn compile(include: &Path) -> Result<bool, String> {
    let is_tsc = layout::write(compiler(include))?;
    let mut library = compiler(include);
    library.file("shim/queue.cpp").file("shim/threads.cpp");
    for switches in 0..1 << SWITCHES.len() {
        library.file(variant("accessor", &SWITCHES, switches)?);
    }
    for on_demand in 0..2 {
        for name in ["profiler", "gpu", "locks"] {
            library.file(variant(name, &SWITCHES[..1], on_demand)?);
        }
    }
    library.file(variant("app_info", &SWITCHES[..1], 1)?);
    library.try_compile("zonecast_tracy_shim").map_err(|e| e.to_string())?;
    Ok(is_tsc)
}

/// Writes a file that is `shim/{name}.cpp` with some switches on. A file for each, because an
/// object is named after its source.
fn variant(name: &str, switches: &[(&str, &str)], on: u32) -> Result<PathBuf, String> {
    let mut suffix = String::new();
    let mut text = String::new();
    for (at, (switch, short)) in switches.iter().enumerate() {
        let on = on >> at & 1;
        suffix.push_str(&format!("_{short}{on}"));
        if on == 1 {
            text.push_str(&format!("#define {switch}\n"));
        }
    }
    text.push_str(&format!(
        "#define VARIANT( name ) zonecast_tracy_##name##{suffix}\n#include \"{name}.cpp\"\n"
    ));
    let path = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join(format!("{name}{suffix}.cpp"));
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}
