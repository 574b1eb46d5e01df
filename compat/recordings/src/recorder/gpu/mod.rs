//! Records launches on GPUs: through CUDA's driver, and through HIP's runtime as far as that tells what is needed.
//!
//! Memory is the recorder's to allocate: at addresses that it chooses, so that a replay can ask for the same. (A HIP
//! without that gives any address.) All memory allocated so is recorded with each launch, and the module's variables.
//!
//! ```no_run
//! use zonecast_recordings::recorder::gpu::{Gpu, Launch};
//! use zonecast_recordings::recorder::{Choice, Folder, Keep, Launcher, Recorder};
//!
//! # #[cfg(feature = "cuda")]
//! # fn record(image: &[u8], stream: *mut core::ffi::c_void) -> Result<(), Box<dyn std::error::Error>> {
//! // A context is current on this thread.
//! let gpu = Gpu::cuda()?;
//! // SAFETY: the image is of the program's own compiler.
//! let module = unsafe { gpu.load(image) }?;
//! let sink = Folder { path: "recordings".into(), keep: Keep::First };
//! let recorder = Recorder::new(gpu, Choice::default(), sink);
//!
//! let buffer = recorder.allocate(4096)?;
//! let (mut pointer, mut count) = (buffer, 1024_u32);
//! let parameters = [(&raw mut pointer).cast(), (&raw mut count).cast()];
//! let launch = Launch { grid: [4, 1, 1], block: [256, 1, 1], stream, ..Launch::of(&module, c"fill", &parameters) };
//! // SAFETY: the kernel takes a pointer to `count` numbers, and their count.
//! unsafe { recorder.launch(launch) }?;
//! # Ok(())
//! # }
//! ```
//!
//! # What is not recorded
//!
//! Memory that the recorder did not allocate: managed memory, of other devices, of asynchronous pools, of the host; textures and
//! surfaces; what kernels allocate themselves. Where a parameter points to such memory, and where PTX reads
//! textures, the recording [says so](super::Recording::gaps). Launches into a stream that is being captured for a graph
//! cannot be recorded, which is an error; the graph's own launches do not go through a recorder.

mod driver;
mod libraries;
mod symbols;

use core::ffi::{CStr, c_int, c_void};
use std::collections::HashMap;
use std::fmt;

use parking_lot::Mutex;

use super::{Allocate, Argument, Backend, Description};

use self::driver::{Access, Driver, Handle, Mapping, Properties};

/// Where the first memory is asked for. Neither hosts nor drivers put anything there by themselves.
const FIRST_ADDRESS: u64 = 0x1000_0000_0000;
/// More parameters than a kernel has: they have 32 KiB at most.
const MOST_PARAMETERS: usize = 1 << 15;

/// Why a GPU could not be used, or a launch not recorded. `Display` says it in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuError {
    /// The driver's library is not there.
    NoLibrary(&'static str),
    /// It lacks a function.
    NoFunction(&'static str),
    /// A call failed.
    Call {
        /// The function.
        call: &'static str,
        /// What it returned.
        code: u32,
        /// The driver's name for that.
        name: String,
    },
    /// The sizes of a kernel's parameters are not known.
    Sizes(String),
    /// The launch goes into a stream that is being captured.
    Captured,
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLibrary(library) => write!(f, "there is no {library}; is the driver installed?"),
            Self::NoFunction(function) => write!(f, "the driver has no {function}; a newer one is needed"),
            Self::Call { call, code, name } => write!(f, "{call} returned {code} ({name})"),
            Self::Sizes(kernel) => write!(
                f,
                "the driver does not tell the sizes of {kernel}'s parameters (CUDA's does from 12.4 on); give them \
                 with the launch"
            ),
            Self::Captured => f.write_str(
                "the stream is being captured for a graph, and what graphs launch cannot be recorded",
            ),
        }
    }
}

impl std::error::Error for GpuError {}

/// The backend: the device that was current when it was made.
pub struct Gpu {
    name: &'static str,
    driver: &'static Driver,
    device: c_int,
    device_name: String,
    mapped: Mutex<Mapped>,
}

/// Memory at chosen addresses.
struct Mapped {
    /// Where the next is asked for.
    next: u64,
    /// Size and handle by address.
    blocks: HashMap<u64, (usize, u64)>,
}

// SAFETY: it holds no pointers but those to functions, which may be called on any thread.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({}, {})", self.name, self.device_name)
    }
}

/// A module that was loaded by [`Gpu::load`].
#[derive(Debug)]
pub struct Module {
    handle: Handle,
    image: Vec<u8>,
    globals: Vec<(String, u64, u64)>,
    driver: DriverOf,
}

/// Which driver unloads a module.
struct DriverOf(&'static Driver);

impl fmt::Debug for DriverOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.names.unload)
    }
}

// SAFETY: a module may be used on any thread on which its context is current.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Drop for Module {
    fn drop(&mut self) {
        // A driver that is shutting down refuses, and nothing is left to do then.
        // SAFETY: `Gpu::load` loaded it, and whoever launches has it borrowed.
        let _ = unsafe { (self.driver.0.unload)(self.handle) };
    }
}

/// A launch, as the driver's own function takes it.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The module.
    pub module: &'a Module,
    /// The kernel in it.
    pub kernel: &'a CStr,
    /// How many blocks, in x, y and z.
    pub grid: [u32; 3],
    /// How many threads each, in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_memory: u32,
    /// The stream; null for the default one.
    pub stream: *mut c_void,
    /// A pointer to each parameter.
    pub parameters: &'a [*mut c_void],
    /// The size of each in bytes, for drivers that do not tell.
    pub sizes: Option<&'a [usize]>,
}

impl<'a> Launch<'a> {
    /// A launch of one thread on the default stream.
    pub fn of(module: &'a Module, kernel: &'a CStr, parameters: &'a [*mut c_void]) -> Self {
        Self {
            module,
            kernel,
            grid: [1; 3],
            block: [1; 3],
            shared_memory: 0,
            stream: core::ptr::null_mut(),
            parameters,
            sizes: None,
        }
    }
}

impl Gpu {
    /// The device whose context is current on this thread.
    ///
    /// # Errors
    ///
    /// If CUDA's driver is not there, or nothing is current.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Result<Self, GpuError> {
        Self::new("cuda", libraries::cuda()?)
    }

    /// The device that is current on this thread.
    ///
    /// # Errors
    ///
    /// If HIP's runtime is not there, or has no device.
    #[cfg(feature = "hip")]
    pub fn hip() -> Result<Self, GpuError> {
        Self::new("hip", libraries::hip()?)
    }

    fn new(name: &'static str, driver: &'static Driver) -> Result<Self, GpuError> {
        let device = driver.current_device()?;
        let device_name = driver.name_of(device)?;
        let mapped = Mutex::new(Mapped { next: FIRST_ADDRESS, blocks: HashMap::new() });
        Ok(Self { name, driver, device, device_name, mapped })
    }

    /// Loads a module from a cubin, a fat binary, a code object or PTX, and keeps a copy for recordings.
    ///
    /// # Errors
    ///
    /// If the driver refuses it.
    ///
    /// # Safety
    ///
    /// As the driver's own function: the image is whole.
    pub unsafe fn load(&self, image: &[u8]) -> Result<Module, GpuError> {
        let Driver { names, load, .. } = self.driver;
        // Texts end with a 0, which does no harm after anything else.
        let terminated = [image, &[0]].concat();
        let mut handle = core::ptr::null_mut();
        // SAFETY: the caller says that it is an image.
        self.driver.check(names.load, unsafe { load(&mut handle, terminated.as_ptr().cast()) })?;
        let mut module =
            Module { handle, image: image.to_vec(), globals: Vec::new(), driver: DriverOf(self.driver) };
        let known = |name: String| {
            let (address, size) = self.global(handle, &name)?;
            Some((name, address, size))
        };
        module.globals = symbols::globals(image).into_iter().filter_map(known).collect();
        Ok(module)
    }

    /// Where a variable is, and its size.
    fn global(&self, module: Handle, name: &str) -> Option<(u64, u64)> {
        let name = std::ffi::CString::new(name).ok()?;
        let (mut address, mut size) = (0, 0);
        // SAFETY: the module is loaded; it writes two numbers.
        let code = unsafe { self.driver.global?(&mut address, &mut size, module, name.as_ptr()) };
        (code == 0).then_some((address, size as u64))
    }

    fn function(&self, launch: &Launch<'_>) -> Result<Handle, GpuError> {
        let mut function = core::ptr::null_mut();
        let (module, name) = (launch.module.handle, launch.kernel.as_ptr());
        // SAFETY: the module is loaded; it writes one handle.
        let code = unsafe { (self.driver.function)(&mut function, module, name) };
        self.driver.check(self.driver.names.function, code)?;
        Ok(function)
    }

    /// How large each parameter is.
    fn sizes(&self, launch: &Launch<'_>) -> Result<Vec<usize>, GpuError> {
        let unknown = || GpuError::Sizes(launch.kernel.to_string_lossy().into_owned());
        let sizes = match (launch.sizes, self.driver.parameter) {
            (Some(sizes), _) => sizes.to_vec(),
            (None, None) => return Err(unknown()),
            (None, Some(parameter)) => {
                let function = self.function(launch)?;
                let size = |index| {
                    let (mut offset, mut size) = (0, 0);
                    // SAFETY: the function is the driver's; it writes two numbers.
                    let code = unsafe { parameter(function, index, &mut offset, &mut size) };
                    (code == 0).then_some(size)
                };
                (0..MOST_PARAMETERS).map_while(size).collect()
            }
        };
        // As many as are passed, so that nothing is read that is not there.
        if sizes.len() == launch.parameters.len() { Ok(sizes) } else { Err(unknown()) }
    }

    /// What a parameter of eight bytes points at that is not recorded.
    fn gap(&self, index: usize, word: u64) -> Option<String> {
        const MANAGED: c_int = 8;
        const DEVICE: c_int = 9;
        let attribute = |attribute| {
            let mut value: c_int = 0;
            // SAFETY: these attributes are written as a number of 32 bits at most.
            let code = unsafe { self.driver.pointer?((&raw mut value).cast(), attribute, word) };
            (code == 0).then_some(value)
        };
        let device = attribute(DEVICE)?;
        let what = match () {
            () if attribute(MANAGED).is_some_and(|managed| managed & 0xFF != 0) => {
                "managed memory".to_owned()
            }
            () if device != self.device => format!("memory of device {device}"),
            () => "memory that the recorder did not allocate".to_owned(),
        };
        Some(format!("parameter {index} points at {what}, which is not recorded"))
    }

    fn is_mapped_here(&self, word: u64) -> bool {
        let is_in =
            |(&address, &(size, _)): (&u64, &(usize, u64))| (address..address + size as u64).contains(&word);
        self.mapped.lock().blocks.iter().any(is_in)
    }

    /// Maps memory at the next address, or wherever the driver has room.
    fn map(&self, mapping: &Mapping, length: u64) -> Result<u64, GpuError> {
        let [granularity, reserve, create, map, access, ..] = self.driver.names.mapping;
        let check = |call, code| self.driver.check(call, code);
        let properties = Properties::on(self.device);
        let mut unit = 0;
        // SAFETY: it reads the properties and writes one number.
        check(granularity, unsafe { (mapping.granularity)(&mut unit, &properties, 0) })?;
        let size =
            usize::try_from(length.max(1)).ok().and_then(|size| size.checked_next_multiple_of(unit.max(1)));
        let size =
            size.ok_or_else(|| GpuError::Call { call: create, code: 2, name: "too much".to_owned() })?;
        let mut mapped = self.mapped.lock();
        let (mut address, mut handle) = (0, 0);
        // SAFETY: it writes one number. The address is a wish.
        check(reserve, unsafe { (mapping.reserve)(&mut address, size, 0, mapped.next, 0) })?;
        // SAFETY: as above.
        let made = check(create, unsafe { (mapping.create)(&mut handle, size, &properties, 0) });
        let behind = made.and_then(|()| {
            // SAFETY: the addresses were just reserved, and the memory just made, of this size.
            check(map, unsafe { (mapping.map)(address, size, 0, handle, 0) })?;
            // SAFETY: it reads one description.
            check(access, unsafe { (mapping.access)(address, size, &Access::by(self.device), 1) })
        });
        mapped.blocks.insert(address, (size, handle));
        mapped.next = mapped.next.max(address.saturating_add(size as u64));
        drop(mapped);
        if let Err(error) = behind {
            // Whatever of it was made.
            let _ = self.unmap(mapping, address);
            return Err(error);
        }
        Ok(address)
    }

    fn unmap(&self, mapping: &Mapping, address: u64) -> Result<(), GpuError> {
        let [.., unmap, release, unreserve] = self.driver.names.mapping;
        let Some((size, handle)) = self.mapped.lock().blocks.remove(&address) else { return Ok(()) };
        // SAFETY: `map` made it so; the caller no longer uses it.
        let done = unsafe {
            [
                (unmap, (mapping.unmap)(address, size)),
                (release, (mapping.release)(handle)),
                (unreserve, (mapping.unreserve)(address, size)),
            ]
        };
        done.into_iter().try_for_each(|(call, code)| self.driver.check(call, code))
    }
}

impl Backend for Gpu {
    type Launch<'a> = Launch<'a>;
    type Error = GpuError;

    fn describe(&self, launch: &Launch<'_>) -> Result<Description, GpuError> {
        let mut capturing = 0;
        // SAFETY: the stream is the caller's; it writes one number.
        let code = unsafe { (self.driver.is_capturing)(launch.stream, &mut capturing) };
        self.driver.check(self.driver.names.is_capturing, code)?;
        if capturing != 0 {
            return Err(GpuError::Captured);
        }
        let argument = |(&parameter, size): (&*mut c_void, usize)| {
            // SAFETY: whoever launches says that there is a parameter of the kernel's, which has this size.
            let bytes = unsafe { core::slice::from_raw_parts(parameter.cast::<u8>(), size) };
            Argument { bytes: bytes.to_vec(), pointee: None }
        };
        Ok(Description {
            backend: self.name.to_owned(),
            device: self.device_name.clone(),
            kernel: launch.kernel.to_string_lossy().into_owned(),
            grid: launch.grid,
            block: launch.block,
            shared_memory: launch.shared_memory.into(),
            arguments: launch.parameters.iter().zip(self.sizes(launch)?).map(argument).collect(),
        })
    }

    fn globals(&self, launch: &Launch<'_>) -> Result<Vec<(String, u64, u64)>, GpuError> {
        Ok(launch.module.globals.clone())
    }

    fn image(&self, launch: &Launch<'_>) -> Result<Vec<u8>, GpuError> {
        Ok(launch.module.image.clone())
    }

    fn gaps(&self, launch: &Launch<'_>) -> Vec<String> {
        let words = self.describe(launch).map(|described| described.arguments).unwrap_or_default();
        let word = |(index, argument): (usize, &Argument)| {
            let word = u64::from_le_bytes(argument.bytes.as_slice().try_into().ok()?);
            (!self.is_mapped_here(word)).then(|| self.gap(index, word))?
        };
        let mut gaps: Vec<String> = words.iter().enumerate().filter_map(word).collect();
        let has = |text: &[u8]| launch.module.image.windows(text.len()).any(|window| window == text);
        if !launch.module.image.starts_with(b"\x7FELF") && (has(b"tex.") || has(b"suld.") || has(b"sust.")) {
            gaps.push("the module reads textures or surfaces, which are not recorded".to_owned());
        }
        gaps
    }

    fn read(&self, _: &Launch<'_>, address: u64, into: &mut [u8]) -> Result<(), GpuError> {
        if into.is_empty() {
            return Ok(());
        }
        // SAFETY: there is room for that many bytes; the driver knows what is the device's.
        let code = unsafe { (self.driver.copy)(into.as_mut_ptr().cast(), address, into.len()) };
        self.driver.check(self.driver.names.copy, code)
    }

    fn synchronize(&self, _: &Launch<'_>) -> Result<(), GpuError> {
        // SAFETY: it takes nothing.
        self.driver.check(self.driver.names.synchronize, unsafe { (self.driver.synchronize)() })
    }

    /// # Safety
    ///
    /// The kernel takes these parameters, and stays within the memory that they point to. The stream is alive.
    unsafe fn run(&self, launch: &mut Launch<'_>) -> Result<(), GpuError> {
        let function = self.function(launch)?;
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        // SAFETY: the caller's promise.
        let code = unsafe {
            (self.driver.launch)(
                function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                launch.shared_memory,
                launch.stream,
                launch.parameters.as_ptr(),
                core::ptr::null(),
            )
        };
        self.driver.check(self.driver.names.launch, code)
    }
}

impl Allocate for Gpu {
    fn allocate(&self, length: u64) -> Result<u64, GpuError> {
        if let Some(mapping) = &self.driver.mapping {
            return self.map(mapping, length);
        }
        let mut address = 0;
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        // SAFETY: it writes one number.
        let code = unsafe { (self.driver.allocate)(&mut address, size) };
        self.driver.check(self.driver.names.allocate, code)?;
        Ok(address)
    }

    unsafe fn free(&self, address: u64, _: u64) -> Result<(), GpuError> {
        match &self.driver.mapping {
            Some(mapping) => self.unmap(mapping, address),
            // SAFETY: `allocate` returned it; the rest is the caller's promise.
            None => self.driver.check(self.driver.names.free, unsafe { (self.driver.free)(address) }),
        }
    }
}
