//! Finds Tracy's headers: those of the very tracy-client-sys that cargo resolved.
//!
//! That package has no `links` key, so cargo does not tell where it lies. In order:
//!
//! 1. `ZONECAST_TRACY_INCLUDE` says so;
//! 2. beside this package, as in cargo's registry and in a `cargo vendor` folder;
//! 3. where `cargo metadata` has it, for this package as a path or git dependency;
//! 4. in the registry's unpacked sources.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const PACKAGE: &str = "tracy-client-sys";
/// Equal to the requirement in the workspace's Cargo.toml.
const VERSION: &str = "0.30.1";

/// The folder that holds `client/TracyProfiler.hpp`.
pub(crate) fn find() -> Option<PathBuf> {
    println!("cargo::rerun-if-env-changed=ZONECAST_TRACY_INCLUDE");
    if let Some(folder) = env::var_os("ZONECAST_TRACY_INCLUDE") {
        return with_headers(folder.into());
    }
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    beside(&here).or_else(|| resolved(&here)).or_else(unpacked)
}

fn with_headers(folder: PathBuf) -> Option<PathBuf> {
    folder.join("client/TracyProfiler.hpp").is_file().then_some(folder)
}

fn beside(here: &Path) -> Option<PathBuf> {
    let siblings = here.parent()?;
    [format!("{PACKAGE}-{VERSION}"), PACKAGE.to_owned()]
        .iter()
        .map(|name| siblings.join(name))
        .find(|folder| is_right_version(folder))
        .and_then(|folder| with_headers(folder.join("tracy")))
}

fn is_right_version(package: &Path) -> bool {
    let line = format!("version = \"{VERSION}\"");
    fs::read_to_string(package.join("Cargo.toml")).is_ok_and(|text| text.lines().any(|l| l.trim() == line))
}

/// Asks cargo, in the root of the workspace being built: cargo reads its configuration, and with it
/// where sources are replaced, from the working directory upwards.
fn resolved(here: &Path) -> Option<PathBuf> {
    let out = PathBuf::from(env::var_os("OUT_DIR")?);
    let is_root = |folder: &&Path| folder.join("Cargo.lock").is_file() && folder.join("Cargo.toml").is_file();
    let root = out.ancestors().find(is_root).or_else(|| here.ancestors().find(is_root))?;
    let answer = Command::new(env::var_os("CARGO")?)
        .current_dir(root)
        .args(["metadata", "--format-version=1", "--offline", "--frozen"])
        .output()
        .ok()
        .filter(|answer| answer.status.success())?;
    manifests(&String::from_utf8(answer.stdout).ok()?)
        .filter_map(|manifest| manifest.parent().map(Path::to_owned))
        .find(|package| names(package) && is_right_version(package))
        .and_then(|package| with_headers(package.join("tracy")))
}

/// The one field of interest, without a JSON parser in everybody's build.
fn manifests(metadata: &str) -> impl Iterator<Item = PathBuf> + '_ {
    metadata
        .split("\"manifest_path\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|path| PathBuf::from(path.replace("\\\\", "\\")))
}

fn names(package: &Path) -> bool {
    package.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PACKAGE))
}

fn unpacked() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let user = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"))?;
        Some(Path::new(&user).join(".cargo"))
    })?;
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    registries
        .flatten()
        .find_map(|registry| with_headers(registry.path().join(format!("{PACKAGE}-{VERSION}/tracy"))))
}
