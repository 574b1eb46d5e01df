//! The end of a process, while its threads go on, and the end of a session.

use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use zonecast::{message, plot, zone};
use zonecast_tracy_wire::child::free_port;

use crate::support::{case, on_threads, start, wait_for_server};

const ROLE: &str = "ZONECAST_TEST_ENDS";

/// Runs `body` in a process of its own, a second run of this one test, and returns how it ended.
/// Nobody captures it.
fn run_alone(test: &str, body: impl FnOnce()) -> std::process::ExitStatus {
    if std::env::var(ROLE).is_ok_and(|role| role == test) {
        body();
        std::process::exit(0);
    }
    Command::new(std::env::current_exe().unwrap())
        .args([&format!("ends::{test}"), "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, test)
        .env("ZONECAST_PROVIDER", "tracy")
        .env("TRACY_PORT", free_port().to_string())
        .env_remove("TRACY_NO_EXIT")
        .stdout(Stdio::null())
        .status()
        .unwrap()
}

/// Threads that record for ever, everything that goes through their queues.
fn record_for_ever() {
    let begun = Arc::new(Barrier::new(3));
    for _ in 0..2 {
        let begun = Arc::clone(&begun);
        std::thread::spawn(move || {
            for round in 0_u64.. {
                let zone = zone!("zone");
                if round % 8 == 0 {
                    zone.text("text");
                    plot!("plot", round);
                    message!("message");
                }
                drop(zone);
                if round == 0 {
                    begun.wait();
                }
            }
        });
    }
    begun.wait();
    // Into the middle of it, at a different place each time.
    std::thread::sleep(Duration::from_micros(u64::from(std::process::id()) % 4096));
}

#[test]
fn processes_exit_while_threads_record() {
    let exit = || {
        let status = run_alone("processes_exit_while_threads_record", || {
            let _session = zonecast::start();
            record_for_ever();
        });
        assert!(status.success(), "{status}");
    };
    // The first alone: it is this test's second run, which ends there. Without a queue for each
    // thread, a few are enough.
    exit();
    let each = if cfg!(feature = "fibers") { 3 } else { 33 };
    on_threads(3, |_| (0..each).for_each(|_| exit()));
}

#[test]
fn what_was_recorded_before_the_exit_is_whole() {
    let capture = case().capture(|| {
        let session = start();
        for _ in 0..1_000 {
            drop(zone!("before"));
        }
        wait_for_server();
        drop(session);
        record_for_ever();
    });
    assert_eq!(capture.zones().named("before").count(), 1_000);
    assert!(capture.zones().named("zone").count() > 0);
}

/// A session that is asked to waits until the profiler has what its thread recorded, so a process
/// can then leave by any way.
#[test]
fn dropping_the_session_waits_for_the_profiler() {
    let finished = case()
        .program(|| {
            let session = start();
            for _ in 0..1_000 {
                drop(zone!("before"));
            }
            drop(session);
            // SAFETY: it has no preconditions.
            unsafe { libc::_exit(0) }
        })
        .run()
        .unwrap();
    // The connection just breaks off, so the capture is an error with what came before.
    let capture = match finished.capture {
        Ok(capture) => capture,
        Err(error) => error.into_partial().expect("the client greeted"),
    };
    assert_eq!(capture.zones().count(), 1_000);
    assert!(finished.output.contains("TRACY_NO_EXIT=1: waiting"), "{}", finished.output);
}

#[test]
fn without_a_wish_the_session_does_not_wait() {
    let status = run_alone("without_a_wish_the_session_does_not_wait", || {
        let session = zonecast::start();
        drop(zone!("zone"));
        drop(session);
        drop(zone!("after"));
        drop(zonecast::start());
    });
    assert!(status.success(), "{status}");
}

/// The child has no client thread. It must not disturb the parent's trace.
#[test]
fn a_forked_child_leaves_the_parent_alone() {
    let capture = case().capture(|| {
        let _session = start();
        wait_for_server();
        drop(zone!("parent"));
        // SAFETY: this thread holds no lock that the child needs.
        let child = unsafe { libc::fork() };
        if child == 0 {
            for _ in 0..100_000 {
                drop(zone!("child"));
            }
            // SAFETY: it has no preconditions.
            unsafe { libc::_exit(0) }
        }
        let mut status = -1;
        // SAFETY: `status` is there to be written to.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child fell");
        for _ in 0..100_000 {
            drop(zone!("parent"));
        }
    });
    assert_eq!(capture.violations(), []);
    assert_eq!(capture.zones().named("parent").count(), 100_001);
    assert_eq!(capture.zones().named("child").count(), 0);
}
