//! Compiles the C++ program against the headers of the Tracy that is linked.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/macros.cpp");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").warnings(false).file("src/macros.cpp");
    build.include(tracy()).include(tracy().join("tracy"));
    // Tracy spells its configuration into the names that are linked: these must be the library's.
    build.define("TRACY_ENABLE", None);
    if std::env::var_os("CARGO_FEATURE_ONDEMAND").is_some() {
        build.define("TRACY_ON_DEMAND", None);
    }
    if std::env::var_os("CARGO_FEATURE_FIBERS").is_some() {
        build.define("TRACY_FIBERS", None);
    }
    build.compile("macros");
}

/// Where cargo keeps the sources of the `tracy-client-sys` that this package links.
fn tracy() -> PathBuf {
    let cargo = std::env::var_os("CARGO").expect("cargo sets it");
    let target = std::env::var("TARGET").expect("cargo sets it");
    // What this target does not link need not have been fetched.
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--offline", "--filter-platform", &target])
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let sys = packages.iter().find(|package| package["name"] == "tracy-client-sys").expect("it is linked");
    let manifest = PathBuf::from(sys["manifest_path"].as_str().expect("a package has a manifest"));
    manifest.parent().expect("a manifest lies in a folder").join("tracy")
}
