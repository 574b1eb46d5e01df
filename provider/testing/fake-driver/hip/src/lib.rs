//! The face of HIP's runtime before the simulated device, for as many of its functions as are used. It is
//! that of an old one: what newer ones have in addition is not there.
#![allow(non_snake_case, reason = "HIP's names")]
#![allow(clippy::missing_safety_doc, reason = "HIP's contracts")]
#![allow(missing_docs, reason = "HIP's functions")]

use core::ffi::{c_char, c_int, c_uint, c_void};

use zonecast_fake_driver::face::Held;
use zonecast_fake_driver::{Rounding, code, driver_calls};

zonecast_fake_driver::controls!(Rounding::HipClamped);

const DEVICES: c_int = 2;

/// What is made now is of the device that is current.
fn on_device(sim: &mut Held) -> Result<(), u32> {
    sim.device = face::current();
    if sim.faults.ended { Err(code::DEINITIALIZED) } else { Ok(()) }
}

driver_calls! {
    fn hipInit(_flags: c_uint) { |sim| face::init(&sim) }
    fn hipRuntimeGetVersion() -> c_int { |sim| Ok(50_200_000) }
    fn hipGetDeviceCount() -> c_int { |sim| face::init(&sim).map(|()| DEVICES) }
    fn hipGetDevice() -> c_int { |sim| on_device(&mut sim).map(|()| face::current() as c_int) }
    fn hipSetDevice(device: c_int) {
        |sim| if (0..DEVICES).contains(&device) {
            face::pop();
            face::push(device as u64);
            Ok(())
        } else {
            Err(code::INVALID_DEVICE)
        }
    }

    fn hipStreamCreateWithFlags(_flags: c_uint) -> u64 {
        |sim| on_device(&mut sim).and_then(|()| sim.create_stream())
    }
    fn hipStreamDestroy(stream: u64) { |sim| sim.destroy_stream(stream) }
    fn hipStreamWaitEvent(stream: u64, event: u64, _flags: c_uint) { |sim| sim.wait_event(stream, event) }

    fn hipEventCreateWithFlags(_flags: c_uint) -> u64 {
        |sim| on_device(&mut sim).and_then(|()| sim.create_event())
    }
    fn hipEventDestroy(event: u64) { |sim| sim.destroy_event(event) }
    fn hipEventRecord(event: u64, stream: u64) { |sim| sim.record(event, stream) }
    fn hipEventQuery(event: u64) { |sim| face::check_capture(&mut sim).and_then(|()| sim.query(event)) }
    fn hipEventElapsedTime(from: u64, to: u64) -> f32 { |sim| sim.elapsed(from, to) }

    fn hipMalloc(size: usize) -> u64 { |sim| sim.call("alloc").and_then(|()| sim.memory.allocate(size)) }
    fn hipFree(address: u64) { |sim| sim.memory.free(address) }
    fn hipMemcpyHtoD(to: u64, from: *const c_void, size: usize) {
        // SAFETY: by HIP's contract.
        |sim| unsafe { face::copy(&mut sim, (to, true), (from as u64, false), size) }
    }
    fn hipMemcpyDtoH(to: *mut c_void, from: u64, size: usize) {
        // SAFETY: by HIP's contract.
        |sim| unsafe { face::copy(&mut sim, (to as u64, false), (from, true), size) }
    }

    fn hipModuleLoadData(image: *const c_void) -> u64 {
        // SAFETY: by HIP's contract.
        |sim| sim.load_module(unsafe { face::ptx(image) })
    }
    fn hipModuleUnload(module: u64) { |sim| sim.unload_module(module) }
    fn hipModuleGetFunction(module: u64, name: *const c_char) -> u64 {
        // SAFETY: by HIP's contract.
        |sim| unsafe { face::name_of(name) }.and_then(|name| sim.module_function(module, name))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, size: c_int, _: c_int) -> u32 {
    // SAFETY: by HIP's contract there is room for `size` bytes.
    face::result(unsafe { face::put_name(name, size, c"Fake HIP GPU") })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> u32 {
    face::result(face::synchronize(None))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(stream: u64) -> u32 {
    face::result(face::synchronize(Some(stream)))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(_: u64) -> u32 {
    face::result(face::synchronize(None))
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
#[allow(clippy::too_many_arguments, reason = "HIP's")]
pub extern "C" fn hipModuleLaunchKernel(
    function: u64,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    _shared: c_uint,
    stream: u64,
    params: *const *mut c_void,
    _extra: *const *mut c_void,
) -> u32 {
    let shape = [grid_x, grid_y, grid_z, block_x, block_y, block_z];
    face::result(face::launch(function, shape, stream, params))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(code: u32) -> *const c_char {
    face::name(code).as_ptr()
}
