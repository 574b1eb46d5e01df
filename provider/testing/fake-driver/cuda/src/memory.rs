//! CUDA's memory.

use core::ffi::{c_uint, c_void};

use zonecast_fake_driver::{GRANULARITY, driver_calls, face};

driver_calls! {
    fn cuMemAlloc_v2(size: usize) -> u64 {
        |sim| sim.call("alloc").and_then(|()| sim.memory.allocate(size))
    }
    fn cuMemFree_v2(address: u64) { |sim| sim.memory.free(address) }
    fn cuMemAllocAsync(size: usize, _stream: u64) -> u64 {
        |sim| sim.call("alloc").and_then(|()| sim.memory.allocate(size))
    }
    fn cuMemFreeAsync(address: u64, _stream: u64) { |sim| sim.memory.free(address) }

    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, size: usize) {
        // SAFETY: by CUDA's contract.
        |sim| unsafe { face::copy(&mut sim, (to, true), (from as u64, false), size) }
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, size: usize) {
        // SAFETY: by CUDA's contract.
        |sim| unsafe { face::copy(&mut sim, (to as u64, false), (from, true), size) }
    }
    fn cuMemcpyDtoD_v2(to: u64, from: u64, size: usize) {
        // SAFETY: by CUDA's contract.
        |sim| unsafe { face::copy(&mut sim, (to, true), (from, true), size) }
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, size: usize, _stream: u64) {
        // SAFETY: by CUDA's contract.
        |sim| unsafe { face::copy(&mut sim, (to, true), (from as u64, false), size) }
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, size: usize, _stream: u64) {
        // SAFETY: by CUDA's contract.
        |sim| unsafe { face::copy(&mut sim, (to as u64, false), (from, true), size) }
    }
    fn cuMemsetD8_v2(to: u64, byte: u8, size: usize) { |sim| face::fill(&mut sim, to, byte, size) }
    fn cuMemsetD8Async(to: u64, byte: u8, size: usize, _stream: u64) {
        |sim| face::fill(&mut sim, to, byte, size)
    }

    fn cuMemAddressReserve(size: usize, _align: usize, wanted: u64, _flags: u64) -> u64 {
        |sim| sim.memory.reserve(wanted, size)
    }
    fn cuMemAddressFree(address: u64, size: usize) { |sim| sim.memory.unreserve(address, size) }
    fn cuMemCreate(size: usize, _properties: *const c_void, _flags: u64) -> u64 {
        |sim| sim.memory.create(size)
    }
    fn cuMemRelease(handle: u64) { |sim| sim.memory.release(handle) }
    fn cuMemMap(address: u64, size: usize, _offset: usize, handle: u64, _flags: u64) {
        |sim| sim.memory.map(address, size, handle)
    }
    fn cuMemUnmap(address: u64, size: usize) { |sim| sim.memory.unmap(address, size) }
    fn cuMemSetAccess(address: u64, size: usize, _access: *const c_void, _count: usize) {
        |sim| sim.memory.has(address, size).then_some(()).ok_or(1)
    }
    fn cuMemGetAllocationGranularity(_properties: *const c_void, _option: c_uint) -> usize {
        |sim| Ok(GRANULARITY)
    }
}

/// Of all memory alike: it is device 0's, and not managed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttribute(value: *mut c_uint, attribute: c_uint, address: u64) -> u32 {
    const IS_MANAGED: c_uint = 8;
    const DEVICE: c_uint = 9;
    let is_known = matches!(attribute, IS_MANAGED | DEVICE) && face::hold().memory.has(address, 1);
    // SAFETY: by CUDA's contract.
    unsafe { face::write(value, is_known.then_some(0).ok_or(1)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> u32 {
    let (used, all) = face::hold().memory.usage();
    // SAFETY: by CUDA's contract.
    unsafe { face::write(free, Ok(all - used)).max(face::write(total, Ok(all))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAddressRange_v2(start: *mut u64, size: *mut usize, address: u64) -> u32 {
    let Some((begins, whole)) = face::hold().memory.around(address) else { return 1 };
    // SAFETY: by CUDA's contract; null is allowed for what is not wanted.
    unsafe {
        start.as_mut().into_iter().for_each(|start| *start = begins);
        size.as_mut().into_iter().for_each(|size| *size = whole);
    }
    0
}
