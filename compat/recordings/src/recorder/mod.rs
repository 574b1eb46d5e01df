//! Records kernel launches, so that they can be run again elsewhere.
//!
//! A [`Recorder`] stands between a program and its device: what is launched through it can be recorded, with the memory before
//! and after. What a device must do for that is a [`Backend`]: [`cpu`] for IREE's executables for CPUs, `gpu` (features
//! `cuda` and `hip`) for GPUs. Which launches are recorded is a [`Choice`], where they go a [`Sink`].
//!
//! ```
//! # #[cfg(all(target_os = "linux", target_arch = "x86_64"))] {
//! use zonecast_dispatch::Library;
//! use zonecast_embed::Executable;
//! use zonecast_recordings::recorder::{Choice, Folder, Keep, Launcher, Recorder, Recording, cpu};
//!
//! let executable = Executable::open("../dispatch/tests/data/scale.cpu.g3.vmfb")?;
//! let image = executable.image(0).unwrap();
//! // SAFETY: the file was compiled by IREE's own compiler and is part of this project.
//! let library = unsafe { Library::load(image) }?;
//!
//! let folder = tempfile::tempdir()?;
//! let sink = Folder { path: folder.path().to_owned(), keep: Keep::First };
//! let recorder = Recorder::new(cpu::Dispatches::default(), Choice::default(), sink);
//!
//! let floats = |number: f32| [number; 1024].map(f32::to_le_bytes).concat();
//! let mut buffers = [floats(3.0), floats(0.5), floats(0.0)].map(|bytes| zonecast_dispatch::Buffer::from_slice(&bytes));
//! let [a, b, product] = &mut buffers;
//! let launch = cpu::Launch {
//!     bindings: &mut [cpu::Binding::Read(&*a), cpu::Binding::Read(&*b), cpu::Binding::Write(&mut *product)],
//!     ..cpu::Launch::of(&library, image, 0)
//! };
//! // SAFETY: this kernel reads 1,024 floats from bindings 0 and 1 and writes as many to binding 2.
//! unsafe { recorder.launch(launch) }?;
//!
//! let file = std::fs::read_dir(folder.path())?.next().unwrap()?.path();
//! let recording = Recording::read(&file)?;
//! assert_eq!(recording.memory[2].before, floats(0.0));
//! assert_eq!(recording.memory[2].after, floats(1.5));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # One lock
//!
//! Allocations, the launches of other threads and the copies share one lock. Whoever allocates, frees or launches holds it; whoever
//! records holds it alone, from before the first copy until after the last. So no snapshot is torn, as long as all that
//! touches the memory goes through the recorder. The price is that nothing else runs on the device meanwhile.
//!
//! # When it is off
//!
//! A program that is generic over [`Launcher`] and takes [`Off`] is the same machine code as one without a recorder. A
//! [`Recorder`] that is [paused](Recorder::pause) still takes its lock, shared, for each launch.

mod backend;
pub mod container;
pub mod cpu;
mod export;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod gpu;
mod instance;
mod recording;
mod sink;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use zonecast::Zone;

pub use backend::{Allocate, Backend, Held};
pub use export::export;
pub use instance::{Choice, Instance, Instances, Keep};
pub use recording::{Argument, Buffer, Description, Recording};
pub use sink::{Folder, Sink};

/// Launches kernels: a [`Recorder`], or [`Off`].
pub trait Launcher<B: Backend> {
    /// Launches a kernel, and records it if it is one to be recorded.
    ///
    /// # Errors
    ///
    /// If the device fails, or the launch could not be recorded.
    ///
    /// # Safety
    ///
    /// As [`Backend::run`].
    unsafe fn launch(&self, launch: B::Launch<'_>) -> Result<(), Error<B::Error>>;
}

/// No recorder: launches, and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Off<B>(pub B);

impl<B: Backend> Launcher<B> for Off<B> {
    #[inline(always)]
    unsafe fn launch(&self, mut launch: B::Launch<'_>) -> Result<(), Error<B::Error>> {
        // SAFETY: the caller's promise.
        unsafe { self.0.run(&mut launch) }.map_err(Error::Launch)
    }
}

/// Why a launch failed, or was not recorded. `Display` says it in a sentence.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error<E> {
    /// The kernel could not be launched.
    Launch(E),
    /// It was launched, and not recorded: the device did not give away what is needed.
    Record(E),
    /// It was launched, and its recording could not be kept.
    Store(crate::Error),
    /// It was launched, and not recorded: this process has no room for a copy of so many bytes.
    Room(u64),
    /// Memory could not be allocated or freed.
    Memory(E),
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(error) => write!(f, "the kernel could not be launched: {error}"),
            Self::Record(error) => write!(f, "the kernel was launched, and not recorded: {error}"),
            Self::Room(bytes) => {
                write!(f, "the kernel was launched, and not recorded: there is no room to copy {bytes} bytes")
            }
            Self::Store(error) => write!(f, "the kernel was launched, and its recording not kept: {error}"),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Error<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Launch(error) | Self::Record(error) | Self::Memory(error) => Some(error),
            Self::Store(error) => Some(error),
            Self::Room(_) => None,
        }
    }
}

/// Launches kernels and records some of them. Share it between threads by reference or in an `Arc`.
pub struct Recorder<B> {
    backend: B,
    choice: Choice,
    sink: Box<dyn Sink>,
    on: AtomicBool,
    instances: Mutex<Instances>,
    /// What is allocated, by address. Whoever launches holds it too; see [the module](self).
    allocations: RwLock<BTreeMap<u64, u64>>,
}

impl<B: fmt::Debug> fmt::Debug for Recorder<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("backend", &self.backend).field("choice", &self.choice).finish()
    }
}

impl<B: Backend> Recorder<B> {
    /// A recorder that is on.
    pub fn new(backend: B, choice: Choice, sink: impl Sink + 'static) -> Self {
        Self {
            backend,
            choice,
            sink: Box::new(sink),
            on: AtomicBool::new(true),
            instances: Mutex::default(),
            allocations: RwLock::default(),
        }
    }

    /// What it records from.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Records and counts nothing until [`resume`](Self::resume).
    pub fn pause(&self) {
        self.on.store(false, Ordering::Relaxed);
    }

    /// Records and counts again.
    pub fn resume(&self) {
        self.on.store(true, Ordering::Relaxed);
    }

    /// All instances that were launched while it was on, and how often.
    pub fn instances(&self) -> Vec<(Instance, u64)> {
        self.instances.lock().all()
    }

    /// Lets `f` touch the device's memory: no snapshot is taken meanwhile.
    pub fn with_memory<T>(&self, f: impl FnOnce(&B) -> T) -> T {
        let _held = self.allocations.read();
        f(&self.backend)
    }

    /// Whether this launch is to be recorded, and how many of its instance came before.
    fn register(&self, launch: &B::Launch<'_>) -> Result<Option<(Recording, Instance)>, B::Error> {
        if !self.on.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let description = self.backend.describe(launch)?;
        let mut instances = self.instances.lock();
        let chosen = self.backend.register_instance(&mut instances, &description, &self.choice);
        Ok(chosen.map(|occurrence| {
            let instance = Instance::of(&description, self.choice.by_arguments);
            (Recording { description, occurrence, ..Recording::default() }, instance)
        }))
    }

    /// # Safety
    ///
    /// As [`Backend::run`].
    unsafe fn run(&self, launch: &mut B::Launch<'_>) -> Result<(), Error<B::Error>> {
        let _zone = self.backend.place(launch).map(|place| Zone::begin_interned(&place));
        // SAFETY: the caller's promise.
        unsafe { self.backend.run(launch) }.map_err(Error::Launch)
    }

    /// Runs and records a launch, alone on the device.
    ///
    /// # Safety
    ///
    /// As [`Backend::run`].
    unsafe fn record(
        &self,
        launch: &mut B::Launch<'_>,
        recording: &mut Recording,
    ) -> Result<(), Error<B::Error>> {
        let allocations = self.allocations.write();
        let held = Held { allocations: &allocations };
        let before = {
            let _zone = zonecast::zone!("prologue");
            self.backend.prologue(launch, &held, recording)
        };
        // Whether it is recorded or not, it is launched.
        // SAFETY: the caller's promise.
        unsafe { self.run(launch) }?;
        before?;
        recording.find_pointees();
        let _zone = zonecast::zone!("epilogue");
        self.backend.epilogue(launch, &held, recording)
    }
}

impl<B: Backend> Launcher<B> for Recorder<B> {
    unsafe fn launch(&self, mut launch: B::Launch<'_>) -> Result<(), Error<B::Error>> {
        let registered = self.register(&launch);
        let Ok(Some((mut recording, instance))) = registered else {
            let _held = self.allocations.read();
            // SAFETY: the caller's promise.
            unsafe { self.run(&mut launch) }?;
            return registered.map(drop).map_err(Error::Record);
        };
        let zone = zonecast::zone!("record");
        zone.text(&instance.kernel);
        // SAFETY: the caller's promise.
        unsafe { self.record(&mut launch, &mut recording) }?;
        let _zone = zonecast::zone!("store");
        self.sink.store(&instance, recording).map_err(Error::Store)
    }
}

impl<B: Allocate> Recorder<B> {
    /// Allocates memory that is recorded with every launch from then on; returns its address.
    ///
    /// # Errors
    ///
    /// If the device has none.
    pub fn allocate(&self, length: u64) -> Result<u64, Error<B::Error>> {
        let mut allocations = self.allocations.write();
        let address = self.backend.allocate(length).map_err(Error::Memory)?;
        allocations.insert(address, length);
        Ok(address)
    }

    /// Frees memory.
    ///
    /// # Errors
    ///
    /// If the device fails. What was not allocated by this recorder is left alone, without an error.
    ///
    /// # Safety
    ///
    /// Nobody uses it any more.
    pub unsafe fn free(&self, address: u64) -> Result<(), Error<B::Error>> {
        let mut allocations = self.allocations.write();
        let Some(length) = allocations.remove(&address) else { return Ok(()) };
        // SAFETY: it was allocated, with that length; the rest is the caller's promise.
        unsafe { self.backend.free(address, length) }.map_err(Error::Memory)
    }
}
