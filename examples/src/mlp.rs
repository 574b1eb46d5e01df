//! A small compiled model, `models/mlp.mlir`, and what it must compute.
//!
//! A library of kernels does not say how long their buffers are or how many workgroups there must be;
//! IREE's compiler puts that into the module's bytecode. [`KERNELS`] has it written down for this model.

use std::fmt;
use std::path::Path;

use zonecast::embed::{Executable, Image};
use zonecast_dispatch::{Binding, Buffer, Dispatch, Error, Library, Observer, Workers};

/// The module that ships with the examples.
pub const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/mlp.cpu.g3.vmfb");

/// What the module was compiled for. For another architecture the compiler divides the same work otherwise.
pub const TARGET: &str = "x86_64";

/// One kernel: what it is called, and its shapes.
#[derive(Debug)]
pub struct Kernel {
    /// The export's name. It holds the shapes, so that a module with such an export has them, too.
    pub name: &'static str,
    /// How many floats there are in a row of the input.
    pub input: usize,
    /// How many floats there are in a row of the output.
    pub output: usize,
    /// How many rows one workgroup computes: the compiler's choice for [`TARGET`].
    pub rows: usize,
}

/// The model's kernels: a dense layer with a bias and ReLU, a dense layer, and the sum of each row.
pub const KERNELS: [Kernel; 3] = [
    Kernel { name: "infer_dispatch_0_matmul_Dx48x32_f32", input: 32, output: 48, rows: 64 },
    Kernel { name: "infer_dispatch_1_matmul_Dx10x48_f32", input: 48, output: 10, rows: 64 },
    Kernel { name: "rowsum_dispatch_0_reduction_Dx10_f32", input: 10, output: 1, rows: 32 },
];

/// Whether the executable holds this model, and where.
#[must_use]
pub fn find(executable: &Executable) -> Option<Image<'_>> {
    let names = || KERNELS.iter().map(|kernel| kernel.name.as_bytes());
    let is_mlp = |image: &Image<'_>| image.exports().map(|export| export.name()).eq(names());
    executable.images().find(is_mlp)
}

/// The path as a person would write it: relative if it is below the current folder.
#[must_use]
pub fn short(path: &Path) -> &Path {
    let folder = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(folder).unwrap_or(path)
}

/// The model, loaded, with its buffers.
#[derive(Debug)]
pub struct Mlp {
    library: Library,
    batch: u32,
    /// The input, then what each kernel wrote.
    buffers: [Buffer; KERNELS.len() + 1],
}

impl Mlp {
    /// Loads the model, for a batch of that many rows.
    ///
    /// # Safety
    ///
    /// As [`Library::load`]: this runs the file's own code. The image is one that [`find`] found, for
    /// [`TARGET`].
    ///
    /// # Errors
    ///
    /// If this machine cannot run it.
    pub unsafe fn load(image: Image<'_>, batch: u32) -> Result<Self, Error> {
        // SAFETY: the caller trusts the file.
        let library = unsafe { Library::load(image) }?;
        let input = Buffer::from_slice(&inputs(batch as usize * KERNELS[0].input));
        let output = |kernel: &Kernel| Buffer::zeroed(batch as usize * kernel.output * size_of::<f32>());
        let [first, second, third] = KERNELS.each_ref().map(output);
        Ok(Self { library, batch, buffers: [input, first, second, third] })
    }

    /// Runs the kernels one after another, each on what the one before it wrote.
    ///
    /// # Errors
    ///
    /// If a kernel fails.
    pub fn forward(&mut self, workers: &Workers, observer: &impl Observer) -> Result<(), Error> {
        for (ordinal, kernel) in KERNELS.iter().enumerate() {
            let (before, after) = self.buffers.split_at_mut(ordinal + 1);
            let dispatch = Dispatch {
                workgroups: [self.batch.div_ceil(kernel.rows as u32), 1, 1],
                // The batch as a 64-bit number: its low and its high word.
                constants: &[self.batch, 0],
                bindings: &mut [Binding::read(&before[ordinal]), Binding::write(&mut after[0])],
                ..Dispatch::of(ordinal)
            };
            // SAFETY: the caller of `load` says that the kernels are those of `find`, whose names hold their
            // shapes, and the buffers have those. Rows past the batch are left alone, since it is passed on.
            unsafe { self.library.dispatch(dispatch, workers, observer) }?;
        }
        Ok(())
    }

    /// Compares everything that the kernels wrote with [`reference`]. Returns how many numbers that is.
    ///
    /// # Errors
    ///
    /// The first number that differs.
    pub fn check(&self) -> Result<usize, Mismatch> {
        let expected = reference(self.buffers[0].as_slice_of());
        let mut count = 0;
        for ((kernel, expected), found) in KERNELS.iter().zip(&expected).zip(&self.buffers[1..]) {
            let found = found.as_slice_of::<f32>();
            count += found.len();
            if let Some(index) = (0..found.len()).find(|&index| found[index] != expected[index]) {
                return Err(Mismatch {
                    kernel: kernel.name,
                    row: index / kernel.output,
                    column: index % kernel.output,
                    found: found[index],
                    expected: expected[index],
                });
            }
        }
        Ok(count)
    }
}

/// A number that is not what plain Rust computes.
#[derive(Debug)]
pub struct Mismatch {
    kernel: &'static str,
    row: usize,
    column: usize,
    found: f32,
    expected: f32,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, row, column, found, expected } = self;
        write!(
            f,
            "{kernel} wrote {found} to row {row}, column {column}, where plain Rust computes {expected}"
        )
    }
}

impl std::error::Error for Mismatch {}

/// Inputs of either sign: quarters, so that all sums are exact in whatever order they are taken.
fn inputs(count: usize) -> Vec<f32> {
    (0..count).map(|index| ((index * 7 % 17) as f32 - 8.0) / 4.0).collect()
}

/// What `models/mlp.mlir` says, in plain Rust: all weights of a layer are equal there, so a row's sum is
/// all that matters.
fn reference(input: &[f32]) -> [Vec<f32>; 3] {
    let [first, second, third] = &KERNELS;
    let hidden = by_row(input, first, |sum| (sum * 0.5 + 0.125).max(0.0));
    let output = by_row(&hidden, second, |sum| sum * 0.25);
    let sums = by_row(&output, third, |sum| sum);
    [hidden, output, sums]
}

/// Every number of an output row is the same function of its input row's sum.
fn by_row(input: &[f32], kernel: &Kernel, function: impl Fn(f32) -> f32) -> Vec<f32> {
    let rows = input.chunks(kernel.input);
    rows.flat_map(|row| std::iter::repeat_n(function(row.iter().sum()), kernel.output)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_the_sum_that_one_can_do_by_hand() {
        // One row of 32 ones: 32 * 0.5 + 0.125 = 16.125; 48 * 16.125 * 0.25 = 193.5; 10 * 193.5 = 1935.
        let [hidden, output, sums] = reference(&[1.0; 32]);
        assert_eq!((hidden, output, sums), (vec![16.125; 48], vec![193.5; 10], vec![1935.0]));
        // Minus ones end at the ReLU.
        assert_eq!(reference(&[-1.0; 32])[2], [0.0]);
    }

    #[test]
    fn a_wrong_number_is_found() {
        let executable = Executable::open(MODULE).unwrap();
        let image = find(&executable).unwrap();
        if zonecast_dispatch::check(image).is_err() {
            return assert_ne!(zonecast_dispatch::host_target(), "x86_64");
        }
        // SAFETY: the module is part of the examples, compiled by IREE's compiler.
        let mut mlp = unsafe { Mlp::load(image, 100) }.unwrap();
        mlp.forward(&Workers::none(), &()).unwrap();
        assert_eq!(mlp.check().unwrap(), 100 * (48 + 10 + 1));
        mlp.buffers[2].as_mut_slice_of::<f32>()[37] += 1.0;
        let mismatch = mlp.check().unwrap_err();
        assert_eq!((mismatch.kernel, mismatch.row, mismatch.column), (KERNELS[1].name, 3, 7));
    }
}
