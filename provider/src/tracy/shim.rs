//! The C++ beside Tracy: see `shim/`. Only in builds that found Tracy's headers.
//!
//! Every variant stands in one archive, but nothing here names more than one of them: a constant is
//! evaluated by the compiler, so the program refers to the chosen function alone, and the linker
//! leaves the others, for which Tracy has no counterpart, where they are.

use core::ffi::{c_char, c_int};

use super::linked::{FIBERS, MANUAL_LIFETIME, ON_DEMAND};

/// Tracy's profiler object. Only the shim looks into it.
#[repr(C)]
pub(super) struct Profiler {
    _opaque: [u8; 0],
}

/// See `Answer` in `shim/sources.cpp`.
#[repr(C)]
pub(super) struct Answer {
    text: *mut c_char,
    size: usize,
}

/// See `Lookup` in `shim/sources.cpp`.
pub(super) type Lookup = unsafe extern "C" fn(path: *const c_char, size: usize, answer: *mut Answer);

/// Declares the functions of `shim/accessor.cpp` and picks the configuration that is linked.
macro_rules! accessor {
    ($(#[$doc:meta])* $constant:ident: $type:ty = $($name:ident($od:literal, $ml:literal, $f:literal))*) => {
        unsafe extern "C" { $(fn $name() -> $type;)* }
        $(#[$doc])*
        pub(super) const $constant: unsafe extern "C" fn() -> $type = match (ON_DEMAND, MANUAL_LIFETIME, FIBERS) {
            $(($od, $ml, $f) => $name,)*
        };
    };
}

accessor! {
    /// The profiler object. Tracy must be up.
    PROFILER: *mut Profiler =
        zonecast_tracy_profiler_od0_ml0_f0(false, false, false)
        zonecast_tracy_profiler_od1_ml0_f0(true, false, false)
        zonecast_tracy_profiler_od0_ml1_f0(false, true, false)
        zonecast_tracy_profiler_od1_ml1_f0(true, true, false)
        zonecast_tracy_profiler_od0_ml0_f1(false, false, true)
        zonecast_tracy_profiler_od1_ml0_f1(true, false, true)
        zonecast_tracy_profiler_od0_ml1_f1(false, true, true)
        zonecast_tracy_profiler_od1_ml1_f1(true, true, true)
}

accessor! {
    /// How many events of this thread nobody has taken. Tracy must be up.
    WAITING: usize =
        zonecast_tracy_waiting_od0_ml0_f0(false, false, false)
        zonecast_tracy_waiting_od1_ml0_f0(true, false, false)
        zonecast_tracy_waiting_od0_ml1_f0(false, true, false)
        zonecast_tracy_waiting_od1_ml1_f0(true, true, false)
        zonecast_tracy_waiting_od0_ml0_f1(false, false, true)
        zonecast_tracy_waiting_od1_ml0_f1(true, false, true)
        zonecast_tracy_waiting_od0_ml1_f1(false, true, true)
        zonecast_tracy_waiting_od1_ml1_f1(true, true, true)
}

unsafe extern "C" {
    fn zonecast_tracy_register_sources_od0(profiler: *mut Profiler, lookup: Lookup);
    fn zonecast_tracy_register_sources_od1(profiler: *mut Profiler, lookup: Lookup);
    fn zonecast_tracy_copy_od0(answer: *mut Answer, text: *const c_char, size: usize);
    fn zonecast_tracy_copy_od1(answer: *mut Answer, text: *const c_char, size: usize);
    fn zonecast_tracy_is_connected_od0(profiler: *const Profiler) -> c_int;
    fn zonecast_tracy_is_connected_od1(profiler: *const Profiler) -> c_int;
}

/// Has Tracy ask `lookup` for source texts.
pub(super) const REGISTER_SOURCES: unsafe extern "C" fn(*mut Profiler, Lookup) =
    if ON_DEMAND { zonecast_tracy_register_sources_od1 } else { zonecast_tracy_register_sources_od0 };

/// Answers with a copy of a text, in memory that Tracy frees.
pub(super) const COPY: unsafe extern "C" fn(*mut Answer, *const c_char, usize) =
    if ON_DEMAND { zonecast_tracy_copy_od1 } else { zonecast_tracy_copy_od0 };

/// Whether a profiler is connected, as the shim's idea of the object's layout has it.
pub(super) const IS_CONNECTED: unsafe extern "C" fn(*const Profiler) -> c_int =
    if ON_DEMAND { zonecast_tracy_is_connected_od1 } else { zonecast_tracy_is_connected_od0 };
