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

#[test]
#[cfg(feature = "cuda")]
fn cuda_dispatch_runs_or_says_why_not() {
    let run = common::run(env!("CARGO_BIN_EXE_cuda_dispatch"), &[], &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.out.starts_with("100 launches of saxpy;") || run.out.starts_with("skipped 1 of 1: "),
        "{run:?}"
    );
}

#[test]
#[cfg(feature = "vulkan")]
fn timestamp_lanes_runs_or_says_why_not() {
    let run = common::run(env!("CARGO_BIN_EXE_timestamp_lanes"), &[], &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.starts_with("10 passes on ") || run.out.starts_with("No Vulkan "), "{run:?}");
}

#[test]
fn duration_lanes_leaves_nothing_out() {
    let run = common::run(env!("CARGO_BIN_EXE_duration_lanes"), &[], &[]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "5 runs; 0 zones left out\n"), "{run:?}");
}
