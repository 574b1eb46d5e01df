//! Cargo.lock: whether a program of this project would hold two Tracys.

use std::fs;
use std::path::Path;

use super::Findings;

const CLIENT: &str = "tracy-client-sys";

/// Looks at the project that this folder is part of, if it is.
pub(super) fn check_project(findings: &mut Findings) {
    let Ok(here) = std::env::current_dir() else { return };
    let lockfile = here.ancestors().map(|folder| folder.join("Cargo.lock")).find(|path| path.is_file());
    if let Some(path) = lockfile {
        check(&path, findings);
    }
}

pub(super) fn check(path: &Path, findings: &mut Findings) {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return findings.add(format!("{}: {error}", path.display())),
    };
    let lock: toml::Table = match text.parse() {
        Ok(lock) => lock,
        Err(error) => {
            let line = error.to_string().lines().next().unwrap_or_default().to_owned();
            return findings.add(format!("{}: {line}; let cargo write it anew", path.display()));
        }
    };
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let clients =
        packages.filter(|package| package.get("name").and_then(toml::Value::as_str) == Some(CLIENT));
    let versions: Vec<&str> =
        clients.filter_map(|package| package.get("version").and_then(toml::Value::as_str)).collect();
    if let [first, .., last] = versions[..] {
        findings.add(format!(
            "{} has {CLIENT} {first} and {last}: both Tracys are linked without a word, and zones go now to one, \
             now to the other; `cargo tree -i {CLIENT}@{first}` shows what brings the older one",
            path.display()
        ));
    }
}
