//! The face of HIP's runtime before the simulated device, for as many of its functions as are used. It is
//! that of an old one: what newer ones have in addition is not there.
#![allow(non_snake_case, reason = "HIP's names")]
#![allow(clippy::missing_safety_doc, reason = "HIP's contracts")]
#![allow(missing_docs, reason = "HIP's functions")]

use core::ffi::{c_char, c_int, c_uint};

use zonecast_fake_driver::{Rounding, code};

zonecast_fake_driver::controls!(Rounding::HipClamped);

fn init() -> Result<(), u32> {
    match face::hold().faults.fail.get("init") {
        Some(&(_, code)) => Err(code),
        None => Ok(()),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(_: c_uint) -> u32 {
    face::result(init())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> u32 {
    // SAFETY: by HIP's contract.
    unsafe { face::write(count, init().map(|()| 2)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, size: c_int, _: c_int) -> u32 {
    let text = b"Fake HIP GPU\0";
    if size < text.len() as c_int {
        return code::INVALID_VALUE;
    }
    // SAFETY: by HIP's contract there is room for `size` bytes.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), text.len()) };
    code::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> u32 {
    // SAFETY: by HIP's contract.
    unsafe { face::write(device, Ok(face::current() as c_int)) }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> u32 {
    face::pop();
    face::push(device as u64);
    code::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut u64, _: c_uint) -> u32 {
    // SAFETY: by HIP's contract.
    unsafe { face::write(stream, face::hold().create_stream()) }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamDestroy(stream: u64) -> u32 {
    face::result(face::hold().destroy_stream(stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamIsCapturing(stream: u64, status: *mut u32) -> u32 {
    // SAFETY: by HIP's contract.
    unsafe { face::write(status, face::hold().is_capturing(stream).map(u32::from)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipThreadExchangeStreamCaptureMode(mode: *mut u32) -> u32 {
    // SAFETY: by HIP's contract.
    unsafe { mode.write(face::exchange_mode(mode.read())) };
    code::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut u64, _: c_uint) -> u32 {
    // SAFETY: by HIP's contract.
    unsafe { face::write(event, face::hold().create_event()) }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventDestroy(event: u64) -> u32 {
    face::result(face::hold().destroy_event(event))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecord(event: u64, stream: u64) -> u32 {
    face::result(face::hold().record(event, stream))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventQuery(event: u64) -> u32 {
    let mut sim = face::hold();
    face::result(face::check_capture(&mut sim).and_then(|()| sim.query(event)))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(_: u64) -> u32 {
    face::hold().misuse.blocking += 1;
    code::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(ms: *mut f32, from: u64, to: u64) -> u32 {
    // SAFETY: by HIP's contract.
    unsafe { face::write(ms, face::hold().elapsed(from, to)) }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(code: u32) -> *const c_char {
    face::name(code).as_ptr()
}
