//! What a Tracy server sees of programs that do to zones what they must not, and of dispatches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::support::{GCC, package};
use zonecast_tracy_wire::{Capture, child};

const FIBERS: bool = cfg!(feature = "fibers");

/// The programs of this test, built once.
static PROGRAMS: LazyLock<(PathBuf, PathBuf)> =
    LazyLock::new(|| (program("traps.c"), program("dispatches.c")));

pub(crate) fn program(source: &str) -> PathBuf {
    let folder = if FIBERS { "wire-fibers" } else { "wire" };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder).join(source);
    std::fs::create_dir_all(&folder).unwrap();
    let program = crate::support::Program {
        toolchain: GCC,
        sources: vec![package().join("tests/c").join(source)],
        includes: vec![package().join("include")],
        defines: vec!["IREE_TRACING_FEATURES_REQUESTED=0x1ff".into()],
        folder: &folder,
    };
    program.build().unwrap()
}

#[track_caller]
pub(crate) fn capture(command: &mut Command) -> (Capture, String) {
    let mut owned = Command::new(command.get_program());
    owned.args(command.get_args());
    command.get_envs().for_each(|(name, value)| {
        owned.env(name, value.unwrap_or_default());
    });
    let finished = child::Program::new(owned).run().unwrap();
    let output = finished.output.clone();
    let capture = finished.succeeded();
    assert_eq!(capture.violations(), []);
    (capture, output)
}

#[track_caller]
fn trapped(trap: &str) -> Capture {
    capture(Command::new(&PROGRAMS.0).arg(trap)).0
}

/// How often each zone was seen; all have ended.
#[track_caller]
fn balanced(capture: &Capture) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for zone in capture.zones() {
        assert!(zone.end_ns().is_some(), "{} has no end", zone.name());
        *counts.entry(zone.name()).or_default() += 1;
    }
    counts
}

/// A program whose compiler wrote a table by zonecast-embed's header alone: its kernels are at their own places,
/// and so are their texts, though the program says nothing of either.
#[test]
fn a_table_in_the_program_is_known() {
    let embed = package().join("../../embed");
    let folder = tempfile::tempdir().unwrap();
    let built = |defines: &[&str]| {
        let program = crate::support::Program {
            toolchain: GCC,
            sources: vec![embed.join("tests/c/kernels.c"), package().join("tests/c/table.c")],
            includes: vec![embed.join("include"), package().join("include")],
            defines: defines.iter().map(|&define| define.to_owned()).collect(),
            folder: folder.path(),
        };
        program.build().unwrap()
    };
    for defines in [&[][..], &["AS_NOTE"]] {
        let (capture, _) = capture(&mut Command::new(built(defines)));
        let text = Some(&b"func @add\nfunc @mul\n"[..]);
        for (kernel, line) in [("add", 1), ("mul", 2)] {
            let zone = capture.zones().named(kernel).one();
            assert_eq!((zone.file(), zone.line()), ("kernels.0.mlir", line), "{defines:?}");
            assert_eq!(capture.source_of(&zone), text);
        }
        let low = capture.zones().named("by place").one();
        assert_eq!((low.file(), low.line()), ("kernels.1.mlir", 1));
        assert_eq!(capture.source_of(&low), Some(&b"low @add\n"[..]));
    }
}

#[test]
fn missing_ends_are_put_right() {
    let capture = trapped("missing_ends");
    assert_eq!(balanced(&capture), BTreeMap::from([("outer", 1), ("forgotten", 3), ("after", 1)]));
    let after = capture.zones().named("after").one();
    assert_eq!((after.depth(), after.texts().count(), after.values().len()), (0, 0, 0));
}

#[test]
fn ends_on_another_thread_are_put_right() {
    let capture = trapped("ends_on_another_thread");
    let counts = BTreeMap::from([("first", 1), ("second", 1), ("inside", 2), ("third", 1), ("last", 1)]);
    assert_eq!(balanced(&capture), counts);
    let depth = |name| capture.zones().named(name).one().depth();
    assert_eq!((depth("second"), depth("third"), depth("last")), (0, 1, 0));
    assert_eq!(capture.zones().named("third").one().parent().unwrap().name(), "inside");
}

#[test]
fn a_thread_that_exits_ends_its_zones() {
    assert_eq!(balanced(&trapped("threads_that_exit")), BTreeMap::from([("left open", 20)]));
}

#[test]
fn a_fiber_takes_its_zones_along() {
    let capture = trapped("fibers_on_two_threads");
    let counts = balanced(&capture);
    assert_eq!(counts["resumed later"], if FIBERS { 1 } else { 2 });
    let step = capture.zones().named("second step").one();
    assert_eq!(step.parent().unwrap().name(), "resumed later");
    assert_eq!(step.thread().is_fiber(), FIBERS);
    assert_eq!(step.thread().name() == "fiber-0001", FIBERS);
    assert_eq!(step.depth(), if FIBERS { 1 } else { 2 });
    assert_eq!(capture.zones().named("second host").one().depth(), 0);
}

#[test]
fn nulls_and_zeros_are_nothing() {
    let capture = trapped("nothing_at_all");
    assert_eq!(capture.zones().count(), 2);
    assert_eq!(capture.locks().count(), 0);
    assert_eq!(capture.messages().filter(|message| !message.is_from_tracy()).one_text(), "\u{fffd}\u{fffd}");
}

/// The text of the only message.
trait OneText<'a> {
    fn one_text(self) -> &'a str;
}

impl<'a, I: Iterator<Item = zonecast_tracy_wire::Message<'a>>> OneText<'a> for I {
    fn one_text(mut self) -> &'a str {
        let message = self.next().expect("there is a message");
        assert!(self.next().is_none(), "there is one message");
        message.text()
    }
}

#[test]
fn memory_is_put_in_order() {
    let capture = trapped("memory_out_of_order");
    let memory = capture.memory();
    let events: BTreeMap<_, _> = memory
        .iter()
        .map(|(pool, events)| (*pool, events.iter().map(|e| (e.free, e.size)).collect::<Vec<_>>()))
        .collect();
    let own = events.iter().find(|(pool, _)| **pool != "pool").unwrap().1;
    assert_eq!(*own, [(false, 16), (true, 16), (false, 32), (true, 32)]);
    assert_eq!(events["pool"], [(false, 8), (true, 8)]);
}

#[test]
fn depth_has_no_limit() {
    let capture = trapped("deep");
    assert_eq!(balanced(&capture), BTreeMap::from([("level", 500)]));
    assert_eq!(capture.zones().map(|zone| zone.depth()).max(), Some(499));
}

#[test]
fn an_exit_with_zones_open_loses_nothing_that_ended() {
    let capture = trapped("exit_with_zones_open");
    assert!(capture.zones().named("ended before exit").one().end_ns().is_some());
}

fn module() -> PathBuf {
    package().join("../../embed/tests/data/iree/many.cpu.g3.vmfb")
}

/// The text that the module itself has for `f11`, and its line there.
fn f11() -> (String, u32, Vec<u8>) {
    let executable = zonecast_embed::Executable::open(module()).unwrap();
    let image = executable.image(0).unwrap();
    let export = image.exports().find(|export| export.name().starts_with(b"f11_")).unwrap();
    let place = export.stage("0.source").unwrap().location.unwrap();
    let text = image.sources().find(place.file).unwrap();
    (String::from_utf8(place.file.to_vec()).unwrap(), place.line, text.to_vec())
}

#[track_caller]
fn shows_f11_at_its_own_source(capture: &Capture) {
    let (file, line, text) = f11();
    let zones: Vec<_> = capture.zones().filter(|zone| zone.name().starts_with("f11_")).collect();
    assert_eq!(zones.len(), 2);
    for zone in &zones {
        assert_eq!((zone.file(), zone.line()), (file.as_str(), line));
        assert_eq!(capture.source_of(zone), Some(&*text));
    }
    assert!(text.windows(14).any(|window| window == b"func.func @f11"));
    let first = capture.zones().find(|zone| zone.name().starts_with("f0_")).unwrap();
    assert_ne!(first.file(), file);
    // What no module exports stays where it was, and a published text was copied.
    assert!(capture.zones().named("a VM function").one().file().ends_with("dispatches.c"));
    assert_eq!(capture.source("own.mlir"), Some(&b"func.func @own() {}\n"[..]));
}

#[test]
fn dispatches_are_at_their_own_source_once_the_module_is_registered() {
    let (capture, output) = capture(Command::new(&PROGRAMS.1).arg(module()).arg("call"));
    shows_f11_at_its_own_source(&capture);
    assert_eq!(output.matches("dispatches are shown at their own functions").count(), 1, "{output}");
    assert_eq!(output.matches("/nowhere.vmfb").count(), 1, "{output}");
}

#[test]
fn the_environment_can_name_modules_for_unchanged_programs() {
    let mut command = Command::new(&PROGRAMS.1);
    let (capture, _) = capture(command.arg(module()).env("ZONECAST_IREE_MODULES", module()));
    shows_f11_at_its_own_source(&capture);
}

#[test]
fn the_correction_can_be_switched_off() {
    let mut command = Command::new(&PROGRAMS.1);
    let command =
        command.arg(module()).env("ZONECAST_IREE_MODULES", module()).env("ZONECAST_IREE_CORRECT", "0");
    let (capture, output) = capture(command);
    let files: Vec<_> =
        capture.zones().filter(|zone| zone.name().starts_with("f11_")).map(|zone| zone.file()).collect();
    assert_eq!(files[0], "module_f0_dispatch_0.mlir");
    assert!(files[1].ends_with("dispatches.c"));
    assert_eq!(output, "");
}
