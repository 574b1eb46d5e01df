//! Zones on devices, by the names that IREE's drivers call.
//!
//! A driver records an event on its stream for each begin and each end, says so here by the event's
//! number ("query"), and says its time later. What is shown is a zone of a lane, whole, once both of
//! its times are known: what never gets a time, or gets one that cannot be, leaves nothing behind.
//!
//! [`context`] puts together what belongs together. Here are the contexts, and the thread that hands
//! zones on once the clocks have been compared around them: about a second and a half later.

mod context;
mod queries;
mod trees;

use std::ffi::c_char;
use std::sync::Once;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use zonecast::{LaneKind, Location, Time};

use crate::guard::guarded;
use crate::say::sentence;
use crate::{text, zones};
use context::{Base, Context};
use queries::Place;

/// Contexts have 8 bits, and the last number is none's.
const MOST: usize = u8::MAX as usize;
const NONE: u8 = u8::MAX;

/// How often zones are handed on.
const PAUSE: Duration = Duration::from_millis(250);

/// By their numbers. IREE never says that one is over.
static CONTEXTS: RwLock<Vec<&'static Mutex<Context>>> = RwLock::new(Vec::new());

/// The host's clock, in nanoseconds.
#[unsafe(no_mangle)]
extern "C" fn iree_tracing_time() -> i64 {
    guarded(0, || Time::now().ns())
}

#[unsafe(no_mangle)]
extern "C" fn iree_tracing_frequency() -> i64 {
    1_000_000_000
}

/// # Safety
///
/// As the functions of `zones`.
#[unsafe(no_mangle)]
unsafe extern "C" fn iree_tracing_gpu_context_allocate(
    kind: u32,
    name: *const c_char,
    name_length: usize,
    is_calibrated: bool,
    host: u64,
    device: u64,
    period: f32,
) -> u8 {
    guarded(NONE, || {
        // SAFETY: the caller's promise.
        let name = unsafe { text::counted(name, name_length) };
        let base = Base::new(Time::from_ns(host.cast_signed()), device.cast_signed(), period);
        allocate(&name, kind_of(kind, &name), base, is_calibrated)
    })
}

#[unsafe(no_mangle)]
extern "C" fn iree_tracing_gpu_context_calibrate(context: u8, _delta: i64, host: i64, device: i64) {
    with(context, |context| context.compare(device, Time::from_ns(host)));
}

/// # Safety
///
/// The location stays as it is until the program ends.
#[unsafe(no_mangle)]
unsafe extern "C" fn iree_tracing_gpu_zone_begin(context: u8, query: u16, location: &'static Location) {
    with(context, |context| context.begin(query, Place::Static(location)));
}

/// # Safety
///
/// As the functions of `zones`.
#[unsafe(no_mangle)]
unsafe extern "C" fn iree_tracing_gpu_zone_begin_external(
    context: u8,
    query: u16,
    file: *const c_char,
    file_length: usize,
    line: u32,
    function: *const c_char,
    function_length: usize,
    name: *const c_char,
    name_length: usize,
) {
    with(context, |context| {
        // SAFETY: the caller's promise.
        let place = unsafe {
            zones::place((file, file_length), line, (function, function_length), (name, name_length))
        };
        context.begin(query, Place::Interned(place));
    });
}

#[unsafe(no_mangle)]
extern "C" fn iree_tracing_gpu_zone_end(context: u8, query: u16) {
    with(context, |context| context.end(query));
}

/// A time of 0 says that the event was never launched.
#[unsafe(no_mangle)]
extern "C" fn iree_tracing_gpu_zone_notify(context: u8, query: u16, device: i64) {
    with(context, |context| context.notify(query, device));
}

/// Hands on all zones that have ended.
pub(crate) fn finish() {
    hand_on(true);
}

fn allocate(name: &str, kind: LaneKind, base: Base, is_calibrated: bool) -> u8 {
    if !zonecast::ENABLED {
        return NONE;
    }
    let mut contexts = CONTEXTS.write();
    let number = contexts.len();
    if number == MOST {
        static SAID: Once = Once::new();
        SAID.call_once(|| {
            sentence(format_args!("{MOST} device contexts are all that IREE can name; {name} is not shown"));
        });
        return NONE;
    }
    let context = Context::new(name, kind, base, is_calibrated);
    contexts.push(Box::leak(Box::new(Mutex::new(context))));
    drop(contexts);
    hand_on_from_now();
    number as u8
}

/// IREE calls all its devices Vulkan; their names say more.
fn kind_of(kind: u32, name: &str) -> LaneKind {
    match kind {
        _ if name.starts_with("cuda") => LaneKind::Cuda,
        _ if name.starts_with("hip") => LaneKind::Hip,
        2 => LaneKind::Vulkan,
        3 => LaneKind::OpenCl,
        _ => LaneKind::Custom,
    }
}

fn with(context: u8, call: impl FnOnce(&mut Context)) {
    guarded((), || {
        let context = CONTEXTS.read().get(usize::from(context)).copied();
        if let Some(context) = context {
            call(&mut context.lock());
        }
    });
}

fn hand_on(all: bool) {
    let contexts = CONTEXTS.read().clone();
    for context in contexts {
        guarded((), || context.lock().hand_on(all));
    }
}

/// Starts the thread that hands zones on, and has the rest handed on when the program exits.
fn hand_on_from_now() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        extern "C" fn at_exit() {
            finish();
        }
        // SAFETY: the function is there until the end, and lets no panic out.
        unsafe { libc::atexit(at_exit) };
        let started = std::thread::Builder::new().name("zonecast devices".into()).spawn(|| {
            loop {
                std::thread::sleep(PAUSE);
                hand_on(false);
            }
        });
        if let Err(error) = started {
            sentence(format_args!("no thread for zones of devices ({error}); they are shown at the end"));
        }
    });
}
