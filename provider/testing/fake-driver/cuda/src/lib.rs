//! The face of CUDA's driver before the simulated device, for as many of its functions as are used: contexts,
//! streams, events, graphs; in modules beside, memory and kernels.
#![allow(non_snake_case, reason = "CUDA's names")]
#![allow(clippy::missing_safety_doc, reason = "CUDA's contracts")]
#![allow(missing_docs, reason = "CUDA's functions")]

pub mod kernels;
pub mod memory;

use core::ffi::{c_char, c_int, c_uint, c_void};

use zonecast_fake_driver::face::Held;
use zonecast_fake_driver::{Rounding, code, driver_calls};

zonecast_fake_driver::controls!(Rounding::Cuda);

const DEVICES: c_int = 2;

/// Whether the context still is.
fn alive(sim: &Held) -> Result<(), u32> {
    match () {
        () if sim.faults.ended => Err(code::DEINITIALIZED),
        () if sim.faults.destroyed => Err(code::CONTEXT_IS_DESTROYED),
        () => Ok(()),
    }
}

/// A context is current: what is made now is its device's.
fn in_context(sim: &mut Held) -> Result<(), u32> {
    match face::current().checked_sub(face::CONTEXT) {
        Some(device) => {
            sim.device = device;
            Ok(())
        }
        None => {
            sim.misuse.without_context += 1;
            Err(code::INVALID_CONTEXT)
        }
    }
}

fn device(number: c_int) -> Result<c_int, u32> {
    if (0..DEVICES).contains(&number) { Ok(number) } else { Err(code::INVALID_DEVICE) }
}

driver_calls! {
    fn cuInit(_flags: c_uint) { |sim| face::init(&sim) }
    fn cuDriverGetVersion() -> c_int { |sim| Ok(12_040) }
    fn cuDeviceGetCount() -> c_int { |sim| face::init(&sim).map(|()| DEVICES) }
    fn cuDeviceGet(number: c_int) -> c_int { |sim| device(number) }
    fn cuDeviceGetAttribute(_attribute: c_int, number: c_int) -> c_int { |sim| device(number).map(|_| 1) }
    fn cuDeviceTotalMem_v2(number: c_int) -> usize { |sim| device(number).map(|_| sim.memory.usage().1) }
    fn cuDevicePrimaryCtxRetain(number: c_int) -> u64 {
        |sim| device(number).map(|number| face::CONTEXT + number as u64)
    }
    fn cuDevicePrimaryCtxRelease_v2(number: c_int) { |sim| device(number).map(drop) }

    fn cuCtxGetCurrent() -> u64 { |sim| Ok(face::current()) }
    fn cuCtxSetCurrent(context: u64) {
        |sim| alive(&sim).map(|()| {
            face::pop();
            face::push(context);
        })
    }
    fn cuCtxPushCurrent_v2(context: u64) { |sim| alive(&sim).map(|()| face::push(context)) }
    fn cuCtxGetDevice() -> c_int { |sim| in_context(&mut sim).map(|()| sim.device as c_int) }

    fn cuStreamCreate(_flags: c_uint) -> u64 {
        |sim| in_context(&mut sim).and_then(|()| sim.create_stream())
    }
    fn cuStreamDestroy_v2(stream: u64) {
        |sim| in_context(&mut sim).and_then(|()| sim.destroy_stream(stream))
    }
    fn cuStreamWaitEvent(stream: u64, event: u64, _flags: c_uint) { |sim| sim.wait_event(stream, event) }
    fn cuStreamBeginCapture_v2(stream: u64, _mode: c_uint) { |sim| { sim.capture(stream, true); Ok(()) } }

    fn cuEventCreate(_flags: c_uint) -> u64 {
        |sim| in_context(&mut sim).and_then(|()| sim.create_event())
    }
    fn cuEventDestroy_v2(event: u64) { |sim| in_context(&mut sim).and_then(|()| sim.destroy_event(event)) }
    fn cuEventRecord(event: u64, stream: u64) { |sim| sim.record(event, stream) }
    fn cuEventQuery(event: u64) {
        |sim| {
            in_context(&mut sim)
                .and_then(|()| face::check_capture(&mut sim))
                .and_then(|()| sim.query(event))
        }
    }
    fn cuEventElapsedTime(from: u64, to: u64) -> f32 {
        |sim| in_context(&mut sim).and_then(|()| sim.elapsed(from, to))
    }

    fn cuGraphCreate(_flags: c_uint) -> u64 { |sim| Ok(sim.create_graph()) }
    fn cuGraphInstantiateWithFlags(graph: u64, _flags: u64) -> u64 { |sim| sim.instantiate(graph) }
    fn cuGraphLaunch(graph: u64, stream: u64) { |sim| sim.launch_graph(graph, stream) }
    fn cuGraphDestroy(graph: u64) { |sim| sim.destroy_graph(graph) }
    fn cuGraphExecDestroy(graph: u64) { |sim| sim.destroy_graph(graph) }
    fn cuGraphAddEventRecordNode(graph: u64, _after: *const u64, _count: usize, event: u64) -> u64 {
        |sim| sim.add_graph_event(graph, event)
    }
    fn cuGraphExecEventRecordNodeSetEvent(graph: u64, node: u64, event: u64) {
        |sim| sim.set_graph_event(graph, node, event)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, size: c_int, _: c_int) -> u32 {
    // SAFETY: by CUDA's contract there is room for `size` bytes.
    face::result(unsafe { face::put_name(name, size, c"Fake CUDA GPU") })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(context: *mut u64) -> u32 {
    match face::pop() {
        // SAFETY: by CUDA's contract; null is allowed.
        Some(was) if !context.is_null() => unsafe { face::write(context, Ok(was)) },
        Some(_) => code::SUCCESS,
        None => code::INVALID_CONTEXT,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> u32 {
    face::result(face::synchronize(None))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx(stream: u64, context: *mut u64) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(context, Ok(face::CONTEXT + face::hold().stream_device(stream))) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: u64) -> u32 {
    face::result(face::synchronize(Some(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(stream: u64, graph: *mut u64) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(graph, face::hold().captured_graph(stream)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing(stream: u64, status: *mut u32) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(status, face::hold().is_capturing(stream).map(u32::from)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { mode.write(face::exchange_mode(mode.read())) };
    code::SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(_: u64) -> u32 {
    face::result(face::synchronize(None))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: u32, name: *mut *const c_char) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(name, Ok(face::name(code).as_ptr())) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(code: u32, text: *mut *const c_char) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { cuGetErrorName(code, text) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLaunchHostFunc(
    stream: u64,
    function: extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> u32 {
    let done = face::synchronize(Some(stream));
    function(data);
    face::result(done)
}
