//! What a machine really has. A CUDA device, where there is one and `ZONECAST_GPU_TEST=cuda` asks for it:
//!
//! `ZONECAST_GPU_TEST=cuda cargo test --release -p zonecast --features custom,cuda,hip --test gpu_device`
//!
//! prints the figures for BENCHMARKS.md. HIP's runtime without a device, for which Debian's package libamdhip64-5 is
//! enough. What is not there is skipped, which is counted and said; `ZONECAST_GPU_NEEDS=hip` makes it a failure.

mod gpu_sim;

use std::time::{Duration, Instant};

use cudarc::driver::CudaContext;
use gpu_sim::{keeper, trial};
use libtest_mimic::Arguments;
use zonecast::gpu::{Collector, Context, ErrorKind, Gpu, cuda, hip};
use zonecast::{Time, location};

const BYTES: usize = 64 << 20;

fn main() {
    let asked = std::env::var("ZONECAST_GPU_TEST").is_ok_and(|test| test == "cuda");
    let lacks_cuda = match cuda::check() {
        _ if !asked => Some("ZONECAST_GPU_TEST=cuda asks for a real device".to_owned()),
        checked => checked.err().map(|reason| reason.to_string()),
    };
    let lacks_hip = match hip::check().map_err(|reason| reason.kind().clone()) {
        Err(ErrorKind::LibraryMissing { .. }) => Some("no runtime of HIP (Debian: libamdhip64-5)".to_owned()),
        Ok(()) => Some("there is a HIP device here".to_owned()),
        Err(_) => None,
    };
    let trials =
        vec![trial("cuda", lacks_cuda, a_real_device), trial("hip", lacks_hip, a_runtime_without_a_device)];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The library is there, and the program goes on without a device.
fn a_runtime_without_a_device() {
    drop(keeper());
    let reason = hip::check().unwrap_err();
    assert!(matches!(reason.kind(), ErrorKind::NoDevice { .. }), "{reason:?}");
    assert_eq!(reason.to_string(), "the GPU driver finds no device (hipInit says so)");
    let found = zonecast::gpu::diagnose();
    assert_eq!(found[1].to_string(), "HIP: the GPU driver finds no device (hipInit says so)");
    let context = Context::or_off(hip::Hip::device(0).map(|_| Context::off()));
    drop(context.zone(location!("nothing")));
    assert_eq!(context.outcome().recorded, 0);
}

fn a_real_device() {
    let keeper = keeper();
    let device = CudaContext::new(0).unwrap();
    let stream = device.new_stream().unwrap();
    let mut memory = stream.alloc_zeros::<u8>(BYTES).unwrap();
    // SAFETY: the stream lives longer than the context.
    let context = unsafe {
        let gpu = Gpu::new(cuda::Cuda::of_stream((&*stream).into()).unwrap()).unwrap();
        gpu.context((&*stream).into(), "stream")
    };
    let mut limits = Vec::new();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(5) {
        let before = Time::now();
        {
            let _zone = context.zone(location!("memset"));
            stream.memset_zeros(&mut memory).unwrap();
        }
        stream.synchronize().unwrap();
        limits.push((before, Time::now()));
    }
    let empty = 100_000_u32;
    let launching = Instant::now();
    for _ in 0..empty {
        drop(context.zone(location!("empty")));
    }
    let cost = launching.elapsed() / empty;
    assert_eq!(Collector::running().flush(Duration::from_secs(20)), 0);
    let outcome = context.outcome();
    assert_eq!(outcome.recorded, limits.len() as u64 + u64::from(empty), "{outcome:?}");
    for (zone, (before, after)) in keeper.take().iter().zip(&limits) {
        assert!(
            before.ns() <= zone.start && zone.end <= after.ns() + zone.error,
            "{zone:?} {before:?} {after:?}"
        );
        assert!(zone.measured > 0);
    }
    println!(
        "clock bound {:?} ns, {} ns for a zone with the driver's calls",
        context.clock_error(),
        cost.as_nanos()
    );
}
