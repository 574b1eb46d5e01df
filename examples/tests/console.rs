//! What the examples show on the console.
#![cfg(feature = "console")]

mod common;

use common::Run;
use serde_json::Value;
use zonecast::embed::{Executable, Export};
use zonecast_examples::mlp;

fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let environment = [environment, &[("ZONECAST_PROVIDER", "console")]].concat();
    let run = common::run(program, arguments, &environment);
    assert_eq!(run.code, Some(0), "{run:?}");
    run
}

/// What the module says of each kernel: its name, `file:line`, and that line.
fn kernels(stage: &str) -> Vec<(String, String, String)> {
    let executable = Executable::open(mlp::MODULE).unwrap();
    let image = mlp::find(&executable).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let kernel = |export: Export<'_>| {
        let place = export.stage(stage).unwrap().location.unwrap();
        let source = text(image.sources().find(place.file).unwrap());
        let line = source.lines().nth(place.line as usize - 1).unwrap().to_owned();
        (text(export.name()), format!("{}:{}", text(place.file), place.line), line)
    };
    image.exports().map(kernel).collect()
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_run_of_the_model_shows_each_kernel_with_its_own_source_and_a_summary() {
    let run = run(env!("CARGO_BIN_EXE_trace_model"), &[], &[]);
    let lines: Vec<&str> = run.err.lines().collect();
    let (trace, summary) = lines.split_at(lines.iter().rposition(|line| line.starts_with('#')).unwrap());
    for (name, place, source) in kernels("0.source") {
        assert!(source.contains(&format!("func.func @{name}()")), "{source}");
        let title = format!("  {name}  {place}");
        let at: Vec<_> = (0..trace.len()).filter(|&line| trace[line].ends_with(&title)).collect();
        assert_eq!(at.len(), 1, "{title} is not once in {trace:#?}");
        let marked: Vec<_> =
            (0..trace.len()).filter(|&line| trace[line].ends_with(&format!(" | {source}"))).collect();
        assert_eq!(marked, [at[0] + 2], "{source}");
        assert!(trace[marked[0]].contains(" > "), "{}", trace[marked[0]]);
        let counted = |line: &&&str| line.ends_with(&title) && line.trim_start().starts_with("1 ");
        assert_eq!(summary.iter().filter(counted).count(), 1, "{title} is not once in {summary:#?}");
    }
    for zone in ["load", "forward", "check"] {
        assert!(
            trace.iter().any(|line| line.contains(&format!(" {zone}  examples/src/bin/trace_model/"))),
            "{zone}"
        );
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn repeated_runs_show_a_summary_alone() {
    let run =
        run(env!("CARGO_BIN_EXE_trace_model"), &["--repeat", "50", "--workgroups", "--threads", "2"], &[]);
    assert!(run.err.starts_with("#    count "), "{}", run.err);
    for ((name, place, _), workgroups) in kernels("0.source").iter().zip([16, 16, 32]) {
        for (title, count) in [(name.clone(), 50), (format!("{name} workgroup"), 50 * workgroups)] {
            let end = format!("  {title}  {place}");
            let line =
                run.err.lines().find(|line| line.ends_with(&end)).unwrap_or_else(|| panic!("{}", run.err));
            assert_eq!(line.split_whitespace().next(), Some(&*count.to_string()), "{line}");
        }
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_environment_has_the_last_word() {
    for stage in ["1.configured", "2.translated"] {
        let environment =
            [("ZONECAST_CONSOLE", "json"), ("ZONECAST_SOURCES", "1"), ("ZONECAST_STAGE", stage)];
        let run = run(env!("CARGO_BIN_EXE_trace_model"), &[], &environment);
        let events: Vec<Value> = run.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (name, place, source) in kernels(stage) {
            let of = |event: &str| {
                let is_it = |e: &&Value| e["event"] == event && e["name"] == *name;
                let found: Vec<_> = events.iter().filter(is_it).collect();
                assert_eq!(found.len(), 1, "{event} of {name}: {found:?}");
                let found = found[0];
                assert_eq!(format!("{}:{}", found["file"].as_str().unwrap(), found["line"]), place);
                found
            };
            assert!(of("zone")["duration_ns"].as_u64().unwrap() > 0);
            let shown = of("source")["lines"][0].as_str().unwrap();
            // Very long lines are cut.
            assert!(!shown.is_empty() && source.starts_with(shown), "{shown} is not {source}");
        }
    }
}

#[test]
fn zones_shows_every_call() {
    let run = run(
        env!("CARGO_BIN_EXE_zones"),
        &[],
        &[("ZONECAST_CONSOLE", "text,summary"), ("ZONECAST_SOURCES", "2")],
    );
    for shown in [
        " in colour  examples/src/bin/zones.rs:",
        " layer 3  examples/src/bin/zones.rs:",
        " by another name  examples/src/bin/zones.rs:",
        " add  shaders/add.wgsl:2",
        "| fn add() {}",
        "a text",
        "another text, number 2",
        "loaded 48 weights",
        "no source is embedded",
        "loss",
        "producer 1",
    ] {
        assert!(run.err.contains(shown), "{shown:?} is not in\n{}", run.err);
    }
}
