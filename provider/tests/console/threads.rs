//! Many threads, one output.

use std::collections::HashMap;
use std::io::Read;
use std::process::Stdio;

use super::child::{Child, Done};
use super::programs::ROUNDS;

fn threads(console: &str, rounds: u64) -> Done {
    Child::new("threads", console).with(ROUNDS, &rounds.to_string()).run()
}

/// Eight threads, 100,000 zones each. Every line is compared as a whole, but for its numbers.
#[test]
fn lines_of_threads_never_mix() {
    let done = threads("json", 20_000);
    let text = std::str::from_utf8(&done.written).unwrap();
    let mut next: HashMap<&str, (u64, u64)> = HashMap::new();
    for line in text.lines().skip(1) {
        let [thread, value] = ["\"thread\":", "\"value\":"].map(|key| number_after(line, key));
        let (inner, outer) = next.entry(thread).or_default();
        if line.contains("\"inner\"") {
            assert_eq!(shape(line), shape_of("inner"));
            assert_eq!(value.parse(), Ok(*inner), "in the order they ended");
            *inner += 1;
        } else {
            assert_eq!(shape(line), shape_of("outer"));
            *outer += 1;
        }
    }
    assert_eq!(next.len(), 8);
    assert!(next.values().all(|counts| *counts == (80_000, 20_000)), "{next:?}");
}

fn number_after<'a>(line: &'a str, key: &str) -> &'a str {
    let (_, rest) = line.split_once(key).expect(line);
    &rest[..rest.find(|c: char| !c.is_ascii_digit()).expect(line)]
}

/// The line with one 0 in place of each number.
fn shape(line: &str) -> Vec<u8> {
    let mut shape = Vec::with_capacity(line.len());
    for &byte in line.as_bytes() {
        match byte {
            b'0'..=b'9' if shape.last() == Some(&b'0') => {}
            b'0'..=b'9' => shape.push(b'0'),
            _ => shape.push(byte),
        }
    }
    shape
}

fn shape_of(name: &str) -> Vec<u8> {
    format!(
        r#"{{"event":"zone","time_ns":0,"duration_ns":0,"thread":0,"depth":0,"name":"{name}","function":"console::programs","file":"provider/tests/console/programs.rs","line":0,"value":0}}"#
    )
    .into_bytes()
}

#[test]
fn a_text_tree_of_threads_is_whole() {
    let tree = threads("text", 500).tree();
    let count = |what: &str| tree.iter().filter(|line| line.contains(what)).count();
    assert_eq!(count(" =  inner  "), 16_000);
    assert_eq!(count(" -outer  "), 4_000);
    assert_eq!(count(" =} outer  "), 4_000);
    assert_eq!(tree.len(), 24_000);
}

#[test]
fn a_summary_of_threads_adds_up() {
    let lines = threads("summary", 20_000).lines();
    for (title, count) in [("  outer  ", "160000"), ("  inner  ", "640000")] {
        let line = lines.iter().find(|line| line.contains(title)).unwrap();
        assert_eq!(line.split_whitespace().next(), Some(count), "{line}");
    }
}

/// A pipe takes 4,096 bytes at once, and these lines are longer.
#[test]
fn long_lines_are_whole_in_a_pipe() {
    let mut child = Child::new("long_texts", "json").with("ZONECAST_FILE", "");
    let mut process = child.command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut text = String::new();
    process.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(process.wait().unwrap().success());
    let mut lengths: HashMap<(String, char), Vec<usize>> = HashMap::new();
    for line in text.lines().skip(1) {
        let line: serde_json::Value = serde_json::from_str(line).expect("a whole line");
        let text = line["text"].as_str().unwrap();
        let letter = text.chars().next().unwrap();
        assert!(text.chars().all(|c| c == letter));
        lengths.entry((line["event"].as_str().unwrap().to_owned(), letter)).or_default().push(text.len());
    }
    assert_eq!(lengths.len(), 8);
    assert!(lengths.values().all(|found| *found == [10, 5_000, 70_000, 200_000]), "{lengths:?}");
}
