//! Lanes in builds without the shim, by Tracy's C interface alone.
//!
//! It stamps launches with the time of sending, binds a context to the thread that made it, and sends
//! item by item. So zones show no launch, and on demand, where a connection might begin amid a tree, there are no
//! lanes. Times are the system's nanoseconds; the profiler is told once a second what they are in its own.

use core::sync::atomic::{AtomicI32, Ordering};

use tracy_client_sys as sys;

use super::lanes::{place, sort};
use super::{linked, text};
use crate::say::say_once;
use crate::{LaneId, LaneInfo, LaneZone, Time};

/// Ids are handed out from above, since other users of Tracy count from below and cannot be asked.
static NEXT_ID: AtomicI32 = AtomicI32::new(254);
const CALIBRATE_EVERY: i64 = 1_000_000_000;

struct LaneState {
    context: u8,
    query: u16,
    calibrated_at: i64,
}

pub(super) fn create(lane: LaneInfo<'_>) -> LaneId {
    if !linked::is_up() {
        return LaneId(0);
    }
    if linked::ON_DEMAND {
        say_once!(
            "this program was built without Tracy's headers, so GPU zones and lanes are not shown on demand"
        );
        return LaneId(0);
    }
    let Ok(context) = u8::try_from(NEXT_ID.fetch_sub(1, Ordering::Relaxed)) else {
        say_once!("Tracy has no id left for a GPU context; further lanes are not shown");
        return LaneId(0);
    };
    let name = text::cut(lane.name);
    let now = Time::now().ns();
    // SAFETY: the client is up; the name is copied.
    unsafe {
        sys::___tracy_emit_gpu_new_context_serial(sys::___tracy_gpu_new_context_data {
            gpuTime: now,
            period: 1.0,
            context,
            flags: 1,
            type_: sort(lane.kind),
        });
        sys::___tracy_emit_gpu_context_name_serial(sys::___tracy_gpu_context_name_data {
            context,
            name: text::bytes(name),
            len: name.len() as u16,
        });
    }
    let state = Box::new(LaneState { context, query: 0, calibrated_at: now });
    LaneId(Box::into_raw(state).expose_provenance() as u64)
}

fn state(lane: LaneId) -> Option<*mut LaneState> {
    (lane.0 != 0 && linked::is_up()).then(|| core::ptr::with_exposed_provenance_mut(lane.0 as usize))
}

pub(super) fn zones(lane: LaneId, tree: &[LaneZone<'_>]) {
    let Some(lane) = state(lane) else { return };
    // SAFETY: `create` made the state, `close` is not called before this ends, and by the trait's contract nobody
    // else uses the lane meanwhile.
    let lane = unsafe { &mut *lane };
    lane.calibrate();
    let mut open: Vec<Time> = Vec::new();
    for zone in tree {
        while open.len() > zone.depth as usize {
            lane.end(open.pop());
        }
        lane.begin(zone);
        open.push(zone.end);
    }
    while let Some(end) = open.pop() {
        lane.end(Some(end));
    }
}

pub(super) fn close(lane: LaneId) {
    if let Some(lane) = state(lane) {
        // SAFETY: `create` made it, and nobody uses the lane again.
        drop(unsafe { Box::from_raw(lane) });
    }
}

impl LaneState {
    fn calibrate(&mut self) {
        let now = Time::now().ns();
        let passed = now - self.calibrated_at;
        if passed < CALIBRATE_EVERY {
            return;
        }
        self.calibrated_at = now;
        let data =
            sys::___tracy_gpu_calibration_data { gpuTime: now, cpuDelta: passed, context: self.context };
        // SAFETY: the client is up, and the context was made with calibration.
        unsafe { sys::___tracy_emit_gpu_calibration_serial(data) }
    }

    fn begin(&mut self, zone: &LaneZone<'_>) {
        let (srcloc, is_allocated) = place(zone);
        let data = sys::___tracy_gpu_zone_begin_data { srcloc, queryId: self.query, context: self.context };
        // SAFETY: the client is up; the location lives as long as the program, or is Tracy's to free.
        unsafe {
            if is_allocated {
                sys::___tracy_emit_gpu_zone_begin_alloc_serial(data);
            } else {
                sys::___tracy_emit_gpu_zone_begin_serial(data);
            }
        }
        self.time(zone.start);
    }

    fn end(&mut self, end: Option<Time>) {
        let data = sys::___tracy_gpu_zone_end_data { queryId: self.query, context: self.context };
        // SAFETY: the client is up.
        unsafe { sys::___tracy_emit_gpu_zone_end_serial(data) }
        self.time(end.unwrap_or_default());
    }

    fn time(&mut self, time: Time) {
        let data =
            sys::___tracy_gpu_time_data { gpuTime: time.ns(), queryId: self.query, context: self.context };
        // SAFETY: the client is up, and the query was just put.
        unsafe { sys::___tracy_emit_gpu_time_serial(data) }
        self.query = self.query.wrapping_add(1);
    }
}
