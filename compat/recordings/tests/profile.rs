//! IREE's profiles against what IREE's own exporter says of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use zonecast_recordings::ErrorKind;
use zonecast_recordings::executions::Executions;
use zonecast_recordings::places::Places;
use zonecast_recordings::profile::{Profile, memory_event_name, operation_name};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/profiles").join(name)).unwrap()
}

fn exported(name: &str, kind: &str) -> Vec<Value> {
    let text = String::from_utf8(file(&format!("{name}.jsonl"))).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["record_type"] == kind).collect()
}

const NAMES: [&str; 3] = ["mlp_sync_all", "mlp_task_all", "mlp_task_hostexec"];

#[test]
fn every_row_is_as_irees_exporter_says() {
    for name in NAMES {
        let profile = Profile::read(&file(&format!("{name}.ireeprof"))).unwrap();
        assert!(profile.is_finished && profile.notes.is_empty() && profile.dropped.is_empty());
        let spans: Vec<_> = profile
            .host_spans
            .iter()
            .map(|span| {
                let name =
                    profile.function_name(span.executable, span.function).map_or(Value::Null, Value::from);
                (
                    operation_name(span.operation).to_owned(),
                    name,
                    span.begin,
                    span.end,
                    span.workgroups.to_vec(),
                    span.tiles,
                    span.tile_ns,
                    span.submission,
                )
            })
            .collect();
        let expected: Vec<_> = exported(name, "host_execution_event")
            .iter()
            .map(|row| {
                let grid = row["workgroup_count"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|count| count.as_u64().unwrap() as u32);
                (
                    row["op"].as_str().unwrap().to_owned(),
                    row["key"].clone(),
                    row["start_host_time_ns"].as_i64().unwrap(),
                    row["end_host_time_ns"].as_i64().unwrap(),
                    grid.collect::<Vec<_>>(),
                    row["tile_count"].as_u64().unwrap(),
                    row["tile_duration_sum_ns"].as_i64().unwrap(),
                    row["submission_id"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(spans, expected, "{name}");
        let queued: Vec<_> = profile
            .queue_events
            .iter()
            .map(|event| {
                (
                    operation_name(event.operation),
                    event.time,
                    event.ready,
                    event.waits,
                    event.signals,
                    event.bytes,
                )
            })
            .collect();
        let rows = exported(name, "queue_event");
        let expected: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row["op"].as_str().unwrap(),
                    row["host_time_ns"].as_i64().unwrap(),
                    row["ready_host_time_ns"].as_i64().unwrap(),
                    row["wait_count"].as_u64().unwrap() as u32,
                    row["signal_count"].as_u64().unwrap() as u32,
                    row["payload_length"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(queued, expected, "{name}");
        let memory: Vec<_> = profile
            .memory
            .iter()
            .map(|event| {
                (
                    memory_event_name(event.kind),
                    event.time,
                    event.allocation,
                    event.pool,
                    event.offset,
                    event.length,
                )
            })
            .collect();
        let rows = exported(name, "memory_event");
        let expected: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row["event_type"].as_str().unwrap(),
                    row["host_time_ns"].as_i64().unwrap(),
                    row["allocation_id"].as_u64().unwrap(),
                    row["pool_id"].as_u64().unwrap(),
                    row["offset"].as_u64().unwrap(),
                    row["length"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(memory, expected, "{name}");
        let regions: Vec<_> = profile
            .regions
            .iter()
            .map(|region| {
                (region.begin, region.end, region.index, region.dispatches, region.tiles, region.workers)
            })
            .collect();
        let expected: Vec<_> = exported(name, "command_region_event")
            .iter()
            .map(|row| {
                (
                    row["start_host_time_ns"].as_i64().unwrap(),
                    row["end_host_time_ns"].as_i64().unwrap(),
                    row["region_index"].as_i64().unwrap() as i32,
                    row["region_dispatch_count"].as_u64().unwrap() as u32,
                    row["region_tile_count"].as_u64().unwrap() as u32,
                    row["worker_count"].as_u64().unwrap() as u32,
                )
            })
            .collect();
        assert_eq!(regions, expected, "{name}");
    }
}

#[test]
fn dispatches_lie_within_their_execution() {
    let profile = Profile::read(&file("mlp_task_all.ireeprof")).unwrap();
    let timeline = profile.timeline(&Places::default(), &Executions::default());
    let rows: BTreeMap<&str, Vec<(&str, u32)>> = timeline
        .rows
        .iter()
        .map(|row| {
            (row.name.as_str(), row.zones.iter().map(|zone| (zone.name.as_str(), zone.depth)).collect())
        })
        .collect();
    assert_eq!(
        rows["device 0 queue 0"],
        [
            ("alloca", 0),
            ("alloca", 0),
            ("execute", 0),
            ("mlp_dispatch_0_matmul_8x16x16_f32", 1),
            ("mlp_dispatch_1_matmul_8x16x16_f32", 1),
            ("mlp_dispatch_2_reduction_8x16_f32", 1),
            ("dealloca", 0),
        ]
    );
    assert_eq!(rows["device 0 queue 0 regions"].len(), 3);
    let taken: Vec<_> = timeline.memory.iter().map(|event| (event.address, event.taken)).collect();
    assert_eq!(taken, [(1, Some(32)), (2, Some(1024)), (2, None)]);
    assert_eq!(timeline.messages.len(), 4);
}

/// Counts as large as can be are added up without harm.
#[test]
fn dropped_rows_are_counted_as_far_as_numbers_go() {
    let mut bytes = file("mlp_task_all.ireeprof");
    let second = 24 + u64::from_le_bytes(bytes[24..32].try_into().unwrap()) as usize;
    let third = second + u64::from_le_bytes(bytes[second..second + 8].try_into().unwrap()) as usize;
    let record = bytes[second..third].to_vec();
    bytes.splice(third..third, record);
    bytes[16..24].fill(0);
    for at in [second, third] {
        bytes[at + 88..at + 96].fill(0xff);
    }
    let profile = Profile::read(&bytes).unwrap();
    assert_eq!(profile.dropped.values().collect::<Vec<_>>(), [&u64::MAX]);
}

/// A record with rows of one kind.
fn record(content: &str, rows: &[u8]) -> Vec<u8> {
    let content = format!("application/vnd.iree.hal.profile.{content}");
    let mut record = [0; 104];
    let mut put = |at: usize, value: usize| record[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    put(0, 104 + content.len() + rows.len());
    put(8, rows.len());
    put(56, 104);
    put(60, content.len());
    put(100, 2);
    [&record[..], content.as_bytes(), rows].concat()
}

/// As IREE's exporter says them, on the dispatch that they are of.
#[test]
fn counters_are_told_of_their_dispatch() {
    let profile = Profile::read(&file("counters.ireeprof")).unwrap();
    assert_eq!(profile.notes, []);
    let samples = profile
        .counter_samples
        .iter()
        .map(|sample| serde_json::json!([sample.set, sample.device, sample.dispatch, sample.values]));
    let rows = exported("counters", "counter_sample");
    let expected = rows.iter().map(|row| {
        let keys = ["counter_set_id", "physical_device_ordinal", "dispatch_event_id", "values"];
        Value::from_iter(keys.map(|key| row[key].clone()))
    });
    assert_eq!(samples.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let counters = profile
        .counters
        .iter()
        .map(|counter| serde_json::json!([counter.name, counter.first, counter.count, counter.unit]));
    let rows = exported("counters", "counter");
    let expected = rows.iter().map(|row| {
        let keys = ["name", "sample_value_offset", "sample_value_count", "unit"];
        Value::from_iter(keys.map(|key| row[key].clone()))
    });
    assert_eq!(counters.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let timeline = profile.timeline(&Places::default(), &Executions::default());
    let row = timeline.rows.iter().find(|row| row.name.ends_with(" on the device")).unwrap();
    assert_eq!(row.zones[0].name, exported("counters", "dispatch_event")[0]["key"]);
    let facts: Vec<&str> = row.zones[0].text.lines().collect();
    assert_eq!(facts[facts.len() - 2..], ["BUSY: 101 cycles", "READ: 11 bytes"]);
    assert_eq!(profile.gaps(), ["1 samples of counters belong to no dispatch and are left out"]);
}

#[test]
fn measurements_that_are_not_read_are_said() {
    let mut bytes = file("mlp_task_all.ireeprof");
    bytes[16..24].fill(0);
    let row = [8, 0, 0, 0, 1, 2, 3, 4];
    bytes.extend(record("device-metric-samples", &[row, row].concat()));
    bytes.extend(record("something-new", &row));
    let profile = Profile::read(&bytes).unwrap();
    assert!(profile.notes.is_empty());
    assert_eq!(profile.rows["something-new"], 1);
    assert_eq!(profile.gaps()[1..], ["2 rows of device-metric-samples are not shown"]);
}

#[test]
fn what_was_never_finished_is_said() {
    let profile = Profile::read(&file("unfinalized_header_only.ireeprof")).unwrap();
    assert!(!profile.is_finished && profile.notes.is_empty());
    assert_eq!(profile.gaps(), ["the profile was never finished; it holds what was written until then"]);
}

#[test]
fn a_cut_or_damaged_profile_gives_what_comes_before() {
    let whole = file("mlp_task_all.ireeprof");
    let count =
        |bytes: &[u8]| Profile::read(bytes).map(|profile| (profile.host_spans.len(), profile.notes.len()));
    for end in 24..whole.len() {
        let (spans, notes) = count(&whole[..end]).unwrap();
        assert!(spans <= 7 && notes > 0, "{end}");
    }
    let mut open = whole.clone();
    open[16..24].fill(0);
    assert_eq!(count(&open).unwrap(), (7, 0));
    let mut with_more = whole.clone();
    with_more.extend_from_slice(b"left over");
    assert_eq!(count(&with_more).unwrap(), (7, 0));
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x81;
        if let Ok(profile) = Profile::read(&damaged) {
            profile.timeline(&Places::default(), &Executions::default());
            profile.gaps();
        }
    }
    let error = Profile::read(b"IRRP").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unknown(_)), "{error}");
    let mut later = whole;
    later[4] = 2;
    assert_eq!(
        Profile::read(&later).unwrap_err().to_string(),
        "an IREE profile of version 2.6 is not understood"
    );
}
