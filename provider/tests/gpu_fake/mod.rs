//! The fake drivers, loaded as the real ones are. They are dev-dependencies, so they are built; nothing of
//! them is linked.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};

use libloading::Library;
use zonecast::gpu::cuda::Cuda;
use zonecast::gpu::{Context, Gpu, Graph, GraphExec, Stream};

type Handle = *mut c_void;

/// A fake driver: whoever asks for the real one's name gets it from here on.
pub(crate) struct Fake {
    library: Library,
    create_stream: &'static str,
}

/// What the fake notes, by its numbers.
pub(crate) const EVENTS: u32 = 0;
pub(crate) const STREAMS: u32 = 1;
pub(crate) const CURRENT: u32 = 6;
const MISUSE: [u32; 6] = [2, 3, 4, 5, 7, 8];

/// What can be made to fail, by its numbers.
pub(crate) const CREATE_EVENT: u32 = 0;
pub(crate) const INIT: u32 = 5;

/// A library that was built beside this test.
fn built(file: &str) -> PathBuf {
    std::env::current_exe().unwrap().with_file_name(file)
}

impl Fake {
    pub(crate) fn cuda() -> Self {
        Self::load(&built("libzonecast_fake_cuda.so"), "cuStreamCreate")
    }

    pub(crate) fn hip() -> Self {
        Self::load(&built("libzonecast_fake_hip.so"), "hipStreamCreateWithFlags")
    }

    /// CUDA's driver without one of its functions: a copy where it has another name.
    pub(crate) fn cuda_without(symbol: &str, folder: &Path) -> Self {
        let mut bytes = std::fs::read(built("libzonecast_fake_cuda.so")).unwrap();
        let name = [symbol.as_bytes(), &[0]].concat();
        let places: Vec<_> =
            (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(&name)).collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at] = b'_');
        let copy = folder.join("libcuda.so");
        std::fs::write(&copy, bytes).unwrap();
        Self::load(&copy, "cuStreamCreate")
    }

    fn load(path: &Path, create_stream: &'static str) -> Self {
        // SAFETY: it is our own, and has no initialisers.
        let library = unsafe { Library::new(path) }.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self { library, create_stream }
    }

    /// A function.
    ///
    /// # Safety
    /// `F` is the type of its pointer.
    unsafe fn get<F: Copy>(&self, name: &str) -> F {
        // SAFETY: by this function's contract.
        *unsafe { self.library.get::<F>(name) }.unwrap()
    }

    pub(crate) fn number(&self, which: u32) -> u64 {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn(u32) -> u64>("fake_number") };
        call(which)
    }

    /// Nothing was done that must not be.
    pub(crate) fn assert_no_misuse(&self) {
        let of = "waits, dead handles, broken captures, early times, other devices, without a context";
        assert_eq!(MISUSE.map(|which| self.number(which)), [0; 6], "{of}");
    }

    /// Has calls of a kind fail from now on; with code 0 no more.
    pub(crate) fn fail(&self, kind: u32, code: u32) {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn(u32, u64, u32)>("fake_fail") };
        call(kind, 0, code);
    }

    /// One event in so many is late; 0 for none.
    pub(crate) fn be_late(&self, once_in: u64) {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn(u64)>("fake_late") };
        call(once_in);
    }

    /// The context is destroyed.
    pub(crate) fn destroy(&self) {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn()>("fake_destroy") };
        call();
    }

    pub(crate) fn capture(&self, stream: Stream, on: bool) {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn(Handle, u32)>("fake_capture") };
        call(stream.0, u32::from(on));
    }

    /// Work of so many nanoseconds.
    pub(crate) fn launch(&self, stream: Stream, ns: i64) {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn(Handle, i64) -> u32>("fake_launch") };
        call(stream.0, ns);
    }

    pub(crate) fn stream(&self) -> Stream {
        Stream(self.make(self.create_stream, 0))
    }

    /// Calls a function that makes a handle of a number.
    fn make(&self, name: &str, of: u64) -> Handle {
        let mut made = std::ptr::null_mut();
        // SAFETY: the functions called have this type.
        let call = unsafe { self.get::<extern "C" fn(&mut Handle, u64) -> u32>(name) };
        assert_eq!(call(&mut made, of), 0, "{name}");
        made
    }

    pub(crate) fn set_device(&self, device: i32) {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn(i32) -> u32>("hipSetDevice") };
        assert_eq!(call(device), 0);
    }

    /// Makes CUDA's context of device 0 current.
    pub(crate) fn push(&self) {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn(u64) -> u32>("cuCtxPushCurrent_v2") };
        assert_eq!(call(0xc0c0), 0);
    }

    /// A stream of CUDA's, and its zones.
    pub(crate) fn context(&self, name: &str) -> (Context, Stream) {
        let stream = self.stream();
        // SAFETY: the stream is never destroyed.
        (unsafe { Gpu::new(Cuda::of_stream(stream).unwrap()).unwrap().context(stream, name) }, stream)
    }

    /// Streams of one of CUDA's devices, whose zones are shown together.
    pub(crate) fn together<const N: usize>(&self, device: &str, names: [&str; N]) -> [(Context, Stream); N] {
        // SAFETY: streams are never destroyed.
        let gpu = Gpu::new(unsafe { Cuda::of_stream(self.stream()) }.unwrap()).unwrap().together(device);
        self.streams(&gpu, names)
    }

    /// Streams of a device, and their zones.
    pub(crate) fn streams<const N: usize>(&self, gpu: &Gpu, names: [&str; N]) -> [(Context, Stream); N] {
        names.map(|name| {
            let stream = self.stream();
            // SAFETY: streams are never destroyed.
            (unsafe { gpu.context(stream, name) }, stream)
        })
    }

    pub(crate) fn graph(&self) -> Graph {
        Graph(self.make("cuGraphCreate", 0))
    }

    pub(crate) fn instantiate(&self, graph: Graph) -> GraphExec {
        GraphExec(self.make("cuGraphInstantiateWithFlags", graph.0 as u64))
    }

    pub(crate) fn launch_graph(&self, graph: GraphExec, stream: Stream) {
        // SAFETY: the function has this type.
        let call = unsafe { self.get::<extern "C" fn(Handle, Handle) -> u32>("cuGraphLaunch") };
        call(graph.0, stream.0);
    }

    /// A module of this text, loaded.
    pub(crate) fn module(&self, ptx: &str) -> Handle {
        let text = CString::new(ptx).unwrap();
        self.make("cuModuleLoadData", text.as_ptr() as u64)
    }

    pub(crate) fn kernel(&self, module: Handle, name: &str) -> Handle {
        let (name, mut kernel) = (CString::new(name).unwrap(), std::ptr::null_mut());
        // SAFETY: the function has this type.
        let get = unsafe {
            self.get::<extern "C" fn(&mut Handle, Handle, *const i8) -> u32>("cuModuleGetFunction")
        };
        assert_eq!(get(&mut kernel, module, name.as_ptr().cast()), 0, "{name:?}");
        kernel
    }

    /// How many parameters a kernel has, as the driver tells.
    pub(crate) fn parameters(&self, kernel: Handle) -> usize {
        // SAFETY: the function has this type; it is not told where to write.
        let info =
            unsafe { self.get::<extern "C" fn(Handle, usize, Handle, Handle) -> u32>("cuFuncGetParamInfo") };
        let none = std::ptr::null_mut();
        (0..).take_while(|index| info(kernel, *index, none, none) == 0).count()
    }

    /// Launches a kernel of so many blocks of 64 threads.
    pub(crate) fn launch_kernel(&self, kernel: Handle, blocks: u32, stream: Stream, params: &mut [Handle]) {
        type Launch =
            extern "C" fn(Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut Handle, *mut Handle) -> u32;
        // SAFETY: the function has this type.
        let launch = unsafe { self.get::<Launch>("cuLaunchKernel") };
        let none = std::ptr::null_mut();
        assert_eq!(launch(kernel, blocks, 1, 1, 64, 1, 1, 0, stream.0, params.as_mut_ptr(), none), 0);
    }
}
