//! The other programs run to their end.

mod common;

#[test]
fn zones_makes_every_call() {
    let run = common::run(env!("CARGO_BIN_EXE_zones"), &[], &[]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    assert!(!run.err.contains("panicked"), "{run:?}");
}

#[test]
#[cfg(feature = "custom")]
fn a_custom_provider_says_where_zones_go() {
    let program = env!("CARGO_BIN_EXE_custom_provider");
    let run = common::run(program, &[], &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.starts_with("zones go to NVTX;") || run.out.contains("libnvToolsExt"), "{run:?}");
}
