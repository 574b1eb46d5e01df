//! The command, as a user runs it.

#[path = "../../tracy-wire/tests/support/handmade.rs"]
mod handmade;

use std::io::{BufRead, BufReader};
use std::net::{Shutdown, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::{fs, io};

use serde_json::Value;
use zonecast_tracy_wire::{Encoder, Item, Location, Question, Recording, Server, Welcome, encode_frame};

const KERNEL: &[u8] = b"func.func @kernel() {\n}\n";

/// What a program said that ran `zones` zones of `length` nanoseconds each, and one of everything.
fn stream(zones: i64, length: i64) -> Vec<u8> {
    let mut out = Encoder::default();
    let location = |name| {
        Item::LocationPayload(Location {
            name: Some(name),
            function: b"kernel",
            file: b"kernel.mlir",
            line: 1,
            color: 0x00FF80,
        })
    };
    out.push(&Item::ThreadContext { thread: 7 });
    for zone in 0..zones {
        out.push(&location(b"matmul"));
        out.push(&Item::ZoneBegin { time: 1000 * zone, location: None, callstack: false });
        out.push(&Item::SingleString(b"batch, \"8\""));
        out.push(&Item::ZoneText);
        out.push(&Item::ZoneValue { value: 8 });
        out.push(&Item::ZoneEnd { time: 1000 * zone + length + zone % 3 });
    }
    out.push(&Item::SingleString(b"hello"));
    out.push(&Item::Message {
        time: 50,
        literal: None,
        color: Some(0xFF0000),
        metadata: 0x30,
        callstack: false,
    });
    let (context, thread) = (2, 0);
    out.push(&Item::GpuNewContext {
        cpu_time: 0,
        gpu_time: 0,
        thread,
        period: 1.0,
        context,
        calibrated: false,
        sort: 8,
    });
    out.push(&location(b"gpu kernel"));
    let serial = true;
    out.push(&Item::GpuZoneBegin {
        cpu_time: 5,
        thread,
        query: 1,
        context,
        location: None,
        callstack: false,
        serial,
    });
    out.push(&Item::GpuZoneEnd { cpu_time: 6, thread, query: 2, context, serial });
    out.push(&Item::GpuTime { gpu_time: 300, query: 1, context });
    out.push(&Item::GpuTime { gpu_time: 900, query: 2, context });
    out.push(&Item::MemAlloc { time: 70, thread: 7, address: 64, size: 16, named: false, callstack: false });
    out.push(&Item::MemFree { time: 80, thread: 7, address: 64, named: false, callstack: false });
    out.take()
}

/// Writes a recording of `items`, as `zonecast capture --record` would.
fn record(path: &Path, items: &[u8]) {
    let mut answers = Encoder::default();
    answers.push(&Item::ThreadName { thread: 7, text: b"worker" });
    answers.push(&Item::SourceCode { id: 0, text: KERNEL });
    let welcome = Welcome { pid: 4711, program: "model".into(), ..Welcome::default() };
    let mut file = b"ZCTRACY1".to_vec();
    let mut push = |kind: u8, bytes: &[u8]| {
        file.push(kind);
        file.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        file.extend_from_slice(bytes);
    };
    let frame = |items: &[u8]| {
        let mut frame = Vec::new();
        encode_frame(items, &mut frame);
        frame.split_off(4)
    };
    push(b'W', &welcome.to_bytes());
    push(b'F', &frame(items));
    // The path "kernel.mlir" and its NUL, which are twelve bytes.
    for question in [
        Question::DataTransfer(12),
        Question::DataTransferPart(u64::from_le_bytes(*b"kernel.m"), u32::from_le_bytes(*b"lir\0")),
        Question::SourceCode { id: 0 },
    ] {
        push(b'Q', &question.to_bytes());
    }
    push(b'F', &frame(answers.bytes()));
    push(b'E', &[]);
    fs::write(path, file).expect("there is room");
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("there is room"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn recording(&self, name: &str, items: &[u8]) -> String {
        record(&self.path(name), items);
        self.text(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("it is UTF-8").to_owned()
    }
}

fn zonecast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zonecast")).args(arguments).output().expect("the command runs")
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = zonecast(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it writes UTF-8")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn json_holds_everything() {
    let folder = Folder::new();
    let run = folder.recording("run", &stream(2, 100));
    let capture = json(&succeeds(&["capture", "--from", &run, "--format", "json"]));
    assert_eq!(capture["program"], "model");
    assert_eq!(capture["protocol"], 82);
    assert_eq!(
        capture["zones"][1],
        json(
            r##"{
        "thread": "worker", "name": "matmul", "function": "kernel", "file": "kernel.mlir", "line": 1, "depth": 0,
        "start_ns": 1000, "end_ns": 1101, "text": ["batch, \"8\""], "values": [8], "color": "#00ff80"
    }"##
        )
    );
    assert_eq!(capture["gpu_contexts"][0], json(r#"{"id": 2, "name": null, "type": "Cuda"}"#));
    assert_eq!(
        capture["gpu_zones"][0],
        json(
            r#"{
        "context": 2, "name": "gpu kernel", "function": "kernel", "file": "kernel.mlir", "line": 1,
        "cpu_start_ns": 5, "cpu_end_ns": 6, "start_ns": 300, "end_ns": 900
    }"#
        )
    );
    assert_eq!(
        capture["messages"][0],
        json(r##"{"time_ns": 50, "text": "hello", "severity": "warning", "color": "#ff0000"}"##)
    );
    assert_eq!(capture["memory"][""], json(r#"[[70, "alloc", 64, 16], [80, "free", 64, 16]]"#));
    assert_eq!(capture["sources"][0]["path"], "kernel.mlir");
    assert_eq!(capture["sources"][0]["length"], KERNEL.len());
    // From sha256sum.
    assert_eq!(
        capture["sources"][0]["sha256"],
        "6ffe8fadee7acf0b0ecfc0213546329b01dcdf3607cc37b76a598fb095057809"
    );
    for empty in ["plots", "frames", "lost"] {
        assert_eq!(capture[empty], json("{}"), "{empty}");
    }
    assert_eq!((&capture["locks"], &capture["violations"]), (&json("[]"), &json("[]")));
}

#[test]
fn every_format_shows_the_zones() {
    let folder = Folder::new();
    let run = folder.recording("run", &stream(100, 500));
    let summary = succeeds(&["capture", "--from", &run]);
    let row = summary.lines().find(|line| line.contains("matmul")).expect("the zone has a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..3], ["100", "50.10", "us"], "{row}");
    assert!(
        row.contains("501 ns") && row.contains("502 ns") && row.ends_with("matmul (kernel.mlir:1)"),
        "{row}"
    );
    assert!(summary.lines().any(|line| line.contains("600 ns") && line.contains("gpu kernel")), "{summary}");

    let text = succeeds(&["capture", "--from", &run, "--format", "text"]);
    assert_eq!(text.lines().filter(|line| line.contains("matmul (kernel.mlir:1)")).count(), 100);
    assert!(text.contains("warning: hello"), "{text}");

    let csv = succeeds(&["capture", "--from", &run, "--format", "csv"]);
    assert_eq!(csv.lines().count(), 102, "a head, 100 zones, a GPU zone");
    assert!(
        csv.contains(r##"cpu,worker,matmul,kernel,kernel.mlir,1,0,1000,1501,"batch, ""8""",8,#00ff80"##),
        "{csv}"
    );
}

#[test]
fn perfetto_traces_are_sound_trace_events() {
    let folder = Folder::new();
    let run = folder.recording("run", &stream(3, 500));
    let trace = json(&succeeds(&["capture", "--from", &run, "--format", "perfetto"]));
    let events = trace["traceEvents"].as_array().expect("there are events");
    for event in events {
        let needs = match event["ph"].as_str().expect("an event has a phase") {
            "X" => &["name", "pid", "tid", "ts", "dur", "args"][..],
            "M" => &["name", "pid", "tid", "args"],
            "i" => &["name", "pid", "tid", "ts", "s"],
            other => panic!("nothing here makes {other}"),
        };
        assert!(needs.iter().all(|field| !event[field].is_null()), "{event}");
    }
    let zones: Vec<&Value> = events.iter().filter(|event| event["name"] == "matmul").collect();
    assert_eq!(zones.len(), 3);
    assert_eq!((&zones[1]["ts"], &zones[1]["dur"]), (&Value::from(1.0), &Value::from(0.501)));
    assert_eq!(zones[0]["args"]["source"], std::str::from_utf8(KERNEL).unwrap());
    assert!(zones[1]["args"]["source"].is_null(), "a text is there once");
    let gpu = events.iter().find(|event| event["name"] == "gpu kernel").expect("the GPU zone is there");
    assert_ne!(gpu["pid"], zones[0]["pid"]);
}

#[test]
fn sources_are_written_as_files() {
    let folder = Folder::new();
    let run = folder.recording("run", &stream(1, 10));
    succeeds(&["capture", "--from", &run, "--sources", &folder.text("sources")]);
    assert_eq!(fs::read(folder.path("sources/kernel.mlir")).expect("it was written"), KERNEL);
}

#[test]
fn a_broken_rule_exits_with_3() {
    let folder = Folder::new();
    let mut broken = Encoder::default();
    broken.push(&Item::ThreadContext { thread: 7 });
    broken.push(&Item::ZoneEnd { time: 5 });
    let run = folder.recording("run", broken.bytes());
    let output = zonecast(&["capture", "--from", &run, "--check", "--format", "json"]);
    assert_eq!(output.status.code(), Some(3));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("item 1") && words.contains("no zone is open"), "{words}");
    let capture = json(std::str::from_utf8(&output.stdout).expect("it writes UTF-8"));
    assert_eq!(capture["violations"][0]["rule"], "ZoneEndWithoutBegin");
    assert!(zonecast(&["capture", "--from", &run]).status.success(), "unchecked, nothing is said");
}

#[test]
fn a_live_program_is_captured_and_recorded() {
    let folder = Folder::new();
    let run = folder.recording("run", &stream(20, 30));
    let mut recording = Recording::open(&run).expect("it was just written");
    let server = Server::bind("127.0.0.1:0").expect("some port is free");
    let port = server.address().expect("it listens").port().to_string();
    let serving = std::thread::spawn(move || server.serve(&mut recording));
    let (again, live) = (folder.text("again"), folder.text("live.json"));
    succeeds(&["capture", "-p", &port, "--record", &again, "--format", "json", "-o", &live, "--check"]);
    serving.join().expect("serving does not panic").expect("serving ends well");
    let replayed = succeeds(&["capture", "--from", &again, "--format", "json"]);
    assert_eq!(json(&fs::read_to_string(&live).expect("it was written")), json(&replayed));
    assert_eq!(json(&replayed)["zones"].as_array().map(Vec::len), Some(20));
}

#[test]
fn a_served_recording_is_captured() {
    let folder = Folder::new();
    let run = folder.recording("run", &stream(5, 30));
    let mut serving = Command::new(env!("CARGO_BIN_EXE_zonecast"))
        .args(["serve", &run, "-p", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut said = BufReader::new(serving.stderr.take().expect("it is piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says where it listens");
    let port = line.split_once(" at 127.0.0.1:").expect("it listens").1.split(';').next().expect("a port");
    let capture = json(&succeeds(&["capture", "-p", port, "--format", "json"]));
    assert_eq!(capture["zones"].as_array().map(Vec::len), Some(5));
    assert!(serving.wait().expect("it ends").success());
}

fn interrupt(process: &Child) {
    let interrupted = Command::new("sh").args(["-c", &format!("kill -INT {}", process.id())]).status();
    assert!(interrupted.expect("a shell runs").success());
}

#[test]
fn an_interrupt_ends_a_capture_cleanly() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let port = listener.local_addr().expect("it listens").port().to_string();
    let live = folder.text("live.json");
    let mut capturing = Command::new(env!("CARGO_BIN_EXE_zonecast"))
        .args(["capture", "-p", &port, "--format", "json", "-o", &live])
        .spawn()
        .expect("the command runs");
    let mut socket = handmade::accept(&listener);
    handmade::welcome(&mut socket, 1);
    handmade::say(&mut socket, &handmade::zone("before the interrupt"));
    // Once it asks for the thread's name, it has taken the greeting and the zone.
    handmade::answer_until(&mut socket, Question::ThreadName(1));
    handmade::say(&mut socket, &[Item::ThreadName { thread: 1, text: b"main" }]);
    interrupt(&capturing);
    handmade::answer_until(&mut socket, Question::Disconnect);
    handmade::end(&mut socket);
    assert!(capturing.wait().expect("it ends").success());
    let capture = json(&fs::read_to_string(&live).expect("it was written"));
    assert_eq!(capture["zones"][0]["name"], "before the interrupt");
}

/// As while a client has another server: it takes the connection, and says nothing.
#[test]
fn an_interrupt_ends_the_wait_for_a_program() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let port = listener.local_addr().expect("it listens").port().to_string();
    let waiting = Command::new(env!("CARGO_BIN_EXE_zonecast"))
        .args(["capture", "-p", &port, "--wait", "100"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let _silent = handmade::accept(&listener);
    interrupt(&waiting);
    let output = waiting.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.starts_with("zonecast: stopped before a Tracy client answered at 127.0.0.1:"), "{words}");
}

#[test]
fn what_cannot_be_written_is_said_before_the_capture() {
    let folder = Folder::new();
    let nobody = zonecast_tracy_wire::child::free_port().to_string();
    fs::write(folder.path("a file"), "").expect("there is room");
    for option in ["-o", "--record", "--sources"] {
        let output = zonecast(&["capture", "-p", &nobody, option, &folder.text("a file/below")]);
        assert_eq!(output.status.code(), Some(1), "{option}");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("a file/below: "), "{option}: {words}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named() {
    let folder = Folder::new();
    let run = folder.recording("run", &stream(2, 100));
    let output = zonecast(&["capture", "--from", &run, "-o", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("zonecast: /dev/full: "), "{output:?}");
}

#[test]
fn a_recording_that_was_cut_is_said_to_be() {
    let folder = Folder::new();
    let run = folder.recording("run", &stream(20, 100));
    let whole = fs::read(&run).expect("it was just written");
    fs::write(folder.path("cut"), &whole[..whole.len() - 5]).expect("there is room");
    for (name, is_said) in [("run", false), ("cut", true)] {
        let output = zonecast(&["capture", "--from", &folder.text(name)]);
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(words.contains("ends before the program did"), is_said, "{words}");
    }
}

#[test]
fn a_capture_that_fails_leaves_the_last_one_alone() {
    let folder = Folder::new();
    let (json, run) = (folder.text("a.json"), folder.text("run"));
    let nobody = zonecast_tracy_wire::child::free_port().to_string();
    fs::write(&json, "the last one").expect("there is room");
    fs::write(&run, "the last one").expect("there is room");
    let output = zonecast(&["capture", "-p", &nobody, "--wait", "0.1", "-o", &json, "--record", &run]);
    assert_eq!(output.status.code(), Some(1));
    for path in [&json, &run] {
        assert_eq!(fs::read_to_string(path).expect("it is there"), "the last one");
    }
    let whole = folder.recording("whole", &stream(2, 100));
    succeeds(&["capture", "--from", &whole, "--format", "csv", "-o", &json]);
    assert_eq!(
        fs::read_to_string(&json).expect("it is there").lines().count(),
        4,
        "nothing is left of the old"
    );
}

#[test]
fn what_a_dying_program_told_is_written() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let port = listener.local_addr().expect("it listens").port().to_string();
    let dying = std::thread::spawn(move || {
        let mut socket = handmade::accept(&listener);
        handmade::welcome(&mut socket, 1);
        handmade::say(&mut socket, &handmade::zone("last words"));
        // A socket closed with queries unread would reset the connection, and what it said might be lost.
        socket.shutdown(Shutdown::Write).expect("it is open");
        let _ = io::copy(&mut socket, &mut io::sink());
    });
    let (live, run) = (folder.text("live.json"), folder.text("run"));
    let output = zonecast(&["capture", "-p", &port, "--format", "json", "-o", &live, "--record", &run]);
    dying.join().expect("it dies in order");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("before it said it was done"), "{output:?}");
    for capture in [
        fs::read_to_string(&live).expect("it was written"),
        succeeds(&["capture", "--from", &run, "--format", "json"]),
    ] {
        assert_eq!(json(&capture)["zones"][0]["name"], "last words");
    }
}

#[test]
fn a_comparison_finds_what_became_slower() {
    let folder = Folder::new();
    let (fast, slow) =
        (folder.recording("fast", &stream(300, 500)), folder.recording("slow", &stream(300, 600)));
    let slow_json = folder.text("slow.json");
    succeeds(&["capture", "--from", &slow, "--format", "json", "-o", &slow_json]);

    for second in [&slow, &slow_json] {
        let output = zonecast(&["compare", &fast, second, "--max-regress", "10"]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(table.contains("regressed: matmul by +20.0 %"), "{table}");
        assert!(table.lines().any(|line| line.contains("501 ns") && line.contains("601 ns")), "{table}");
    }
    succeeds(&["compare", &fast, &slow]);
    succeeds(&["compare", &fast, &slow, "--max-regress", "25"]);
    succeeds(&["compare", &slow, &fast, "--max-regress", "1"]);
    let other = succeeds(&["compare", &fast, &slow, "--max-regress", "10", "--zone", "gpu*"]);
    assert!(other.contains("gpu kernel") && !other.contains("matmul"), "{other}");
    assert!(other.contains("+0.0 %  unknown"), "it ran once: {other}");
}

#[test]
fn failures_are_one_sentence() {
    let nobody = zonecast_tracy_wire::child::free_port().to_string();
    let output = zonecast(&["capture", "-p", &nobody, "--wait", "0.1"]);
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        words.starts_with("zonecast: no Tracy client answered at 127.0.0.1:") && words.lines().count() == 1,
        "{words}"
    );
    assert_eq!(zonecast(&["capture", "--seconds", "soon"]).status.code(), Some(2));
    let missing = zonecast(&["compare", "/nowhere/a", "/nowhere/b"]);
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/nowhere/a"), "{missing:?}");
}
