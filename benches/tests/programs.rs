//! The measured program and the tools, as they are run.

use std::process::{Command, Output};

fn measured(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_measured")).args(arguments).output().expect("the program was built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn turns_are_relative_to_the_first() {
    let output = measured(&["turns", "3", "100", "loop_empty", "loop_zone"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines[0], ["loop_empty", "1.0000", "1.0000", "1.0000"]);
    assert_eq!(lines[1][0], "loop_zone");
    let numbers: Vec<f64> = lines[1][1..].iter().map(|n| n.parse().unwrap()).collect();
    assert!(0.0 <= numbers[1] && numbers[1] <= numbers[0] && numbers[0] <= numbers[2], "{numbers:?}");
    assert_eq!(lines.len(), 2);
}

#[test]
fn what_is_not_understood_is_said() {
    for (arguments, expected) in [
        (&["count", "loop_none", "1"][..], "no loop is named loop_none"),
        (&["count", "loop_empty", "many"], "many is not a number"),
        (&[], "expected: count LOOP N"),
    ] {
        let output = measured(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[cfg(feature = "tools")]
mod tools {
    use super::*;

    fn cost(arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cost"));
        command.args(arguments);
        command
    }

    #[test]
    fn missing_tools_are_named() {
        let output = cost(&["null"]).env("PATH", "/nowhere").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("cannot run valgrind") && said.contains("apt install valgrind"), "{said}");

        let mut ratio = Command::new(env!("CARGO_BIN_EXE_ratio"));
        let output = ratio.arg("tracy-zone").env("CXX", "no-such-compiler").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("cannot run no-such-compiler") && said.contains("apt install g++"), "{said}");
    }

    #[test]
    fn unknown_items_are_named() {
        let output = cost(&["zone"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("no item is named zone"), "{}", text(&output.stderr));
    }

    #[test]
    fn items_are_listed() {
        let output = cost(&["--list"]).output().unwrap();
        let printed = text(&output.stdout);
        for name in
            ["empty-loop", "null", "tracy-zone", "console-c-peer", "tracing-fmt-peer", "fastrace-peer"]
        {
            assert!(printed.lines().any(|line| line == name), "{name} is not in:\n{printed}");
        }
    }

    /// Without a provider, a zone is nothing. Needs valgrind, and says so where there is none.
    #[test]
    fn nothing_is_counted_for_null() {
        let output = cost(&["--check", "null"]).output().unwrap();
        if text(&output.stderr).contains("cannot run valgrind") {
            eprintln!("skipped: {}", text(&output.stderr));
            return;
        }
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{printed}{}", text(&output.stderr));
        let words: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(words[0], "null");
        assert_eq!(words[2..], ["the", "same", "as", "empty-loop:", "ok"]);
    }
}
