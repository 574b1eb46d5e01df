//! Nothing that had ended is lost, however a program ends.

use super::child::{Child, Done};

/// Ten zones had ended; `open` had not.
fn assert_all_there(done: &Done) {
    let zones = done.events("zone");
    assert_eq!(zones.iter().filter(|zone| zone["name"] == "ended").count(), 10, "{zones:#?}");
}

fn names(done: &Done, event: &str) -> Vec<String> {
    done.events(event).iter().map(|line| line["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_line_does_not_wait_for_the_zone_around_it() {
    Child::new("within_a_long_zone", "text").run();
    Child::new("within_a_long_zone", "json").run();
}

#[test]
fn unwinding_loses_nothing() {
    let done = Child::new("unwind", "json,summary").end();
    assert_eq!(done.output.status.code(), Some(101));
    assert_all_there(&done);
    assert_eq!(done.events("zone").len(), 12, "the open ones have ended, too");
    assert_eq!(done.events("summary").len(), 3);
}

#[test]
fn exit_loses_nothing() {
    let done = Child::new("exit", "json,summary").end();
    assert_eq!(done.output.status.code(), Some(7));
    assert_all_there(&done);
    assert_eq!(done.events("summary").len(), 1);
}

#[test]
fn destructors_of_thread_locals_and_exit_handlers_are_as_good_as_any() {
    let done = Child::new("late_destructors", "json").run();
    let late = names(&done, "zone").iter().filter(|name| *name == "late").count();
    let messages = done.events("message");
    assert_eq!((late, messages.len()), (4, 4), "{}", done.said());
    assert_eq!(names(&done, "zone").last().map(String::as_str), Some("at exit"));
    assert!(!done.said().contains("panicked"), "{}", done.said());
}

#[cfg(unix)]
mod signals {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use super::super::programs::PATIENCE;
    use super::*;

    #[test]
    fn abort_loses_nothing() {
        let done = Child::new("abort", "json,summary").end();
        assert_eq!(done.output.status.signal(), Some(libc::SIGABRT));
        assert_all_there(&done);
        assert_eq!(names(&done, "open"), ["outer", "open"]);
        assert_eq!(done.events("fatal")[0]["signal"], "SIGABRT");
        assert_eq!(done.events("summary").len(), 1);
    }

    #[test]
    fn a_fault_loses_nothing() {
        let done = Child::new("fault", "json,summary").end();
        assert_eq!(done.output.status.signal(), Some(libc::SIGSEGV));
        assert_all_there(&done);
        assert_eq!(names(&done, "open"), ["outer", "open", "kernel"]);
        assert_eq!(done.events("fatal")[0]["signal"], "SIGSEGV");
        assert_eq!(done.events("summary").len(), 1);
    }

    #[test]
    fn a_fault_shows_where_it_was() {
        let done = Child::new("fault", "text").end();
        assert_eq!(done.output.status.signal(), Some(libc::SIGSEGV));
        let tree = done.tree();
        let [kernel, fatal] = &tree[tree.len() - 2..] else { panic!("{tree:#?}") };
        assert!(kernel.contains("-    kernel  ") && kernel.ends_with(" {"), "{kernel}");
        assert!(fatal.ends_with("-      fatal: SIGSEGV"), "{fatal}");
    }

    #[test]
    fn a_fault_of_another_thread_loses_nothing() {
        let done = Child::new("fault_in_a_thread", "json").end();
        assert_eq!(done.output.status.signal(), Some(libc::SIGSEGV));
        assert_all_there(&done);
        assert_eq!(names(&done, "open"), ["kernel"]);
    }

    #[test]
    fn a_stack_overflow_loses_nothing_and_is_said_by_rust() {
        let done = Child::new("overflow", "json").end();
        assert_eq!(done.output.status.signal(), Some(libc::SIGABRT));
        assert_all_there(&done);
        assert!(done.said().contains("has overflowed its stack"), "{}", done.said());
    }

    #[test]
    fn a_fault_that_somebody_handles_is_not_the_end() {
        let done = Child::new("recovered_faults", "json,summary").run();
        assert_eq!(names(&done, "zone"), ["ended", "after the fault", "outer"]);
        assert!(done.events("fatal").is_empty());
        assert_eq!(done.events("summary").len(), 3);
    }

    #[test]
    fn being_asked_to_end_loses_nothing() {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let done = killed(signal);
            assert_eq!(done.output.status.signal(), Some(signal));
            assert_all_there(&done);
            assert_eq!(done.events("summary").len(), 1);
        }
    }

    fn killed(signal: i32) -> Done {
        let mut child = Child::new("wait_to_be_killed", "json,summary");
        let mut process = started(&mut child);
        kill(&mut process, signal);
        let output = process.wait_with_output().unwrap();
        Done { written: std::fs::read(&child.file).unwrap(), output }
    }

    /// The process, once it has said that it is ready.
    fn started(child: &mut Child) -> std::process::Child {
        let mut process = child.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "the child has ended");
        }
        process
    }

    fn kill(process: &mut std::process::Child, signal: i32) {
        // SAFETY: the process is a child of ours that was not waited for.
        unsafe { libc::kill(process.id() as i32, signal) };
    }

    /// Ctrl-C ends a program even if nobody reads what it writes.
    #[test]
    fn a_reader_that_does_not_read_keeps_nobody_alive() {
        let mut child = Child::new("flood", "text").with("ZONECAST_FILE", "");
        let mut process = started(&mut child);
        // By then the pipe is full; if it should not be, the test says less.
        std::thread::sleep(Duration::from_millis(300));
        kill(&mut process, libc::SIGINT);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = process.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                process.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.signal(), Some(libc::SIGINT));
    }

    #[test]
    fn an_open_zone_is_shown_under_the_name_it_was_given() {
        let done = Child::new("renamed_abort", "json").end();
        assert_eq!(names(&done, "open"), ["its own name"]);
        let tree = Child::new("renamed_abort", "text").end().tree();
        assert!(tree[0].contains("-its own name  ") && tree[0].ends_with(" {"), "{tree:#?}");
    }

    #[test]
    fn a_signal_handler_may_trace() {
        let done = Child::new("traced_signal_handler", "json,summary").run();
        let zones = names(&done, "zone");
        let count = |wanted: &str| zones.iter().filter(|name| *name == wanted).count();
        assert_eq!((count("outer"), count("inner")), (20_000, 20_000));
        // Those that came in the middle of a call are left out.
        assert_eq!(zones.len(), 40_000 + count("handler"));
        for zone in done.events("zone") {
            let expected = match zone["name"].as_str().unwrap() {
                "outer" => (zone["text"].as_str(), zone["value"].as_u64()) == (None, Some(1)),
                "inner" => (zone["text"].as_str(), zone["value"].as_u64()) == (Some("inner's text"), None),
                // Its text may have come in the middle of a call that was interrupted again.
                _ => zone["value"].is_null(),
            };
            assert!(expected, "{zone}");
        }
    }

    #[test]
    fn a_forked_child_repeats_nothing() {
        let done = Child::new("fork", "json,summary").run();
        let mut zones = names(&done, "zone");
        zones.sort();
        assert_eq!(zones, ["child's", "outer", "outer", "parent's, held back", "parent's, later"]);
        let count = |name: &str| {
            let rows = done.events("summary");
            let rows = rows.iter().filter(|row| row["name"] == name);
            rows.map(|row| row["count"].as_u64().unwrap()).sum::<u64>()
        };
        assert_eq!((count("parent's, held back"), count("child's"), count("outer")), (1, 1, 2));
    }

    #[test]
    fn programs_end_while_threads_trace() {
        for _ in 0..10 {
            let done = Child::new("exit_while_others_trace", "json").run();
            // The process may end in the middle of what another thread writes, so the file's last
            // line need not be whole; what the thread that ends it had traced is.
            let written = String::from_utf8_lossy(&done.written);
            let lines =
                written.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
            assert!(lines.filter(|line| line["name"] == "main's").count() > 0, "{}", written.len());
        }
    }
}
