//! Every form in which IREE uses a provider's macros (`usage/`), compiled by the compilers that are
//! here, run, and compared with what it expects the provider to have seen.

#[cfg(any(feature = "tracy", feature = "console"))]
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{GCC, Program, Toolchain, expectations, package};

const CLANG: Toolchain = Toolchain { cc: "clang", cxx: "clang++", ..GCC };
const TOOLCHAINS: [Toolchain; 6] = [
    GCC,
    Toolchain { c: "c11", ..GCC },
    Toolchain { c: "c17", cpp: "c++20", ..GCC },
    CLANG,
    Toolchain { c: "c11", ..CLANG },
    Toolchain { c: "c17", cpp: "c++20", ..CLANG },
];

fn mode(mode: u32) -> String {
    format!("IREE_TRACING_MODE={mode}")
}

fn features(bits: u32) -> String {
    format!("IREE_TRACING_FEATURES_REQUESTED={bits:#x}")
}

/// The program, in a folder of its own that goes with it.
fn build(toolchain: Toolchain, asked: &str, header: PathBuf) -> Result<(PathBuf, tempfile::TempDir), String> {
    let folder = tempfile::tempdir().unwrap();
    let usage = package().join("tests/usage");
    let program = Program {
        toolchain,
        sources: vec![usage.join("usage.c"), usage.join("usage.cc")],
        includes: vec![usage.join("stub"), usage.clone(), package().join("include")],
        defines: vec![format!("IREE_TRACING_PROVIDER_H=\"{}\"", header.display()), asked.to_owned()],
        folder: folder.path(),
    };
    Ok((program.build()?, folder))
}

fn header() -> PathBuf {
    package().join("include/zonecast_iree.h")
}

/// Builds, runs and compares.
fn check(toolchain: Toolchain, asked: &str, header: PathBuf) -> Result<(), String> {
    let (program, _folder) = build(toolchain, asked, header)?;
    let output = crate::support::run(&mut Command::new(&program))?;
    // A program that calls nothing is linked with nothing, and nobody could connect to it.
    if expectations(&output).is_empty() { Ok(()) } else { provider::check(&program) }
}

#[track_caller]
fn all_pass(configurations: impl Iterator<Item = (Toolchain, String)>) {
    let mut checked = 0;
    for (toolchain, asked) in configurations.filter(|(toolchain, _)| toolchain.is_here()) {
        if let Err(fault) = check(toolchain, &asked, header()) {
            panic!("{toolchain:?}, {asked}: {fault}");
        }
        checked += 1;
    }
    assert!(checked > 0, "no compiler is here");
}

fn modes() -> impl Iterator<Item = String> {
    (0..5).map(mode)
}

fn bits() -> impl Iterator<Item = String> {
    let single = (0..9).map(|bit| 1 << bit);
    // With fast locks alone IREE does not compile, so they are masked; 0x060 has both.
    single.chain([0x060, 0x0ad, 0x1ff, 0x3ff]).map(features)
}

#[test]
fn every_mode_passes() {
    all_pass(modes().map(|asked| (GCC, asked)));
}

#[test]
fn every_bit_passes_alone_and_all_together() {
    all_pass(bits().map(|asked| (GCC, asked)));
}

#[test]
fn every_compiler_and_language_level_passes() {
    all_pass(TOOLCHAINS.into_iter().map(|toolchain| (toolchain, features(0x1ff))));
}

#[test]
#[ignore = "takes minutes"]
fn everything_passes_with_every_compiler() {
    all_pass(modes().chain(bits()).flat_map(|asked| TOOLCHAINS.map(|toolchain| (toolchain, asked.clone()))));
}

#[test]
fn without_the_header_nothing_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let usage = package().join("tests/usage");
    let program = Program {
        toolchain: GCC,
        sources: vec![usage.join("usage.c"), usage.join("usage.cc")],
        includes: vec![usage.join("stub"), usage],
        defines: vec![mode(2)],
        folder: folder.path(),
    };
    let output = crate::support::run(&mut Command::new(program.build().unwrap())).unwrap();
    assert!(output.starts_with("features 0x000"), "{output}");
}

/// Headers broken on purpose: what was, and what it becomes.
#[cfg(any(feature = "tracy", feature = "console"))]
const BROKEN: [(&str, &str, &str); 9] = [
    (
        "an end that is a statement",
        "zonecast_iree_zone_end(zone_id)\n",
        "do { zonecast_iree_zone_end(zone_id); } while (0)\n",
    ),
    (
        "a wrapper that is a statement",
        "#define IREE_TRACE(...) __VA_ARGS__",
        "#define IREE_TRACE(...) do { __VA_ARGS__; } while (0)",
    ),
    (
        "memory that is nothing",
        "zonecast_iree_alloc(NULL, (uintptr_t)(ptr), (size), ZONECAST_IREE_MEMORY_DEPTH)",
        "((void)(ptr), (void)(size))",
    ),
    ("frames that are nothing", "zonecast_iree_frame_begin(name_literal)", "((void)(name_literal))"),
    (
        "scopes that are nothing",
        "#define IREE_TRACE_SCOPE() IREE_TRACE_SCOPE_NAMED(nullptr)",
        "#define IREE_TRACE_SCOPE() const iree_zone_id_t zonecast_iree_scope_ = 0; (void)zonecast_iree_scope_",
    ),
    (
        "texts longer than they are",
        "(zone_id), (text), (size_t)(length))",
        "(zone_id), (text), (length) ? zonecast_iree_length(text) : 0)",
    ),
    (
        "coloured messages that are nothing",
        "zonecast_iree_message(ZONECAST_IREE_SEVERITY_INFO, (uint32_t)(color) & 0xFFFFFFu, \\\n                        (value), (size_t)(value_length))",
        "((void)(value), (void)(value_length))",
    ),
    ("frees of another pool", "zonecast_iree_free((name),", "zonecast_iree_free(NULL,"),
    (
        "lines of others that are lost",
        "(uint32_t)(line), (function_name)",
        "0u * (uint32_t)(line), (function_name)",
    ),
];

#[test]
#[cfg(any(feature = "tracy", feature = "console"))]
fn broken_headers_are_caught() {
    let whole = std::fs::read_to_string(header()).unwrap();
    for (what, was, becomes) in BROKEN {
        assert!(whole.contains(was), "{what}: the header has changed");
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("broken.h");
        std::fs::write(&broken, whole.replace(was, becomes)).unwrap();
        assert!(check(GCC, &features(0x1ff), broken).is_err(), "{what} was not caught");
    }
}

/// Compares what a provider saw with what the program expects.
#[cfg(any(feature = "tracy", feature = "console"))]
fn compare(seen: &BTreeMap<&str, usize>, expected: &BTreeMap<&str, usize>) -> Result<(), String> {
    for (kind, &seen) in seen {
        let expected = expected.get(kind).copied().unwrap_or_default();
        if seen != expected {
            return Err(format!("{kind}: {expected} expected, {seen} seen"));
        }
    }
    Ok(())
}

/// The provider is Tracy: a server counts.
#[cfg(feature = "tracy")]
mod provider {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::Command;

    use zonecast_tracy_wire::Capture;
    use zonecast_tracy_wire::child::Program;

    use super::{compare, expectations};

    pub(super) fn check(program: &Path) -> Result<(), String> {
        let finished = Program::new(Command::new(program)).run().map_err(|error| error.to_string())?;
        let capture = finished.capture.as_ref().map_err(|error| format!("{error}\n{}", finished.output))?;
        if !finished.status.success() {
            return Err(format!("{}\n{}", finished.status, finished.output));
        }
        if let Some(violation) = capture.violations().first() {
            return Err(violation.to_string());
        }
        let expected = expectations(&finished.output);
        compare(&seen(capture), &expected)?;
        texts(capture, &expected)
    }

    fn seen(capture: &Capture) -> BTreeMap<&'static str, usize> {
        // A destructor traces after main; nothing promises that this is seen.
        let zones = || capture.zones().filter(|zone| zone.name() != "Early::~Early");
        let memory = || capture.memory().into_values().flatten();
        let is_set = |&frame: &zonecast_tracy_wire::FrameMark| 1 + usize::from(frame.end_ns.is_some());
        let plots = capture.plots();
        BTreeMap::from([
            ("zone", zones().count()),
            ("end", zones().filter(|zone| zone.end_ns().is_some()).count()),
            ("value", zones().map(|zone| zone.values().len()).sum()),
            ("text", zones().map(|zone| zone.texts().count()).sum()),
            ("color", zones().filter(|zone| zone.color().is_some()).count()),
            ("plot", plots.values().map(Vec::len).sum()),
            ("plot_type", plots.keys().filter(|plot| capture.plot_look(plot).is_some()).count()),
            ("frame", capture.frames().into_values().flatten().map(|frame| is_set(&frame)).sum()),
            ("message", capture.messages().filter(|message| !message.is_from_tracy()).count()),
            ("alloc", memory().filter(|event| !event.free).count()),
            ("free", memory().filter(|event| event.free).count()),
            // One line is the provider's own.
            ("app_info", capture.app_info().filter(|line| !line.starts_with("zonecast")).count()),
            ("gpu", capture.gpu_zones().count() / 2),
            // Waited for, obtained and released; and again, as after a try Tracy is told of a wait, too.
            ("mutex", capture.locks().filter(|lock| lock.events().len() == 6).count()),
        ])
    }

    /// What was cut by a length, or kept by a copy, says what it said.
    fn texts(capture: &Capture, expected: &BTreeMap<&str, usize>) -> Result<(), String> {
        if !expected.contains_key("text") {
            return Ok(());
        }
        let texts: Vec<_> = capture.zones().flat_map(|zone| zone.texts().collect::<Vec<_>>()).collect();
        let long = "n".repeat(700);
        for text in ["literal", "3x4", "view", "part", "a tag", "text on a scope", &long] {
            if !texts.contains(&text) {
                return Err(format!("the text {text} is missing"));
            }
        }
        let external = capture.zones().in_file("m.mlir").next().ok_or("the external zone is missing")?;
        match (external.function(), external.line()) {
            ("fn", 41) => Ok(()),
            other => Err(format!("the external zone is at {other:?}")),
        }
    }
}

/// The provider is the console: its lines are counted.
#[cfg(all(feature = "console", not(feature = "tracy")))]
mod provider {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::Command;

    use super::{compare, expectations};

    pub(super) fn check(program: &Path) -> Result<(), String> {
        let lines = program.with_file_name("lines.json");
        let mut command = Command::new(program);
        let output =
            crate::support::run(command.env("ZONECAST_CONSOLE", "json").env("ZONECAST_FILE", &lines))?;
        let expected = expectations(&output);
        let lines = std::fs::read_to_string(&lines).map_err(|error| error.to_string())?;
        compare(&seen(&lines), &expected)?;
        let told = [
            r#""text":"literal\nc string\n3x4\nyes\n3x4\nview\n""#,
            r#""function":"fn","file":"m.mlir","line":41,"text":"a tag""#,
        ];
        match told.iter().find(|told| expected.contains_key("text") && !lines.contains(**told)) {
            Some(told) => Err(format!("no line says {told}")),
            None => Ok(()),
        }
    }

    fn is_device(line: &str) -> bool {
        line.contains(r#""lane":"#)
    }

    fn seen(lines: &str) -> BTreeMap<&'static str, usize> {
        let events = |kind: &str| {
            let start = format!("{{\"event\":\"{kind}\"");
            lines
                .lines()
                .filter(|line| {
                    line.starts_with(&start) && !line.contains("Early::~Early") && !is_device(line)
                })
                .count()
        };
        let kinds = ["zone", "plot", "message", "alloc", "free", "app_info", "thread_name"];
        let mut seen: BTreeMap<_, _> = kinds.into_iter().map(|kind| (kind, events(kind))).collect();
        seen.insert("end", events("zone"));
        seen.insert("plot_type", events("plot_style"));
        seen.insert("frame", events("frame") + events("frame_begin") + events("frame_end"));
        seen.insert("mutex", events("lock_terminate"));
        seen.insert("gpu", lines.lines().filter(|line| is_device(line)).count() / 2);
        seen
    }
}

/// There is no provider, so nobody sees anything.
#[cfg(not(any(feature = "tracy", feature = "console")))]
mod provider {
    use std::path::Path;
    use std::process::Command;

    pub(super) fn check(program: &Path) -> Result<(), String> {
        let silent = Command::new(program).output().map_err(|error| error.to_string())?;
        match silent.stderr.is_empty() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&silent.stderr).into_owned()),
        }
    }
}
