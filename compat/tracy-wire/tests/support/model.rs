//! A capture, line by line, so that two can be compared.

use zonecast_tracy_wire::Capture;

/// Everything that a capture holds and its stream decides.
pub(crate) fn model(capture: &Capture) -> Vec<String> {
    let mut lines = vec![format!("{:?}", capture.welcome())];
    lines.extend(capture.threads().map(|t| format!("thread {} {:?} {}", t.id(), t.name(), t.group_hint())));
    lines.extend(capture.zones().map(|zone| {
        format!(
            "zone {:?} {:?} {} {}:{} {}..{:?} depth {} in {:?} texts {:?} values {:?} color {:?} from {:?}",
            zone.name(),
            zone.own_name(),
            zone.function(),
            zone.file(),
            zone.line(),
            zone.start_ns(),
            zone.end_ns(),
            zone.depth(),
            zone.thread().id(),
            zone.texts().collect::<Vec<_>>(),
            zone.values(),
            zone.color(),
            zone.callstack(),
        )
    }));
    lines.extend(capture.gpu_contexts().map(|context| {
        format!("context {} {:?} {:?} {}", context.id(), context.name(), context.sort(), context.period())
    }));
    lines.extend(capture.gpu_zones().map(|zone| {
        format!(
            "gpu {:?} {}:{} cpu {}..{:?} gpu {:?}..{:?} depth {} thread {} notes {:?}",
            zone.name(),
            zone.file(),
            zone.line(),
            zone.cpu_start_ns(),
            zone.cpu_end_ns(),
            zone.start_ns(),
            zone.end_ns(),
            zone.depth(),
            zone.thread(),
            zone.notes().collect::<Vec<_>>(),
        )
    }));
    lines.extend(capture.messages().map(|message| {
        format!(
            "message {} {:?} {:?} {:?} {} {:?}",
            message.time_ns(),
            message.text(),
            message.severity(),
            message.color(),
            message.thread().id(),
            message.callstack(),
        )
    }));
    lines.extend(
        capture.locks().map(|lock| format!("lock {} {:?} {:?}", lock.id(), lock.name(), lock.events())),
    );
    lines.push(format!("app info {:?}", capture.app_info().collect::<Vec<_>>()));
    lines.push(format!("plots {:?}", capture.plots()));
    lines.push(format!("frames {:?} {:?}", capture.frames(), capture.frame_images()));
    lines.push(format!("memory {:?}", capture.memory()));
    lines.push(format!("fibers {:?}", capture.fiber_runs().collect::<Vec<_>>()));
    lines.push(format!("sections {:?}", capture.sections().collect::<Vec<_>>()));
    lines.push(format!("load {:?}", capture.cpu_load()));
    let mut sources: Vec<_> = capture.source_requests().collect();
    sources.sort_unstable();
    lines.push(format!("sources {sources:?}"));
    lines
}

/// Asserts that two captures hold the same, and shows the first line that differs.
#[track_caller]
pub(crate) fn assert_same(a: &Capture, b: &Capture) {
    let (a, b) = (model(a), model(b));
    if let Some((left, right)) = a.iter().zip(&b).find(|(left, right)| left != right) {
        panic!("these differ:\n{left}\n{right}");
    }
    assert_eq!(a.len(), b.len());
}
