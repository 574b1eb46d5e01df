//! CUDA's and HIP's backends, on fake drivers that are loaded like the real ones.
//!
//! Each case runs in a process of its own, since a process loads a driver once. The fake drivers are
//! dev-dependencies, so they are built; nothing of them is linked.

#![cfg(target_os = "linux")]

mod gpu_sim;

use std::ffi::c_void;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use libloading::Library;
use zonecast::gpu::cuda::{self, Cuda};
use zonecast::gpu::hip::{self, Hip};
use zonecast::gpu::{Context, Error, ErrorKind, Gpu, Stream};
use zonecast::location;

use gpu_sim::keeper;

/// A fake driver, loaded: whoever asks for the real one's name gets it from here on.
struct Fake {
    library: Library,
    create_stream: &'static str,
}

impl Fake {
    fn cuda() -> Self {
        Self::load("libzonecast_fake_cuda.so", "cuStreamCreate")
    }

    fn hip() -> Self {
        Self::load("libzonecast_fake_hip.so", "hipStreamCreateWithFlags")
    }

    fn load(file: &str, create_stream: &'static str) -> Self {
        let path = std::env::current_exe().unwrap().with_file_name(file);
        // SAFETY: it is our own, and has no initialisers.
        let library = unsafe { Library::new(&path) }.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self { library, create_stream }
    }

    fn number(&self, which: u32) -> u64 {
        // SAFETY: the function has this type.
        unsafe { self.library.get::<extern "C" fn(u32) -> u64>("fake_number").unwrap()(which) }
    }

    fn fail(&self, kind: u32, code: u32) {
        // SAFETY: the function has this type.
        unsafe { self.library.get::<extern "C" fn(u32, u64, u32)>("fake_fail").unwrap()(kind, 0, code) }
    }

    fn call(&self, name: &str) {
        // SAFETY: the functions called have this type.
        unsafe { self.library.get::<extern "C" fn()>(name).unwrap()() }
    }

    fn capture(&self, stream: Stream, on: bool) {
        // SAFETY: the function has this type.
        unsafe {
            self.library.get::<extern "C" fn(*mut c_void, u32)>("fake_capture").unwrap()(
                stream.0,
                u32::from(on),
            );
        }
    }

    fn launch(&self, stream: Stream, ns: i64) {
        // SAFETY: the function has this type.
        unsafe {
            self.library.get::<extern "C" fn(*mut c_void, i64) -> u32>("fake_launch").unwrap()(stream.0, ns)
        };
    }

    fn stream(&self) -> Stream {
        let mut stream = std::ptr::null_mut();
        // SAFETY: the functions have this type.
        unsafe {
            let create = self.library.get::<extern "C" fn(*mut *mut c_void, u32) -> u32>(self.create_stream);
            assert_eq!(create.unwrap()(&mut stream, 0), 0);
        }
        Stream(stream)
    }

    fn set_device(&self, device: i32) {
        // SAFETY: the function has this type.
        unsafe { self.library.get::<extern "C" fn(i32) -> u32>("hipSetDevice").unwrap()(device) };
    }

    /// Makes the one context of CUDA's current.
    fn push(&self) {
        // SAFETY: the function has this type.
        unsafe { self.library.get::<extern "C" fn(u64) -> u32>("cuCtxPushCurrent_v2").unwrap()(0xc0c0) };
    }
}

/// Runs one of the cases below.
fn case(name: &str, prepare: impl FnOnce(&mut Command)) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("cases::{name}"), "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    prepare(&mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "no case {name}");
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn cuda_zones() {
    case("cuda_zones", |_| {});
}

#[test]
fn hip_zones() {
    case("hip_zones", |_| {});
}

#[test]
fn without_a_library_there_is_an_error() {
    case("no_library", |_| {});
}

#[test]
fn a_stub_and_an_absent_device_are_told_apart() {
    case("stub", |_| {});
    case("no_device", |_| {});
}

#[test]
fn a_lost_device_is_said_once_and_the_program_goes_on() {
    let said = stderr(&case("lost", |_| {}));
    let sentence = "GPU zones of Fake CUDA GPU end here: cuEventQuery failed with 709 (CONTEXT_IS_DESTROYED)";
    let starts = said.matches("GPU zones of").count();
    assert!(starts == 1 && (said.contains(sentence) || said.contains("709")), "{said}");
}

/// Debian's package libamdhip64-5 is enough for this, no device needed.
#[test]
fn the_real_runtime_says_that_there_is_no_device() {
    let output = case("real_hip", |_| {});
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

mod cases {
    use super::*;

    /// Zones in zones, some of them while the stream is captured, seen whole by the provider.
    fn zones(fake: &Fake, context: &Context, stream: Stream) {
        let keeper = keeper();
        let started = Instant::now();
        let mut trees = 0;
        while started.elapsed() < Duration::from_millis(2_200) {
            {
                let _outer = context.zone(location!("outer"));
                for _ in 0..2 {
                    let _inner = context.zone(location!("inner"));
                    fake.launch(stream, 40_000);
                }
            }
            trees += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
        fake.capture(stream, true);
        drop(context.zone(location!("captured")));
        std::thread::sleep(Duration::from_millis(5));
        fake.capture(stream, false);
        assert_eq!(zonecast::gpu::Collector::running().flush(Duration::from_secs(5)), 0);
        let outcome = context.outcome();
        assert_eq!((outcome.recorded, outcome.in_capture, outcome.failed), (3 * trees, 1, 0));
        let seen = keeper.take();
        assert_eq!(seen.len() as u64, 3 * trees);
        for tree in seen.chunks(3) {
            assert_eq!([&*tree[0].title, &*tree[1].title, &*tree[2].title], ["outer", "inner", "inner"]);
            assert!(
                tree[0].start <= tree[1].start && tree[1].end <= tree[2].start && tree[2].end <= tree[0].end
            );
            for zone in tree {
                assert!(zone.launched.0.ns() <= zone.start, "{zone:?}");
                assert!(zone.measured >= 40_000, "{zone:?}");
            }
        }
        assert!(context.clock_error().is_some_and(|error| error > 0));
    }

    fn no_misuse(fake: &Fake) {
        let misuse = [2, 3, 4, 5, 7, 8].map(|which| fake.number(which));
        let of = "waits, dead handles, broken captures, early times, other devices, without a context";
        assert_eq!(misuse, [0; 6], "{of}");
    }

    /// All that was made is given back.
    fn nothing_left(fake: &Fake, streams: u64) {
        let started = Instant::now();
        while fake.number(0) > 0 && started.elapsed() < Duration::from_secs(5) {
            zonecast::gpu::Collector::running().flush(Duration::from_millis(1));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!((fake.number(0), fake.number(1)), (0, streams), "events and streams left");
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn cuda_zones() {
        let fake = Fake::cuda();
        drop(keeper());
        fake.push();
        let stream = fake.stream();
        let before = fake.number(6);
        // SAFETY: the stream is alive throughout.
        let context = unsafe { Gpu::new(Cuda::of_stream(stream).unwrap()).unwrap().context(stream, "s") };
        zones(&fake, &context, stream);
        assert_eq!(fake.number(6), before, "the program's context is still current");
        drop(context);
        no_misuse(&fake);
        nothing_left(&fake, 1);
        Cuda::current().unwrap();
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn hip_zones() {
        let fake = Fake::hip();
        drop(keeper());
        fake.set_device(1);
        let stream = fake.stream();
        fake.set_device(0);
        // SAFETY: the stream is alive.
        let old = unsafe { Hip::of_stream(stream) }.map(drop);
        assert_eq!(kind(old), ErrorKind::SymbolMissing { symbol: "hipStreamGetDevice" });
        // SAFETY: the stream is alive throughout.
        let context = unsafe { Gpu::new(Hip::device(1).unwrap()).unwrap().context(stream, "s") };
        zones(&fake, &context, stream);
        assert_eq!(fake.number(6), 0, "device 0 is still current");
        drop(context);
        no_misuse(&fake);
        nothing_left(&fake, 1);
        assert!(Hip::device(2).is_err());
        // Graphs are newer than this runtime.
    }

    fn kind(result: Result<(), Error>) -> ErrorKind {
        result.unwrap_err().kind().clone()
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn no_library() {
        // Where a real one is installed there is nothing to see.
        match cuda::check() {
            Err(error) => {
                let missing = matches!(error.kind(), ErrorKind::LibraryMissing { .. });
                assert!(missing || matches!(error.kind(), ErrorKind::NoDevice { .. }), "{error}");
                assert!(Cuda::current().is_err());
            }
            Ok(()) => println!("there is a CUDA driver with a device here"),
        }
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn stub() {
        let fake = Fake::cuda();
        fake.fail(5, 34);
        assert_eq!(kind(cuda::check()), ErrorKind::Stub { call: "cuInit" });
        assert!(cuda::check().unwrap_err().to_string().contains("LD_LIBRARY_PATH"));
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn no_device() {
        let (cuda, hip) = (Fake::cuda(), Fake::hip());
        cuda.fail(5, 100);
        hip.fail(5, 101);
        assert_eq!(kind(cuda::check()), ErrorKind::NoDevice { call: "cuInit" });
        assert_eq!(kind(hip::check()), ErrorKind::NoDevice { call: "hipInit" });
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn lost() {
        let fake = Fake::cuda();
        drop(keeper());
        fake.push();
        let stream = fake.stream();
        // SAFETY: the stream is alive throughout.
        let context = unsafe { Gpu::new(Cuda::of_stream(stream).unwrap()).unwrap().context(stream, "s") };
        drop(context.zone(location!("before")));
        fake.call("fake_destroy");
        std::thread::sleep(Duration::from_millis(100));
        for _ in 0..10 {
            drop(context.zone(location!("after")));
        }
        assert_eq!(zonecast::gpu::Collector::running().flush(Duration::from_secs(5)), 0);
        let outcome = context.outcome();
        assert_eq!((outcome.recorded + outcome.failed, outcome.in_flight), (11, 0), "{outcome:?}");
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn real_hip() {
        match hip::check().map_err(|error| error.kind().clone()) {
            Err(ErrorKind::LibraryMissing { .. }) => println!("skipped: HIP's runtime is not installed"),
            Err(ErrorKind::NoDevice { call }) => println!("the real runtime: no device, says {call}"),
            Err(kind) => panic!("{kind:?}"),
            Ok(()) => println!("skipped: there is a HIP device here"),
        }
    }
}
