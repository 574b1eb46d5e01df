//! A (fake) GPU's zones on the console: their lines, and the tables at the end.

#![cfg(target_os = "linux")]

mod gpu_fake;

use std::process::Command;
use std::time::Duration;

use gpu_fake::Fake;
use zonecast::gpu::Collector;
use zonecast::location;

fn lines(console: &str) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["program", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    let output = command.env("ZONECAST_CONSOLE", console).env("NO_COLOR", "1").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "what the tests run"]
fn program() {
    let _session = zonecast::start();
    let fake = Fake::cuda();
    fake.push();
    let (context, stream) = fake.context("stream 0");
    let [(copies, copy)] = fake.together("GPU 0", ["copy"]);
    {
        let _copy = copies.zone(location!("upload"));
        fake.launch(copy, 300_000);
    }
    for _ in 0..10 {
        let _step = context.zone(location!("step"));
        for _ in 0..2 {
            let _kernel = context.zone(location!("matmul"));
            fake.launch(stream, 300_000);
        }
    }
    assert_eq!(Collector::running().flush(Duration::from_secs(600)), 0);
}

#[test]
fn each_zone_has_a_line_and_each_stream_a_row() {
    let lines = lines("text,summary");
    let of_stream: Vec<&String> = lines.iter().filter(|line| line.contains("stream 0  ")).collect();
    assert_eq!(of_stream.iter().filter(|line| line.contains(" us   matmul")).count(), 20, "{lines:#?}");
    assert_eq!(of_stream.iter().filter(|line| line.contains(" us step")).count(), 10, "{lines:#?}");
    let table = |heading: &str| {
        let rows =
            lines.iter().skip_while(|line| !(line.starts_with('#') && line.ends_with(heading))).skip(1);
        rows.take_while(|line| !line.starts_with('#')).cloned().collect::<Vec<_>>()
    };
    let zones = table("zone of a lane");
    assert_eq!(zones.len(), 3, "{lines:#?}");
    assert!(zones.iter().any(|row| row.trim_start().starts_with("20 ") && row.contains("matmul")));
    let lanes = table("lane, by its outermost zones");
    assert_eq!(lanes.len(), 2, "{lines:#?}");
    let is_told = |count: &str, lane: &str| {
        lanes.iter().any(|row| row.trim_start().starts_with(count) && row.ends_with(lane))
    };
    assert!(is_told("10 ", " stream 0 (cuda)") && is_told("1 ", " GPU 0: copy (cuda)"), "{lanes:?}");
}

#[test]
fn json_tells_of_launches_and_of_the_devices_own_count() {
    let lines = lines("json");
    let zones: Vec<serde_json::Value> = lines
        .iter()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &serde_json::Value| line["lane_name"] == "stream 0" && line["event"] == "zone")
        .collect();
    assert_eq!(zones.len(), 30);
    for zone in &zones {
        let number = |key: &str| zone[key].as_i64().unwrap();
        assert!(number("launch_begin_ns") <= number("time_ns"), "{zone}");
        let measured = zone.get("measured_ns").map_or(number("duration_ns"), |ns| ns.as_i64().unwrap());
        assert!(measured >= 300_000, "{zone}");
    }
}
