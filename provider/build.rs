//! Nothing to build without Tracy; `links` in Cargo.toml asks for a build script all the same.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
