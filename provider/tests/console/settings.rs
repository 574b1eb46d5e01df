//! What the environment asks for.

use super::child::Child;

#[test]
fn short_zones_have_no_line() {
    let program = |console| Child::new("durations", console).with("ZONECAST_MIN", "10ms").run();
    // On a busy machine any zone may take that long, and has a line then.
    let zones = program("json").events("zone");
    assert!(zones.iter().all(|zone| zone["duration_ns"].as_u64() >= Some(10_000_000)), "{zones:#?}");
    for long in ["shown", "long"] {
        assert_eq!(zones.iter().filter(|zone| zone["name"] == long).count(), 1, "{zones:#?}");
    }
    // The beginning of the outer one waits for something to be shown in it.
    let tree = program("text").tree();
    let lines: Vec<&str> = tree.iter().map(|line| line.split("  provider").next().unwrap()).collect();
    assert!(lines[0].ends_with(" -long") && lines[1..].concat().contains("shown"), "{tree:#?}");
    assert!(lines.last().unwrap().ends_with(" =} long"), "{tree:#?}");
}

#[test]
fn the_filter_looks_at_what_is_shown() {
    let tree = Child::new("durations", "text").with("ZONECAST_FILTER", "shown*").run().tree();
    assert_eq!(tree.len(), 2, "{tree:#?}");
    assert!(tree[0].contains(" =shown  ") && tree[1].contains(" =shown by name  "), "{tree:#?}");
}

#[test]
fn the_summary_keeps_to_the_filter() {
    let lines = Child::new("durations", "summary").with("ZONECAST_FILTER", "sho?t").run().lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines[1].trim_start().starts_with("2 ") && lines[1].contains("  short  "), "{lines:#?}");
}

#[test]
fn bad_values_are_said_once_and_the_default_is_used() {
    let child = Child::new("tree", "xml").with("ZONECAST_MIN", "fast").with("ZONECAST_SOURCES", "all");
    let done = child.run();
    assert_eq!(done.tree().len(), 9);
    let said = done.said();
    for expected in [
        "zonecast: ZONECAST_CONSOLE=xml is ",
        "zonecast: ZONECAST_MIN=fast is ",
        "zonecast: ZONECAST_SOURCES=all is ",
    ] {
        assert_eq!(said.matches(expected).count(), 1, "{said}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_said_and_standard_error_is_used() {
    let done = Child::new("tree", "text").with("ZONECAST_FILE", "/no/such/folder/file").run();
    assert!(done.written.is_empty());
    let said = done.said();
    assert!(said.contains("zonecast: ZONECAST_FILE=/no/such/folder/file: "), "{said}");
    assert!(said.contains(" alone  "), "{said}");
}

#[test]
fn without_a_file_lines_go_to_standard_error_without_colours() {
    let done = Child::new("tree", "text").with("ZONECAST_FILE", "").run();
    let said = done.said();
    assert!(said.contains(" alone  ") && !said.contains('\x1b'), "{said}");
}

#[test]
fn a_path_may_name_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace-%p.txt");
    Child::new("tree", "text").with("ZONECAST_FILE", path.to_str().unwrap()).run();
    let name = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().file_name();
    let number = name.to_str().unwrap().trim_start_matches("trace-").trim_end_matches(".txt").parse::<u32>();
    assert!(number.is_ok(), "{name:?}");
}

#[test]
fn an_old_file_is_emptied() {
    let child = Child::new("tree", "text");
    std::fs::write(&child.file, "old\n".repeat(10_000)).unwrap();
    assert_eq!(child.run().tree().len(), 9);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_stops_nothing() {
    let done = Child::new("tree", "text").with("ZONECAST_FILE", "/dev/full").run();
    assert_eq!(done.said().matches("zonecast: the output takes no more").count(), 1, "{}", done.said());
}
