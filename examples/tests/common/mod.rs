//! Running the example programs as a user would.

use std::path::PathBuf;
use std::process::{Command, Output};

/// What a program did.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    #[allow(dead_code, reason = "not every test looks at it")]
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a program, without what the environment of the tests may say about tracing.
pub(crate) fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if ["ZONECAST_", "TRACY_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    let Output { status, stdout, stderr } =
        command.args(arguments).envs(environment.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: status.code(), out: text(stdout), err: text(stderr) }
}

/// A file of `tests/data`.
#[allow(dead_code, reason = "not every test has a file")]
pub(crate) fn data(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "data", name].iter().collect();
    path.into_os_string().into_string().unwrap()
}
