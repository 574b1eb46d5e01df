//! Memory that kernels can use.

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};

/// Owned bytes, aligned as IREE's kernels expect their bindings: to [`Buffer::ALIGNMENT`] bytes.
///
/// ```
/// use zonecast_dispatch::Buffer;
///
/// let mut buffer = Buffer::from_slice(&[1.0_f32, 2.0]);
/// buffer.as_mut_slice_of::<f32>()[1] = 3.0;
/// assert_eq!(buffer.as_slice_of::<f32>(), [1.0, 3.0]);
/// assert_eq!(buffer.len(), 8);
/// ```
#[derive(Clone)]
pub struct Buffer {
    lines: Vec<Line>,
    length: usize,
}

/// One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; Buffer::ALIGNMENT]);

// SAFETY: it is an array of bytes.
unsafe impl Zeroable for Line {}
// SAFETY: it is an array of bytes, as long as it is aligned, so without padding.
unsafe impl Pod for Line {}

impl Buffer {
    /// What the compiler assumes of the address of each binding.
    pub const ALIGNMENT: usize = 64;

    /// `length` zeros.
    pub fn zeroed(length: usize) -> Self {
        Self { lines: vec![Line::zeroed(); length.div_ceil(Self::ALIGNMENT)], length }
    }

    /// A copy of `values`.
    pub fn from_slice<T: NoUninit>(values: &[T]) -> Self {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut buffer = Self::zeroed(bytes.len());
        buffer.copy_from_slice(bytes);
        buffer
    }

    /// The contents as values of type `T`; bytes at the end that make no whole one are left out.
    pub fn as_slice_of<T: AnyBitPattern>(&self) -> &[T] {
        let whole = self.length - self.length % size_of::<T>().max(1);
        bytemuck::cast_slice(&self[..whole])
    }

    /// As [`as_slice_of`](Self::as_slice_of), to write.
    pub fn as_mut_slice_of<T: Pod>(&mut self) -> &mut [T] {
        let whole = self.length - self.length % size_of::<T>().max(1);
        bytemuck::cast_slice_mut(&mut self[..whole])
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.length]
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    #[test]
    fn buffers_are_aligned_and_as_long_as_asked() {
        for length in [0, 1, 63, 64, 65, 4096] {
            let mut buffer = Buffer::zeroed(length);
            assert_eq!(buffer.len(), length);
            assert_eq!(buffer.as_ptr().addr() % Buffer::ALIGNMENT, 0);
            buffer.fill(7);
            assert!(buffer.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn views_leave_out_what_makes_no_whole_value() {
        let mut buffer = Buffer::from_slice(&[1_u8, 0, 0, 0, 2, 0, 0, 0, 3]);
        assert_eq!(buffer.as_slice_of::<u32>(), [1, 2]);
        assert_eq!(buffer.as_mut_slice_of::<u32>(), [1, 2]);
    }
}
