//! Decompressed frames of a hostile client: whatever they hold, the engine, the checker and every
//! question about the capture come through.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zonecast_tracy_wire::{Engine, Keep, Welcome};

fuzz_target!(|input: &[u8]| {
    let Some((&mode, stream)) = input.split_first() else { return };
    let keep = if mode & 1 == 0 { Keep::Everything } else { Keep::Statistics };
    let mut engine =
        Engine::new(Welcome::default()).keep(keep).ask_for_sources(mode & 2 == 0).check(mode & 4 == 0);
    // Every so often the client begins a new frame, and the server asks.
    for frame in stream.chunks(64.max(usize::from(mode) * 8)) {
        if engine.feed(frame).is_err() {
            break;
        }
        while engine.next_question().is_some() {}
    }
    let capture = engine.finish();
    for zone in capture.zones() {
        let _ = (zone.name(), zone.file(), zone.duration_ns(), zone.callstack(), zone.children().count());
    }
    for zone in capture.gpu_zones() {
        let _ =
            (zone.name(), zone.duration_ns(), zone.context().name(), zone.notes().count(), zone.callstack());
    }
    for message in capture.messages() {
        let _ = (message.text(), message.severity(), message.callstack(), message.thread().name());
    }
    for lock in capture.locks() {
        let _ = (lock.name(), lock.events().iter().filter(|event| lock.place_of(event).is_some()).count());
    }
    let _ = (capture.plots(), capture.frames(), capture.memory(), capture.summary(), capture.lost());
    let _ = (
        capture.sections().count(),
        capture.fiber_runs().count(),
        capture.crash(),
        capture.sources().count(),
    );
});
