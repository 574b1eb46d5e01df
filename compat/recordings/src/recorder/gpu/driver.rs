//! The functions of CUDA's driver and of HIP's runtime that recording takes. They have the same shapes under other names.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

use super::GpuError;

pub(super) type Handle = *mut c_void;

/// Finds a function by its name.
pub(super) type Lookup<'a> = &'a dyn Fn(&'static str) -> Option<*const c_void>;

/// The names of the functions. Those that newer drivers alone have may be missing.
pub(super) struct Names {
    pub(super) device: &'static str,
    pub(super) device_name: &'static str,
    pub(super) synchronize: &'static str,
    pub(super) is_capturing: &'static str,
    pub(super) copy: &'static str,
    pub(super) load: &'static str,
    pub(super) unload: &'static str,
    pub(super) function: &'static str,
    pub(super) global: &'static str,
    pub(super) launch: &'static str,
    pub(super) allocate: &'static str,
    pub(super) free: &'static str,
    pub(super) parameter: Option<&'static str>,
    pub(super) pointer: &'static str,
    /// Granularity, reserve, create, map, access, unmap, release, free addresses.
    pub(super) mapping: [&'static str; 8],
}

type Launch = unsafe extern "C" fn(
    Handle,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    Handle,
    *const *mut c_void,
    *const *mut c_void,
) -> u32;
type Parameter = unsafe extern "C" fn(Handle, usize, *mut usize, *mut usize) -> u32;
type Global = unsafe extern "C" fn(*mut u64, *mut usize, Handle, *const c_char) -> u32;

pub(super) struct Driver {
    pub(super) names: &'static Names,
    error_name: fn(u32) -> String,
    pub(super) device: unsafe extern "C" fn(*mut c_int) -> u32,
    pub(super) device_name: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> u32,
    pub(super) synchronize: unsafe extern "C" fn() -> u32,
    pub(super) is_capturing: unsafe extern "C" fn(Handle, *mut c_uint) -> u32,
    pub(super) copy: unsafe extern "C" fn(*mut c_void, u64, usize) -> u32,
    pub(super) load: unsafe extern "C" fn(*mut Handle, *const c_void) -> u32,
    pub(super) unload: unsafe extern "C" fn(Handle) -> u32,
    pub(super) function: unsafe extern "C" fn(*mut Handle, Handle, *const c_char) -> u32,
    pub(super) launch: Launch,
    pub(super) allocate: unsafe extern "C" fn(*mut u64, usize) -> u32,
    pub(super) free: unsafe extern "C" fn(u64) -> u32,
    pub(super) global: Option<Global>,
    pub(super) parameter: Option<Parameter>,
    pub(super) pointer: Option<unsafe extern "C" fn(*mut c_void, c_int, u64) -> u32>,
    pub(super) mapping: Option<Mapping>,
}

/// Memory at chosen addresses.
pub(super) struct Mapping {
    pub(super) granularity: unsafe extern "C" fn(*mut usize, *const Properties, c_uint) -> u32,
    pub(super) reserve: unsafe extern "C" fn(*mut u64, usize, usize, u64, u64) -> u32,
    pub(super) create: unsafe extern "C" fn(*mut u64, usize, *const Properties, u64) -> u32,
    pub(super) map: unsafe extern "C" fn(u64, usize, usize, u64, u64) -> u32,
    pub(super) access: unsafe extern "C" fn(u64, usize, *const Access, usize) -> u32,
    pub(super) unmap: unsafe extern "C" fn(u64, usize) -> u32,
    pub(super) release: unsafe extern "C" fn(u64) -> u32,
    pub(super) unreserve: unsafe extern "C" fn(u64, usize) -> u32,
}

/// What memory is asked for: `CUmemAllocationProp`, `hipMemAllocationProp`.
#[repr(C)]
pub(super) struct Properties {
    kind: c_int,
    handles: c_int,
    location: Location,
    security: *mut c_void,
    flags: [u8; 8],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Location {
    kind: c_int,
    device: c_int,
}

/// Who may do what with memory: `CUmemAccessDesc`, `hipMemAccessDesc`.
#[repr(C)]
pub(super) struct Access {
    location: Location,
    flags: c_int,
}

impl Properties {
    /// Memory that stays on this device.
    pub(super) fn on(device: c_int) -> Self {
        const PINNED: c_int = 1;
        Self {
            kind: PINNED,
            handles: 0,
            location: Location::of(device),
            security: core::ptr::null_mut(),
            flags: [0; 8],
        }
    }
}

impl Access {
    /// This device reads and writes.
    pub(super) fn by(device: c_int) -> Self {
        const READ_WRITE: c_int = 3;
        Self { location: Location::of(device), flags: READ_WRITE }
    }
}

impl Location {
    fn of(device: c_int) -> Self {
        const DEVICE: c_int = 1;
        Self { kind: DEVICE, device }
    }
}

/// # Safety
///
/// `F` is the type of a pointer to the function of this name.
unsafe fn function<F: Copy>(lookup: Lookup<'_>, name: &'static str) -> Result<F, GpuError> {
    let found = lookup(name).ok_or(GpuError::NoFunction(name))?;
    // SAFETY: the caller says that it is such a pointer, which is as large as any.
    Ok(unsafe { core::mem::transmute_copy(&found) })
}

impl Driver {
    /// Looks the functions up.
    ///
    /// # Safety
    ///
    /// The functions of these names are those of CUDA or HIP, and stay loaded.
    pub(super) unsafe fn load(
        names: &'static Names,
        error_name: fn(u32) -> String,
        lookup: Lookup<'_>,
    ) -> Result<Self, GpuError> {
        // SAFETY: the types are those of the functions, whose names the caller vouches for.
        unsafe {
            Ok(Self {
                names,
                error_name,
                device: function(lookup, names.device)?,
                device_name: function(lookup, names.device_name)?,
                synchronize: function(lookup, names.synchronize)?,
                is_capturing: function(lookup, names.is_capturing)?,
                copy: function(lookup, names.copy)?,
                load: function(lookup, names.load)?,
                unload: function(lookup, names.unload)?,
                function: function(lookup, names.function)?,
                launch: function(lookup, names.launch)?,
                allocate: function(lookup, names.allocate)?,
                free: function(lookup, names.free)?,
                global: function(lookup, names.global).ok(),
                parameter: names.parameter.and_then(|name| function(lookup, name).ok()),
                pointer: function(lookup, names.pointer).ok(),
                mapping: Mapping::load(names, lookup).ok(),
            })
        }
    }

    /// The outcome of a call.
    pub(super) fn check(&self, call: &'static str, code: u32) -> Result<(), GpuError> {
        match code {
            0 => Ok(()),
            code => Err(GpuError::Call { call, code, name: (self.error_name)(code) }),
        }
    }

    /// The device that is current on this thread.
    pub(super) fn current_device(&self) -> Result<c_int, GpuError> {
        let mut device = 0;
        // SAFETY: it writes one number.
        self.check(self.names.device, unsafe { (self.device)(&mut device) })?;
        Ok(device)
    }

    pub(super) fn name_of(&self, device: c_int) -> Result<String, GpuError> {
        let mut name = [0; 128];
        // SAFETY: it writes at most as many bytes as it is told.
        let code = unsafe { (self.device_name)(name.as_mut_ptr(), 127, device) };
        self.check(self.names.device_name, code)?;
        // SAFETY: the last byte is 0, since there was room for one less.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }
}

impl Mapping {
    /// # Safety
    ///
    /// As [`Driver::load`].
    unsafe fn load(names: &'static Names, lookup: Lookup<'_>) -> Result<Self, GpuError> {
        let [granularity, reserve, create, map, access, unmap, release, unreserve] = names.mapping;
        // SAFETY: as in `Driver::load`.
        unsafe {
            Ok(Self {
                granularity: function(lookup, granularity)?,
                reserve: function(lookup, reserve)?,
                create: function(lookup, create)?,
                map: function(lookup, map)?,
                access: function(lookup, access)?,
                unmap: function(lookup, unmap)?,
                release: function(lookup, release)?,
                unreserve: function(lookup, unreserve)?,
            })
        }
    }
}
