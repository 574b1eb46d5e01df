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
        if let Some([_, _, thread, depth, _, value]) = numbers(line, &shape_of("inner")) {
            let inner = &mut next.entry(thread).or_default().0;
            assert_eq!((value.parse(), depth), (Ok(*inner), "1"), "in the order they ended");
            *inner += 1;
        } else {
            let [_, _, thread, depth, ..] = numbers(line, &shape_of("outer")).expect(line);
            assert_eq!(depth, "0");
            next.entry(thread).or_default().1 += 1;
        }
    }
    assert_eq!(next.len(), 8);
    assert!(next.values().all(|counts| *counts == (80_000, 20_000)), "{next:?}");
}

/// What stands between a line's numbers.
fn shape_of(name: &'static str) -> [&'static str; 7] {
    let name = match name {
        "inner" => {
            r#","name":"inner","function":"console::programs","file":"provider/tests/console/programs.rs","line":"#
        }
        _ => {
            r#","name":"outer","function":"console::programs","file":"provider/tests/console/programs.rs","line":"#
        }
    };
    [
        r#"{"event":"zone","time_ns":"#,
        r#","duration_ns":"#,
        r#","thread":"#,
        r#","depth":"#,
        name,
        r#","value":"#,
        "}",
    ]
}

/// The numbers of a line of this shape.
fn numbers<'a>(mut line: &'a str, shape: &[&str; 7]) -> Option<[&'a str; 6]> {
    let mut numbers = [""; 6];
    for (text, number) in shape.iter().zip(&mut numbers) {
        let rest = line.strip_prefix(text)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (*number, line) = rest.split_at(digits);
    }
    (line == shape[6] && numbers.iter().all(|number| !number.is_empty())).then_some(numbers)
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
    check_long_lines("long_texts");
}

#[cfg(unix)]
#[test]
fn long_lines_are_whole_in_a_pipe_that_does_not_block() {
    check_long_lines("nonblocking");
}

fn check_long_lines(program: &str) {
    let mut child = Child::new(program, "json").with("ZONECAST_FILE", "");
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
