//! What a kernel is called with.

use std::fmt;
use std::marker::PhantomData;

use crate::Buffer;

/// One call of one kernel.
///
/// Start from [`Dispatch::of`] and fill in what the kernel takes:
///
/// ```
/// use zonecast_dispatch::{Binding, Buffer, Dispatch};
///
/// let input = Buffer::from_slice(&[1.0_f32; 64]);
/// let mut output = Buffer::zeroed(256);
/// let dispatch = Dispatch {
///     workgroups: [4, 1, 1],
///     constants: &[64, 0],
///     bindings: &mut [Binding::read(&input), Binding::write(&mut output)],
///     ..Dispatch::of(0)
/// };
/// # assert_eq!(dispatch.workgroup_size, None);
/// ```
#[derive(Debug)]
pub struct Dispatch<'a> {
    /// The export's ordinal.
    pub ordinal: usize,
    /// How many workgroups to run, in x, y and z. Nothing runs if one of them is 0.
    pub workgroups: [u32; 3],
    /// For kernels that leave it to the caller; others have theirs recorded, and this is not used.
    pub workgroup_size: Option<[u32; 3]>,
    /// The constants, in order.
    pub constants: &'a [u32],
    /// The buffers, in order.
    pub bindings: &'a mut [Binding<'a>],
}

impl Dispatch<'_> {
    /// A call of the export of that ordinal: one workgroup, no constants, no bindings.
    pub fn of(ordinal: usize) -> Self {
        Self { ordinal, workgroups: [1, 1, 1], workgroup_size: None, constants: &[], bindings: &mut [] }
    }
}

/// A buffer that a kernel is given, borrowed as long as the kernel may use it.
pub struct Binding<'a> {
    start: *mut u8,
    length: usize,
    borrowed: PhantomData<&'a mut [u8]>,
}

impl<'a> Binding<'a> {
    /// A buffer that the kernel only reads.
    pub fn read(bytes: &'a [u8]) -> Self {
        Self::new(bytes.as_ptr().cast_mut(), bytes.len())
    }

    /// A buffer that the kernel may write to.
    pub fn write(bytes: &'a mut [u8]) -> Self {
        Self::new(bytes.as_mut_ptr(), bytes.len())
    }

    fn new(start: *mut u8, length: usize) -> Self {
        // Kernels take any address to be aligned, and an empty slice's need not be.
        let start = if length == 0 { std::ptr::without_provenance_mut(Buffer::ALIGNMENT) } else { start };
        Self { start, length, borrowed: PhantomData }
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

impl fmt::Debug for Binding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Binding({} bytes)", self.length)
    }
}
