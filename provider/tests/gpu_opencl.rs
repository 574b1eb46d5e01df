//! The collector against a device that is truly asynchronous and has a clock of its own: OpenCL, which
//! Debian's package pocl-opencl-icd brings to any processor. Skipped, which is counted, where there is none;
//! a failure with `ZONECAST_GPU_NEEDS=opencl`.

#![cfg(target_os = "linux")]

mod gpu_sim;

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use libloading::Library;
use libtest_mimic::Arguments;
use zonecast::gpu::{Collector, Device, Error, Event, Gpu, Status, Stream};
use zonecast::{LaneKind, Time, location};

use gpu_sim::{keeper, trial};

type Handle = *mut c_void;

const PROFILING: u64 = 2;
const ANY_DEVICE: u64 = 0xffff_ffff;
const STATUS: u32 = 0x11d3;
const PROFILING_END: u32 = 0x1283;
const READ_WRITE: u64 = 1;
const PLATFORM_NAME: u32 = 0x0902;

/// As many of OpenCL's functions as are used.
struct OpenCl {
    _library: Library,
    create_queue: unsafe extern "C" fn(Handle, Handle, u64, *mut i32) -> Handle,
    release_queue: unsafe extern "C" fn(Handle) -> i32,
    marker: unsafe extern "C" fn(Handle, u32, *const Handle, *mut Handle) -> i32,
    flush: unsafe extern "C" fn(Handle) -> i32,
    finish: unsafe extern "C" fn(Handle) -> i32,
    event_info: unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> i32,
    profiling_info: unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> i32,
    release_event: unsafe extern "C" fn(Handle) -> i32,
    retain_event: unsafe extern "C" fn(Handle) -> i32,
    fill: FillBuffer,
    create_user_event: unsafe extern "C" fn(Handle, *mut i32) -> Handle,
    set_user_event: unsafe extern "C" fn(Handle, i32) -> i32,
    context: Handle,
    device: Handle,
    buffer: Handle,
}

type FillBuffer = unsafe extern "C" fn(
    Handle,
    Handle,
    *const c_void,
    usize,
    usize,
    usize,
    u32,
    *const Handle,
    *mut Handle,
) -> i32;

const BUFFER: usize = 8 << 20;
const TURNS: u64 = 60;
/// How far clocks may be from a straight line between two readings of theirs, in nanoseconds.
const BEND: i64 = 200;

impl OpenCl {
    /// PoCL's first device, if there is one. Of another's clock the truth would not be known.
    fn pocl() -> Option<Self> {
        // SAFETY: OpenCL's functions have these types; handles are passed on as they are made, and results checked.
        unsafe {
            let library = Library::new("libOpenCL.so.1").ok()?;
            let platforms: unsafe extern "C" fn(u32, *mut Handle, *mut u32) -> i32 =
                *library.get("clGetPlatformIDs").ok()?;
            let devices: unsafe extern "C" fn(Handle, u64, u32, *mut Handle, *mut u32) -> i32 =
                *library.get("clGetDeviceIDs").ok()?;
            let create_context: unsafe extern "C" fn(
                *const isize,
                u32,
                *const Handle,
                *const c_char,
                *mut c_void,
                *mut i32,
            ) -> Handle = *library.get("clCreateContext").ok()?;
            let create_buffer: unsafe extern "C" fn(Handle, u64, usize, *mut c_void, *mut i32) -> Handle =
                *library.get("clCreateBuffer").ok()?;
            let info: unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> i32 =
                *library.get("clGetPlatformInfo").ok()?;
            let (mut all, mut count, mut device, mut error) = ([null_mut(); 16], 0, null_mut(), 0);
            checked("clGetPlatformIDs", platforms(16, all.as_mut_ptr(), &mut count)).ok()?;
            let is_pocl = |platform: &&Handle| {
                let mut name = [0_u8; 64];
                info(**platform, PLATFORM_NAME, name.len(), name.as_mut_ptr().cast(), null_mut()) == 0
                    && name.starts_with(b"Portable Computing Language")
            };
            let platform = *all[..count as usize].iter().find(is_pocl)?;
            checked("clGetDeviceIDs", devices(platform, ANY_DEVICE, 1, &mut device, null_mut())).ok()?;
            let context = create_context(null(), 1, &device, null(), null_mut(), &mut error);
            let buffer = create_buffer(context, READ_WRITE, BUFFER, null_mut(), &mut error);
            Some(Self {
                create_queue: *library.get("clCreateCommandQueue").ok()?,
                release_queue: *library.get("clReleaseCommandQueue").ok()?,
                marker: *library.get("clEnqueueMarkerWithWaitList").ok()?,
                flush: *library.get("clFlush").ok()?,
                finish: *library.get("clFinish").ok()?,
                event_info: *library.get("clGetEventInfo").ok()?,
                profiling_info: *library.get("clGetEventProfilingInfo").ok()?,
                release_event: *library.get("clReleaseEvent").ok()?,
                retain_event: *library.get("clRetainEvent").ok()?,
                fill: *library.get("clEnqueueFillBuffer").ok()?,
                create_user_event: *library.get("clCreateUserEvent").ok()?,
                set_user_event: *library.get("clSetUserEventStatus").ok()?,
                context,
                device,
                buffer,
                _library: library,
            })
        }
    }
}

fn checked(call: &'static str, code: i32) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error::call(call, code as u32, "OpenCL's own")) }
}

/// The device. OpenCL's events are made by recording, so ours are numbers for the last one recorded.
#[derive(Clone)]
struct Queues(Arc<Shared>);

struct Shared {
    cl: OpenCl,
    events: Mutex<HashMap<usize, Handle>>,
    next: AtomicUsize,
    pending: AtomicU64,
    /// What was recorded on the program's stream, in order, and kept so that it can be asked again.
    recorded: Mutex<Vec<Handle>>,
    programs: AtomicUsize,
}

// SAFETY: OpenCL's objects may be used on any thread.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Queues {
    fn time(&self, event: Event) -> Result<i64, Error> {
        self.time_of(self.0.events.lock().unwrap()[&(event.0 as usize)])
    }

    fn time_of(&self, handle: Handle) -> Result<i64, Error> {
        let mut time = 0_u64;
        // SAFETY: the event is alive; it writes 8 bytes.
        let code = unsafe {
            (self.0.cl.profiling_info)(handle, PROFILING_END, 8, (&raw mut time).cast(), null_mut())
        };
        checked("clGetEventProfilingInfo", code)?;
        Ok(time as i64)
    }

    /// When all that was recorded on the program's stream was, by PoCL's clock and by ours: the truth, but for
    /// what lies between reading the two.
    fn truth(&self, clocks: &[Reading]) -> Vec<(i64, i64)> {
        let moment = |raw: i64| {
            let after = clocks.partition_point(|reading| reading.raw < raw).clamp(1, clocks.len() - 1);
            let [from, to] = [&clocks[after - 1], &clocks[after]];
            let part = (raw - from.raw) as f64 / (to.raw - from.raw) as f64;
            from.ours + (part * (to.ours - from.ours) as f64) as i64
        };
        let recorded = self.0.recorded.lock().unwrap();
        recorded.iter().map(|handle| self.time_of(*handle).unwrap()).map(|raw| (raw, moment(raw))).collect()
    }

    /// Has what is put on a stream from here on wait until `release` returns.
    fn hold(&self, stream: Stream, release: impl FnOnce()) {
        let (cl, mut error, mut marker) = (&self.0.cl, 0, null_mut());
        // SAFETY: context and queue are alive; the event is given back once it is set.
        unsafe {
            let event = (cl.create_user_event)(cl.context, &mut error);
            checked("clCreateUserEvent", error).unwrap();
            checked("clEnqueueMarkerWithWaitList", (cl.marker)(stream.0, 1, &event, &mut marker)).unwrap();
            release();
            checked("clSetUserEventStatus", (cl.set_user_event)(event, 0)).unwrap();
            (cl.release_event)(marker);
            (cl.release_event)(event);
        }
    }

    fn work(&self, stream: Stream, bytes: usize) {
        let pattern = 7_u8;
        let cl = &self.0.cl;
        // SAFETY: queue and buffer are alive, and the buffer is that large.
        let code = unsafe {
            (cl.fill)(stream.0, cl.buffer, (&raw const pattern).cast(), 1, 0, bytes, 0, null(), null_mut())
        };
        assert_eq!(code, 0);
    }
}

impl Device for Queues {
    fn name(&self) -> String {
        "OpenCL".into()
    }

    fn kind(&self) -> LaneKind {
        LaneKind::OpenCl
    }

    fn create_event(&self) -> Result<Event, Error> {
        Ok(Event(self.0.next.fetch_add(1, Ordering::Relaxed) as Handle))
    }

    unsafe fn destroy_event(&self, event: Event) {
        if let Some(handle) = self.0.events.lock().unwrap().remove(&(event.0 as usize)) {
            // SAFETY: the event is alive, and nobody else has it.
            unsafe { (self.0.cl.release_event)(handle) };
        }
    }

    unsafe fn record(&self, event: Event, stream: Stream) -> Result<(), Error> {
        let mut handle = null_mut();
        // SAFETY: the queue is alive; it writes one handle.
        checked("clEnqueueMarkerWithWaitList", unsafe {
            (self.0.cl.marker)(stream.0, 0, null(), &mut handle)
        })?;
        if stream.0 as usize == self.0.programs.load(Ordering::Relaxed) {
            self.0.recorded.lock().unwrap().push(handle);
            // SAFETY: as above. It is never released, so that it can be asked at the end.
            checked("clRetainEvent", unsafe { (self.0.cl.retain_event)(handle) })?;
        }
        // SAFETY: as above.
        checked("clFlush", unsafe { (self.0.cl.flush)(stream.0) })?;
        if let Some(old) = self.0.events.lock().unwrap().insert(event.0 as usize, handle) {
            // SAFETY: the event is alive, and nobody else has it.
            unsafe { (self.0.cl.release_event)(old) };
        }
        Ok(())
    }

    unsafe fn query(&self, event: Event) -> Result<Status, Error> {
        let handle = self.0.events.lock().unwrap()[&(event.0 as usize)];
        let mut status = 0_i32;
        // SAFETY: the event is alive; it writes 4 bytes.
        let code = unsafe { (self.0.cl.event_info)(handle, STATUS, 4, (&raw mut status).cast(), null_mut()) };
        checked("clGetEventInfo", code)?;
        match status {
            0 => Ok(Status::Done),
            1.. => {
                self.0.pending.fetch_add(1, Ordering::Relaxed);
                Ok(Status::Pending)
            }
            _ => Err(Error::call("clGetEventInfo", status as u32, "the command failed")),
        }
    }

    unsafe fn elapsed_ns(&self, earlier: Event, later: Event) -> Result<i64, Error> {
        Ok(self.time(later)? - self.time(earlier)?)
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        let mut error = 0;
        // SAFETY: context and device are alive.
        let queue =
            unsafe { (self.0.cl.create_queue)(self.0.cl.context, self.0.cl.device, PROFILING, &mut error) };
        checked("clCreateCommandQueue", error)?;
        Ok(Stream(queue))
    }

    unsafe fn destroy_stream(&self, stream: Stream) {
        // SAFETY: by the trait's contract.
        unsafe { (self.0.cl.release_queue)(stream.0) };
    }
}

/// PoCL's clock, which nobody sets, and ours at one moment, which is known this well.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Reading {
    width: i64,
    raw: i64,
    ours: i64,
}

fn both_clocks() -> Reading {
    let reading = || {
        let before = Time::now();
        let mut raw = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: it writes the time where it is told.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &mut raw) };
        let width = Time::now() - before;
        Reading { width, raw: raw.tv_sec * 1_000_000_000 + raw.tv_nsec, ours: before.ns() + width / 2 }
    };
    (0..10).map(|_| reading()).min().unwrap()
}

fn main() {
    let lacks = OpenCl::pocl().is_none().then(|| "no PoCL (Debian: pocl-opencl-icd)".to_owned());
    let trials = vec![trial("opencl", lacks, zones_of_a_truly_asynchronous_device)];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn zones_of_a_truly_asynchronous_device() {
    let cl = OpenCl::pocl().unwrap();
    let keeper = keeper();
    let device = Queues(Arc::new(Shared {
        cl,
        events: Mutex::default(),
        next: AtomicUsize::new(1),
        pending: AtomicU64::new(0),
        recorded: Mutex::default(),
        programs: AtomicUsize::new(0),
    }));
    let gpu = Gpu::new(device.clone()).unwrap();
    let stream = device.create_stream().unwrap();
    device.0.programs.store(stream.0 as usize, Ordering::Relaxed);
    // SAFETY: the queue is alive throughout.
    let context = unsafe { gpu.context(stream, "queue") };
    let mut clocks = vec![both_clocks()];
    device.hold(stream, || {
        drop(context.zone(location!("held")));
        while device.0.pending.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    for turn in 0..TURNS {
        {
            let _outer = context.zone(location!("outer"));
            for _ in 0..3 {
                let _inner = context.zone(location!("inner"));
                device.work(stream, BUFFER >> (turn % 4));
            }
        }
        if turn % 2 == 0 {
            // SAFETY: the queue is alive.
            unsafe { (device.0.cl.finish)(stream.0) };
        }
        std::thread::sleep(Duration::from_millis(30));
        clocks.push(both_clocks());
    }
    // SAFETY: the queue is alive.
    unsafe { (device.0.cl.finish)(stream.0) };
    clocks.push(both_clocks());
    // However busy the machine is, every zone comes, and is where it is said to be.
    assert_eq!(Collector::running().flush(Duration::from_secs(600)), 0);
    assert_eq!(context.outcome().recorded, 1 + 4 * TURNS);
    let (seen, truth) = (keeper.take(), device.truth(&clocks));
    let known = BEND + clocks.iter().map(|reading| reading.width).max().unwrap();
    for (tree, truth) in seen[1..].chunks(4).zip(truth[2..].chunks(8)) {
        assert_eq!([0, 1, 1, 1], [0, 1, 2, 3].map(|zone: usize| tree[zone].depth));
        for (zone, (begin, end)) in tree.iter().zip([(0, 7), (1, 2), (3, 4), (5, 6)]) {
            let (start, stop) = (zone.start - truth[begin].1, zone.end - truth[end].1);
            assert!(start.abs() <= zone.error + known, "begins {start} ns off: {zone:?}");
            assert!(stop.abs() <= zone.error + known, "ends {stop} ns off: {zone:?}");
            assert_eq!(zone.measured, truth[end].0 - truth[begin].0);
        }
    }
    let errors: Vec<i64> = seen.iter().map(|zone| zone.error).collect();
    println!("bounds of {:?} to {:?} ns", errors.iter().min(), errors.iter().max());
}
