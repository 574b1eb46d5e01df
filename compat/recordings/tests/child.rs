//! What becomes of children that crash, hang, or want too much.
#![cfg(target_os = "linux")]

use std::process::Command;
use std::time::Duration;

use zonecast_recordings::child::{Failure, Limits, run};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn tight() -> Limits {
    Limits { time: Duration::from_millis(300), memory: 256 << 20, output: 1000 }
}

#[test]
fn a_job_of_any_size_is_answered() {
    let job: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
    assert!(run(&mut Command::new("cat"), &job, &Limits::default()).unwrap() == job);
    assert_eq!(run(&mut shell("exec <&-; echo done"), &job, &Limits::default()).unwrap(), b"done\n");
}

#[test]
fn a_crash_and_a_complaint_are_told() {
    let crash = run(&mut shell("echo before >&2; kill -SEGV $$"), b"", &Limits::default()).unwrap_err();
    assert!(crash.to_string().contains("SIGSEGV") && crash.to_string().ends_with("before"), "{crash}");
    let Failure::Ended { how, said } =
        run(&mut shell("seq 1 100000 >&2; exit 7"), b"", &Limits::default()).unwrap_err()
    else {
        panic!("it ended by itself");
    };
    assert_eq!(how, "exit status: 7");
    assert!(said.len() <= 4096 && said.ends_with("99999\n100000\n"), "the end is kept");
}

/// Also what it started is ended, and what holds its pipes.
#[test]
fn one_that_hangs_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let signs = folder.path().join("signs");
    let script = format!("(while :; do echo alive >>{}; sleep 0.01; done) & wait", signs.display());
    assert!(matches!(run(&mut shell(&script), b"", &tight()), Err(Failure::Time(_))));
    // On a busy machine it may have given none yet.
    let given = || std::fs::read(&signs).unwrap_or_default();
    let before = given();
    assert!(
        matches!(run(&mut shell("sleep 100 & exit 0"), b"", &Limits::default()), Ok(nothing) if nothing.is_empty())
    );
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(given(), before, "the grandchild lives");
}

#[test]
fn one_that_writes_too_much_is_ended() {
    let endless = Limits { time: Duration::from_secs(60), ..tight() };
    assert!(matches!(run(&mut shell("yes"), b"", &endless), Err(Failure::Output(1000))));
    assert!(matches!(run(&mut shell("head -c 1001 /dev/zero"), b"", &endless), Err(Failure::Output(1000))));
    assert_eq!(run(&mut shell("head -c 1000 /dev/zero"), b"", &endless).unwrap(), [0; 1000]);
}

#[test]
fn one_that_wants_too_much_memory_gets_none() {
    // `sh` reads its job first: by then the limit stands.
    let script = "read job; head -c 1G /dev/zero | tail -c 1G | wc -c";
    let small = Limits { time: Duration::from_secs(60), ..tight() };
    let answer = run(&mut shell(script), b"go\n", &small).unwrap();
    assert_eq!(String::from_utf8_lossy(&answer).trim(), "0");
}
