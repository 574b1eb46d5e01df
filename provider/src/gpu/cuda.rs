//! CUDA's driver.
//!
//! The library is found by cudarc when the program runs, and asked only by what has been in every driver
//! since CUDA 11. A missing library, a stub, a missing function and a missing device are errors; nothing
//! panics. The context that is current on a thread of the program's is left as it is.
//!
//! ```no_run
//! use zonecast::gpu::{Gpu, cuda::Cuda};
//!
//! # fn with(stream: &cudarc::driver::CudaStream) -> Result<(), zonecast::gpu::Error> {
//! // SAFETY: the stream is alive, and outlives the context.
//! let context = unsafe { Gpu::new(Cuda::of_stream(stream.into())?)?.context(stream.into(), "compute") };
//! # drop(context);
//! # Ok(())
//! # }
//! ```

use core::ffi::{CStr, c_char, c_int, c_void};

use cudarc::driver::{CudaStream, sys};

use crate::LaneKind;

use super::driver::{Driver, NO_DEVICE, Names, forward, function, loaded};
use super::{Device, Error, ErrorKind, Event, Stream};

const STUB_LIBRARY: u32 = 34;

static NAMES: Names = Names {
    init: "cuInit",
    device_count: "cuDeviceGetCount",
    device_get_name: "cuDeviceGetName",
    event_create: "cuEventCreate",
    event_destroy: "cuEventDestroy_v2",
    event_record: "cuEventRecord",
    event_query: "cuEventQuery",
    event_elapsed: "cuEventElapsedTime",
    stream_create: "cuStreamCreate",
    stream_destroy: "cuStreamDestroy_v2",
    stream_is_capturing: "cuStreamIsCapturing",
    exchange_mode: "cuThreadExchangeStreamCaptureMode",
    add_event_node: "cuGraphAddEventRecordNode",
    set_event_node: "cuGraphExecEventRecordNodeSetEvent",
    no_device: &[NO_DEVICE],
    stub: Some(STUB_LIBRARY),
};

/// CUDA's own functions.
struct Functions {
    driver: Driver,
    ctx_get_current: unsafe extern "C" fn(*mut *mut c_void) -> u32,
    ctx_get_device: unsafe extern "C" fn(*mut c_int) -> u32,
    ctx_push: unsafe extern "C" fn(*mut c_void) -> u32,
    ctx_pop: unsafe extern "C" fn(*mut *mut c_void) -> u32,
    stream_get_ctx: unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> u32,
}

fn library(symbol: &'static str) -> Option<*const c_void> {
    // SAFETY: only asked once the library is known to be there (see `load`), and never unloaded.
    let found = unsafe { sys::culib().get::<*const c_void>(symbol.as_bytes()) };
    found.ok().map(|found| *found)
}

fn error_name(code: u32) -> String {
    let name = || {
        // SAFETY: CUDA's function of this name has this type.
        let get: unsafe extern "C" fn(u32, *mut *const c_char) -> u32 =
            unsafe { function(&library, "cuGetErrorName") }.ok()?;
        let mut name = core::ptr::null();
        // SAFETY: it writes a pointer to a text that lives as long as the library, or null.
        let known = unsafe { get(code, &mut name) } == 0 && !name.is_null();
        // SAFETY: as above.
        known.then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    };
    name().unwrap_or_else(|| "an unknown error".into())
}

loaded!("CUDA");

fn load() -> Result<Functions, Error> {
    // SAFETY: loading CUDA's driver runs its own initialisers, which is what the program asks for.
    if !unsafe { sys::is_culib_present() } {
        return Err(
            ErrorKind::LibraryMissing { tried: vec!["libcuda.so".into(), "libcuda.so.1".into()] }.into()
        );
    }
    // SAFETY: the types are those of CUDA's functions of these names.
    unsafe {
        Ok(Functions {
            driver: Driver::load(&NAMES, error_name, 1, &library)?,
            ctx_get_current: function(&library, "cuCtxGetCurrent")?,
            ctx_get_device: function(&library, "cuCtxGetDevice")?,
            ctx_push: function(&library, "cuCtxPushCurrent_v2")?,
            ctx_pop: function(&library, "cuCtxPopCurrent_v2")?,
            stream_get_ctx: function(&library, "cuStreamGetCtx")?,
        })
    }
}

/// A device of CUDA's, in one of its contexts.
pub struct Cuda {
    driver: &'static Driver,
    functions: &'static Functions,
    context: *mut c_void,
}

// SAFETY: a context may be made current on any thread, and the driver's functions may be called on any.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}

impl Cuda {
    /// The device that is current on this thread.
    ///
    /// # Errors
    /// If CUDA cannot be used, or nothing is current.
    pub fn current() -> Result<Self, Error> {
        let functions = functions()?;
        let mut context = core::ptr::null_mut();
        // SAFETY: it writes one handle.
        functions.driver.check("cuCtxGetCurrent", unsafe { (functions.ctx_get_current)(&mut context) })?;
        Self::in_context(functions, "cuCtxGetCurrent", context)
    }

    /// The device of a stream.
    ///
    /// # Errors
    /// If CUDA cannot be used, or does not know the stream.
    ///
    /// # Safety
    /// The stream is one of CUDA's and alive.
    pub unsafe fn of_stream(stream: Stream) -> Result<Self, Error> {
        let functions = functions()?;
        let mut context = core::ptr::null_mut();
        // SAFETY: by this function's contract; it writes one handle.
        let code = unsafe { (functions.stream_get_ctx)(stream.0, &mut context) };
        functions.driver.check("cuStreamGetCtx", code)?;
        Self::in_context(functions, "cuStreamGetCtx", context)
    }

    fn in_context(
        functions: &'static Functions,
        call: &'static str,
        context: *mut c_void,
    ) -> Result<Self, Error> {
        const INVALID_CONTEXT: u32 = 201;
        if context.is_null() {
            return Err(Error::call(call, INVALID_CONTEXT, error_name(INVALID_CONTEXT)));
        }
        Ok(Self { driver: &functions.driver, functions, context })
    }

    /// Calls `f` with the context current, and makes current again what was.
    fn current_while<T>(&self, f: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        // SAFETY: the context was CUDA's; whether it still is, the call tells.
        self.driver.check("cuCtxPushCurrent", unsafe { (self.functions.ctx_push)(self.context) })?;
        let result = f();
        // SAFETY: pops what was pushed above.
        unsafe { (self.functions.ctx_pop)(core::ptr::null_mut()) };
        result
    }
}

impl Device for Cuda {
    fn name(&self) -> String {
        let name = self.current_while(|| {
            let mut device = 0;
            // SAFETY: it writes one number.
            self.driver.check("cuCtxGetDevice", unsafe { (self.functions.ctx_get_device)(&mut device) })?;
            Ok(self.driver.device_name(device))
        });
        name.ok().flatten().unwrap_or_else(|| "a CUDA device".into())
    }

    fn kind(&self) -> LaneKind {
        LaneKind::Cuda
    }

    fn with_collector(&self, collect: &mut dyn FnMut()) -> Result<(), Error> {
        self.current_while(|| self.driver.relaxed(collect))
    }

    fn create_event(&self) -> Result<Event, Error> {
        self.current_while(|| self.driver.create_event())
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        self.current_while(|| self.driver.create_stream())
    }

    forward!();
}

impl From<sys::CUstream> for Stream {
    fn from(stream: sys::CUstream) -> Self {
        Self(stream.cast())
    }
}

impl From<&CudaStream> for Stream {
    fn from(stream: &CudaStream) -> Self {
        stream.cu_stream().into()
    }
}
