//! Memory: what was taken from which pool, and given back.

use core::alloc::{GlobalAlloc, Layout};

use crate::Name;
use crate::select::provider;

/// Where memory comes from.
///
/// ```
/// use zonecast::{Pool, name};
///
/// const DEVICE: Pool = Pool::named(name!("device"));
///
/// DEVICE.alloc(0x7000_0000, 4096);
/// DEVICE.free(0x7000_0000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    name: Option<Name>,
}

impl Pool {
    /// The program's own memory.
    pub const MAIN: Self = Self { name: None };

    /// A pool with a name of its own.
    #[must_use]
    pub const fn named(name: Name) -> Self {
        Self { name: Some(name) }
    }

    /// Records that `size` bytes at `address` were taken.
    #[inline]
    pub fn alloc(self, address: usize, size: usize) {
        self.alloc_callstack(address, size, 0);
    }

    /// As [`alloc`](Self::alloc), with up to `depth` frames of the call stack.
    #[inline]
    pub fn alloc_callstack(self, address: usize, size: usize, depth: u32) {
        provider!(|p| p.memory_alloc(self.name, address, size, depth));
    }

    /// Records that the memory at `address` is given back. Call it **before** it is, so that
    /// another thread cannot take it in between.
    #[inline]
    pub fn free(self, address: usize) {
        self.free_callstack(address, 0);
    }

    /// As [`free`](Self::free), with up to `depth` frames of the call stack.
    #[inline]
    pub fn free_callstack(self, address: usize, depth: u32) {
        provider!(|p| p.memory_free(self.name, address, depth));
    }

    /// Records that all memory of this pool was given back at once. The main pool has no such
    /// moment; there it does nothing.
    #[inline]
    pub fn discard(self) {
        if let Some(name) = self.name {
            provider!(|p| p.memory_discard(name, 0));
        }
    }
}

/// An allocator whose memory is recorded.
///
/// ```
/// use std::alloc::System;
/// use zonecast::{Pool, TracedAllocator};
///
/// #[global_allocator]
/// static ALLOCATOR: TracedAllocator<System> = TracedAllocator::new(System, Pool::MAIN);
/// ```
#[derive(Debug)]
pub struct TracedAllocator<A> {
    inner: A,
    pool: Pool,
    callstack: u32,
}

impl<A> TracedAllocator<A> {
    /// Records what `inner` hands out as taken from `pool`.
    pub const fn new(inner: A, pool: Pool) -> Self {
        Self { inner, pool, callstack: 0 }
    }

    /// The same, with up to `depth` frames of the call stack each time.
    #[must_use]
    pub const fn with_callstack(self, depth: u32) -> Self
    where
        A: Copy,
    {
        Self { inner: self.inner, pool: self.pool, callstack: depth }
    }

    fn taken(&self, memory: *mut u8, size: usize) {
        if !memory.is_null() {
            self.pool.alloc_callstack(memory.addr(), size, self.callstack);
        }
    }
}

// SAFETY: every call goes to `inner` with the caller's own arguments and returns what it returns;
// the records beside it read no memory.
unsafe impl<A: GlobalAlloc> GlobalAlloc for TracedAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps `alloc`'s contract, which is `inner`'s too.
        let memory = unsafe { self.inner.alloc(layout) };
        self.taken(memory, layout.size());
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let memory = unsafe { self.inner.alloc_zeroed(layout) };
        self.taken(memory, layout.size());
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.pool.free_callstack(memory.addr(), self.callstack);
        // SAFETY: the caller keeps `dealloc`'s contract, which is `inner`'s too.
        unsafe { self.inner.dealloc(memory, layout) };
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.pool.free_callstack(memory.addr(), self.callstack);
        // SAFETY: the caller keeps `realloc`'s contract, which is `inner`'s too.
        let moved = unsafe { self.inner.realloc(memory, layout, size) };
        // A failed move leaves the old block standing: it is recorded anew.
        match moved.is_null() {
            true => self.taken(memory, layout.size()),
            false => self.taken(moved, size),
        }
        moved
    }
}
