//! What a device has to do to be recorded.

use std::collections::BTreeMap;

use zonecast::Interned;

use super::{Buffer, Choice, Description, Error, Instances, Recording};

/// The stages of recording a launch, for one kind of device.
///
/// What is required says what a launch is. The stages have defaults that are made of those; a backend that
/// knows better overrides a stage. They are called in this order, by [`Launcher::launch`](super::Launcher::launch):
///
/// 1. [`describe`](Self::describe), [`register_instance`](Self::register_instance): is this launch one to be kept?
/// 2. [`prologue`](Self::prologue): description, inputs, globals, image. Then the kernel runs.
/// 3. [`epilogue`](Self::epilogue): outputs.
///
/// From 2 to 3, the recorder's lock is held for itself alone: [`Held`] is the proof. Nobody allocates, frees or launches, so what
/// is copied belongs together.
pub trait Backend: Send + Sync {
    /// A launch that is about to happen.
    type Launch<'a>;
    /// Why something failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// What is launched, and how. Called for each launch while recording is on.
    ///
    /// # Errors
    ///
    /// If the device does not say.
    fn describe(&self, launch: &Self::Launch<'_>) -> Result<Description, Self::Error>;

    /// The memory that the launch may touch, as address and length; the default is all that is allocated through the recorder.
    ///
    /// # Errors
    ///
    /// If the device does not say.
    fn memory(&self, launch: &Self::Launch<'_>, held: &Held<'_>) -> Result<Vec<(u64, u64)>, Self::Error> {
        let _ = launch;
        Ok(held.allocations().collect())
    }

    /// The variables of the launch's module, as name, address and length. None by default.
    ///
    /// # Errors
    ///
    /// If the device does not say.
    fn globals(&self, launch: &Self::Launch<'_>) -> Result<Vec<(String, u64, u64)>, Self::Error> {
        let _ = launch;
        Ok(Vec::new())
    }

    /// The module, as it was loaded. Empty by default.
    ///
    /// # Errors
    ///
    /// If the device does not say.
    fn image(&self, launch: &Self::Launch<'_>) -> Result<Vec<u8>, Self::Error> {
        let _ = launch;
        Ok(Vec::new())
    }

    /// What the launch may depend on and is not recorded, a sentence each. None by default.
    fn gaps(&self, launch: &Self::Launch<'_>) -> Vec<String> {
        let _ = launch;
        Vec::new()
    }

    /// Where the kernel is in its source, for a zone around the launch.
    fn place(&self, launch: &Self::Launch<'_>) -> Option<Interned> {
        let _ = launch;
        None
    }

    /// Copies memory of the device.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn read(&self, launch: &Self::Launch<'_>, address: u64, into: &mut [u8]) -> Result<(), Self::Error>;

    /// Waits until all that was launched so far is done, on whichever stream. Nothing by default: for devices whose launches
    /// are over when they return.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn synchronize(&self, launch: &Self::Launch<'_>) -> Result<(), Self::Error> {
        let _ = launch;
        Ok(())
    }

    /// Launches the kernel.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// # Safety
    ///
    /// The kernel can be run with what the launch says: the backend names what that takes.
    unsafe fn run(&self, launch: &mut Self::Launch<'_>) -> Result<(), Self::Error>;

    /// Counts the launch. Returns how many of its instance came before, if it is to be recorded.
    fn register_instance(
        &self,
        instances: &mut Instances,
        launch: &Description,
        choice: &Choice,
    ) -> Option<u64> {
        instances.count(launch, choice)
    }

    /// Records what is there before the launch.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn prologue(
        &self,
        launch: &Self::Launch<'_>,
        held: &Held<'_>,
        recording: &mut Recording,
    ) -> Result<(), Error<Self::Error>> {
        self.synchronize(launch).map_err(Error::Record)?;
        recording.image = self.image(launch).map_err(Error::Record)?;
        recording.gaps = self.gaps(launch);
        // Of a long one, a trace shows how far it is.
        let mut copied = 0_u64;
        let buffer = |name, address, length| {
            let mut before = zeros(length)?;
            self.read(launch, address, &mut before).map_err(Error::Record)?;
            Ok(Buffer { name, address, before, after: Vec::new() })
        };
        for (address, length) in self.memory(launch, held).map_err(Error::Record)? {
            recording.memory.push(buffer(String::new(), address, length)?);
            copied += length;
            zonecast::plot!("bytes recorded", copied);
        }
        for (name, address, length) in self.globals(launch).map_err(Error::Record)? {
            recording.globals.push(buffer(name, address, length)?);
        }
        Ok(())
    }

    /// Records what is there after it.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn epilogue(
        &self,
        launch: &Self::Launch<'_>,
        held: &Held<'_>,
        recording: &mut Recording,
    ) -> Result<(), Error<Self::Error>> {
        let _ = held;
        self.synchronize(launch).map_err(Error::Record)?;
        let mut copied = 0_u64;
        for buffer in recording.memory.iter_mut().chain(&mut recording.globals) {
            let mut after = zeros(buffer.before.len() as u64)?;
            self.read(launch, buffer.address, &mut after).map_err(Error::Record)?;
            copied += after.len() as u64;
            buffer.after = after;
            zonecast::plot!("bytes recorded", copied);
        }
        Ok(())
    }
}

/// Room for a copy.
fn zeros<E>(length: u64) -> Result<Vec<u8>, Error<E>> {
    let mut bytes = Vec::new();
    let wanted = usize::try_from(length).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(wanted).map_err(|_| Error::Room(length))?;
    bytes.resize(wanted, 0);
    Ok(bytes)
}

/// A backend that allocates the memory that it records.
pub trait Allocate: Backend {
    /// Allocates memory of the device; returns its address.
    ///
    /// # Errors
    ///
    /// If there is none.
    fn allocate(&self, length: u64) -> Result<u64, Self::Error>;

    /// Frees it.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// # Safety
    ///
    /// [`allocate`](Self::allocate) returned it for that length, and nobody uses it any more.
    unsafe fn free(&self, address: u64, length: u64) -> Result<(), Self::Error>;
}

/// The recorder's lock, held for one launch alone.
#[derive(Debug)]
pub struct Held<'a> {
    pub(super) allocations: &'a BTreeMap<u64, u64>,
}

impl Held<'_> {
    /// All that is allocated, as address and length, by address.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, u64)> {
        self.allocations.iter().map(|(&address, &length)| (address, length))
    }
}
