//! Building the measured programs, each in a target folder of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;
use crate::items::Set;

/// The programs built so far.
#[derive(Debug, Default)]
pub struct Programs(HashMap<&'static str, PathBuf>);

impl Programs {
    /// The program of a feature set, built when it is first asked for.
    ///
    /// # Errors
    /// If it is not built, or a compiler that it needs is not there.
    pub fn get(&mut self, set: &Set) -> Result<&Path, Error> {
        if !self.0.contains_key(set.name) {
            self.0.insert(set.name, build(set)?);
        }
        Ok(&self.0[set.name])
    }
}

fn build(set: &Set) -> Result<PathBuf, Error> {
    const ADVICE: &str = "peers in C and C++ are compiled with it; install a compiler (Debian: \
                          `apt install g++`), or name one with CC and CXX";
    if let Some((variable, usual)) = set.compiler {
        let compiler = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
        is_there(&compiler, ADVICE)?;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = root.join("target/cost").join(set.name);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(&cargo)
        .args(["build", "--quiet", "--release", "--bin", "measured", "--no-default-features"])
        .args(["--features", set.features, "--manifest-path"])
        .arg(root.join(set.manifest))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .map_err(|source| Error::Missing {
            tool: cargo.to_string_lossy().into_owned(),
            advice: "it builds the measured programs; run this through `cargo run`",
            source,
        })?;
    match status.success() {
        true => Ok(target.join("release/measured")),
        false => Err(Error::Build { set: set.name, status }),
    }
}

/// Sees to it that a tool can be run.
///
/// # Errors
/// If it cannot; the error holds `advice`.
pub fn is_there(tool: &str, advice: &'static str) -> Result<(), Error> {
    let asked = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match asked {
        Ok(_) => Ok(()),
        Err(source) => Err(Error::Missing { tool: tool.to_owned(), advice, source }),
    }
}
