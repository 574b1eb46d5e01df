//! What is seen of a replay while it runs, in a build of the command that has providers.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;

use serde_json::Value;
use zonecast_tracy_wire::child::Program;

const KERNEL: &str = "rowsum_dispatch_0_reduction_Dx10_f32";
const SOURCE: &str = "mlp_net_rowsum_dispatch_0_embedded_elf_x86_64.0.source.mlir";

/// Three runs of a recorded kernel, shown by this provider.
fn replay(provider: &str) -> Command {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/../recordings/tests/data/own/rowsum.zcrec");
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonecast"));
    command.args(["recording", "replay", recording, "--repeat", "3"]).env("ZONECAST_PROVIDER", provider);
    command
}

#[test]
fn a_replay_is_shown_on_the_console() {
    let output = replay("console").env("ZONECAST_CONSOLE", "json").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let events: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let runs: Vec<_> =
        events.iter().filter(|line| line["event"] == "zone" && line["name"] == KERNEL).collect();
    assert_eq!(runs.len(), 3, "{said}");
    assert!(runs.iter().all(|zone| zone["file"] == SOURCE && zone["line"] == 8), "{said}");
}

#[test]
fn a_replay_is_shown_in_tracy() {
    let program = Program::new(replay("tracy")).receiver(|receiver| receiver.check(true));
    let capture = program.run().unwrap().succeeded();
    assert_eq!(capture.violations(), []);
    let runs: Vec<_> = capture.gpu_zones().named(KERNEL).in_file(SOURCE).collect();
    assert_eq!(runs.len(), 3);
    let text = capture.source_of(&runs[0]).expect("the recording has it");
    assert!(text.starts_with(b"hal.executable public @rowsum_dispatch_0 {"));
    capture.zones().named("replay").one();
}
