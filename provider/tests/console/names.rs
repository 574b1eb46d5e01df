//! Names that would break a line, or a terminal.

use super::child::Child;

#[test]
fn json_keeps_hostile_names() {
    let done = Child::new("names", "json").run();
    let zones = done.events("zone");
    assert_eq!(zones.len(), 3);
    assert_eq!(zones[0]["name"], "a\nb \"c\" \\ \x1b[31m \u{85}\u{202e}");
    assert_eq!(zones[0]["function"], "f\r");
    assert_eq!(zones[0]["file"], "dir\n/file\t.rs");
    assert_eq!(zones[0]["text"], "text\nwith \"quotes\"");
    assert_eq!(zones[1]["name"], "a\u{fffd}b");
    assert_eq!(zones[1]["file"], "\u{fffd}.c");
    assert_eq!(zones[2]["name"], "");
    assert!(zones[2].get("file").is_none());
    assert_eq!(done.events("message")[0]["thread_name"], "thread\n\x1b]0;title\x07\"");
    assert_no_control(&done.written);
}

#[test]
fn text_spells_hostile_names_out() {
    let done = Child::new("names", "text").run();
    let lines = done.lines();
    assert_eq!(lines.len(), 1 + 6, "{lines:#?}");
    assert!(
        lines[1].contains(r#"a\nb "c" \ \u001b[31m \u0085\u202e  dir\n/file\t.rs:3  text\nwith "quotes""#)
    );
    assert!(lines[2].contains(r"a\xffb  \xfd.c:1"));
    assert_no_control(&done.written);
}

fn assert_no_control(written: &[u8]) {
    let text = std::str::from_utf8(written).unwrap();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
}
