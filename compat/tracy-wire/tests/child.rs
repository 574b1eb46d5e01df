//! The one line that a test needs to capture code of its own.

#[path = "support/handmade.rs"]
mod handmade;

use zonecast_tracy_wire::child::{Case, capture};
use zonecast_tracy_wire::{ErrorKind, Zone};

/// What a traced program does, without any Tracy in it.
fn traced(name: &'static str, pid: u32) {
    let mut socket = handmade::accept_from_environment();
    handmade::welcome(&mut socket, pid);
    handmade::say(&mut socket, &handmade::zone(name));
    handmade::end(&mut socket);
}

#[test]
fn one_line_captures_a_closure() {
    let capture = capture(|| traced("here", std::process::id()));
    assert_eq!(capture.zones().named("here").one().duration_ns(), Some(150));
    assert!(capture.is_ended() && capture.lost().is_empty(), "{:?}", capture.lost());
    assert_ne!(capture.welcome().pid, u64::from(std::process::id()), "it ran in a process of its own");
    assert_eq!(capture.threads().next().expect("there is a thread").name(), "main");
}

mod within {
    #[test]
    fn tests_in_modules_are_found() {
        super::capture(|| super::traced("there", std::process::id())).zones().named("there").one();
    }
}

#[test]
fn the_environment_can_be_set() {
    let capture = Case::new().env("WIRE_TEST", "set").capture(|| {
        assert_eq!(std::env::var("WIRE_TEST").as_deref(), Ok("set"));
        traced("with environment", std::process::id());
    });
    let zones: Vec<Zone<'_>> = capture.zones().collect();
    assert_eq!(zones.len(), 1);
}

#[test]
fn another_process_is_not_taken_for_it() {
    let finished = Case::new().program(|| traced("imposter", 1)).run().expect("the test runs again");
    assert!(matches!(finished.fault(), ErrorKind::WrongProcess { found: 1, .. }), "{}", finished.fault());
}

#[test]
fn a_body_that_fails_is_shown() {
    let failed = std::panic::catch_unwind(|| {
        capture(|| {
            let mut socket = handmade::accept_from_environment();
            handmade::welcome(&mut socket, std::process::id());
            panic!("the body's own words");
        })
    });
    let message = *failed.expect_err("the capture is not whole").downcast::<String>().expect("a message");
    assert!(message.contains("the body's own words"), "{message}");
}
