//! HIP's runtime.
//!
//! The library is found when the program runs, under the names that ROCm 5 to 7 have; what only newer
//! ones have is optional. A missing library, function or device is an error; nothing panics. The device that is
//! current on a thread of the program's stays current.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::Library;

use crate::LaneKind;

use super::driver::{Driver, NO_DEVICE, Names, forward, function, loaded};
use super::{Device, Error, ErrorKind, Event, Stream};

const INVALID_DEVICE: u32 = 101;

#[cfg(not(windows))]
const LIBRARIES: [&str; 4] = ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];
#[cfg(windows)]
const LIBRARIES: [&str; 3] = ["amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"];

static NAMES: Names = Names {
    init: "hipInit",
    device_count: "hipGetDeviceCount",
    device_get_name: "hipDeviceGetName",
    event_create: "hipEventCreateWithFlags",
    event_destroy: "hipEventDestroy",
    event_record: "hipEventRecord",
    event_query: "hipEventQuery",
    event_elapsed: "hipEventElapsedTime",
    stream_create: "hipStreamCreateWithFlags",
    stream_destroy: "hipStreamDestroy",
    stream_is_capturing: "hipStreamIsCapturing",
    exchange_mode: "hipThreadExchangeStreamCaptureMode",
    add_event_node: "hipGraphAddEventRecordNode",
    set_event_node: "hipGraphExecEventRecordNodeSetEvent",
    no_device: &[NO_DEVICE, INVALID_DEVICE],
    stub: None,
};

/// HIP's own functions.
struct Functions {
    driver: Driver,
    get_device: unsafe extern "C" fn(*mut c_int) -> u32,
    set_device: unsafe extern "C" fn(c_int) -> u32,
}

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: loading HIP's runtime runs its own initialisers, which is what the program asks for.
    let open = || LIBRARIES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
    LIBRARY.get_or_init(open).as_ref()
}

fn lookup(symbol: &'static str) -> Option<*const c_void> {
    // SAFETY: the symbol is only looked at as an address here.
    let found = unsafe { library()?.get::<*const c_void>(symbol.as_bytes()) };
    found.ok().map(|found| *found)
}

fn error_name(code: u32) -> String {
    let name = || {
        // SAFETY: HIP's function of this name has this type.
        let get: unsafe extern "C" fn(u32) -> *const c_char =
            unsafe { function(&lookup, "hipGetErrorName") }.ok()?;
        // SAFETY: it takes any number.
        let name = unsafe { get(code) };
        // SAFETY: the text lives as long as the library.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    };
    name().unwrap_or_else(|| "an unknown error".into())
}

loaded!("HIP");

fn load() -> Result<Functions, Error> {
    if library().is_none() {
        return Err(ErrorKind::LibraryMissing { tried: LIBRARIES.map(str::to_owned).to_vec() }.into());
    }
    // SAFETY: the types are those of HIP's functions of these names.
    unsafe {
        Ok(Functions {
            driver: Driver::load(&NAMES, error_name, 2, &lookup)?,
            get_device: function(&lookup, "hipGetDevice")?,
            set_device: function(&lookup, "hipSetDevice")?,
        })
    }
}

/// A device of HIP's.
pub struct Hip {
    driver: &'static Driver,
    functions: &'static Functions,
    device: c_int,
}

impl Hip {
    /// The device of this number.
    ///
    /// # Errors
    /// If HIP cannot be used, or has no such device.
    pub fn device(number: u32) -> Result<Self, Error> {
        let functions = functions()?;
        match c_int::try_from(number) {
            Ok(device) if device < functions.driver.devices => {
                Ok(Self { driver: &functions.driver, functions, device })
            }
            _ => Err(ErrorKind::NoDevice { call: "hipGetDeviceCount" }.into()),
        }
    }

    /// The device that is current on this thread.
    ///
    /// # Errors
    /// If HIP cannot be used.
    pub fn current() -> Result<Self, Error> {
        let functions = functions()?;
        let mut device = 0;
        // SAFETY: it writes one number.
        functions.driver.check("hipGetDevice", unsafe { (functions.get_device)(&mut device) })?;
        Ok(Self { driver: &functions.driver, functions, device })
    }

    /// The device of a stream.
    ///
    /// # Errors
    /// If HIP cannot be used, does not know the stream, or is too old to say.
    ///
    /// # Safety
    /// The stream is one of HIP's and alive.
    pub unsafe fn of_stream(stream: Stream) -> Result<Self, Error> {
        let functions = functions()?;
        let mut device = 0;
        // SAFETY: HIP's function of this name has this type.
        let get: unsafe extern "C" fn(*mut c_void, *mut c_int) -> u32 =
            unsafe { function(&lookup, "hipStreamGetDevice") }?;
        // SAFETY: by this function's contract; it writes one number.
        functions.driver.check("hipStreamGetDevice", unsafe { get(stream.0, &mut device) })?;
        Ok(Self { driver: &functions.driver, functions, device })
    }

    /// Calls `f` with the device current, and makes current again what was.
    fn current_while<T>(&self, f: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let mut was = 0;
        // SAFETY: it writes one number.
        self.driver.check("hipGetDevice", unsafe { (self.functions.get_device)(&mut was) })?;
        if was == self.device {
            return f();
        }
        // SAFETY: the number is that of a device.
        self.driver.check("hipSetDevice", unsafe { (self.functions.set_device)(self.device) })?;
        let result = f();
        // SAFETY: the number was the current one's.
        self.driver.check("hipSetDevice", unsafe { (self.functions.set_device)(was) })?;
        result
    }
}

impl Device for Hip {
    fn name(&self) -> String {
        self.driver.device_name(self.device).unwrap_or_else(|| "a HIP device".into())
    }

    fn kind(&self) -> LaneKind {
        LaneKind::Hip
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
