//! Lanes, as GPU contexts of Tracy's.
//!
//! Tracy has zones at given times only on GPUs: a thread's zones happen now, in the order in which they
//! are sent. So a lane is a GPU context, of the type that fits it. Its name labels it in the profiler.
//!
//! **Ids** of contexts are 8 bits for a whole program. A lane that is closed leaves its context to the next
//! lane of the same name and kind. The lanes of a group are rows of one context; so are all further lanes when
//! most ids are gone. A row is a thread to Tracy, whose number no thread has.
//!
//! **Times.** Tracy counts ticks of the processor. The profiler turns them into nanoseconds by a
//! factor that the client measured once, for 0.2 s, so that these nanoseconds are off the system's by some parts
//! in a million. Zones of lanes come in the system's nanoseconds. They are turned into ticks by pairs of
//! both that are read here again and again, and then by the client's own factor into what the profiler will
//! take ticks for. So lanes and threads agree.
//!
//! **On demand** each profiler is told of a context right before its first tree.
//!
//! **Order.** A tree is sent under one lock, each begin and end with its time at once: no query id is ever
//! waited for, no connection gets a part of a tree.

use tracy_client_sys as sys;

use super::{linked, text};
use crate::{LaneKind, LaneZone, Location};

/// The context type that the profiler shows.
pub(super) const fn sort(kind: LaneKind) -> u8 {
    match kind {
        LaneKind::Vulkan => 2,
        LaneKind::OpenCl => 3,
        LaneKind::Metal => 6,
        LaneKind::Custom => 7,
        LaneKind::Cuda => 8,
        LaneKind::Hip => 9,
        LaneKind::WebGpu => 10,
    }
}

#[cfg(not(tracy_shim))]
pub(super) use super::lanes_plain::{close, create, zones};
#[cfg(tracy_shim)]
pub(super) use with_shim::{close, create, zones};

/// The location to send, and whether Tracy is to free it.
pub(super) fn place(zone: &LaneZone<'_>) -> (u64, bool) {
    match zone.name {
        None => (linked::location(zone.location).addr() as u64, false),
        Some(name) => (named(zone.location, name), true),
    }
}

fn named(location: &Location, name: &str) -> u64 {
    let (file, function) = (location.file().to_bytes(), location.function().to_bytes());
    let name = text::cut(name);
    // SAFETY: Tracy copies as many bytes of each text as it is told.
    unsafe {
        sys::___tracy_alloc_srcloc_name(
            location.line(),
            file.as_ptr().cast(),
            file.len(),
            function.as_ptr().cast(),
            function.len(),
            text::bytes(name),
            name.len(),
            location.color(),
        )
    }
}

#[cfg(tracy_shim)]
mod with_shim {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, LazyLock};

    use parking_lot::Mutex;
    use tracy_client_sys as sys;

    use super::super::shim::{self, Row};
    use super::super::{linked, text};
    use super::{place, sort};
    use crate::gpu::history::{History, on_line};
    use crate::lane::Order;
    use crate::say::say_once;
    use crate::{LaneId, LaneInfo, LaneKind, LaneZone, Time};

    /// Contexts from this id on are shared by all lanes that come after.
    const LAST_OWN: i32 = 239;
    /// Rows are threads to Tracy, which asks the system for the names of those it does not know: so
    /// their numbers lie above those that systems give.
    const FIRST_ROW: u32 = 0x4000_0000;
    /// What a context's times begin at: so far from 0 that none before it is negative.
    const ORIGIN: i64 = 1 << 50;

    static NEXT_ROW: AtomicU32 = AtomicU32::new(FIRST_ROW);
    static CONTEXTS: LazyLock<Mutex<Contexts>> = LazyLock::new(Mutex::default);
    static CLOCK: LazyLock<Mutex<TickClock>> = LazyLock::new(Mutex::default);

    #[derive(Default)]
    struct Contexts {
        /// Those that no lane uses.
        idle: Vec<(Key, Arc<Mutex<Row>>)>,
        /// Those of groups. They stay: the next lane of a group is another row.
        groups: Vec<(Key, Arc<Mutex<Row>>)>,
        shared: Option<Arc<Mutex<Row>>>,
    }

    impl Contexts {
        fn is_own(&self, context: &Arc<Mutex<Row>>) -> bool {
            let shared = self.groups.iter().map(|group| &group.1).chain(&self.shared);
            !shared.into_iter().any(|shared| Arc::ptr_eq(shared, context))
        }
    }

    #[derive(Clone, PartialEq, Eq)]
    struct Key {
        name: Box<str>,
        kind: LaneKind,
    }

    struct LaneState {
        key: Key,
        context: Arc<Mutex<Row>>,
        row: u32,
        /// The row's last time, in nanoseconds of the context.
        last: i64,
        order: Order,
        zones: Vec<LaneZone<'static>>,
        sent: Vec<shim::LaneZone>,
        open: Vec<usize>,
    }

    pub(in super::super) fn create(lane: LaneInfo<'_>) -> LaneId {
        if !linked::is_up() {
            return LaneId(0);
        }
        let key = Key { name: text::cut(lane.group.unwrap_or(lane.name)).into(), kind: lane.kind };
        let Some(context) = context(&key, lane.group.is_some()) else {
            say_once!("Tracy has no id left for a GPU context; further lanes are not shown");
            return LaneId(0);
        };
        let row = NEXT_ROW.fetch_add(1, Ordering::Relaxed);
        let last = if CONTEXTS.lock().is_own(&context) {
            context.lock().last
        } else {
            // The rows of a context do not wait for one another.
            0
        };
        let state = Box::new(LaneState {
            key,
            context,
            row,
            last,
            order: Order::default(),
            zones: Vec::new(),
            sent: Vec::new(),
            open: Vec::new(),
        });
        LaneId(Box::into_raw(state).expose_provenance() as u64)
    }

    fn context(key: &Key, is_group: bool) -> Option<Arc<Mutex<Row>>> {
        let mut contexts = CONTEXTS.lock();
        if is_group {
            if let Some(group) = contexts.groups.iter().find(|group| group.0 == *key) {
                return Some(Arc::clone(&group.1));
            }
        } else if let Some(at) = contexts.idle.iter().position(|idle| idle.0 == *key) {
            return Some(contexts.idle.swap_remove(at).1);
        }
        if let Some(shared) = &contexts.shared {
            return Some(Arc::clone(shared));
        }
        // SAFETY: the client is up.
        let id = unsafe { shim::NEXT_CONTEXT() };
        let is_shared = id >= LAST_OWN;
        let (name, kind) = if is_shared { ("lanes", LaneKind::Custom) } else { (&*key.name, key.kind) };
        let mut row = Row::new(u8::try_from(id).ok()?, sort(kind), CLOCK.lock().now(), ORIGIN);
        // SAFETY: the client is up; the name is copied.
        unsafe { shim::NEW_CONTEXT(shim::PROFILER(), &mut row, text::bytes(name), name.len() as u16) };
        let context = Arc::new(Mutex::new(row));
        if is_shared {
            contexts.shared = Some(Arc::clone(&context));
        } else if is_group {
            contexts.groups.push((key.clone(), Arc::clone(&context)));
        }
        Some(context)
    }

    fn state(lane: LaneId) -> Option<*mut LaneState> {
        (lane.0 != 0 && linked::is_up()).then(|| core::ptr::with_exposed_provenance_mut(lane.0 as usize))
    }

    pub(in super::super) fn zones(lane: LaneId, tree: &[LaneZone<'_>]) {
        let Some(lane) = state(lane) else { return };
        // SAFETY: `create` made the state, `close` is not called before this ends, and by the trait's contract
        // nobody else uses the lane meanwhile.
        let lane = unsafe { &mut *lane };
        let mut context = lane.context.lock();
        let mut clock = CLOCK.lock();
        clock.sample();
        if !clock.translate(tree, &context, &mut lane.zones) {
            return;
        }
        lane.order.put(&mut lane.zones, Time::from_ns(lane.last), Time::LAST);
        lane.sent.clear();
        lane.sent.extend(tree.iter().zip(&lane.zones).map(|(zone, times)| clock.zone(zone, times)));
        drop(clock);
        lane.last = lane.zones.first().map_or(lane.last, |root| root.end.ns());
        let deepest = lane.zones.iter().map(|zone| zone.depth as usize).max().unwrap_or(0);
        lane.open.resize(deepest + 1, 0);
        context.row = lane.row;
        let (sent, open) = (&lane.sent, &mut lane.open);
        // SAFETY: the client is up; the zones are so many, and `open` is as long as they are deep.
        unsafe {
            shim::ZONES(shim::PROFILER(), &mut *context, sent.as_ptr(), sent.len(), open.as_mut_ptr());
        }
    }

    pub(in super::super) fn close(lane: LaneId) {
        let Some(lane) = state(lane) else { return };
        // SAFETY: `create` made it, and nobody uses the lane again.
        let LaneState { key, context, last, .. } = *unsafe { Box::from_raw(lane) };
        let mut contexts = CONTEXTS.lock();
        if contexts.is_own(&context) {
            context.lock().last = last;
            contexts.idle.push((key, context));
        }
    }

    /// Pairs of the system's nanoseconds and Tracy's ticks.
    #[derive(Default)]
    struct TickClock {
        pairs: History<i64>,
    }

    impl TickClock {
        /// How far apart pairs are at least.
        const SPACING_NS: i64 = 100_000_000;

        fn sample(&mut self) {
            let now = Time::now().ns();
            if self.pairs.last().is_some_and(|last| now - last.0 < Self::SPACING_NS) {
                return;
            }
            let read = || {
                let before = Time::now();
                // SAFETY: it reads a clock.
                let ticks = unsafe { sys::___tracy_get_time() };
                let width = Time::now() - before;
                (width, before.ns() + width / 2, ticks)
            };
            // The tightest of five: a thread may be interrupted between two readings.
            let tightest = (0..5).map(|_| read()).min_by_key(|reading| reading.0);
            if let Some((_, ns, ticks)) = tightest
                && self.pairs.last().is_none_or(|last| last.0 < ns && last.1 < ticks)
            {
                self.pairs.push(ns, ticks, drop);
            }
        }

        fn now(&mut self) -> i64 {
            self.sample();
            self.ticks(Time::now())
        }

        fn ticks(&self, time: Time) -> i64 {
            if let Some([from, to]) = self.pairs.around(time.ns()) {
                return on_line(time.ns(), *from, *to);
            }
            let Some((ns, ticks)) = self.pairs.last() else { return 0 };
            ticks + ((time.ns() - ns) as f64 / nanoseconds_per_tick()) as i64
        }

        /// Fills `zones` with the tree's, at nanoseconds of the context. False if it began before Tracy did.
        fn translate(
            &self,
            tree: &[LaneZone<'_>],
            context: &Row,
            zones: &mut Vec<LaneZone<'static>>,
        ) -> bool {
            let rate = nanoseconds_per_tick();
            let on_context = |time| {
                let ticks = self.ticks(time) - context.ticks;
                Time::from_ns(context.origin + (ticks as f64 * rate) as i64)
            };
            // SAFETY: it reads a number.
            let first = unsafe { shim::FIRST_TICK() };
            zones.clear();
            zones.extend(tree.iter().map(|zone| LaneZone {
                start: on_context(zone.start),
                end: on_context(zone.end),
                ..without_name(zone)
            }));
            tree.first().is_some_and(|root| self.ticks(root.start) > first)
        }

        fn zone(&self, zone: &LaneZone<'_>, times: &LaneZone<'static>) -> shim::LaneZone {
            let (location, is_allocated) = place(zone);
            let (launched, launched_end) = zone.launched.unwrap_or((zone.start, zone.end));
            // SAFETY: it reads a number.
            let first = unsafe { shim::FIRST_TICK() };
            let ticks = |time| self.ticks(time).max(first);
            shim::LaneZone {
                location,
                start: times.start.ns(),
                end: times.end.ns(),
                launched: ticks(launched),
                launched_end: ticks(launched_end.max(launched)),
                depth: times.depth,
                is_allocated: u32::from(is_allocated),
            }
        }
    }

    fn without_name(zone: &LaneZone<'_>) -> LaneZone<'static> {
        LaneZone {
            location: zone.location,
            name: None,
            start: zone.start,
            end: zone.end,
            launched: zone.launched,
            measured_ns: zone.measured_ns,
            error_ns: zone.error_ns,
            depth: zone.depth,
        }
    }

    fn nanoseconds_per_tick() -> f64 {
        // SAFETY: the client is up: lanes are created only then.
        unsafe { shim::TIMER_MUL(shim::PROFILER()) }
    }
}
