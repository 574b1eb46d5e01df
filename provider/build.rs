//! Builds the Tracy shim for builds with the feature `tracy`. Without it there is nothing to
//! build; `links` in Cargo.toml asks for a build script all the same.

#[cfg(feature = "tracy")]
#[path = "build/headers.rs"]
mod headers;
#[cfg(feature = "tracy")]
#[path = "build/layout.rs"]
mod layout;
#[cfg(feature = "tracy")]
#[path = "build/shim.rs"]
mod shim;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(tracy_shim, tracy_inline)");
    #[cfg(feature = "tracy")]
    shim::build();
}
