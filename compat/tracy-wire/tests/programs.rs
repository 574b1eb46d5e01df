//! Programs that are not ours, as a server sees them: a user of `tracy-client`, and C++ with Tracy's
//! own macros.

mod support;

use std::process::Command;

use support::{capture, program};
use zonecast_tracy_wire::child::Started;
use zonecast_tracy_wire::{Capture, ErrorKind, GpuSort, LockAction, Rule, Severity, Zone};

fn texts<'a>(zone: &Zone<'a>) -> Vec<&'a str> {
    zone.texts().collect()
}

#[track_caller]
fn nothing_lost(capture: &Capture) {
    assert!(capture.is_ended());
    assert!(capture.lost().is_empty(), "{:?}", capture.lost());
    assert_eq!(capture.violations(), [], "a sane program breaks no rule");
}

#[test]
fn spans_have_their_details() {
    let capture = capture("", "spans");
    nothing_lost(&capture);
    assert_eq!(capture.program(), "wire-programs");

    let outer = capture.zones().named("outer").one();
    assert_eq!(texts(&outer), ["some text", "more text"]);
    assert_eq!(outer.values(), [7, u64::MAX]);
    assert_eq!(outer.color(), Some(0xABCDEF));
    assert_eq!((outer.file(), outer.depth(), outer.parent()), ("src/main.rs", 0, None));
    assert!(outer.function().ends_with("spans"), "{}", outer.function());
    assert_eq!(outer.thread().name(), "Main thread");

    let inner = capture.zones().named("inner").one();
    let dynamic = capture.zones().named("dynamic").one();
    assert!(dynamic.parent() == Some(inner) && inner.parent() == Some(outer));
    assert_eq!((dynamic.function(), dynamic.file(), dynamic.line()), ("its function", "its/file.rs", 77));
    assert_eq!(texts(&dynamic), ["Übergröße"]);
    assert!(inner.start_ns() >= outer.start_ns() && inner.end_ns() <= outer.end_ns());

    let deep = capture.zones().named("deep").one();
    let stack = deep.callstack();
    assert!(stack.iter().any(|frame| frame.file == "src/main.rs"), "{stack:#?}");
    assert_eq!(outer.children().count(), 2);
}

#[test]
fn every_zone_of_eight_threads_is_there_once() {
    let capture = capture("", "threads");
    nothing_lost(&capture);
    for worker in 0..8 {
        let name = format!("worker {worker}");
        assert_eq!(capture.zones().named("work").on_thread(&name).count(), 1000);
        let parts: Vec<Zone<'_>> = capture.zones().named("part").on_thread(&name).collect();
        assert_eq!(parts.len(), 1000);
        assert!(parts.iter().all(|part| part.parent().is_some_and(|parent| parent.name() == "work")));
    }
    let summary = capture.summary();
    assert!(summary.iter().all(|row| row.durations.count() == 8000));
    assert_eq!(summary.len(), 2);
}

#[test]
fn messages_have_text_colour_and_callstack() {
    let capture = capture("", "messages");
    nothing_lost(&capture);
    assert_eq!(capture.messages().filter(|message| !message.is_from_tracy()).count(), 4);
    assert_eq!(capture.messages().named("plain").one().severity(), Some(Severity::Info));
    assert_eq!(capture.messages().named("green").one().color(), Some(0x00FF00));
    let deep = capture.messages().named("with callstack").one();
    assert!(deep.callstack().iter().any(|frame| frame.file == "src/main.rs"));
    capture.messages().named(&"long ".repeat(200)).one();
}

#[test]
fn plots_have_points_and_looks() {
    let capture = capture("", "plots");
    let plots = capture.plots();
    let values: Vec<f64> = plots["load"].iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [1.0, 2.5, -3.0]);
    assert!(plots["load"].is_sorted());
    let look = capture.plot_look("load").expect("the plot was configured");
    assert_eq!((look.format, look.fill, look.color), (2, false, 0x123456));
    assert_eq!(capture.lost().into_iter().collect::<Vec<_>>(), [("plot values that are no numbers", 1)]);
    let rules: Vec<&Rule> = capture.violations().iter().map(|violation| &violation.rule).collect();
    assert_eq!(rules, [&Rule::PlotNotFinite], "and they shift what comes after them");
}

#[test]
fn frames_have_marks_and_images() {
    let capture = capture("", "frames");
    nothing_lost(&capture);
    let frames = capture.frames();
    assert_eq!((frames["Frame"].len(), frames["physics"].len()), (3, 1));
    let [level] = frames["load level"][..] else { panic!("{frames:?}") };
    assert!(level.end_ns.is_some_and(|end| end >= level.start_ns));
    let images = capture.frame_images();
    assert!(!images.is_empty(), "the client compresses images while it has time");
    assert!(images.iter().all(|i| (i.width, i.height, i.flip, i.dxt1.len()) == (8, 4, true, 16)));
}

#[test]
fn gpu_spans_have_both_times() {
    let capture = capture("", "gpu");
    nothing_lost(&capture);
    let context = capture.gpu_contexts().one();
    assert_eq!((context.name(), context.sort(), context.period()), (Some("queue 0"), GpuSort::Vulkan, 2.0));
    let pass = capture.gpu_zones().named("pass").in_context("queue 0").one();
    let draw = capture.gpu_zones().named("draw").one();
    assert_eq!(pass.duration_ns(), Some(800), "400 ticks of 2 ns");
    assert_eq!(draw.duration_ns(), Some(200));
    assert_eq!(draw.start_ns().unwrap() - pass.start_ns().unwrap(), 200);
    assert!(draw.parent() == Some(pass));
    assert_eq!((draw.file(), draw.line()), ("draw.rs", 12));
    assert!(pass.cpu_start_ns() <= draw.cpu_start_ns() && draw.cpu_end_ns() <= pass.cpu_end_ns());
}

#[test]
fn memory_events_have_address_and_size() {
    let capture = capture("", "memory");
    nothing_lost(&capture);
    let pools = capture.memory();
    let events: Vec<_> = pools[""].iter().map(|e| (e.free, e.address, e.size)).collect();
    let sizes = [(0x1000, 100), (0x2000, 101), (0x3000, 102)];
    let expected: Vec<_> = [false, true]
        .into_iter()
        .flat_map(|free| sizes.map(|(address, size)| (free, address, size)))
        .collect();
    assert_eq!(events, expected);
}

#[test]
fn cpp_zones_have_names_colours_and_callstacks() {
    let capture = capture("", "c++:zones");
    nothing_lost(&capture);
    let coloured = capture.zones().named("coloured").one();
    assert_eq!((coloured.color(), coloured.function()), (Some(0xC0FFEE), "zones"));
    let dynamic = capture.zones().named("dynamic name").one();
    assert_eq!(dynamic.location().name(), Some("static name"));
    assert_eq!((texts(&dynamic), dynamic.values()), (vec!["first", "second"], &[42][..]));
    assert_eq!(dynamic.color(), Some(0x112233));
    capture.zones().named("transient").in_function("zones").one();
    let deep = capture.zones().named("with callstack").one();
    assert_eq!(texts(&deep), ["x".repeat(1000)]);
    assert!(deep.callstack().iter().any(|frame| frame.function.contains("run_macros")));
    let source = capture.source_of(&deep).expect("a client gives files that are older than it");
    assert!(source.windows(14).any(|bytes| bytes == b"with callstack"));
}

#[test]
fn cpp_locks_have_every_event_and_place() {
    let capture = capture("", "c++:locks");
    nothing_lost(&capture);
    let lock = capture.locks().named("renamed").one();
    assert_eq!((lock.location().function(), lock.is_shared()), ("a mutex", false));
    let count = |action| lock.events().iter().filter(|event| event.action == action).count();
    assert_eq!([LockAction::Wait, LockAction::Obtain, LockAction::Release].map(count), [20, 20, 20]);
    let marked = lock.events().iter().filter_map(|event| lock.place_of(event));
    assert!(marked.into_iter().all(|place| place.file().ends_with("macros.cpp")));
    let shared = capture.locks().named("a shared mutex").one();
    let readers = shared.events().iter().filter(|e| e.shared && e.action == LockAction::Release).count();
    assert_eq!((shared.is_shared(), readers), (true, 2));
}

#[test]
fn cpp_messages_sections_and_app_info_are_there() {
    let capture = capture("", "c++:messages");
    nothing_lost(&capture);
    capture.messages().named("said").one();
    capture.messages().named("literal").one();
    assert_eq!(capture.messages().named("coloured literal").one().color(), Some(0xFF8800));
    let error = capture.messages().named("an error").one();
    assert_eq!((error.severity(), error.color()), (Some(Severity::Error), Some(0xFF0000)));
    assert!(!error.callstack().is_empty());
    assert_eq!(capture.app_info().collect::<Vec<_>>(), ["version 7"]);
    let sections: Vec<_> = capture.sections().collect();
    assert_eq!(sections.len(), 1);
    assert_eq!((sections[0].text, sections[0].end_ns.is_some()), ("warm-up 1", true));
}

#[test]
fn cpp_memory_pools_are_apart() {
    let capture = capture("", "c++:memory");
    nothing_lost(&capture);
    let pools = capture.memory();
    let sizes = |pool: &str| pools[pool].iter().map(|e| (e.free, e.size)).collect::<Vec<_>>();
    assert_eq!(sizes(""), [(false, 100), (true, 100)]);
    assert_eq!(sizes("arena"), [(false, 200), (true, 200), (false, 300), (true, 300)]);
    assert!(!pools["arena"][0].callstack(&capture).is_empty());
}

#[test]
fn cpp_plots_and_frames_are_there() {
    let capture = capture("", "c++:plots");
    nothing_lost(&capture);
    let values: Vec<f64> = capture.plots()["queue"].iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [3.0, 4.5, 0.5]);
    let look = capture.plot_look("queue").expect("the plot was configured");
    assert_eq!((look.format, look.step, look.fill, look.color), (1, true, false, 0x00FF00));
    let frames = capture.frames();
    assert_eq!(["Frame", "tick", "burst"].map(|set| frames[set].len()), [1, 1, 1]);
}

#[test]
fn fibers_are_threads_of_their_own() {
    for (case, fiber, zone) in [("fibers", "coroutine", "on a fiber"), ("c++:fibers", "job 2", "in job 2")] {
        let capture = capture("fibers", case);
        nothing_lost(&capture);
        let zone = capture.zones().named(zone).one();
        assert_eq!((zone.thread().name(), zone.thread().is_fiber(), zone.depth()), (fiber, true, 0));
        let runs: Vec<_> = capture.fiber_runs().filter(|run| run.fiber == zone.thread()).collect();
        let [run] = runs[..] else { panic!("{} runs", runs.len()) };
        assert!(run.start_ns <= zone.start_ns() && run.end_ns >= zone.end_ns());
    }
}

#[test]
fn a_fibers_build_tells_the_same_of_everything_else() {
    let capture = capture("fibers", "spans");
    nothing_lost(&capture);
    let names: Vec<&str> = capture.zones().map(|zone| zone.name()).collect();
    assert_eq!(names, ["outer", "inner", "dynamic", "deep"]);
}

/// A program that traces until it is stopped. Each of its captures ends once it has a few zones.
fn endless(features: &str) -> Started {
    let has_zones = |capture: &Capture| capture.zones().named("again").count() > 10;
    let stopped = program(features, "endless").receiver(move |receiver| receiver.stop_once(has_zones));
    stopped.start().expect("the program starts")
}

#[test]
fn an_on_demand_client_is_captured_again_and_again() {
    let mut started = endless("ondemand");
    let mut last = None;
    for _ in 0..3 {
        let capture = started.receiver.capture().expect("the connection is made");
        assert!(capture.welcome().is_on_demand() && capture.is_ended());
        let times: Vec<_> = capture.zones().named("again").map(|zone| zone.start_ns()).collect();
        assert!(times.len() > 10 && times.is_sorted());
        assert!(last < times.first().copied(), "what an earlier connection had does not come again");
        last = times.last().copied();
    }
}

#[test]
fn a_client_that_traces_from_its_start_takes_one_server() {
    let mut started = endless("");
    started.receiver.capture().expect("the first server is welcome");
    let refused = started.receiver.capture().expect_err("the second server is not");
    assert!(matches!(refused.kind(), ErrorKind::NotAvailable), "{refused}");
}

#[test]
fn a_killed_client_leaves_what_it_told() {
    let mut killed = false;
    let kill_amid = move |capture: &Capture| {
        if !killed && capture.item_count() > 1000 {
            killed = true;
            let pid = capture.welcome().pid.to_string();
            assert!(
                Command::new("sh")
                    .args(["-c", &format!("kill -9 {pid}")])
                    .status()
                    .expect("sh runs")
                    .success()
            );
        }
    };
    let program = program("", "endless").receiver(move |receiver| receiver.on_progress(kill_amid));
    let finished = program.run().expect("the program starts");
    assert!(matches!(finished.fault(), ErrorKind::Disconnected { .. }), "{}", finished.fault());
    let capture =
        finished.capture.expect_err("it was killed").into_partial().expect("the connection was made");
    assert!(capture.zones().named("again").count() > 100);
    assert!(!capture.is_ended());
}
