//! CUDA's and HIP's backends, on fake drivers that are loaded like the real ones.
//!
//! Each case runs in a process of its own, since a process loads a driver once.

#![cfg(target_os = "linux")]

mod gpu_fake;
mod gpu_sim;

use std::process::Command;
use std::time::{Duration, Instant};

use cudarc::driver::CudaContext;
use zonecast::gpu::cuda::{self, Cuda};
use zonecast::gpu::hip::{self, Hip};
use zonecast::gpu::{Collector, Context, Error, ErrorKind, Gpu, Outcome, Stream};
use zonecast::location;

use gpu_fake::{CURRENT, EVENTS, Fake, INIT, STREAMS};
use gpu_sim::keeper;

/// Longer than any machine is busy with something else.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs one of the cases below. Returns what it said on standard error.
fn case(name: &str) -> String {
    let (output, said) = process(name);
    assert!(output.contains("1 passed"), "no case {name}: {output}\n{said}");
    said
}

/// Runs one of the cases below, which ends its process. Returns what it printed, and what it said.
fn process(name: &str) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("cases::{name}"), "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    let output = command.output().unwrap();
    let [printed, said] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{name}: {}\n{said}\n{printed}", output.status);
    (printed, said)
}

#[test]
fn cuda_zones() {
    case("cuda_zones");
}

#[test]
fn hip_zones() {
    case("hip_zones");
}

#[test]
fn a_stream_of_cudarcs_is_one_of_cudas() {
    case("cudarc_stream");
}

/// What is said once, of whatever many contexts, while the program goes on.
fn assert_said(said: &str, sentence: &str) {
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("zonecast: ")).collect();
    assert_eq!(lines, [format!("zonecast: {sentence}")], "{said}");
}

#[test]
fn without_a_library_a_program_goes_on() {
    let said = case("no_library");
    if let Err(reason) = cuda::check() {
        assert_said(&said, &format!("there are no GPU zones: {reason}"));
    }
}

#[test]
fn without_a_device_a_program_goes_on() {
    let said = case("no_device");
    assert_said(&said, "there are no GPU zones: the GPU driver finds no device (cuInit says so)");
}

#[test]
fn with_a_stub_a_program_goes_on() {
    let said = case("stub");
    assert_said(
        &said,
        "there are no GPU zones: the GPU driver's library is a stub to link against (cuInit says so); take its \
         folder out of LD_LIBRARY_PATH so that the driver's own is found",
    );
}

#[test]
fn with_an_old_driver_a_program_goes_on() {
    let said = case("old_driver");
    assert_said(
        &said,
        "there are no GPU zones: the GPU driver's library has no cuStreamIsCapturing; a newer driver is needed",
    );
}

#[test]
fn a_lost_device_is_said_once_and_the_program_goes_on() {
    let said = case("lost");
    assert!(said.contains("failed with 709 (CONTEXT_IS_DESTROYED); the program goes on"), "{said}");
    assert_eq!(said.matches("GPU zones of Fake CUDA GPU end here: cu").count(), 1, "{said}");
}

#[test]
fn a_program_may_end_while_zones_are_on_their_way() {
    let (printed, said) = process("end_in_flight");
    assert!(printed.contains("ending"), "{printed}");
    assert!(!said.contains("zonecast: "), "{said}");
}

#[test]
fn a_forked_child_waits_for_nobody() {
    case("fork");
}

#[test]
fn a_panic_ends_zones_like_any_other_end() {
    case("panic");
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
        assert_eq!(Collector::running().flush(PATIENCE), 0);
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

    /// All that was made is given back.
    fn nothing_left(fake: &Fake, streams: u64) {
        let started = Instant::now();
        while fake.number(EVENTS) > 0 && started.elapsed() < PATIENCE {
            Collector::running().flush(Duration::from_millis(1));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!((fake.number(EVENTS), fake.number(STREAMS)), (0, streams), "events and streams left");
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn cuda_zones() {
        let fake = Fake::cuda();
        drop(keeper());
        fake.push();
        let stream = fake.stream();
        let before = fake.number(CURRENT);
        // SAFETY: the stream is alive throughout.
        let context = unsafe { Gpu::new(Cuda::of_stream(stream).unwrap()).unwrap().context(stream, "s") };
        zones(&fake, &context, stream);
        assert_eq!(fake.number(CURRENT), before, "the program's context is still current");
        drop(context);
        fake.assert_no_misuse();
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
        assert_eq!(fake.number(CURRENT), 0, "device 0 is still current");
        drop(context);
        fake.assert_no_misuse();
        nothing_left(&fake, 1);
        assert!(Hip::device(2).is_err());
        // Graphs are newer than this runtime.
    }

    fn kind(result: Result<(), Error>) -> ErrorKind {
        result.unwrap_err().kind().clone()
    }

    /// What a program does that goes on without a device, twice; then the device is asked for in earnest.
    fn without_a_device() -> ErrorKind {
        drop(keeper());
        for _ in 0..2 {
            let made = Cuda::current().and_then(Gpu::new);
            // SAFETY: there is no device, so no stream is looked at.
            let made = made.map(|gpu| unsafe { gpu.context(Stream(std::ptr::null_mut()), "s") });
            let context = Context::or_off(made);
            drop(context.zone(location!("nothing")));
            assert_eq!(context.outcome(), Outcome::default());
            assert_eq!(context.clock_error(), None);
        }
        kind(cuda::check())
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn no_library() {
        // Where a real driver is installed, there is another reason, or none.
        if cuda::check().is_err() {
            let kind = without_a_device();
            assert!(
                matches!(kind, ErrorKind::LibraryMissing { .. } | ErrorKind::NoDevice { .. }),
                "{kind:?}"
            );
        }
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn stub() {
        let fake = Fake::cuda();
        fake.fail(INIT, 34);
        assert_eq!(without_a_device(), ErrorKind::Stub { call: "cuInit" });
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn no_device() {
        let (cuda, hip) = (Fake::cuda(), Fake::hip());
        cuda.fail(INIT, 100);
        hip.fail(INIT, 101);
        assert_eq!(without_a_device(), ErrorKind::NoDevice { call: "cuInit" });
        assert_eq!(kind(hip::check()), ErrorKind::NoDevice { call: "hipInit" });
        let found: Vec<String> = zonecast::gpu::diagnose().iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "CUDA: the GPU driver finds no device (cuInit says so)",
                "HIP: the GPU driver finds no device (hipInit says so)",
            ]
        );
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn old_driver() {
        let folder = tempfile::tempdir().unwrap();
        let _fake = Fake::cuda_without("cuStreamIsCapturing", folder.path());
        assert_eq!(without_a_device(), ErrorKind::SymbolMissing { symbol: "cuStreamIsCapturing" });
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn end_in_flight() {
        // Registered before the driver's end, so called after it.
        // SAFETY: the function may be called at any time.
        unsafe { libc::atexit(wait) };
        let fake = Fake::cuda();
        drop(keeper());
        fake.push();
        let (context, stream) = fake.context("s");
        fake.launch(stream, 3_600_000_000_000);
        for _ in 0..1_000 {
            drop(context.zone(location!("waits")));
        }
        let open = context.zone(location!("open"));
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(context.outcome().in_flight, 1_000);
        println!("ending");
        std::mem::forget(open);
        std::mem::forget(context);
        std::process::exit(0);
    }

    /// The collector looks once more, at a driver that has shut down.
    extern "C" fn wait() {
        std::thread::sleep(Duration::from_millis(60));
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn fork() {
        let fake = Fake::cuda();
        let keeper = keeper();
        fake.push();
        let stream = fake.stream();
        // SAFETY: the stream is alive throughout.
        let gpu = Gpu::new(unsafe { Cuda::of_stream(stream) }.unwrap()).unwrap();
        // SAFETY: as above.
        let context = unsafe { gpu.context(stream, "s") };
        for _ in 0..40 {
            drop(context.zone(location!("parent")));
            fake.launch(stream, 100_000);
            // SAFETY: the child touches neither the driver, which no driver bears, nor what other threads hold.
            match unsafe { libc::fork() } {
                0 => {
                    // SAFETY: the stream is not looked at.
                    let off = unsafe { gpu.context(stream, "child") };
                    drop(off.zone(location!("child")));
                    let left = Collector::running().flush(Duration::from_secs(600));
                    drop((off, gpu.clone(), context.outcome(), context.clock_error()));
                    // SAFETY: it ends the child at once.
                    unsafe { libc::_exit(if left == 0 { 7 } else { 1 }) };
                }
                child => {
                    let mut status = 0;
                    // SAFETY: it is our child.
                    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                    assert_eq!(libc::WEXITSTATUS(status), 7);
                }
            }
        }
        assert_eq!(Collector::running().flush(PATIENCE), 0);
        assert_eq!(context.outcome().recorded, 40);
        assert!(keeper.take().iter().all(|zone| zone.title == "parent"));
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn panic() {
        let fake = Fake::cuda();
        let keeper = keeper();
        fake.push();
        let (context, _) = fake.context("s");
        let work = std::panic::AssertUnwindSafe(|| {
            let _outer = context.zone(location!("outer"));
            let _inner = context.zone(location!("inner"));
            // One that nobody ends.
            context.begin(location!("innermost"));
            panic!("as wanted");
        });
        std::panic::catch_unwind(work).unwrap_err();
        // Another thread goes on with the context; guards that are forgotten end with what is around them.
        let context = std::thread::scope(|scope| {
            let work = move || {
                let outer = context.begin(location!("outer"));
                std::mem::forget(context.zone(location!("forgotten")));
                context.end(outer);
                context.end(outer);
                std::mem::forget(context.zone(location!("last")));
                context
            };
            scope.spawn(work).join().unwrap()
        });
        drop(context);
        assert_eq!(Collector::running().flush(PATIENCE), 0);
        let titles: Vec<_> = keeper.take().into_iter().map(|zone| (zone.depth, zone.title)).collect();
        let expected =
            [(0, "outer"), (1, "inner"), (2, "innermost"), (0, "outer"), (1, "forgotten"), (0, "last")];
        assert_eq!(titles, expected.map(|(depth, title)| (depth, title.to_owned())));
        fake.assert_no_misuse();
        nothing_left(&fake, 1);
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn cudarc_stream() {
        let _fake = Fake::cuda();
        let keeper = keeper();
        let device = CudaContext::new(0).unwrap();
        let stream = device.new_stream().unwrap();
        // SAFETY: the stream is alive throughout.
        let gpu = Gpu::new(unsafe { Cuda::of_stream((&*stream).into()) }.unwrap()).unwrap();
        // SAFETY: as above.
        let context = unsafe { gpu.context((&*stream).into(), "s") };
        {
            let _zone = context.zone(location!("copy"));
            let memory = stream.clone_htod(&[1_u8, 2, 3]).unwrap();
            assert_eq!(stream.clone_dtoh(&memory).unwrap(), [1, 2, 3]);
        }
        assert_eq!(Collector::running().flush(PATIENCE), 0);
        assert_eq!(keeper.take()[0].title, "copy");
        drop((context, gpu));
        let said = zonecast::gpu::diagnose()[0].to_string();
        assert_eq!(said, "CUDA: zones can be recorded on Fake CUDA GPU, Fake CUDA GPU");
    }

    #[test]
    #[ignore = "a case of a test above"]
    fn lost() {
        let fake = Fake::cuda();
        drop(keeper());
        fake.push();
        let (context, _) = fake.context("s");
        drop(context.zone(location!("before")));
        fake.destroy();
        std::thread::sleep(Duration::from_millis(100));
        for _ in 0..10 {
            drop(context.zone(location!("after")));
        }
        assert_eq!(Collector::running().flush(PATIENCE), 0);
        let outcome = context.outcome();
        assert_eq!((outcome.recorded + outcome.failed, outcome.in_flight), (11, 0), "{outcome:?}");
    }
}
