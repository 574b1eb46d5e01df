//! Zones, plots and messages written straight into the thread's queue.
//!
//! Tracy's C interface takes 137 instructions for a zone, its C++ macros 118; this takes about 33,
//! of which two read the clock. Valid where Tracy's clock is the time stamp counter of x86-64,
//! without fibers (which have one queue for all threads) and without a manual lifetime (which frees
//! queues), and after [`check`](super::check). Elsewhere the same calls are in `c_api`.
//!
//! The tail index and the block are read anew for each item, so that calls of Tracy's own interfaces
//! on the same thread fit in between. One item in 65,536, a thread's first and its last go another
//! way: see [`thread`].
//!
//! Items carry no zone id. Where another crate switched on `verify`, the profiler has 0 for it at
//! either end.

use core::arch::asm;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::linked::ON_DEMAND;
use super::shim::{self, Queue};
use super::thread::{self, Event, Route};
use super::{c_api, connection, text};
use crate::{Location, Message, Name, ZoneId};

/// What the C++ compiler says of Tracy's layout: see `shim/layout.def`.
pub(super) mod layout {
    include!(concat!(env!("OUT_DIR"), "/layout.rs"));
}

const _: () = {
    assert!(layout::QUEUE_SIZE <= thread::STAND_IN_SIZE);
    assert!(layout::BLOCK_ITEMS.is_power_of_two());
    assert!(layout::IS_TSC == 1);
};

/// The place of an item within its block; 0 where the next item needs a block.
const PLACE: usize = layout::BLOCK_ITEMS - 1;

/// The time stamp counter.
#[inline(always)]
pub(super) fn ticks() -> u64 {
    let (low, high) = halves();
    u64::from(high) << 32 | u64::from(low)
}

#[inline(always)]
fn halves() -> (u32, u32) {
    let (low, high);
    // SAFETY: every x86-64 processor has it. It may touch memory as far as the compiler knows (no
    // `nomem`): what a zone encloses must not move out of it.
    unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    (low, high)
}

/// Room for an item at the end of this thread's queue. Nothing may be recorded before it is
/// committed.
struct Slot {
    queue: *mut Queue,
    index: usize,
    item: *mut u8,
}

impl Slot {
    /// Room for one item. None at the end of a block, and for the stand-in.
    #[inline(always)]
    fn claim() -> Option<Self> {
        let slot = Self::next();
        if slot.index & PLACE == 0 { None } else { Some(slot.find()) }
    }

    /// Room for two items.
    #[inline(always)]
    fn claim_two() -> Option<Self> {
        let slot = Self::next();
        // One comparison: place 0 wraps around.
        if (slot.index & PLACE).wrapping_sub(1) >= PLACE - 1 { None } else { Some(slot.find()) }
    }

    #[inline(always)]
    fn next() -> Self {
        let queue = thread::queue();
        // SAFETY: a queue of Tracy's or the stand-in, both of which have a tail index.
        let index = unsafe { Self::tail(queue) }.load(Ordering::Relaxed);
        Self { queue, index, item: core::ptr::null_mut() }
    }

    /// # Safety
    ///
    /// `queue` is one of Tracy's, or the stand-in.
    #[inline(always)]
    unsafe fn tail<'a>(queue: *mut Queue) -> &'a AtomicUsize {
        // SAFETY: by this function's contract; the compiler has the offset, see `layout`.
        unsafe { &*queue.cast::<u8>().add(layout::TAIL).cast() }
    }

    #[inline(always)]
    fn find(mut self) -> Self {
        // SAFETY: the tail is not at a block's end, so its lowest bits are not all 0. The compiler does not keep
        // that in mind, and would ask a zone that has just begun whether it is recorded.
        unsafe { core::hint::assert_unchecked(self.index != 0) }
        // SAFETY: the tail is not at a block's end, so the last block is there and has room at the
        // tail's place. This is the thread that may write there.
        self.item = unsafe {
            let block = self.queue.cast::<u8>().add(layout::BLOCK).cast::<*mut u8>().read();
            block.add((self.index & PLACE) * layout::ITEM_SIZE)
        };
        self
    }

    /// Writes a field of the item.
    #[inline(always)]
    fn put<T: Copy>(&self, at: usize, value: T) {
        const { assert!(size_of::<T>() <= size_of::<u64>()) };
        // SAFETY: an item has room for its own fields (the offsets are the compiler's).
        unsafe { self.item.add(at).cast::<T>().write_unaligned(value) }
    }

    #[inline(always)]
    fn put_type(&self, of: usize) {
        self.put(layout::TYPE, of as u8);
    }

    #[inline(always)]
    fn put_time(&self, at: usize, (low, high): (u32, u32)) {
        self.put(at, low);
        self.put(at + size_of::<u32>(), high);
    }

    #[inline(always)]
    fn put_text(&self, of: usize, copy: u64, size: usize) {
        self.put_type(of);
        self.put(layout::ZONE_TEXT_TEXT, copy);
        self.put(layout::ZONE_TEXT_SIZE, size as u16);
    }

    /// The item after this one.
    #[inline(always)]
    fn second(&self) -> Self {
        // SAFETY: `claim_two` found room for two.
        Self { item: unsafe { self.item.add(layout::ITEM_SIZE) }, ..*self }
    }

    /// Hands `count` items over.
    #[inline(always)]
    fn commit(&self, count: usize) {
        // SAFETY: as in `next`; the claim has seen that it is not the stand-in. Release: whoever
        // sees the index sees the items.
        unsafe { Self::tail(self.queue) }.store(self.index + count, Ordering::Release);
    }
}

/// Of a zone that is recorded. `mark` is anything but 0, which the compiler should see.
#[inline(always)]
fn id(mark: usize, connection: u64) -> ZoneId {
    ZoneId { mark: mark as u64, data: connection }
}

/// Tells the compiler that there is nothing to keep beside the mark.
#[inline(always)]
fn without_connection(zone: ZoneId) -> ZoneId {
    if ON_DEMAND { zone } else { ZoneId { data: 0, ..zone } }
}

/// The connection to record for; none if nobody watches.
#[inline(always)]
fn connection() -> Option<u64> {
    if ON_DEMAND { connection::current() } else { Some(0) }
}

/// Whether the zone belongs to the present connection.
#[inline(always)]
fn is_present(zone: ZoneId) -> bool {
    !ON_DEMAND || zone.data == connection::id()
}

#[inline(always)]
pub(super) fn begin(location: &'static Location) -> ZoneId {
    try_begin(location).unwrap_or_else(|| without_connection(begin_slow(location)))
}

#[inline(always)]
pub(super) fn try_begin(location: &'static Location) -> Option<ZoneId> {
    let Some(connection) = connection() else { return Some(ZoneId::NONE) };
    let slot = Slot::claim()?;
    slot.put_type(layout::ZONE_BEGIN);
    slot.put(layout::ZONE_BEGIN_LOCATION, core::ptr::from_ref(location));
    slot.put_time(layout::ZONE_BEGIN_TIME, halves());
    slot.commit(1);
    // The index is at hand, and not 0.
    Some(id(slot.index, connection))
}

#[cold]
#[inline(never)]
fn begin_slow(location: &'static Location) -> ZoneId {
    match thread::enter(Event::Zone) {
        Route::Queue(queue) => begin_through(|| {
            // SAFETY: `queue` is this thread's, and the location lives as long as the program.
            unsafe { shim::zonecast_tracy_zone_begin(queue, location) }
        }),
        Route::CApi => c_api::begin(location),
        Route::Nowhere => ZoneId::NONE,
    }
}

#[cold]
#[inline(never)]
pub(super) fn begin_callstack(location: &'static Location, depth: u32) -> ZoneId {
    let depth = text::depth(depth);
    // The bound first, as for a text: it may be the thread's only kind of event.
    if connection().is_none() || !thread::may_emit(Event::Zone, 64 + c_api::stack_size(depth)) {
        return ZoneId::NONE;
    }
    match thread::enter(Event::Rest) {
        Route::Queue(queue) => begin_through(|| {
            // SAFETY: as for `begin_slow`; the depth is one that Tracy accepts.
            unsafe { shim::zonecast_tracy_zone_begin_callstack(queue, location, depth) }
        }),
        Route::CApi => c_api::begin_callstack(location, depth.unsigned_abs()),
        Route::Nowhere => ZoneId::NONE,
    }
}

/// Begins a zone if somebody watches, which a thread knows once it has begun.
fn begin_through(begin: impl FnOnce()) -> ZoneId {
    let Some(connection) = connection() else { return ZoneId::NONE };
    begin();
    id(1, connection)
}

#[inline(always)]
pub(super) fn end(zone: ZoneId) {
    if is_present(zone) && !end_now() {
        end_slow(without_connection(zone));
    }
}

#[inline(always)]
pub(super) fn try_end(zone: ZoneId) -> bool {
    !is_present(zone) || end_now()
}

/// Ends the innermost zone, if there is room for that.
#[inline(always)]
fn end_now() -> bool {
    let Some(slot) = Slot::claim() else { return false };
    slot.put_type(layout::ZONE_END);
    slot.put_time(layout::ZONE_END_TIME, halves());
    slot.commit(1);
    true
}

#[cold]
#[inline(never)]
fn end_slow(zone: ZoneId) {
    match thread::enter(Event::Rest) {
        // SAFETY: `queue` is this thread's.
        Route::Queue(queue) => unsafe { shim::zonecast_tracy_zone_end(queue) },
        Route::CApi => c_api::end(zone),
        Route::Nowhere => {}
    }
}

/// Ends a zone and begins the next with one time stamp, and hands both over at once.
#[inline(always)]
pub(super) fn switch(zone: ZoneId, location: &'static Location) -> ZoneId {
    if connection().is_none() {
        return ZoneId::NONE;
    }
    if !zone.is_recorded() || !is_present(zone) {
        return without_connection(begin_anew(location));
    }
    let Some(slot) = Slot::claim_two() else { return without_connection(switch_slow(zone, location)) };
    let now = halves();
    slot.put_type(layout::ZONE_END);
    slot.put_time(layout::ZONE_END_TIME, now);
    let next = slot.second();
    next.put_type(layout::ZONE_BEGIN);
    next.put(layout::ZONE_BEGIN_LOCATION, core::ptr::from_ref(location));
    next.put_time(layout::ZONE_BEGIN_TIME, now);
    slot.commit(2);
    // Its mark says no more than that it is recorded.
    zone
}

/// There was no zone to end. Apart, so that the common case keeps its registers.
#[cold]
#[inline(never)]
fn begin_anew(location: &'static Location) -> ZoneId {
    begin(location)
}

#[cold]
#[inline(never)]
fn switch_slow(zone: ZoneId, location: &'static Location) -> ZoneId {
    match thread::enter(Event::Zone) {
        Route::Queue(queue) => {
            // SAFETY: `queue` is this thread's, and the location lives as long as the program.
            unsafe { shim::zonecast_tracy_zone_switch(queue, location) }
            zone
        }
        Route::CApi => c_api::switch(zone, location),
        Route::Nowhere => {
            end_slow(zone);
            ZoneId::NONE
        }
    }
}

#[inline(always)]
pub(super) fn text(zone: ZoneId, text: &str) {
    text_of(layout::ZONE_TEXT, c_api::text, zone, text);
}

#[inline(always)]
pub(super) fn name(zone: ZoneId, name: &str) {
    text_of(layout::ZONE_NAME, c_api::name, zone, name);
}

#[inline(always)]
fn text_of(of: usize, elsewhere: fn(ZoneId, &str), zone: ZoneId, text: &str) {
    let text = text::cut(text);
    if !is_present(zone) || !thread::may_emit(Event::Other, text.len()) {
        return;
    }
    let Some(slot) = Slot::claim() else { return slow(Event::Other, || elsewhere(zone, text)) };
    // SAFETY: there are as many bytes as it is told.
    let copy = unsafe { shim::zonecast_tracy_copy(text::bytes(text), text.len()) };
    if !copy.is_null() {
        slot.put_text(of, copy.expose_provenance() as u64, text.len());
        slot.commit(1);
    }
}

#[inline(always)]
pub(super) fn value(zone: ZoneId, value: u64) {
    if !is_present(zone) {
        return;
    }
    let Some(slot) = Slot::claim() else { return slow(Event::Other, || c_api::value(zone, value)) };
    slot.put_type(layout::ZONE_VALUE);
    slot.put(layout::ZONE_VALUE_VALUE, value);
    slot.commit(1);
}

#[inline(always)]
pub(super) fn color(zone: ZoneId, color: u32) {
    if !is_present(zone) {
        return;
    }
    let Some(slot) = Slot::claim() else { return slow(Event::Other, || c_api::color(zone, color)) };
    slot.put_type(layout::ZONE_COLOR);
    put_color(&slot, [layout::ZONE_COLOR_RED, layout::ZONE_COLOR_GREEN, layout::ZONE_COLOR_BLUE], color);
    slot.commit(1);
}

#[inline(always)]
fn put_color(slot: &Slot, [red, green, blue]: [usize; 3], color: u32) {
    slot.put(red, (color >> 16) as u8);
    slot.put(green, (color >> 8) as u8);
    slot.put(blue, color as u8);
}

/// What an item that found no room does: `elsewhere` records it through the C interface.
#[cold]
#[inline(never)]
fn slow(event: Event, elsewhere: impl FnOnce()) {
    if !matches!(thread::enter(event), Route::Nowhere) {
        elsewhere();
    }
}

#[inline(always)]
pub(super) fn plot_i64(plot: Name, value: i64) {
    point(layout::PLOT_INT, layout::PLOT_INT_VALUE, c_api::plot_i64, plot, value);
}

#[inline(always)]
pub(super) fn plot_f64(plot: Name, value: f64) {
    point(layout::PLOT_DOUBLE, layout::PLOT_DOUBLE_VALUE, c_api::plot_f64, plot, value);
}

#[inline(always)]
pub(super) fn plot_f32(plot: Name, value: f32) {
    point(layout::PLOT_FLOAT, layout::PLOT_FLOAT_VALUE, c_api::plot_f32, plot, value);
}

#[inline(always)]
fn point<T: Copy>(of: usize, at: usize, elsewhere: fn(Name, T), plot: Name, value: T) {
    if connection().is_none() {
        return;
    }
    let Some(slot) = Slot::claim() else { return slow(Event::Other, || elsewhere(plot, value)) };
    slot.put_type(of);
    slot.put(layout::PLOT_NAME, c_api::chars(plot));
    slot.put(at, value);
    slot.put_time(layout::PLOT_TIME, halves());
    slot.commit(1);
}

#[inline]
pub(super) fn message(message: Message<'_>) {
    if message.callstack != 0 {
        return c_api::message(message);
    }
    let text = text::cut(message.text);
    if connection().is_none() || !thread::may_emit(Event::Other, text.len()) {
        return;
    }
    let Some(slot) = Slot::claim() else { return slow(Event::Other, || c_api::message(message)) };
    let severity = c_api::severity(message.severity);
    // SAFETY: there are as many bytes as it is told.
    let copy = unsafe { shim::zonecast_tracy_copy_message(text::bytes(text), text.len(), severity) };
    if copy != 0 {
        put_message(&slot, copy, text.len(), message.color);
        slot.commit(1);
    }
}

#[inline(always)]
fn put_message(slot: &Slot, copy: u64, size: usize, color: u32) {
    if color == 0 {
        slot.put_type(layout::MESSAGE);
        slot.put(layout::MESSAGE_TEXT, copy);
        slot.put(layout::MESSAGE_SIZE, size as u16);
        slot.put_time(layout::MESSAGE_TIME, halves());
    } else {
        slot.put_type(layout::MESSAGE_COLOR);
        slot.put(layout::MESSAGE_COLOR_TEXT, copy);
        slot.put(layout::MESSAGE_COLOR_SIZE, size as u16);
        let channels = [layout::MESSAGE_COLOR_RED, layout::MESSAGE_COLOR_GREEN, layout::MESSAGE_COLOR_BLUE];
        put_color(slot, channels, color);
        slot.put_time(layout::MESSAGE_COLOR_TIME, halves());
    }
}
