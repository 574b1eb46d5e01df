//! Tracy: the calls, as its client records them.
//!
//! This folder alone knows Tracy's names and layouts. It is built on tracy-client-sys (one version
//! of it, see the workspace's Cargo.toml) and on `shim/`, a few lines of C++ for what Tracy's C
//! interface lacks.
//!
//! * `linked` tells how Tracy was built, which any crate of the program has a say in;
//! * `inline` writes zones, plots and messages into the thread's queue, `c_api` hands them to Tracy
//!   where that is not valid; `check` proves that it is; `connection` is for zones on demand;
//! * `thread` knows when a thread may record: not when it, or the process, is about to end;
//! * `bound` limits what waits for a profiler, `drops` reports what was too much;
//! * `calls` is what goes through Tracy's C interface in every build;
//! * `app_info` tells each profiler the lines of application info once, on demand;
//! * `lanes` are GPU contexts, `locks` locks, `lanes_plain` and `locks_plain` those of builds without the shim;
//! * `sources` answers when the profiler asks for a source text;
//! * `end` waits at the end of a session where `TRACY_NO_EXIT` asks for it;
//! * `text` cuts texts to what Tracy can carry.
//!
//! # What is as in Tracy itself
//!
//! * A zone that begins while a profiler reconnects can stay open in its trace.
//! * On demand, what is told just when a profiler connects can come to it twice: a plot's style, to no effect,
//!   and the line of application info that names zonecast.
//! * A child made by `fork` has no client thread: nothing that it records is ever sent, and it must
//!   leave by `_exit`, since Tracy's destructor would wait for that thread.
//! * Nothing may be recorded in a signal handler.
//! * A recycled queue can put a few events on the short-lived thread that had it before.

#[cfg(tracy_shim)]
mod app_info;
#[cfg(tracy_shim)]
mod bound;
mod c_api;
mod calls;
#[cfg(tracy_inline)]
mod check;
#[cfg(tracy_inline)]
mod connection;
#[cfg(tracy_shim)]
mod drops;
#[cfg(tracy_shim)]
mod end;
#[cfg(tracy_inline)]
mod inline;
mod lanes;
#[cfg(not(tracy_shim))]
mod lanes_plain;
mod linked;
mod locks;
#[cfg(not(tracy_shim))]
mod locks_plain;
#[cfg(tracy_shim)]
mod shim;
mod sources;
mod text;
#[cfg(tracy_shim)]
mod thread;
#[cfg(not(tracy_shim))]
#[path = "unguarded.rs"]
mod thread;

#[cfg(not(tracy_inline))]
use c_api as inline;

use crate::{
    FrameImage, LaneId, LaneInfo, LaneZone, Location, LockId, Message, Name, PlotStyle, Provider, ZoneId,
};

/// The Tracy client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracy;

/// Calls the function of this name the way that is valid: known when the program is built.
macro_rules! cheapest {
    ($call:ident($($argument:expr),*)) => {
        if linked::INLINE { inline::$call($($argument),*) } else { c_api::$call($($argument),*) }
    };
}

impl Provider for Tracy {
    fn start(&self) {
        #[cfg(tracy_shim)]
        thread::begin();
    }

    fn flush(&self) {
        #[cfg(tracy_shim)]
        if self.is_connected() {
            drops::report();
        }
    }

    fn finish(&self) {
        #[cfg(tracy_shim)]
        end::finish();
    }

    fn limit_memory(&self, bytes: usize) {
        let _ = bytes;
        #[cfg(tracy_shim)]
        bound::set_limit(bytes);
    }

    #[inline]
    fn is_connected(&self) -> bool {
        calls::is_connected()
    }

    #[inline]
    fn is_recording(&self) -> bool {
        if linked::ON_DEMAND { calls::is_connected() } else { linked::is_up() }
    }

    #[inline(always)]
    fn zone_begin(&self, location: &'static Location) -> ZoneId {
        cheapest!(begin(location))
    }

    #[inline(always)]
    fn try_zone_begin(&self, location: &'static Location) -> Option<ZoneId> {
        #[cfg(tracy_inline)]
        return inline::try_begin(location);
        #[cfg(not(tracy_inline))]
        Some(c_api::begin(location))
    }

    #[inline]
    fn zone_begin_callstack(&self, location: &'static Location, depth: u32) -> ZoneId {
        cheapest!(begin_callstack(location, depth))
    }

    #[inline(always)]
    fn zone_end(&self, zone: ZoneId) {
        cheapest!(end(zone));
    }

    #[inline(always)]
    fn try_zone_end(&self, zone: ZoneId) -> bool {
        #[cfg(tracy_inline)]
        return inline::try_end(zone);
        #[cfg(not(tracy_inline))]
        {
            c_api::end(zone);
            true
        }
    }

    #[inline(always)]
    fn zone_switch(&self, zone: ZoneId, location: &'static Location) -> ZoneId {
        cheapest!(switch(zone, location))
    }

    #[inline]
    fn zone_text(&self, zone: ZoneId, text: &str) {
        cheapest!(text(zone, text));
    }

    #[inline]
    fn zone_name(&self, zone: ZoneId, name: &str) {
        cheapest!(name(zone, name));
    }

    #[inline]
    fn zone_value(&self, zone: ZoneId, value: u64) {
        cheapest!(value(zone, value));
    }

    #[inline]
    fn zone_color(&self, zone: ZoneId, color: u32) {
        cheapest!(color(zone, color));
    }

    #[inline]
    fn message(&self, message: Message<'_>) {
        cheapest!(message(message));
    }

    #[inline]
    fn plot_i64(&self, plot: Name, value: i64) {
        cheapest!(plot_i64(plot, value));
    }

    #[inline]
    fn plot_f64(&self, plot: Name, value: f64) {
        cheapest!(plot_f64(plot, value));
    }

    #[inline]
    fn plot_f32(&self, plot: Name, value: f32) {
        cheapest!(plot_f32(plot, value));
    }

    fn plot_style(&self, plot: Name, style: PlotStyle) {
        calls::plot_style(plot, style);
    }

    #[inline]
    fn frame_mark(&self, frame: Option<Name>) {
        calls::frame_mark(frame);
    }

    #[inline]
    fn frame_begin(&self, frame: Name) {
        calls::frame_begin(frame);
    }

    #[inline]
    fn frame_end(&self, frame: Name) {
        calls::frame_end(frame);
    }

    fn frame_image(&self, image: FrameImage<'_>) {
        calls::frame_image(image);
    }

    #[inline]
    fn memory_alloc(&self, pool: Option<Name>, address: usize, size: usize, callstack: u32) {
        calls::memory_alloc(pool, address, size, callstack);
    }

    #[inline]
    fn memory_free(&self, pool: Option<Name>, address: usize, callstack: u32) {
        calls::memory_free(pool, address, callstack);
    }

    fn memory_discard(&self, pool: Name, callstack: u32) {
        calls::memory_discard(pool, callstack);
    }

    fn lock_announce(&self, location: &'static Location) -> LockId {
        locks::announce(location)
    }

    fn lock_name(&self, lock: LockId, name: &str) {
        locks::name(lock, name);
    }

    #[inline]
    fn lock_wait(&self, lock: LockId) {
        locks::wait(lock);
    }

    #[inline]
    fn lock_obtain(&self, lock: LockId) {
        locks::obtain(lock);
    }

    #[inline]
    fn lock_try_obtain(&self, lock: LockId, obtained: bool) {
        locks::try_obtain(lock, obtained);
    }

    #[inline]
    fn lock_release(&self, lock: LockId) {
        locks::release(lock);
    }

    fn lock_terminate(&self, lock: LockId) {
        locks::terminate(lock);
    }

    #[inline]
    fn fiber_enter(&self, fiber: Name) {
        calls::fiber_enter(fiber);
    }

    #[inline]
    fn fiber_leave(&self) {
        calls::fiber_leave();
    }

    fn lane_create(&self, lane: LaneInfo<'_>) -> LaneId {
        lanes::create(lane)
    }

    fn lane_zones(&self, lane: LaneId, tree: &[LaneZone<'_>]) {
        // Four events for each zone. A tree is recorded whole or not at all.
        if thread::may_emit_anywhere(4 * calls::SHARED_ITEM * tree.len()) {
            lanes::zones(lane, tree);
        }
    }

    fn lane_close(&self, lane: LaneId) {
        lanes::close(lane);
    }

    fn thread_name(&self, name: &str) {
        calls::thread_name(name);
    }

    fn app_info(&self, text: &str) {
        calls::app_info(text);
    }

    fn sources_ready(&self) {
        sources::register();
    }
}
