//! Text, JSON and the summary of what the programs do.

use serde_json::{Value, json};

use super::child::{Child, Done};

#[test]
fn text_is_a_tree() {
    let file = "provider/tests/console/programs.rs";
    let tree = Child::new("tree", "text").run().tree();
    let expected = [
        "main -thread_name: main",
        "main -outer  FILE {",
        "main =  leaf  FILE",
        "main -  block  FILE {",
        "main =    inner  FILE",
        "main -    info: said",
        "main =  } block  FILE",
        "main =} outer  FILE",
        "worker =alone  FILE",
    ];
    let lines: Vec<String> = tree.iter().map(|line| without_line_numbers(line, file)).collect();
    assert_eq!(lines, expected);
}

/// `file:12` as `FILE`.
fn without_line_numbers(line: &str, file: &str) -> String {
    let Some((before, after)) = line.split_once(&format!("{file}:")) else { return line.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    assert_ne!(rest, after, "a line number follows");
    format!("{before}FILE{rest}")
}

#[test]
fn json_has_every_call_once_with_its_values() {
    let done = Child::new("every_call", "json").run();
    let start = &done.json()[0];
    assert_eq!((&start["event"], &start["version"]), (&json!("start"), &json!(1)));
    let shown: Vec<Value> = done.json().into_iter().skip(1).map(without_what_varies).collect();
    assert_eq!(shown, every_call(), "{:#?}", shown);
}

/// The same on every run, and without what all lines of this program have.
fn without_what_varies(mut line: Value) -> Value {
    let object = line.as_object_mut().unwrap();
    for key in ["time_ns", "thread"] {
        assert!(object.remove(key).unwrap().is_u64(), "{key}");
    }
    for key in ["duration_ns", "wait_ns", "hold_ns"] {
        if let Some(number) = object.get_mut(key) {
            assert!(number.is_u64());
            *number = json!("some");
        }
    }
    assert_eq!(object.remove("thread_name"), Some(json!("caller")));
    assert_eq!(object.remove("depth"), Some(json!(0)));
    if object.get("file") == Some(&json!("provider/tests/console/programs.rs")) {
        assert!(object.remove("line").unwrap().is_u64());
        object.remove("file");
    }
    if object.get("function") == Some(&json!("console::programs")) {
        object.remove("function");
    }
    line
}

fn every_call() -> Vec<Value> {
    let zone = |name| json!({"event": "zone", "duration_ns": "some", "name": name});
    let function = "console::programs::every_call";
    let with = |mut line: Value, more: Value| {
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    vec![
        json!({"event": "thread_name", "name": "caller"}),
        json!({"event": "app_info", "text": "version 1"}),
        with(zone("static"), json!({"text": "one\ntwo 2", "value": 42, "color": "#ff8800"})),
        with(zone("another name"), json!({"color": "#0000ff"})),
        zone("made now"),
        with(zone(function), json!({"function": function})),
        with(zone("kernel"), json!({"function": "f", "file": "model.mlir", "line": 8})),
        zone("first"),
        zone("second"),
        json!({"event": "message", "text": "plain", "severity": "info"}),
        json!({"event": "message", "text": "bad news", "severity": "error", "color": "#ff0000"}),
        json!({"event": "plot", "name": "integer", "value": -3}),
        json!({"event": "plot", "name": "double", "value": 0.1}),
        json!({"event": "plot", "name": "single", "value": 0.1}),
        json!({"event": "plot", "name": "no number", "value": null}),
        json!({"event": "plot_style", "name": "double", "format": "percentage", "step": true, "fill": true,
               "color": "#0000ff"}),
        json!({"event": "frame"}),
        json!({"event": "frame", "name": "named"}),
        json!({"event": "frame_begin", "name": "gappy"}),
        json!({"event": "frame_end", "name": "gappy", "duration_ns": "some"}),
        json!({"event": "frame_image", "width": 4, "height": 4, "age": 1, "flipped": true}),
        json!({"event": "alloc", "address": "0x1000", "size": 64}),
        json!({"event": "free", "address": "0x1000"}),
        json!({"event": "alloc", "pool": "device", "address": "0x2000", "size": 128}),
        json!({"event": "discard", "pool": "device"}),
        json!({"event": "lock_announce", "name": "queue", "lock": 1}),
        json!({"event": "lock_name", "name": "queue 7", "lock": 1}),
        json!({"event": "lock_wait", "name": "queue 7", "lock": 1}),
        json!({"event": "lock_obtain", "name": "queue 7", "lock": 1, "wait_ns": "some"}),
        json!({"event": "lock_release", "name": "queue 7", "lock": 1, "hold_ns": "some"}),
        json!({"event": "lock_try_obtain", "name": "queue 7", "lock": 1, "obtained": false}),
        json!({"event": "lock_terminate", "name": "queue 7", "lock": 1}),
        json!({"event": "fiber_enter", "name": "fiber", "fiber": "fiber"}),
        json!({"event": "fiber_leave", "name": "fiber", "fiber": "fiber"}),
    ]
}

#[test]
fn text_has_every_call_once_with_its_values() {
    let tree = Child::new("every_call", "text").run().tree();
    // As many lines as JSON has, which is checked one by one.
    assert_eq!(tree.len(), every_call().len());
    for expected in [
        "caller -app_info: version 1",
        "caller =static  ",
        "one  two 2  value=42",
        "caller =another name  ",
        "caller =kernel  model.mlir:8",
        "caller -error: bad news  color=#ff0000",
        "caller -plot: integer  value=-3",
        "caller -plot: no number  value=NaN",
        "caller -plot_style: double  format=percentage  step  fill  color=#0000ff",
        "caller =frame_end: gappy",
        "caller -frame_image  width=4  height=4  age=1  flipped",
        "caller -alloc: device  address=0x2000  size=128",
        "caller =lock_obtain: queue 7  lock=1",
        "caller -lock_try_obtain: queue 7  lock=1  obtained=false",
        "caller/fiber -fiber_enter: fiber",
    ] {
        assert_eq!(tree.iter().filter(|line| line.contains(expected)).count(), 1, "{expected}\n{tree:#?}");
    }
}

/// Name and depth of each zone, in the order in which they ended.
fn zones(done: &Done) -> Vec<(String, u64)> {
    let of = |zone: &Value| (zone["name"].as_str().unwrap().to_owned(), zone["depth"].as_u64().unwrap());
    done.events("zone").iter().map(of).collect()
}

#[test]
fn zones_stay_with_their_fiber() {
    let done = Child::new("fibers", "json").run();
    let fiber = |zone: &Value| (zone["name"].clone(), zone["fiber"].clone(), zone["depth"].clone());
    let found: Vec<_> = done.events("zone").iter().map(fiber).collect();
    let expected = [
        (json!("on two"), json!("two"), json!(0)),
        (json!("inside kept"), json!("one"), json!(1)),
        (json!("kept"), json!("one"), json!(0)),
        (json!("thread"), Value::Null, json!(0)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn zones_may_end_in_any_order() {
    let expected = [
        ("leaf", 3),
        ("first", 1),
        ("after first", 1),
        ("outer", 0),
        ("after outer", 0),
        ("second", 0),
        ("last", 0),
    ];
    let done = Child::new("out_of_order", "json").run();
    assert_eq!(zones(&done), expected.map(|(name, depth)| (name.to_owned(), depth)));
    let tree = Child::new("out_of_order", "text").run().tree();
    assert_eq!(tree.len(), expected.len() + 3, "three have a line of their beginning: {tree:#?}");
    assert!(tree.last().unwrap().contains("=last "), "{tree:#?}");
}

#[test]
fn zones_that_nobody_ends_move_nothing() {
    let tree = Child::new("forgotten", "text").run().tree();
    assert_eq!(tree.len(), 1_001);
    assert!(tree[..1_000].iter().all(|line| line.contains(" =outer ")), "{:?}", tree[999]);
    assert!(tree[1_000].contains(" =last "));
}

#[test]
fn depth_is_unbounded() {
    let done = Child::new("deep", "json").run();
    let depths: Vec<u64> = zones(&done).into_iter().map(|zone| zone.1).collect();
    assert_eq!(depths, (0..3_000).rev().collect::<Vec<_>>());
    let tree = Child::new("deep", "text").run().tree();
    assert_eq!(tree.len(), 2 * 3_000 - 1);
    assert!(tree.iter().any(|line| line.contains("[2999] level ")));
    assert!(tree.iter().all(|line| line.len() < 200), "indentation is bounded");
}

#[test]
fn a_kernels_source_is_shown_once() {
    let text = Child::new("sources", "text").with("ZONECAST_SOURCES", "4").run().tree();
    let at = text.iter().position(|line| line.contains("kernel  kernel.mlir:50")).unwrap();
    let shown: Vec<&str> = text[at + 1..at + 5].iter().map(|line| line.split_once(" -").unwrap().1).collect();
    assert_eq!(shown, ["     49 | line 49", ">    50 | line 50", "     51 | line 51", "     52 | line 52"]);
    assert_eq!(text.iter().filter(|line| line.contains("| line")).count(), 4);
    assert_eq!(text.iter().filter(|line| line.contains("kernel workgroup")).count(), 3);
    let done = Child::new("sources", "json").with("ZONECAST_SOURCES", "2").run();
    let [source] = &done.events("source")[..] else { panic!("one source") };
    assert_eq!(source["name"], "kernel");
    assert_eq!(source["first_line"], 50);
    assert_eq!(source["lines"], json!(["line 50", "line 51"]));
    assert!(Child::new("sources", "json").run().events("source").is_empty(), "only on request");
}

#[test]
fn calls_before_and_after_the_session_count() {
    let done = Child::new("around_the_session", "json").run();
    let names: Vec<String> = zones(&done).into_iter().map(|zone| zone.0).collect();
    assert_eq!(names, ["before", "during", "after"]);
}

#[test]
fn the_summary_adds_up() {
    for console in ["summary,json", "json,summary"] {
        check_summary(&Child::new("numbers", console).run());
    }
}

fn check_summary(done: &Done) {
    let summary = done.events("summary");
    let row = |kind: &str, name: &str| {
        let mut rows = summary.iter().filter(|row| row["kind"] == kind && row["name"] == name);
        let row = rows.next().unwrap_or_else(|| panic!("{kind} {name}"));
        assert!(rows.next().is_none(), "one row of {kind} {name}");
        row
    };
    let totals = summary.iter().filter(|row| row["kind"] == "zone").map(|row| row["total_ns"].as_u64());
    assert!(totals.is_sorted_by(|a, b| a >= b), "what takes longest comes first");
    assert_eq!(row("zone", "outer")["count"], 1_000);
    assert_eq!(row("zone", "inner")["count"], 3_001);
    assert_eq!(row("zone", "same")["count"], 2);
    let plot = row("plot", "level");
    assert_eq!((&plot["count"], &plot["mean"]), (&json!(1_000), &json!(499.5)));
    assert_eq!((&plot["min"], &plot["max"]), (&json!(0.0), &json!(999.0)));
    let alloc = row("alloc", "main");
    assert_eq!(alloc["count"], 1_000);
    assert_eq!((&alloc["total_bytes"], &alloc["mean_bytes"]), (&json!(499_500), &json!(499)));
    assert_eq!((&alloc["min_bytes"], &alloc["max_bytes"]), (&json!(0), &json!(999)));
    assert_eq!(row("free", "main")["count"], 1_000);
    assert_eq!(row("message", "info")["count"], 1_000);
    assert_eq!(row("lock_wait", "queue")["count"], 5);
    assert_eq!(row("lock_hold", "queue")["count"], 5);
    assert_eq!(row("frame", "frame")["count"], 10);
    // The lines say how long each zone was: the summary adds the same numbers up.
    let lengths: Vec<u64> = done
        .events("zone")
        .iter()
        .filter(|zone| zone["name"] == "inner")
        .map(|zone| zone["duration_ns"].as_u64().unwrap())
        .collect();
    let inner = row("zone", "inner");
    assert_eq!(inner["total_ns"], lengths.iter().sum::<u64>());
    assert_eq!(inner["min_ns"], *lengths.iter().min().unwrap());
    assert_eq!(inner["max_ns"], *lengths.iter().max().unwrap());
    assert_eq!(inner["mean_ns"], lengths.iter().sum::<u64>() / 3_001);
}

#[test]
fn a_summary_alone_is_a_table() {
    let lines = Child::new("numbers", "summary").run().lines();
    assert!(lines[0].ends_with("  zone"), "{}", lines[0]);
    let count = |title: &str| {
        let line = lines.iter().find(|line| line.contains(&format!("  {title}"))).expect(title);
        line.split_whitespace().next().unwrap().to_owned()
    };
    for (title, expected) in [("outer", "1000"), ("inner", "3001"), ("same", "2"), ("level", "1000")] {
        assert_eq!(count(title), expected, "{title}");
    }
    let headings = lines.iter().filter(|line| line.starts_with('#')).count();
    assert_eq!(headings, 8, "{lines:#?}");
}

#[test]
fn frames_say_how_long_they_were() {
    let done = Child::new("frames", "json").run();
    let frames = done.events("frame");
    assert_eq!(frames.iter().filter(|frame| frame["duration_ns"].is_u64()).count(), 2);
    assert_eq!(done.events("frame_end").iter().filter(|frame| frame["duration_ns"].is_u64()).count(), 2);
}

#[test]
fn lanes_have_their_zones_with_their_times() {
    let done = Child::new("lanes", "json").run();
    let lanes = done.events("lane_create");
    assert_eq!((&lanes[0]["name"], &lanes[0]["kind"]), (&json!("stream\n0"), &json!("cuda")));
    let zones: Vec<Value> = done.events("zone").into_iter().filter(|zone| zone["lane"].is_u64()).collect();
    let found: Vec<_> = zones
        .iter()
        .map(|zone| {
            (
                zone["lane"].as_u64(),
                zone["name"].as_str(),
                zone["depth"].as_u64(),
                zone["duration_ns"].as_u64(),
            )
        })
        .collect();
    let expected = [
        (1, "pass", 0, 8_000),
        (1, "renamed", 1, 4_000),
        (1, "leaf", 2, 1_000),
        (1, "later", 0, 1),
        (2, "long ago", 0, 1_000_000_000),
    ];
    assert_eq!(
        found,
        expected.map(|(lane, name, depth, ns)| (Some(lane), Some(name), Some(depth), Some(ns)))
    );
    let time = |zone: &Value, key: &str| zone[key].as_i64().unwrap();
    let (pass, draw) = (&zones[0], &zones[1]);
    assert_eq!(time(pass, "time_ns"), time(draw, "time_ns"));
    assert_eq!(time(pass, "time_ns") - time(pass, "launch_begin_ns"), 4_000);
    assert_eq!(time(pass, "time_ns") - time(pass, "launch_end_ns"), 3_000);
    assert_eq!(pass["measured_ns"], 8_001);
    assert!(draw.get("measured_ns").is_none(), "only where it differs");
    assert!(time(&zones[4], "time_ns") < -3_500_000_000_000, "before the start");
    // Lanes and threads are on one clock.
    let around = &done.events("zone")[5];
    assert!(time(around, "time_ns") <= time(pass, "time_ns"), "{around} {pass}");
    assert_eq!(done.events("lane_close").len(), 2);
}

#[test]
fn a_lane_is_a_tree_of_text() {
    let lines = Child::new("lanes", "text").run().lines();
    let lane: Vec<&str> =
        lines.iter().filter(|line| line[13..].starts_with("stream")).map(|line| &line[28..]).collect();
    let file = "  provider/tests/console/programs.rs:";
    for (line, start) in
        lane.iter().zip(["  8.00 us pass", "  4.00 us   renamed", "  1.00 us     leaf", "     1 ns later"])
    {
        assert!(line.starts_with(&format!("{start}{file}")), "{line}");
    }
    assert!(lines.iter().any(|line| line.starts_with("-3599.") || line.starts_with("-3600.")), "{lines:#?}");
}

#[test]
fn a_summary_counts_zones_of_lanes_by_their_own_clock() {
    for console in ["summary", "json,summary"] {
        let lines = Child::new("lanes", console).run().lines();
        let pass = lines.iter().rfind(|line| line.contains("pass")).unwrap();
        assert!(pass.contains(" 8.00 us ") || pass.contains("\"total_ns\":8000,"), "{pass}");
        let lane = lines.iter().rfind(|line| line.contains("(cuda)")).unwrap();
        let is_whole = lane.contains("\"kind\":\"lane\",\"count\":2,\"total_ns\":8001,");
        assert!(lane.contains(" 2    8.00 us ") || is_whole, "{lane}");
    }
}

#[test]
fn ends_of_no_zone_do_no_harm() {
    for console in ["text", "json"] {
        let lines = Child::new("forged", console).run().lines();
        assert_eq!(lines.len(), 3, "{lines:#?}");
    }
    Child::new("forged", "summary").run();
}
