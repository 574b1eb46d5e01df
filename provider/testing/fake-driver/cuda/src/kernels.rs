//! CUDA's modules and kernels.

use core::ffi::{c_char, c_int, c_uint, c_void};

use zonecast_fake_driver::{code, driver_calls, face};

driver_calls! {
    fn cuModuleLoadData(image: *const c_void) -> u64 {
        // SAFETY: by CUDA's contract.
        |sim| sim.load_module(unsafe { face::ptx(image) })
    }
    fn cuModuleLoadDataEx(
        image: *const c_void,
        _count: c_uint,
        _options: *const c_int,
        _values: *const *mut c_void
    ) -> u64 {
        // SAFETY: by CUDA's contract.
        |sim| sim.load_module(unsafe { face::ptx(image) })
    }
    fn cuModuleUnload(module: u64) { |sim| sim.unload_module(module) }
    fn cuModuleGetFunction(module: u64, name: *const c_char) -> u64 {
        // SAFETY: by CUDA's contract.
        |sim| unsafe { face::name_of(name) }.and_then(|name| sim.module_function(module, name))
    }
    fn cuFuncGetAttribute(_attribute: c_int, function: u64) -> c_int {
        |sim| sim.programs.function(function).map(|_| 0)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut u64,
    size: *mut usize,
    module: u64,
    name: *const c_char,
) -> u32 {
    // SAFETY: by CUDA's contract.
    let found = unsafe { face::name_of(name) }.and_then(|name| face::hold().programs.global(module, name));
    match found {
        Ok((begins, whole)) => {
            // SAFETY: by CUDA's contract; null is allowed for what is not wanted.
            unsafe {
                address.as_mut().into_iter().for_each(|address| *address = begins);
                size.as_mut().into_iter().for_each(|size| *size = whole);
            }
            code::SUCCESS
        }
        Err(code) => code,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamInfo(
    function: u64,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> u32 {
    let sim = face::hold();
    let params = sim.programs.function(function).map(|function| function.params.as_deref());
    match params.map(|params| params.unwrap_or_default().get(index)) {
        // SAFETY: by CUDA's contract; null is allowed for what is not wanted.
        Ok(Some(&(begins, whole))) => unsafe {
            offset.as_mut().into_iter().for_each(|offset| *offset = begins);
            size.as_mut().into_iter().for_each(|size| *size = whole);
            code::SUCCESS
        },
        Ok(None) => code::INVALID_VALUE,
        Err(code) => code,
    }
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "CUDA's")]
pub extern "C" fn cuLaunchKernel(
    function: u64,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    _shared: c_uint,
    stream: u64,
    params: *const *mut c_void,
    _extra: *const *mut c_void,
) -> u32 {
    let shape = [grid_x, grid_y, grid_z, block_x, block_y, block_z];
    face::result(face::launch(function, shape, stream, params))
}
