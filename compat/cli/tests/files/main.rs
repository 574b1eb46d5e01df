//! What the command says of files, and does with them.

mod doctor;
mod embed;
mod others;
mod sources;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A file of zonecast-embed's test data.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../embed/tests/data").join(name)
}

fn zonecast() -> Command {
    Command::new(env!("CARGO_BIN_EXE_zonecast"))
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the command runs")
}

/// What it printed; it must have succeeded.
#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("it writes UTF-8")
}

/// What it printed and what it complained of; it must have exited with `code`.
#[track_caller]
fn exits_with(code: i32, command: &mut Command) -> (String, String) {
    let output = run(command);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let text = |bytes| String::from_utf8(bytes).expect("it writes UTF-8");
    (text(output.stdout), text(output.stderr))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}
