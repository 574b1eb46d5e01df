//! How the Tracy that is linked was built.
//!
//! Cargo's features add up, so any crate of the program can switch on a feature of
//! tracy-client-sys behind our back. Our own features would not tell; its items do.

use core::ffi::c_char;
use core::mem::size_of;

use tracy_client_sys as sys;

use crate::{Location, ZoneId};

/// Zones carry the connection that they belong to.
pub(super) const ON_DEMAND: bool = size_of::<sys::___tracy_c_zone_context>() == size_of::<Context>();

/// Everything goes through one queue with a lock, and each event names its thread.
pub(super) const FIBERS: bool = {
    #[allow(unused_imports, reason = "it has the name only with the feature")]
    use sys::*;
    is_function(&___tracy_fiber_enter)
};

/// Somebody else starts the client and stops it.
pub(super) const MANUAL_LIFETIME: bool = {
    #[allow(unused_imports, reason = "it has the name only with the feature")]
    use sys::*;
    is_function(&___tracy_startup_profiler)
};

// Where tracy-client-sys has a function of these names, the glob in the blocks above, the inner
// scope, means that function: an item without a size. Elsewhere the names fall through to these.
#[allow(non_upper_case_globals, dead_code, reason = "stands in for a C function")]
const ___tracy_fiber_enter: u8 = 0;
#[allow(non_upper_case_globals, dead_code, reason = "stands in for a C function")]
const ___tracy_startup_profiler: u8 = 0;

const fn is_function<T>(_: &T) -> bool {
    size_of::<T>() == 0
}

/// Whether zones are written by `inline`. Compiled for a fitting clock, it is valid with a queue
/// for each thread, and one that is there as long as the process.
pub(super) const INLINE: bool = cfg!(tracy_inline) && !FIBERS && !MANUAL_LIFETIME;

/// Whether Tracy can be called now. It cannot before somebody has started a client of manual
/// lifetime; other clients are there before `main`.
#[inline(always)]
pub(super) fn is_up() -> bool {
    !MANUAL_LIFETIME || is_started()
}

fn is_started() -> bool {
    mod absent {
        #[allow(non_snake_case, dead_code, reason = "stands in for a C function")]
        pub(super) unsafe fn ___tracy_profiler_started() -> i32 {
            1
        }
    }
    #[allow(unused_imports, reason = "as for the constants above")]
    use absent::*;
    {
        #[allow(unused_imports, reason = "as for the constants above")]
        use sys::*;
        // SAFETY: it reads an atomic static.
        unsafe { ___tracy_profiler_started() != 0 }
    }
}

/// Enters a fiber, in builds with them.
pub(super) fn fiber_enter(fiber: *const c_char) {
    mod absent {
        #[allow(non_snake_case, dead_code, reason = "stands in for a C function")]
        pub(super) unsafe fn ___tracy_fiber_enter(_: *const super::c_char) {}
    }
    #[allow(unused_imports, reason = "as for the constants above")]
    use absent::*;
    {
        #[allow(unused_imports, reason = "as for the constants above")]
        use sys::*;
        // SAFETY: the caller passes a string that lives as long as the program.
        unsafe { ___tracy_fiber_enter(fiber) }
    }
}

/// Leaves the fiber that the thread runs, in builds with them.
pub(super) fn fiber_leave() {
    mod absent {
        #[allow(non_snake_case, dead_code, reason = "stands in for a C function")]
        pub(super) unsafe fn ___tracy_fiber_leave() {}
    }
    #[allow(unused_imports, reason = "as for the constants above")]
    use absent::*;
    {
        #[allow(unused_imports, reason = "as for the constants above")]
        use sys::*;
        // SAFETY: it takes nothing.
        unsafe { ___tracy_fiber_leave() }
    }
}

/// A zone as C knows it, with the field that it has only on demand.
#[repr(C)]
#[derive(Clone, Copy)]
struct Context {
    id: u32,
    active: i32,
    connection: u64,
}

#[repr(C)]
union Either {
    whole: Context,
    linked: sys::___tracy_c_zone_context,
}

/// What C returned for a zone, as the provider's callers keep it.
#[inline(always)]
pub(super) fn zone_id(linked: sys::___tracy_c_zone_context) -> ZoneId {
    if linked.active == 0 {
        return ZoneId::NONE;
    }
    let mut either = Either { whole: Context { id: 0, active: 0, connection: 0 } };
    either.linked = linked;
    // SAFETY: both are plain numbers, `linked` is the beginning of `whole`, and an active zone's
    // fields are all set.
    let Context { id, connection, .. } = unsafe { either.whole };
    ZoneId { mark: 1 << 32 | u64::from(id), data: connection }
}

/// The zone as C knows it.
#[inline(always)]
pub(super) fn context(zone: ZoneId) -> sys::___tracy_c_zone_context {
    let active = i32::from(zone.is_recorded());
    let whole = Context { id: zone.mark as u32, active, connection: zone.data };
    // SAFETY: `linked` is the beginning of `whole`, of plain numbers.
    unsafe { Either { whole }.linked }
}

/// The location as C knows it: `Location` is laid out like it.
#[inline(always)]
pub(super) fn location(location: &'static Location) -> *const sys::___tracy_source_location_data {
    const {
        assert!(size_of::<Location>() == size_of::<sys::___tracy_source_location_data>());
        assert!(align_of::<Location>() == align_of::<sys::___tracy_source_location_data>());
    }
    core::ptr::from_ref(location).cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Our features are seen in the linked client, and none of ours asks for a manual lifetime.
    const _: () = {
        assert!(ON_DEMAND || !cfg!(feature = "tracy-on-demand"));
        assert!(FIBERS || !cfg!(feature = "fibers"));
        assert!(!MANUAL_LIFETIME);
    };

    #[test]
    fn a_zone_comes_back_as_it_went() {
        let data = if ON_DEMAND { u64::MAX - 3 } else { 0 };
        let zone = ZoneId { mark: 1 << 32 | 0xfedc_ba98, data };
        let there = context(zone);
        assert_eq!((there.id, there.active), (0xfedc_ba98, 1));
        assert_eq!(zone_id(there), zone);
        assert_eq!(zone_id(context(ZoneId::NONE)), ZoneId::NONE);
    }
}
