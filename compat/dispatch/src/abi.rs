//! The records that a kernel is given, and the head of the one that it is found by.
//!
//! Layouts follow IREE's executable library interface, versions 4 to 6; these parts are the same in
//! all three. Generated code takes the first three records to be 16-byte aligned, hence `align(16)`.

use std::ffi::{c_char, c_void};

/// What a kernel is told about where it runs.
#[repr(C, align(16))]
pub(crate) struct Environment {
    pub(crate) constants: *const u32,
    /// Null: kernels call imports through it, and the only ones accepted are optional and absent.
    pub(crate) import_thunk: *const c_void,
    pub(crate) import_functions: *const *const c_void,
    pub(crate) import_contexts: *const *const c_void,
    /// What the processor can do; zeros say nothing about it.
    pub(crate) processor: [u64; 8],
}

/// What all workgroups of a dispatch share.
#[repr(C, align(16))]
pub(crate) struct DispatchState {
    pub(crate) workgroup_size: Grid,
    pub(crate) constant_count: u16,
    pub(crate) workgroup_count: Grid,
    pub(crate) max_concurrency: u8,
    pub(crate) binding_count: u8,
    pub(crate) constants: *const u32,
    pub(crate) bindings: *const *mut u8,
    pub(crate) lengths: *const usize,
}

/// What one workgroup is told of itself.
#[repr(C, align(16))]
pub(crate) struct WorkgroupState {
    pub(crate) id: Grid,
    pub(crate) reserved: u16,
    pub(crate) processor: u32,
    pub(crate) local_memory: *mut u8,
    pub(crate) local_memory_size: u32,
}

/// A position or an extent: ten bytes, so that whatever is small enough follows at once.
#[repr(C, packed(2))]
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u16,
}

impl Grid {
    /// `None` if `z` has more than 16 bits.
    pub(crate) fn new([x, y, z]: [u32; 3]) -> Option<Self> {
        Some(Self { x, y, z: u16::try_from(z).ok()? })
    }
}

/// One kernel. Returns 0 if all is well.
pub(crate) type Kernel =
    unsafe extern "C" fn(*const Environment, *const DispatchState, *const WorkgroupState) -> i32;

/// The head of the record that the query function returns.
#[repr(C)]
pub(crate) struct LibraryHead {
    pub(crate) header: *const u32,
    pub(crate) import_count: u32,
    pub(crate) import_names: *const *const c_char,
    pub(crate) export_count: u32,
    pub(crate) exports: *const Option<Kernel>,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{align_of, offset_of, size_of};
    assert!(size_of::<Environment>() == 96 && align_of::<Environment>() == 16);
    assert!(size_of::<DispatchState>() == 48 && align_of::<DispatchState>() == 16);
    assert!(offset_of!(DispatchState, constant_count) == 10);
    assert!(offset_of!(DispatchState, workgroup_count) == 12);
    assert!(offset_of!(DispatchState, max_concurrency) == 22);
    assert!(offset_of!(DispatchState, constants) == 24);
    assert!(size_of::<WorkgroupState>() == 32 && align_of::<WorkgroupState>() == 16);
    assert!(offset_of!(WorkgroupState, reserved) == 10);
    assert!(offset_of!(WorkgroupState, processor) == 12);
    assert!(offset_of!(WorkgroupState, local_memory) == 16);
};
