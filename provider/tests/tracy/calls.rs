//! Every call of the interface, made once on each thread, is seen once, with its values.

use std::collections::BTreeMap;

use zonecast::{
    Fiber, Frame, FrameImage, Location, LocationParts, Message, Name, PlotFormat, PlotStyle, Pool, Severity,
    Zone, lock, message, name, plot, zone, zone_text,
};
use zonecast_tracy_wire::{self as wire, Capture, LockAction};

use crate::support::{case, on_threads, start};

const DEVICE: Pool = Pool::named(name!("device"));
/// Longer than Tracy can carry, with a character across the limit.
const LONG: usize = 70_000;
const LONGEST: usize = 65_534;

fn every_call(number: u64) {
    zonecast::set_thread_name(&format!("worker {number}"));
    zones(number);
    messages(number);
    plots(number);
    frames(number);
    memory(number as usize);
    locks(number);
    fibers(number);
    zonecast::app_info(&format!("info {number}"));
}

fn zones(number: u64) {
    let zone = zone!("plain");
    zone.value(number);
    zone.value(u64::MAX);
    zone.text(&format!("text {number}"));
    zone_text!(zone, "formatted {}", number);
    zone.text("");
    drop(zone);
    {
        let zone = zone!("colored", color = 0x11_22_33);
        zone.color(0xaa_bb_00 + number as u32);
        zone.text(&format!("x{}", "é".repeat(LONG / 2)));
    }
    drop(zone!(name = &format!("named {number}")));
    drop(zone!("with callstack", callstack = 1_000));
    drop(zonecast::function_zone!());
    {
        let _outer = zone!("outer");
        let _inner = zone!("inner");
    }
    let file = format!("made/up/{number}.mlir");
    let parts = LocationParts {
        name: "kernel",
        function: "dispatch",
        file: &file,
        line: 7 + number as u32,
        color: 0,
    };
    drop(Zone::begin_interned(&Location::intern(parts)));
    switches(number);
}

fn switches(number: u64) {
    let mut zone = zone!("first");
    zone.value(number);
    zone.switch(zonecast::location!("second"));
    zone.text(&format!("second {number}"));
    zone.switch(zonecast::location!("third"));
}

fn messages(number: u64) {
    message!("a literal");
    message!("message {number}");
    message!(severity = Severity::Fatal, color = 0xff_80_40, "colored {number}");
    let text = format!("from {number}");
    zonecast::message(Message { text: &text, severity: Severity::Trace, color: 0, callstack: 4 });
}

fn plots(number: u64) {
    let plot = |sort: &str| Name::intern(&format!("{sort} {number}"));
    let style = PlotStyle { format: PlotFormat::Percentage, step: true, fill: false, color: 0x01_02_03 };
    zonecast::plot_style(plot("int"), style);
    plot!(plot("int"), -5 - number as i64);
    plot!(plot("float"), 0.5_f32);
    plot!(plot("double"), 0.1_f64);
}

fn frames(number: u64) {
    zonecast::frame_mark!();
    zonecast::frame_mark_named(Name::intern(&format!("step {number}")));
    drop(Frame::begin(Name::intern(&format!("frame {number}"))));
    if number == 0 {
        let pixels = vec![128; 8 * 4 * 4];
        zonecast::frame_image(FrameImage { pixels: &pixels, width: 8, height: 4, age: 0, flipped: true });
    }
}

fn memory(number: usize) {
    Pool::MAIN.alloc(0x1000 + number, 10);
    Pool::MAIN.free(0x1000 + number);
    DEVICE.alloc_callstack(0x8000_0000 + number, 1 << 40, 3);
    DEVICE.free_callstack(0x8000_0000 + number, 3);
}

fn locks(number: u64) {
    let lock = lock!("lock");
    lock.name(&format!("lock {number}"));
    lock.wait();
    lock.obtained();
    lock.released();
    lock.tried(false);
    lock.tried(true);
    lock.released();
}

fn fibers(number: u64) {
    let _fiber = Fiber::enter(Name::intern(&format!("fiber {number}")));
    drop(zone!(name = &format!("on fiber {number}")));
}

#[test]
fn on_one_thread() {
    let capture = case().capture(|| {
        let _session = start();
        every_call(0);
        DEVICE.discard();
    });
    assert_all_seen(&capture, 1);
}

#[test]
fn on_eight_threads() {
    let capture = case().capture(|| {
        let _session = start();
        on_threads(8, every_call);
    });
    assert_all_seen(&capture, 8);
}

fn assert_all_seen(capture: &Capture, threads: u64) {
    assert_eq!(capture.violations(), []);
    assert_eq!(capture.lost(), BTreeMap::new());
    assert_eq!(capture.zones().count() as u64, threads * 12, "no zone more or less");
    for number in 0..threads {
        assert_zones(capture, number);
        assert_messages(capture, number);
        assert_plots(capture, number);
        assert_locks(capture, number);
    }
    assert_frames(capture, threads);
    assert_memory(capture, threads);
    let mut info: Vec<_> = capture.app_info().filter(|line| line.starts_with("info ")).collect();
    info.sort_unstable();
    assert_eq!(info, (0..threads).map(|number| format!("info {number}")).collect::<Vec<_>>());
}

fn assert_zones(capture: &Capture, number: u64) {
    let worker = format!("worker {number}");
    let one = |name: &str| capture.zones().named(name).on_thread(&worker).one();

    let plain = one("plain");
    assert_eq!(plain.values(), [number, u64::MAX]);
    let texts = [format!("text {number}"), format!("formatted {number}"), String::new()];
    assert_eq!(plain.texts().collect::<Vec<_>>(), texts);
    assert_eq!((plain.color(), plain.function()), (None, "tracy::calls"));
    assert!(plain.file().ends_with("tests/tracy/calls.rs"), "{}", plain.file());

    let colored = one("colored");
    assert_eq!(colored.color(), Some(0xaa_bb_00 + number as u32));
    assert_eq!(colored.location().color(), Some(0x11_22_33));
    let text: Vec<_> = colored.texts().collect();
    assert_eq!(text, [format!("x{}", "é".repeat((LONGEST - 1) / 2))]);

    assert_eq!(one(&format!("named {number}")).own_name(), Some(&*format!("named {number}")));
    let stack = one("with callstack").callstack();
    assert!(stack.iter().any(|frame| frame.function.contains("every_call")), "{stack:?}");
    assert_eq!(one("tracy::calls::zones").function(), "tracy::calls::zones");
    assert_eq!(one("inner").parent().map(|zone| zone.name()), Some("outer"));
    let kernel = one("kernel");
    let place = (kernel.function(), kernel.file(), kernel.line());
    assert_eq!(place, ("dispatch", &*format!("made/up/{number}.mlir"), 7 + number as u32));
    assert_switches([one("first"), one("second"), one("third")], number);

    let on_fiber = capture.zones().named(&format!("on fiber {number}")).one();
    let thread = if cfg!(feature = "fibers") { format!("fiber {number}") } else { worker.clone() };
    assert_eq!(on_fiber.thread().name(), thread);
    assert_eq!(on_fiber.thread().is_fiber(), cfg!(feature = "fibers"));
}

fn assert_switches([first, second, third]: [wire::Zone<'_>; 3], number: u64) {
    assert_eq!((first.depth(), second.depth(), third.depth()), (0, 0, 0));
    assert_eq!(first.values(), [number]);
    assert_eq!(second.texts().collect::<Vec<_>>(), [format!("second {number}")]);
    // Fibers leave no way to write both at once.
    if !cfg!(feature = "fibers") {
        assert_eq!(first.end_ns(), Some(second.start_ns()));
        assert_eq!(second.end_ns(), Some(third.start_ns()));
    }
    assert!(third.end_ns() > Some(third.start_ns()));
}

fn assert_messages(capture: &Capture, number: u64) {
    let worker = format!("worker {number}");
    let one = |text: &str| {
        let on_this_thread = |message: &wire::Message<'_>| message.thread().name() == worker;
        let messages: Vec<_> = capture.messages().named(text).filter(on_this_thread).collect();
        let [message] = messages[..] else { panic!("{} of {text:?}", messages.len()) };
        message
    };
    let literal = one("a literal");
    assert_eq!((literal.severity(), literal.color()), (Some(wire::Severity::Info), None));
    assert_eq!(one(&format!("message {number}")).severity(), Some(wire::Severity::Info));
    let colored = one(&format!("colored {number}"));
    assert_eq!((colored.severity(), colored.color()), (Some(wire::Severity::Fatal), Some(0xff_80_40)));
    let from = one(&format!("from {number}"));
    assert_eq!((from.severity(), from.is_from_tracy()), (Some(wire::Severity::Trace), false));
    // Functions that were inlined are frames of their own.
    assert!(from.callstack().len() >= 4, "{} frames", from.callstack().len());
}

fn assert_plots(capture: &Capture, number: u64) {
    let values = |sort: &str| -> Vec<f64> {
        capture.plots()[&*format!("{sort} {number}")].iter().map(|&(_, value)| value).collect()
    };
    assert_eq!(values("int"), [-5.0 - number as f64]);
    assert_eq!(values("float"), [0.5]);
    assert_eq!(values("double"), [0.1]);
    let look = capture.plot_look(&format!("int {number}")).unwrap();
    assert_eq!((look.format, look.step, look.fill, look.color), (2, true, false, 0x01_02_03));
}

fn assert_locks(capture: &Capture, number: u64) {
    let lock = capture.locks().named(&format!("lock {number}")).one();
    let actions: Vec<_> = lock.events().iter().map(|event| event.action).collect();
    use LockAction::{Obtain, Release, Wait};
    assert_eq!(actions, [Wait, Obtain, Release, Wait, Obtain, Release]);
    assert!(lock.terminated_ns() > Some(lock.announced_ns()));
    assert_eq!(lock.location().name(), Some("lock"));
}

fn assert_frames(capture: &Capture, threads: u64) {
    let frames = capture.frames();
    // The profiler begins the program's first frame itself.
    let own = frames["Frame"].len() as u64;
    assert!(own == threads || own == threads + 1, "{own} frames");
    for number in 0..threads {
        assert_eq!(frames[&*format!("step {number}")].len(), 1);
        let [frame] = frames[&*format!("frame {number}")][..] else { panic!("one frame") };
        assert!(frame.end_ns >= Some(frame.start_ns));
    }
    let [image] = capture.frame_images() else { panic!("one image") };
    assert_eq!((image.width, image.height, image.flip), (8, 4, true));
}

fn assert_memory(capture: &Capture, threads: u64) {
    let memory = capture.memory();
    for number in 0..threads {
        for (pool, base, size) in [("", 0x1000, 10), ("device", 0x8000_0000, 1 << 40)] {
            let events: Vec<_> = memory[pool].iter().filter(|event| event.address == base + number).collect();
            let seen: Vec<_> = events.iter().map(|event| (event.free, event.size)).collect();
            assert_eq!(seen, [(false, size), (true, size)]);
        }
    }
}
