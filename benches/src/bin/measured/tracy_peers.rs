//! Tracy's own interfaces, and what Rust programs use today to reach it.

use std::ffi::CStr;
use std::hint::black_box;

use tracy_client::sys;
use zonecast_benches::program::Loop;

/// Tracy's C++ macro, compiled inline.
pub(crate) const CXX: Loop = Loop { name: "loop_tracy_cxx", run: loop_tracy_cxx };

unsafe extern "C" {
    // foreign/inlined.cpp; it takes any number.
    safe fn loop_tracy_cxx(n: u64);
}

struct Place(sys::___tracy_source_location_data);
// SAFETY: its pointers are to constants, and nothing is ever written.
unsafe impl Sync for Place {}

static PLACE: Place = Place(sys::___tracy_source_location_data {
    name: c"zone".as_ptr(),
    function: c"run".as_ptr(),
    file: c"run.rs".as_ptr(),
    line: 1,
    color: 0,
});

const TEXT: &str = "batch 7 of 1000";
const MESSAGE: &str = "weights are loaded";
const PLOT: &CStr = c"queue length";
// As long as a compiler makes them.
const KERNEL: &str = "main_graph$async_dispatch_17_matmul_128x512x768_f32";
const FILE: &str = "models/resnet50/module_main_graph_dispatch_17.mlir";

fn begin() -> sys::___tracy_c_zone_context {
    // SAFETY: the place lives as long as the program.
    unsafe { sys::___tracy_emit_zone_begin(&PLACE.0, 1) }
}

fn end(zone: sys::___tracy_c_zone_context) {
    // SAFETY: the zone was begun on this thread and is ended once.
    unsafe { sys::___tracy_emit_zone_end(zone) };
}

zonecast_benches::loops! {
    /// The C interface, which most bindings use.
    fn loop_tracy_raw(n) {
        for i in 0..n {
            let zone = begin();
            black_box(i);
            end(zone);
        }
    }

    /// A location allocated for each zone, as IREE does for dispatches.
    fn loop_tracy_raw_alloc(n) {
        for i in 0..n {
            // SAFETY: the texts are as long as is said; the location is used once.
            let zone = unsafe {
                let place = sys::___tracy_alloc_srcloc_name(
                    42,
                    FILE.as_ptr().cast(),
                    FILE.len(),
                    KERNEL.as_ptr().cast(),
                    KERNEL.len(),
                    KERNEL.as_ptr().cast(),
                    KERNEL.len(),
                    0,
                );
                sys::___tracy_emit_zone_begin_alloc(place, 1)
            };
            black_box(i);
            end(zone);
        }
    }

    fn loop_tracy_raw_text(n) {
        for i in 0..n {
            let zone = begin();
            // SAFETY: the text is as long as is said.
            unsafe { sys::___tracy_emit_zone_text(zone, TEXT.as_ptr().cast(), TEXT.len()) };
            black_box(i);
            end(zone);
        }
    }

    fn loop_tracy_raw_value(n) {
        for i in 0..n {
            let zone = begin();
            // SAFETY: the zone was begun on this thread.
            unsafe { sys::___tracy_emit_zone_value(zone, i) };
            black_box(i);
            end(zone);
        }
    }

    fn loop_tracy_raw_message(n) {
        let info = sys::TracyMessageSeverity_TracyMessageSeverityInfo as i8;
        for i in 0..n {
            // SAFETY: the text is as long as is said.
            unsafe { sys::___tracy_emit_logString(info, 0, 0, MESSAGE.len(), MESSAGE.as_ptr().cast()) };
            black_box(i);
        }
    }

    fn loop_tracy_raw_plot(n) {
        for i in 0..n {
            // SAFETY: the name lives as long as the program.
            unsafe { sys::___tracy_emit_plot_int(PLOT.as_ptr(), i as i64) };
            black_box(i);
        }
    }

    /// tracy-client's macro.
    fn loop_tracy_span(n) {
        for i in 0..n {
            let _span = tracy_client::span!("zone");
            black_box(i);
        }
    }
}
