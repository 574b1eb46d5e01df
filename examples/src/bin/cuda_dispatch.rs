//! A CUDA kernel, compiled from source text when the program runs, with that text beside its zones.
//!
//! `cargo run --bin cuda_dispatch --features cuda`, and with `tracy` added a click on a zone of the GPU
//! shows `saxpy.cu`. The driver and NVIDIA's compiler (NVRTC) are found when it runs: without them, or without
//! a device, it says so, counts that as skipped, and ends well.

use std::error::Error;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc;
use zonecast::gpu::{Gpu, cuda};
use zonecast::{Location, LocationParts, sources, zone};

const FILE: &str = "kernels/saxpy.cu";
const SOURCE: &str = include_str!("../kernels/saxpy.cu");
const VALUES: usize = 1 << 20;
const LAUNCHES: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let _session = zonecast::start();
    if let Err(reason) = cuda::check() {
        println!("skipped 1 of 1: there is no CUDA here: {reason}");
        return Ok(());
    }
    // SAFETY: NVIDIA's compiler is safe to load.
    if !unsafe { nvrtc::sys::is_culib_present() } {
        println!("skipped 1 of 1: NVIDIA's run-time compiler, libnvrtc, is not installed; install it");
        return Ok(());
    }
    run()
}

fn run() -> Result<(), Box<dyn Error>> {
    let device = CudaContext::new(0)?;
    let kernel = {
        let _zone = zone!("compile");
        device.load_module(nvrtc::compile_ptx(SOURCE)?)?.load_function("saxpy")?
    };
    let stream = device.new_stream()?;
    let x = stream.clone_htod(&vec![1.0_f32; VALUES])?;
    let mut y = stream.alloc_zeros::<f32>(VALUES)?;

    // The text, and a place in it: line 1 is the kernel's.
    sources::publish(FILE, SOURCE.as_bytes());
    let place =
        Location::intern(LocationParts { name: "saxpy", function: "saxpy", file: FILE, line: 1, color: 0 });
    // SAFETY: the stream lives longer than the context.
    let context = unsafe {
        let gpu = Gpu::new(cuda::Cuda::of_stream((&*stream).into())?)?;
        gpu.context((&*stream).into(), "saxpy's stream")
    };

    let config = LaunchConfig::for_num_elems(VALUES as u32);
    let (a, n) = (2.0_f32, VALUES as u64);
    for _ in 0..LAUNCHES {
        let _zone = context.zone_interned(&place);
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&a).arg(&x).arg(&mut y).arg(&n);
        // SAFETY: the arguments are the kernel's, and both buffers hold `n` values.
        unsafe { launch.launch(config) }?;
    }
    let sum: f32 = stream.clone_dtoh(&y)?.iter().take(4).sum();
    let expected = 4.0 * a * LAUNCHES as f32;
    if sum != expected {
        return Err(format!("the kernel's first values make {sum}, not {expected}").into());
    }
    println!("{LAUNCHES} launches of saxpy; times are within {:?} ns of the host's", context.clock_error());
    Ok(())
}
