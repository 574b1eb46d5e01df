//! A real CUDA device, where there is one and `ZONECAST_GPU_TEST=cuda` asks for it:
//!
//! `ZONECAST_GPU_TEST=cuda cargo test --release -p zonecast --features custom,cuda --test gpu_device -- --nocapture`
//!
//! prints the figures for BENCHMARKS.md. Otherwise it says that it was skipped, and why.

mod gpu_sim;

use std::time::{Duration, Instant};

use cudarc::driver::CudaContext;
use gpu_sim::keeper;
use zonecast::gpu::{Collector, Gpu, cuda};
use zonecast::{Time, location};

const BYTES: usize = 64 << 20;

#[test]
fn a_real_device() {
    if std::env::var("ZONECAST_GPU_TEST").as_deref() != Ok("cuda") {
        println!("skipped 1: ZONECAST_GPU_TEST=cuda asks for a real device");
        return;
    }
    if let Err(reason) = cuda::check() {
        println!("skipped 1: no real device: {reason}");
        return;
    }
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
