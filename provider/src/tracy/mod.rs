//! Tracy: the calls, as its client records them.
//!
//! This folder alone knows Tracy's names and layouts. It is built on tracy-client-sys (one version
//! of it, see the workspace's Cargo.toml) and on `shim/`, a few lines of C++ for what Tracy's C
//! interface lacks.
//!
//! * `linked` tells how Tracy was built, which any crate of the program has a say in;
//! * `zones` and `calls` are the provider's calls, `locks` those that need memory of their own;
//! * `sources` answers when the profiler asks for a source text;
//! * `end` waits at the end of a session where `TRACY_NO_EXIT` asks for it;
//! * `text` cuts texts to what Tracy can carry.
//!
//! # What grows while no profiler is connected
//!
//! Without the feature `tracy-on-demand` every event from the first on is kept until a profiler
//! fetches it: 64 to 80 bytes for a zone, twice that with a text.

mod calls;
mod end;
mod linked;
mod locks;
#[cfg(tracy_shim)]
mod shim;
mod sources;
mod text;
mod zones;

use crate::{FrameImage, Location, LockId, Message, Name, PlotStyle, Provider, ZoneId};

/// The Tracy client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracy;

impl Provider for Tracy {
    fn finish(&self) {
        end::wait_if_asked();
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
        zones::begin(location)
    }

    #[inline]
    fn zone_begin_callstack(&self, location: &'static Location, depth: u32) -> ZoneId {
        zones::begin_callstack(location, depth)
    }

    #[inline(always)]
    fn zone_end(&self, zone: ZoneId) {
        zones::end(zone);
    }

    #[inline]
    fn zone_text(&self, zone: ZoneId, text: &str) {
        zones::text(zone, text);
    }

    #[inline]
    fn zone_name(&self, zone: ZoneId, name: &str) {
        zones::name(zone, name);
    }

    #[inline]
    fn zone_value(&self, zone: ZoneId, value: u64) {
        zones::value(zone, value);
    }

    #[inline]
    fn zone_color(&self, zone: ZoneId, color: u32) {
        zones::color(zone, color);
    }

    #[inline]
    fn message(&self, message: Message<'_>) {
        calls::message(message);
    }

    #[inline]
    fn plot_i64(&self, plot: Name, value: i64) {
        calls::plot_i64(plot, value);
    }

    #[inline]
    fn plot_f64(&self, plot: Name, value: f64) {
        calls::plot_f64(plot, value);
    }

    #[inline]
    fn plot_f32(&self, plot: Name, value: f32) {
        calls::plot_f32(plot, value);
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
