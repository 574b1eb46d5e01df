//! Launches through fake drivers, which are loaded as the real ones are.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::ffi::{CString, c_void};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use libloading::Library;
use zonecast_recordings::recorder::gpu::{Gpu, GpuError, Launch};
use zonecast_recordings::recorder::{
    Choice, Error, Instance, Keep, Launcher, Recorder, Recording, Sink, export,
};
use zonecast_recordings::{ImageKind, llvm};

const PTX: &[u8] = b".version 7.0\n.visible .global .align 4 .b8 table[16];\n.visible .entry add(\n\
    .param .u64 add_0,\n.param .u32 add_1,\n.param .align 4 .b8 add_2[12]\n)\n{ ret; }\n";

/// Adds the second word of a structure to each number.
extern "C" fn add(parameters: *const *mut c_void, shape: *const u32) {
    // SAFETY: it is launched with a pointer, a count and a structure of three words; the shape is six numbers.
    unsafe {
        let numbers = parameters.read().cast::<*mut u32>().read();
        let count = parameters.add(1).read().cast::<u32>().read();
        let structure = parameters.add(2).read().cast::<[u32; 3]>().read();
        assert_eq!(core::slice::from_raw_parts(shape, 6), [2, 3, 1, 8, 1, 4]);
        for index in 0..count as usize {
            *numbers.add(index) += structure[1];
        }
    }
}

/// Both fakes, for one test at a time.
struct Fakes {
    cuda: Library,
    hip: Library,
}

fn fakes() -> MutexGuard<'static, Fakes> {
    static FAKES: LazyLock<Mutex<Fakes>> = LazyLock::new(|| {
        let built = |file| std::env::current_exe().unwrap().with_file_name(file);
        // SAFETY: they are our own, and have no initialisers.
        let load = |file| unsafe { Library::new(built(file)) }.unwrap();
        Mutex::new(Fakes { cuda: load("libzonecast_fake_cuda.so"), hip: load("libzonecast_fake_hip.so") })
    });
    FAKES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fakes {
    /// Calls a function of numbers.
    fn call(library: &Library, name: &str, first: u64, second: u64) -> u64 {
        // SAFETY: the functions called take at most two numbers.
        let call = unsafe { library.get::<extern "C" fn(u64, u64) -> u64>(name) }.unwrap();
        call(first, second)
    }

    fn teach(library: &Library) {
        type Kernel = extern "C" fn(*const *mut c_void, *const u32);
        // SAFETY: the function has this type.
        let teach = unsafe { library.get::<unsafe extern "C" fn(*const i8, Kernel)>("fake_kernel") }.unwrap();
        let name = CString::new("add").unwrap();
        // SAFETY: the name ends with a 0.
        unsafe { teach(name.as_ptr().cast(), add) };
    }

    fn cuda(&self) -> Gpu {
        Self::teach(&self.cuda);
        Self::call(&self.cuda, "cuCtxPushCurrent_v2", 0xc0c0, 0);
        Gpu::cuda().unwrap()
    }

    fn hip(&self) -> Gpu {
        Self::teach(&self.hip);
        Gpu::hip().unwrap()
    }
}

type Kept = Arc<Mutex<Vec<Recording>>>;

/// A sink, and what comes into it.
fn sink() -> (impl Sink, Kept) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let into = kept.clone();
    let sink = move |_: &Instance, recording| {
        into.lock().unwrap().push(recording);
        Ok(())
    };
    (sink, kept)
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Launches `add` on a buffer of 16 zeros.
fn launch(recorder: &Recorder<Gpu>, buffer: u64, sizes: Option<&[usize]>) -> Result<(), Error<GpuError>> {
    let gpu = recorder.backend();
    // SAFETY: the text is whole.
    let module = unsafe { gpu.load(PTX) }.unwrap();
    let (mut pointer, mut count, mut structure) = (buffer, 16_u32, [1_u32, 5, 9]);
    let parameters = [(&raw mut pointer).cast(), (&raw mut count).cast(), (&raw mut structure).cast()];
    let launch = Launch {
        grid: [2, 3, 1],
        block: [8, 1, 4],
        shared_memory: 64,
        sizes,
        ..Launch::of(&module, c"add", &parameters)
    };
    // SAFETY: the kernel takes a pointer to 16 numbers, a count and a structure of three words.
    unsafe { recorder.launch(launch) }
}

/// Frees memory, so that the next test finds its addresses free.
fn free(recorder: &Recorder<Gpu>, buffers: &[u64]) {
    for &buffer in buffers {
        // SAFETY: nobody uses it.
        unsafe { recorder.free(buffer) }.unwrap();
    }
}

#[test]
fn a_launch_is_recorded_with_memory_variables_parameters_and_module() {
    let fakes = fakes();
    let (sink, kept) = sink();
    let recorder = Recorder::new(fakes.cuda(), Choice::default(), sink);
    let (other, buffer) = (recorder.allocate(100).unwrap(), recorder.allocate(64).unwrap());
    launch(&recorder, buffer, None).unwrap();
    let recording = kept.lock().unwrap().remove(0);
    let described = &recording.description;
    assert_eq!((described.backend.as_str(), described.kernel.as_str()), ("cuda", "add"));
    assert!(described.device.starts_with("Fake"), "{}", described.device);
    assert_eq!((described.grid, described.block, described.shared_memory), ([2, 3, 1], [8, 1, 4], 64));
    // Sizes are the driver's, and what points into the memory is found.
    let sizes: Vec<_> = described.arguments.iter().map(|argument| argument.bytes.len()).collect();
    assert_eq!(sizes, [8, 4, 12]);
    assert_eq!(numbers(&described.arguments[2].bytes), [1, 5, 9]);
    let (at, offset) = described.arguments[0].pointee.unwrap();
    assert_eq!((recording.memory[at].address, offset), (buffer, 0));
    assert_eq!(recording.memory.iter().map(|b| b.address).collect::<Vec<_>>(), [other, buffer]);
    assert_eq!(numbers(&recording.memory[at].before), [0; 16]);
    assert_eq!(numbers(&recording.memory[at].after), [5; 16]);
    assert_eq!((recording.globals[0].name.as_str(), recording.globals[0].before.len()), ("table", 16));
    assert_eq!(recording.image, PTX);
    assert!(recording.gaps.is_empty(), "{:?}", recording.gaps);
    free(&recorder, &[other, buffer]);
}

#[test]
fn memory_is_where_it_was_asked_for_and_is_given_back() {
    const MEMORY: u64 = 9;
    let fakes = fakes();
    let recorder = Recorder::new(fakes.cuda(), Choice::default(), sink().0);
    let used = Fakes::call(&fakes.cuda, "fake_number", MEMORY, 0);
    let buffers: Vec<u64> = [1, 4096, 3 << 20].map(|length| recorder.allocate(length).unwrap()).into();
    // Two megabytes at a time, one after the other.
    assert_eq!(buffers, [0x1000_0000_0000, 0x1000_0020_0000, 0x1000_0040_0000]);
    assert_eq!(buffers.iter().collect::<BTreeSet<_>>().len(), 3);
    free(&recorder, &buffers);
    assert_eq!(Fakes::call(&fakes.cuda, "fake_number", MEMORY, 0), used);
    let error = recorder.allocate(1 << 40).unwrap_err().to_string();
    assert!(error.contains("cuMem"), "{error}");
    assert_eq!(Fakes::call(&fakes.cuda, "fake_number", MEMORY, 0), used, "what was made is undone");
}

#[test]
fn memory_of_others_is_said_not_to_be_recorded() {
    let fakes = fakes();
    let (sink, kept) = sink();
    let recorder = Recorder::new(fakes.cuda(), Choice::default(), sink);
    let mut foreign = 0_u64;
    Fakes::call(&fakes.cuda, "cuMemAlloc_v2", (&raw mut foreign).addr() as u64, 64);
    launch(&recorder, foreign, None).unwrap();
    let recording = kept.lock().unwrap().remove(0);
    assert_eq!(recording.description.arguments[0].pointee, None);
    let expected = "parameter 0 points at memory that the recorder did not allocate, which is not recorded";
    assert_eq!(recording.gaps, [expected]);
    Fakes::call(&fakes.cuda, "cuMemFree_v2", foreign, 0);
}

#[test]
fn a_stream_that_is_captured_is_launched_into_and_not_recorded() {
    let fakes = fakes();
    let (sink, kept) = sink();
    let recorder = Recorder::new(fakes.cuda(), Choice::default(), sink);
    let buffer = recorder.allocate(64).unwrap();
    Fakes::call(&fakes.cuda, "fake_capture", 0, 1);
    let error = launch(&recorder, buffer, None).unwrap_err();
    Fakes::call(&fakes.cuda, "fake_capture", 0, 0);
    assert!(matches!(error, Error::Record(GpuError::Captured)), "{error}");
    assert!(error.to_string().contains("was launched, and not recorded"), "{error}");
    assert!(kept.lock().unwrap().is_empty());
    free(&recorder, &[buffer]);
}

#[test]
fn hip_is_recorded_if_it_is_told_the_sizes() {
    let fakes = fakes();
    let (sink, kept) = sink();
    let recorder = Recorder::new(fakes.hip(), Choice { keep: Keep::All, ..Choice::default() }, sink);
    let buffer = recorder.allocate(64).unwrap();
    let error = launch(&recorder, buffer, None).unwrap_err();
    assert!(matches!(&error, Error::Record(GpuError::Sizes(kernel)) if kernel == "add"), "{error}");
    launch(&recorder, buffer, Some(&[8, 4, 12])).unwrap();
    let recording = kept.lock().unwrap().remove(0);
    assert_eq!(recording.description.backend, "hip");
    // It was launched before, too.
    assert_eq!(numbers(&recording.memory[0].before), [5; 16]);
    assert_eq!(numbers(&recording.memory[0].after), [10; 16]);
    free(&recorder, &[buffer]);
}

#[test]
fn what_one_dimension_can_hold_is_exported_to_llvm_s_layout() {
    let fakes = fakes();
    let (sink, kept) = sink();
    let recorder = Recorder::new(fakes.cuda(), Choice::default(), sink);
    let buffer = recorder.allocate(64).unwrap();
    launch(&recorder, buffer, None).unwrap();
    free(&recorder, &[buffer]);
    let mut recording = kept.lock().unwrap().remove(0);
    let folder = tempfile::tempdir().unwrap();
    assert!(export(&recording, folder.path()).is_err());
    (recording.description.grid, recording.description.block) = ([2, 1, 1], [8, 1, 1]);
    recording.description.arguments.pop();
    let exported = llvm::Recording::open(export(&recording, folder.path()).unwrap()).unwrap();
    assert_eq!(exported.notes(), []);
    assert_eq!(exported.arguments().next().unwrap().pointee.unwrap().offset, 0);
    assert_eq!(ImageKind::of(&exported.read(llvm::Part::Image).unwrap()), ImageKind::Ptx);
}
