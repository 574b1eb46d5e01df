//! Finding the drivers when the program runs.

use core::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use super::GpuError;
use super::driver::{Driver, Names};

/// CUDA's driver. What is asked for by `_v2` has that name in every driver since CUDA 4.
#[cfg(feature = "cuda")]
pub(super) fn cuda() -> Result<&'static Driver, GpuError> {
    use cudarc::driver::sys;
    static NAMES: Names = Names {
        device: "cuCtxGetDevice",
        device_name: "cuDeviceGetName",
        synchronize: "cuCtxSynchronize",
        is_capturing: "cuStreamIsCapturing",
        copy: "cuMemcpyDtoH_v2",
        load: "cuModuleLoadData",
        unload: "cuModuleUnload",
        function: "cuModuleGetFunction",
        global: "cuModuleGetGlobal_v2",
        launch: "cuLaunchKernel",
        allocate: "cuMemAlloc_v2",
        free: "cuMemFree_v2",
        parameter: Some("cuFuncGetParamInfo"),
        pointer: "cuPointerGetAttribute",
        mapping: [
            "cuMemGetAllocationGranularity",
            "cuMemAddressReserve",
            "cuMemCreate",
            "cuMemMap",
            "cuMemSetAccess",
            "cuMemUnmap",
            "cuMemRelease",
            "cuMemAddressFree",
        ],
    };
    static DRIVER: OnceLock<Result<Driver, GpuError>> = OnceLock::new();
    fn lookup(name: &'static str) -> Option<*const c_void> {
        // SAFETY: asked only once the library is known to be there, and it is never unloaded.
        unsafe { sys::culib().get::<*const c_void>(name.as_bytes()) }.ok().map(|found| *found)
    }
    fn error_name(code: u32) -> String {
        let Some(get) = lookup("cuGetErrorName") else { return "an error".to_owned() };
        // SAFETY: CUDA's function of this name has this type.
        let get: unsafe extern "C" fn(u32, *mut *const c_char) -> u32 = unsafe { core::mem::transmute(get) };
        let mut name = core::ptr::null();
        // SAFETY: it writes a pointer to a text that lives as long as the library, or null.
        let known = unsafe { get(code, &mut name) } == 0;
        text(if known { name } else { core::ptr::null() })
    }
    let load = || {
        // SAFETY: loading CUDA's driver runs its own initialisers, which is what the program asks for.
        if !unsafe { sys::is_culib_present() } {
            return Err(GpuError::NoLibrary("libcuda.so"));
        }
        // SAFETY: it is CUDA's driver.
        unsafe { Driver::load(&NAMES, error_name, &lookup) }
    };
    DRIVER.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// HIP's runtime, of ROCm 5 to 7.
#[cfg(feature = "hip")]
pub(super) fn hip() -> Result<&'static Driver, GpuError> {
    use libloading::Library;
    static NAMES: Names = Names {
        device: "hipGetDevice",
        device_name: "hipDeviceGetName",
        synchronize: "hipDeviceSynchronize",
        is_capturing: "hipStreamIsCapturing",
        copy: "hipMemcpyDtoH",
        load: "hipModuleLoadData",
        unload: "hipModuleUnload",
        function: "hipModuleGetFunction",
        global: "hipModuleGetGlobal",
        launch: "hipModuleLaunchKernel",
        allocate: "hipMalloc",
        free: "hipFree",
        // HIP does not tell; whoever launches has to.
        parameter: None,
        pointer: "hipPointerGetAttribute",
        mapping: [
            "hipMemGetAllocationGranularity",
            "hipMemAddressReserve",
            "hipMemCreate",
            "hipMemMap",
            "hipMemSetAccess",
            "hipMemUnmap",
            "hipMemRelease",
            "hipMemAddressFree",
        ],
    };
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    static DRIVER: OnceLock<Result<Driver, GpuError>> = OnceLock::new();
    fn library() -> Option<&'static Library> {
        let names = ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];
        // SAFETY: loading HIP's runtime runs its own initialisers, which is what the program asks for.
        let open = || names.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
        LIBRARY.get_or_init(open).as_ref()
    }
    fn lookup(name: &'static str) -> Option<*const c_void> {
        // SAFETY: it is only an address here, and the library is never unloaded.
        unsafe { library()?.get::<*const c_void>(name.as_bytes()) }.ok().map(|found| *found)
    }
    fn error_name(code: u32) -> String {
        let Some(get) = lookup("hipGetErrorName") else { return "an error".to_owned() };
        // SAFETY: HIP's function of this name has this type.
        let get: unsafe extern "C" fn(u32) -> *const c_char = unsafe { core::mem::transmute(get) };
        // SAFETY: it takes any number.
        text(unsafe { get(code) })
    }
    let load = || {
        library().ok_or(GpuError::NoLibrary("libamdhip64.so"))?;
        // SAFETY: it is HIP's runtime.
        unsafe { Driver::load(&NAMES, error_name, &lookup) }
    };
    DRIVER.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// A driver's text, which lives as long as the driver.
fn text(text: *const c_char) -> String {
    if text.is_null() {
        return "an unknown error".to_owned();
    }
    // SAFETY: drivers' texts end with a 0.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
