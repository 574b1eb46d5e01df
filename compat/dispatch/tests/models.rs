//! Kernels of real models, against the same sums in plain Rust.
//!
//! The inputs are small multiples of powers of two, so that every sum is exact in whatever order a
//! kernel adds: results are compared for equality.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use common::load;
use zonecast_dispatch::{Binding, Buffer, Dispatch, Library, Workers};

/// Batch of the `mlp` runs: many workgroups, the last one not full.
const BATCH: usize = 1_000;

fn inputs(count: usize) -> Vec<f32> {
    (0..count).map(|index| ((index * 7 % 17) as f32 - 8.0) / 4.0).collect()
}

/// Runs one of the `mlp` kernels: constants are the batch's low and high word, `tile` rows are one
/// workgroup's.
fn mlp_layer(
    library: &Library,
    workers: &Workers,
    ordinal: usize,
    tile: usize,
    input: &Buffer,
    columns: usize,
) -> Buffer {
    let mut output = Buffer::zeroed(BATCH * columns * size_of::<f32>());
    let dispatch = Dispatch {
        workgroups: [BATCH.div_ceil(tile) as u32, 1, 1],
        constants: &[BATCH as u32, 0],
        bindings: &mut [Binding::read(input), Binding::write(&mut output)],
        ..Dispatch::of(ordinal)
    };
    // SAFETY: the shapes are those of mlp.mlir: BATCH rows of 32, 48, 10 and 1 columns.
    unsafe { library.dispatch(dispatch, workers, &()) }.unwrap();
    output
}

fn mlp(library: &Library, workers: &Workers) -> [Buffer; 3] {
    let x = Buffer::from_slice(&inputs(BATCH * 32));
    let hidden = mlp_layer(library, workers, 0, 64, &x, 48);
    let out = mlp_layer(library, workers, 1, 64, &hidden, 10);
    let sums = mlp_layer(library, workers, 2, 32, &out, 1);
    [hidden, out, sums]
}

/// What mlp.mlir says: weights of 0.5 and 0.25, a bias of 0.125, ReLU, then a sum of each row.
fn mlp_reference() -> [Vec<f32>; 3] {
    let sums = |rows: &[f32], columns: usize| -> Vec<f32> {
        rows.chunks(columns).map(|row| row.iter().sum()).collect()
    };
    let spread = |values: Vec<f32>, columns: usize| -> Vec<f32> {
        values.into_iter().flat_map(|value| std::iter::repeat_n(value, columns)).collect()
    };
    let relu = |sum: f32| (sum * 0.5 + 0.125).max(0.0);
    let hidden = spread(sums(&inputs(BATCH * 32), 32).into_iter().map(relu).collect(), 48);
    let out = spread(sums(&hidden, 48).into_iter().map(|sum| sum * 0.25).collect(), 10);
    let row_sums = sums(&out, 10);
    [hidden, out, row_sums]
}

#[test]
fn mlp_computes_what_it_was_compiled_from() {
    let library = load("mlp.cpu.g3.vmfb");
    assert_eq!(
        library.exports().collect::<Vec<_>>(),
        [
            "infer_dispatch_0_matmul_Dx48x32_f32",
            "infer_dispatch_1_matmul_Dx10x48_f32",
            "rowsum_dispatch_0_reduction_Dx10_f32"
        ]
    );
    let reference = mlp_reference();
    // The inputs reach both sides of the ReLU.
    assert!(reference[0].contains(&0.0) && reference[0].iter().any(|&value| value > 1.0));
    for (result, reference) in mlp(&library, &Workers::none()).iter().zip(&reference) {
        assert_eq!(result.as_slice_of::<f32>(), reference);
    }
}

#[test]
fn several_threads_compute_the_same() {
    let library = load("mlp.cpu.g3.vmfb");
    let reference = mlp_reference();
    for threads in [2, 3, 8] {
        let workers = Workers::new(threads).unwrap();
        assert_eq!(workers.count(), threads);
        for _ in 0..20 {
            for (result, reference) in mlp(&library, &workers).iter().zip(&reference) {
                assert_eq!(result.as_slice_of::<f32>(), reference);
            }
        }
    }
}

#[test]
fn each_of_many_exports_runs_its_own_kernel() {
    let library = load("many.cpu.g3.vmfb");
    assert_eq!(library.exports().len(), 12);
    for (ordinal, name) in library.exports().enumerate() {
        // many.mlir: `fN` multiplies 64 + 16 N floats by N + 2.
        let number: usize = name[1..].split('_').next().unwrap().parse().unwrap();
        let x = inputs(64 + 16 * number);
        let input = Buffer::from_slice(&x);
        let mut output = Buffer::zeroed(input.len());
        let dispatch = Dispatch {
            bindings: &mut [Binding::read(&input), Binding::write(&mut output)],
            ..Dispatch::of(ordinal)
        };
        // SAFETY: both bindings are as long as many.mlir says.
        unsafe { library.dispatch(dispatch, &Workers::none(), &()) }.unwrap();
        let expected: Vec<f32> = x.iter().map(|value| value * (number + 2) as f32).collect();
        assert_eq!(output.as_slice_of::<f32>(), expected, "{name}");
    }
}

/// scale.mlir: the product of two vectors of 1,024 floats.
fn scale(file: &str) {
    let library = load(file);
    let (a, b) = (inputs(1024), inputs(2048)[1024..].to_vec());
    let (left, right) = (Buffer::from_slice(&a), Buffer::from_slice(&b));
    let mut product = Buffer::zeroed(1024 * size_of::<f32>());
    let dispatch = Dispatch {
        bindings: &mut [Binding::read(&left), Binding::read(&right), Binding::write(&mut product)],
        ..Dispatch::of(0)
    };
    // SAFETY: all bindings are as long as scale.mlir says.
    unsafe { library.dispatch(dispatch, &Workers::none(), &()) }.unwrap();
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
    assert_eq!(product.as_slice_of::<f32>(), expected, "{file}");
}

#[test]
fn every_version_of_the_interface_runs() {
    scale("scale.cpu.g3.vmfb");
    scale("scale.cpu-v5.g3.vmfb");
    scale("scale.cpu-v4.g3.vmfb");
}

#[test]
fn libraries_of_the_system_linker_run() {
    scale("scale.cpusys.g3.vmfb");
}

#[test]
fn libraries_are_told_apart_and_outlive_their_files() {
    // Several at once, loaded and unloaded in turn, so that file descriptors are used again.
    for _ in 0..50 {
        let scale_library = load("scale.cpu.g3.vmfb");
        let many = load("many.cpu.g3.vmfb");
        drop(scale_library);
        let mlp = load("mlp.cpu.g3.vmfb");
        assert_eq!((many.exports().len(), mlp.exports().len()), (12, 3));
        drop(many);
        scale("scale.cpu-v5.g3.vmfb");
        assert_eq!(mlp.name(), "mlp_net_linked");
    }
}

#[test]
fn workers_say_when_they_start() {
    let (sender, started) = std::sync::mpsc::channel();
    let workers = Workers::with_start(3, move |worker| {
        let name = std::thread::current().name().map(str::to_owned);
        sender.send((worker, name)).unwrap();
    });
    assert_eq!(workers.unwrap().count(), 3);
    let mut started: Vec<_> = started.iter().collect();
    started.sort();
    assert_eq!(started, [0, 1, 2].map(|worker| (worker, Some(format!("worker {worker}")))));
}
