//! The face of CUDA's driver before the simulated device, for as many of its functions as are used.
#![allow(non_snake_case, reason = "CUDA's names")]
#![allow(clippy::missing_safety_doc, reason = "CUDA's contracts")]
#![allow(missing_docs, reason = "CUDA's functions")]

use core::ffi::{c_char, c_int, c_uint};

use zonecast_fake_driver::{Rounding, code};

zonecast_fake_driver::controls!(Rounding::Cuda);

fn init() -> Result<(), u32> {
    match face::hold().faults.fail.get("init") {
        Some(&(_, code)) => Err(code),
        None => Ok(()),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_: c_uint) -> u32 {
    face::result(init())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(count, init().map(|()| 1)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, size: c_int, _: c_int) -> u32 {
    let text = b"Fake CUDA GPU\0";
    if size < text.len() as c_int {
        return code::INVALID_VALUE;
    }
    // SAFETY: by CUDA's contract there is room for `size` bytes.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), text.len()) };
    code::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut u64) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(context, Ok(face::current())) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> u32 {
    let known = if face::current() == 0 { Err(201) } else { Ok(0) };
    // SAFETY: by CUDA's contract.
    unsafe { face::write(device, known) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPushCurrent_v2(context: u64) -> u32 {
    face::push(context);
    code::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(context: *mut u64) -> u32 {
    match face::pop() {
        // SAFETY: by CUDA's contract; null is allowed.
        Some(was) if !context.is_null() => unsafe { face::write(context, Ok(was)) },
        Some(_) => code::SUCCESS,
        None => 201,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx(_: u64, context: *mut u64) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(context, Ok(face::CONTEXT)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut u64, _: c_uint) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(stream, in_context().and_then(|()| face::hold().create_stream())) }
}

fn in_context() -> Result<(), u32> {
    if face::current() == 0 { Err(201) } else { Ok(()) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(stream: u64) -> u32 {
    face::result(face::hold().destroy_stream(stream))
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
pub unsafe extern "C" fn cuEventCreate(event: *mut u64, _: c_uint) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(event, in_context().and_then(|()| face::hold().create_event())) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: u64) -> u32 {
    face::result(face::hold().destroy_event(event))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: u64, stream: u64) -> u32 {
    face::result(face::hold().record(event, stream))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: u64) -> u32 {
    let mut sim = face::hold();
    face::result(face::check_capture(&mut sim).and_then(|()| sim.query(event)))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(_: u64) -> u32 {
    face::hold().misuse.blocking += 1;
    code::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(ms: *mut f32, from: u64, to: u64) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(ms, face::hold().elapsed(from, to)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: u32, name: *mut *const c_char) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(name, Ok(face::name(code).as_ptr())) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddEventRecordNode(
    node: *mut u64,
    graph: u64,
    _: *const u64,
    _: usize,
    event: u64,
) -> u32 {
    // SAFETY: by CUDA's contract.
    unsafe { face::write(node, face::hold().add_graph_event(graph, event)) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecEventRecordNodeSetEvent(graph: u64, node: u64, event: u64) -> u32 {
    face::result(face::hold().set_graph_event(graph, node, event))
}
