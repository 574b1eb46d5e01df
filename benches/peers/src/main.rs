//! Loops over the calls of peers, run by `cost` and `ratio` as zonecast's own are.

use std::process::ExitCode;

use zonecast_benches::program::Loop;

#[cfg(any(feature = "recorders", feature = "profiling"))]
mod raw {
    //! Tracy's C interface, to compare times with in the same process.

    use std::hint::black_box;

    #[cfg(feature = "recorders")]
    use tracy_client::{Client, sys};
    #[cfg(not(feature = "recorders"))]
    use tracy_client_018::{Client, sys};

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

    pub(crate) fn start() {
        Client::start();
    }

    pub(crate) fn is_connected() -> bool {
        // SAFETY: the client has been started.
        unsafe { sys::___tracy_connected() != 0 }
    }

    zonecast_benches::loops! {
        fn loop_tracy_raw(n) {
            for i in 0..n {
                // SAFETY: the place lives as long as the program; the zone is ended once, on its thread.
                unsafe {
                    let zone = sys::___tracy_emit_zone_begin(&PLACE.0, 1);
                    black_box(i);
                    sys::___tracy_emit_zone_end(zone);
                }
            }
        }
    }
}

#[cfg(any(feature = "recorders", feature = "profiling"))]
mod scopes {
    //! The `profiling` crate: without a backend, or on Tracy.

    use std::hint::black_box;

    zonecast_benches::loops! {
        fn loop_profiling(n) {
            for i in 0..n {
                profiling::scope!("zone");
                black_box(i);
            }
        }
    }
}

#[cfg(feature = "recorders")]
mod recorders {
    //! puffin and fastrace keep what ended until an outermost scope does. So these have one for
    //! every thousand scopes, as a program has one for every frame or request.

    use std::hint::black_box;

    use fastrace::prelude::{LocalSpan, Span, SpanContext};

    const SCOPES: u64 = 1_000;

    pub(crate) fn start() {
        puffin::set_scopes_on(true);
        fastrace::set_reporter(Forgetful, fastrace::collector::Config::default());
    }

    struct Forgetful;

    impl fastrace::collector::Reporter for Forgetful {
        fn report(&mut self, _: Vec<fastrace::collector::SpanRecord>) {}
    }

    zonecast_benches::loops! {
        fn loop_puffin(n) {
            for first in (0..n).step_by(SCOPES as usize) {
                puffin::GlobalProfiler::lock().new_frame();
                puffin::profile_scope!("frame");
                for i in first..n.min(first + SCOPES) {
                    puffin::profile_scope!("zone");
                    black_box(i);
                }
            }
        }

        fn loop_fastrace(n) {
            for first in (0..n).step_by(SCOPES as usize) {
                let root = Span::root("request", SpanContext::random());
                let _root = root.set_local_parent();
                for i in first..n.min(first + SCOPES) {
                    let _zone = LocalSpan::enter_with_local_parent("zone");
                    black_box(i);
                }
            }
        }
    }
}

fn main() -> ExitCode {
    let mut loops: Vec<Loop> = Vec::new();
    #[cfg(feature = "recorders")]
    {
        recorders::start();
        loops.extend_from_slice(recorders::LOOPS);
    }
    #[cfg(any(feature = "recorders", feature = "profiling"))]
    {
        raw::start();
        loops.extend_from_slice(raw::LOOPS);
        loops.extend_from_slice(scopes::LOOPS);
        return zonecast_benches::program::main(&loops, raw::is_connected);
    }
    #[allow(unreachable_code, reason = "there are no peers without a feature")]
    zonecast_benches::program::main(&loops, || false)
}
