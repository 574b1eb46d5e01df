//! Compiles the peers that are not written in Rust.

// The headers of the tracy-client-sys that cargo resolved, found as the provider finds them.
#[cfg(feature = "tracy-peers")]
#[path = "../provider/build/headers.rs"]
mod headers;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=foreign");
    #[cfg(feature = "tracy-peers")]
    inlined_tracy();
    #[cfg(feature = "console-peers")]
    cc::Build::new().file("foreign/console.c").opt_level(3).compile("zonecast_benches_console");
}

#[cfg(feature = "tracy-peers")]
fn inlined_tracy() {
    let include = headers::find().expect(
        "the headers of tracy-client-sys were not found; ZONECAST_TRACY_INCLUDE can name the folder that \
         holds client/TracyProfiler.hpp",
    );
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(3).include(include).define("TRACY_ENABLE", None).warnings(false);
    if cfg!(feature = "tracy-on-demand") {
        build.define("TRACY_ON_DEMAND", None);
    }
    build.file("foreign/inlined.cpp").compile("zonecast_benches_inlined");
}
