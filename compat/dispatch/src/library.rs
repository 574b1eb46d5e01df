//! A loaded executable and its kernels.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr;

use zonecast_embed::{CpuExport, Image};

use crate::abi::{Environment, Kernel, LibraryHead};
use crate::job::Job;
use crate::load::Loaded;
use crate::{Dispatch, Error, Observer, Workers, check, host};

/// An IREE executable for this machine, loaded and ready to be called. Dropping it unloads it.
///
/// It holds a copy of the machine code and borrows nothing from the [`Executable`] that it came from.
///
/// [`Executable`]: zonecast_embed::Executable
pub struct Library {
    name: String,
    image: usize,
    exports: Vec<Export>,
    imports: Imports,
    /// After what points into it.
    _loaded: Loaded,
}

/// One kernel.
pub(crate) struct Export {
    pub(crate) name: String,
    pub(crate) kernel: Kernel,
    /// Bits, see `Job`.
    pub(crate) flags: u64,
    pub(crate) local_memory_pages: u16,
    /// How many constants and bindings it takes, if the library says so.
    pub(crate) counts: Option<[u8; 2]>,
    pub(crate) workgroup_size: Option<[u32; 3]>,
}

impl Export {
    fn new(name: &[u8], kernel: Kernel, abi_version: u32, about: Option<CpuExport>) -> Self {
        Self {
            name: String::from_utf8_lossy(name).into_owned(),
            kernel,
            flags: about.map_or(0, |about| about.flags),
            local_memory_pages: about.map_or(0, |about| about.local_memory_pages),
            // Compilers of version 4 left the counts zero.
            counts: about.filter(|_| abi_version > 4).map(|about| [about.constants, about.bindings]),
            workgroup_size: about.and_then(|about| about.workgroup_size),
        }
    }
}

/// The tables of a library's imports. All are optional and absent: each pointer is null.
struct Imports(Vec<*const c_void>);

// SAFETY: the pointers are null.
unsafe impl Send for Imports {}
// SAFETY: as above.
unsafe impl Sync for Imports {}

impl Library {
    /// Loads an image into this process.
    ///
    /// # Safety
    ///
    /// This runs the file's own code, with all that this process may do. The caller trusts the file: it
    /// was made by IREE's compiler (or to the same rules), and nobody has tampered with it.
    ///
    /// # Errors
    ///
    /// As [`check`], and if the system's loader refuses the file, if the library needs functions of its
    /// host, or if it does not answer as its tables in the file say.
    pub unsafe fn load(image: Image<'_>) -> Result<Self, Error> {
        check(image)?;
        let name = host::name(image);
        let Some((bytes, library)) = image.bytes().zip(image.cpu_library()) else {
            return Err(Error::NoFile { library: name });
        };
        // SAFETY: the caller trusts the file, thus what it runs when it is loaded.
        let loaded = unsafe { Loaded::load(&name, bytes) }?;
        let contradiction = |what| Error::Contradiction { library: name.clone(), what };
        // SAFETY: the function of that name is IREE's, since the caller trusts the file.
        let head = unsafe { loaded.query(library.abi_version) }
            .ok_or(contradiction("it does not answer to the version that its header bears"))?;
        // SAFETY: IREE's query function returns a library record, and that lives as long as `loaded`.
        let head = unsafe { head.as_ref() };
        // SAFETY: the record of a trusted file is whole: its header is there.
        if unsafe { head.header.read() } != library.abi_version {
            return Err(contradiction("its version differs"));
        }
        if head.export_count as usize != image.exports().len() {
            return Err(contradiction("it has another number of exports"));
        }
        // SAFETY: so are its tables, with as many entries as counted.
        let (kernels, imports) = unsafe { (kernels(head), imports(&name, head)?) };
        let kernels = kernels.ok_or(contradiction("an export has no function"))?;
        let exports = image.exports().zip(kernels);
        let exports = exports
            .map(|(export, kernel)| Export::new(export.name(), kernel, library.abi_version, export.cpu()));
        let exports = exports.collect();
        Ok(Self { name, image: image.index(), exports, imports, _loaded: loaded })
    }

    /// The library's name, for instance `mlp_net_linked`. What is not UTF-8 is replaced.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its exports, in order of their ordinals. What is not UTF-8 is replaced.
    pub fn exports(&self) -> impl ExactSizeIterator<Item = &str> {
        self.exports.iter().map(|export| export.name.as_str())
    }

    /// Runs a kernel: all of its workgroups, shared among `workers`. Returns when they are done.
    ///
    /// The observer is told once of the dispatch and once of each workgroup.
    ///
    /// # Safety
    ///
    /// A kernel checks nothing. The caller says that, given these constants and that many workgroups, it
    ///
    /// * stays within the bindings given,
    /// * writes only to those made by [`Binding::write`](crate::Binding::write),
    ///
    /// and that this processor has the instructions that it was compiled for; the library names the
    /// architecture, but not its extensions.
    ///
    /// # Errors
    ///
    /// If the arguments are not what the library says that the export takes, or do not fit the interface;
    /// then nothing has run. If a workgroup fails: then no further ones begin, and the bindings hold
    /// whatever was written.
    pub unsafe fn dispatch<O: Observer>(
        &self,
        dispatch: Dispatch<'_>,
        workers: &Workers,
        observer: &O,
    ) -> Result<(), Error> {
        let export = self.exports.get(dispatch.ordinal).ok_or_else(|| Error::NoExport {
            library: self.name.clone(),
            ordinal: dispatch.ordinal,
            exports: self.exports.len(),
        })?;
        let environment = Environment {
            constants: ptr::null(),
            import_thunk: ptr::null(),
            import_functions: self.imports.0.as_ptr().cast(),
            import_contexts: self.imports.0.as_ptr().cast(),
            processor: [0; 8],
        };
        let job = Job::new(export, self.image, environment, dispatch, workers.count(), observer)?;
        // SAFETY: the caller's promises are those that `run` asks for.
        unsafe { job.run(workers) }
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exports = self.exports.iter().map(|export| &export.name).collect::<Vec<_>>();
        f.debug_struct("Library").field("name", &self.name).field("exports", &exports).finish()
    }
}

/// The functions of the exports; `None` if one is missing.
///
/// # Safety
///
/// The export table has as many entries as counted.
unsafe fn kernels(head: &LibraryHead) -> Option<Vec<Kernel>> {
    // SAFETY: the caller vouches for the table.
    (0..head.export_count as usize).map(|index| unsafe { head.exports.add(index).read() }).collect()
}

/// Import tables of nulls, if the library can do without every one of its imports.
///
/// # Safety
///
/// The import table has as many names as counted, each ending in NUL.
unsafe fn imports(library: &str, head: &LibraryHead) -> Result<Imports, Error> {
    let count = head.import_count as usize;
    // SAFETY: the caller vouches for the table and its names.
    let name = |index| unsafe { CStr::from_ptr(head.import_names.add(index).read()) };
    // A question mark leads the names of those that are optional.
    let names: Vec<_> = (0..count).map(name).filter(|name| !name.to_bytes().starts_with(b"?")).collect();
    if names.is_empty() {
        return Ok(Imports(vec![ptr::null(); count]));
    }
    let names = names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
    Err(Error::Imports { library: library.to_owned(), names })
}
