//! Records dispatches of IREE's executables for CPUs.
//!
//! A kernel is given its buffers as pointers and lengths, so recordings are of those alone, and can be replayed at any
//! address. A launch borrows them, so that nobody else can write to them meanwhile.

use zonecast::dispatch::Sites;
use zonecast::{Interned, dispatch::Site};
use zonecast_dispatch::{Dispatch, Error, Library, Observer, Workers};
use zonecast_embed::Image;

use super::{Argument, Backend, Description, Held};

/// What [`Description::backend`] says.
pub const NAME: &str = "iree-cpu";

/// A buffer that a kernel is given.
#[derive(Debug)]
pub enum Binding<'a> {
    /// The kernel only reads it.
    Read(&'a [u8]),
    /// The kernel may write to it.
    Write(&'a mut [u8]),
}

impl Binding<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Write(bytes) => bytes,
        }
    }

    fn lend(&mut self) -> zonecast_dispatch::Binding<'_> {
        match self {
            Self::Read(bytes) => zonecast_dispatch::Binding::read(bytes),
            Self::Write(bytes) => zonecast_dispatch::Binding::write(bytes),
        }
    }
}

/// One call of one kernel. Start from [`Launch::of`].
#[derive(Debug)]
pub struct Launch<'a> {
    /// The library, loaded from `image`.
    pub library: &'a Library,
    /// Where it was loaded from.
    pub image: Image<'a>,
    /// The export's ordinal.
    pub ordinal: usize,
    /// How many workgroups to run, in x, y and z.
    pub workgroups: [u32; 3],
    /// For kernels that leave it to the caller.
    pub workgroup_size: Option<[u32; 3]>,
    /// The constants, in order.
    pub constants: &'a [u32],
    /// The buffers, in order.
    pub bindings: &'a mut [Binding<'a>],
    /// The threads; `None` for the caller's alone.
    pub workers: Option<&'a Workers>,
}

impl<'a> Launch<'a> {
    /// A call of the export of that ordinal: one workgroup, no constants, no bindings.
    pub fn of(library: &'a Library, image: Image<'a>, ordinal: usize) -> Self {
        Self {
            library,
            image,
            ordinal,
            workgroups: [1, 1, 1],
            workgroup_size: None,
            constants: &[],
            bindings: &mut [],
            workers: None,
        }
    }
}

/// The backend. It keeps nothing but who watches.
#[derive(Clone, Debug)]
pub struct Dispatches<O = ()> {
    /// Is told of dispatches and workgroups.
    pub observer: O,
    /// Where the kernels are in their sources; each launch is then a zone there.
    pub sites: Option<Sites>,
}

/// Nobody watches, and no source is known.
impl Default for Dispatches {
    fn default() -> Self {
        Self { observer: (), sites: None }
    }
}

impl<O: Observer + Send> Backend for Dispatches<O> {
    type Launch<'a> = Launch<'a>;
    type Error = Error;

    fn describe(&self, launch: &Launch<'_>) -> Result<Description, Error> {
        let Launch { library, ordinal, .. } = *launch;
        let missing = || Error::NoExport {
            library: library.name().to_owned(),
            ordinal,
            exports: library.exports().len(),
        };
        let kernel = library.exports().nth(ordinal).ok_or_else(missing)?.to_owned();
        let constant = |constant: &u32| Argument { bytes: constant.to_le_bytes().to_vec(), pointee: None };
        let binding = |(index, binding): (usize, &Binding<'_>)| Argument {
            bytes: address(binding).to_le_bytes().to_vec(),
            pointee: Some((index, 0)),
        };
        let constants = launch.constants.iter().map(constant);
        Ok(Description {
            backend: NAME.to_owned(),
            device: zonecast_dispatch::host_target().to_owned(),
            kernel,
            grid: launch.workgroups,
            block: launch.workgroup_size.unwrap_or_default(),
            shared_memory: 0,
            arguments: constants.chain(launch.bindings.iter().enumerate().map(binding)).collect(),
        })
    }

    fn memory(&self, launch: &Launch<'_>, _: &Held<'_>) -> Result<Vec<(u64, u64)>, Error> {
        let range = |binding: &Binding<'_>| (address(binding), binding.bytes().len() as u64);
        Ok(launch.bindings.iter().map(range).collect())
    }

    fn image(&self, launch: &Launch<'_>) -> Result<Vec<u8>, Error> {
        Ok(launch.image.bytes().unwrap_or_default().to_vec())
    }

    fn gaps(&self, launch: &Launch<'_>) -> Vec<String> {
        let loaded = launch.image.bytes().is_none().then(|| {
            "the executable was already in memory when it was opened, so its bytes are not recorded"
                .to_owned()
        });
        loaded.into_iter().collect()
    }

    fn place(&self, launch: &Launch<'_>) -> Option<Interned> {
        self.sites.as_ref()?.get(launch.image.index(), launch.ordinal).map(Site::place).cloned()
    }

    fn read(&self, launch: &Launch<'_>, from: u64, into: &mut [u8]) -> Result<(), Error> {
        let is_it = |binding: &&Binding<'_>| address(binding) == from && binding.bytes().len() == into.len();
        if let Some(binding) = launch.bindings.iter().find(is_it) {
            into.copy_from_slice(binding.bytes());
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As [`Library::dispatch`].
    unsafe fn run(&self, launch: &mut Launch<'_>) -> Result<(), Error> {
        let mut bindings: Vec<_> = launch.bindings.iter_mut().map(Binding::lend).collect();
        let dispatch = Dispatch {
            ordinal: launch.ordinal,
            workgroups: launch.workgroups,
            workgroup_size: launch.workgroup_size,
            constants: launch.constants,
            bindings: &mut bindings,
        };
        let alone = Workers::none();
        // SAFETY: the caller's promise.
        unsafe { launch.library.dispatch(dispatch, launch.workers.unwrap_or(&alone), &self.observer) }
    }
}

fn address(binding: &Binding<'_>) -> u64 {
    binding.bytes().as_ptr().addr() as u64
}
