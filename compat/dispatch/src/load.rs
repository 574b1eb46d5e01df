//! Bringing an image into the process with the system's own loader.
//!
//! The image lies somewhere inside a module file, and `dlopen` takes a path. So its bytes go into a file
//! that exists in memory only, which the loader reaches through `/proc/self/fd`.

#[cfg(target_os = "linux")]
pub(crate) use linux::Loaded;
#[cfg(not(target_os = "linux"))]
pub(crate) use nowhere::Loaded;

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error as _;
    use std::ffi::c_void;
    use std::fs::File;
    use std::io::{self, Write};
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::ptr::NonNull;

    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::io::Errno;

    use crate::Error;
    use crate::abi::LibraryHead;

    /// A loaded library, unloaded when this is dropped.
    #[derive(Debug)]
    pub(crate) struct Loaded {
        library: Library,
        /// Kept open while the library is loaded, and closed after it: the loader knows libraries by
        /// path, and a descriptor that is used again would lead it to this one.
        _file: File,
    }

    type Query = unsafe extern "C" fn(version: u32, environment: *const c_void) -> *const LibraryHead;

    impl Loaded {
        /// # Safety
        ///
        /// The image's initialisers and relocations are safe to run.
        pub(crate) unsafe fn load(name: &str, image: &[u8]) -> Result<Self, Error> {
            let file = memory_file(image).map_err(Error::Memory)?;
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            // SAFETY: the caller vouches for what runs while it is loaded.
            let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
                .map_err(|error| Error::Loader { library: name.to_owned(), message: reason(&error) })?;
            Ok(Self { library, _file: file })
        }

        /// Asks the library for its tables. They live as long as `self`.
        ///
        /// # Safety
        ///
        /// If the library has IREE's query function, that function is what its name says.
        pub(crate) unsafe fn query(&self, version: u32) -> Option<NonNull<LibraryHead>> {
            // SAFETY: the caller vouches for the function behind the symbol. It gets a version, and no
            // environment, which it does not read.
            let head = unsafe {
                let query = self.library.get::<Query>(b"iree_hal_executable_library_query\0").ok()?;
                query(version, std::ptr::null())
            };
            NonNull::new(head.cast_mut())
        }
    }

    /// What the loader says; the error itself only says which call failed.
    fn reason(error: &libloading::Error) -> String {
        error.source().map_or_else(|| error.to_string(), ToString::to_string)
    }

    fn memory_file(contents: &[u8]) -> io::Result<File> {
        let mut file = File::from(executable_memory()?);
        file.write_all(contents)?;
        Ok(file)
    }

    /// Kernels before 6.3 do not know the flag that says that code will be run from the file; later ones
    /// may insist on it.
    fn executable_memory() -> rustix::io::Result<OwnedFd> {
        let flags = MemfdFlags::CLOEXEC;
        match memfd_create("iree-executable", flags | MemfdFlags::EXEC) {
            Err(Errno::INVAL) => memfd_create("iree-executable", flags),
            other => other,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod nowhere {
    use std::ptr::NonNull;

    use crate::Error;
    use crate::abi::LibraryHead;

    /// Nothing is ever loaded.
    #[derive(Debug)]
    pub(crate) enum Loaded {}

    impl Loaded {
        pub(crate) unsafe fn load(_name: &str, _image: &[u8]) -> Result<Self, Error> {
            Err(Error::System)
        }

        pub(crate) unsafe fn query(&self, _version: u32) -> Option<NonNull<LibraryHead>> {
            match *self {}
        }
    }
}
