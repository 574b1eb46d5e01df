//! Builds the programs under `tests/programs`, once per set of features.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use zonecast_tracy_wire::Capture;
use zonecast_tracy_wire::child::Program;

/// The command that runs one case of the programs, built with `features`.
pub(crate) fn command(features: &str, case: &str) -> Command {
    let mut command = Command::new(build(features));
    // Where the paths that the compiler wrote into the program lead to its sources.
    command.arg(case).current_dir(programs());
    command
}

/// One case of the programs, ready to be captured.
pub(crate) fn program(features: &str, case: &str) -> Program {
    Program::new(command(features, case))
}

#[allow(dead_code, reason = "not every test uses every part")]
/// What a server sees of one case of the programs, checked against its rules.
#[track_caller]
pub(crate) fn capture(features: &str, case: &str) -> Capture {
    program(features, case)
        .receiver(|receiver| receiver.check(true))
        .run()
        .expect("the program starts")
        .succeeded()
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

fn build(features: &str) -> PathBuf {
    static BUILT: Mutex<Option<HashMap<String, PathBuf>>> = Mutex::new(None);
    let mut built = BUILT.lock().expect("no build panicked");
    built.get_or_insert_default().entry(features.into()).or_insert_with(|| run_cargo(features)).clone()
}

fn run_cargo(features: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("programs-{features}"));
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--features", features, "--manifest-path"])
        .arg(programs().join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the programs do not build with features {features:?}");
    target.join("debug/wire-programs")
}
