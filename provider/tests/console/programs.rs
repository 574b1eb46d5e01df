//! What the children do.

use std::time::{Duration, Instant};

use zonecast::{
    Fiber, Frame, FrameImage, Lane, LaneKind, LaneZone, Location, LocationParts, Name, PlotFormat, PlotStyle,
    Pool, Severity, Time, Zone, ZoneId, app_info, frame_image, frame_mark, function_zone, location, lock,
    message, name, plot, plot_style, set_thread_name, zone, zone_text,
};

/// The variable that says which program a child is.
pub(crate) const WHICH: &str = "ZONECAST_TEST_PROGRAM";

/// Longer than any machine is busy with something else.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

#[test]
#[ignore = "it is what the other tests run as a child"]
fn run() {
    let which = std::env::var(WHICH).expect("only the other tests run this one");
    let (_, program) = PROGRAMS.iter().find(|(name, _)| *name == which).expect("a program of that name");
    program();
}

const PROGRAMS: &[(&str, fn())] = &[
    ("tree", tree),
    ("every_call", every_call),
    ("fibers", fibers),
    ("frames", frames),
    ("lanes", lanes),
    ("forged", forged),
    ("out_of_order", out_of_order),
    ("forgotten", forgotten),
    ("deep", deep),
    ("names", names),
    ("durations", durations),
    ("sources", sources),
    ("numbers", numbers),
    ("around_the_session", around_the_session),
    ("threads", threads),
    ("long_texts", long_texts),
    ("within_a_long_zone", within_a_long_zone),
    ("late_destructors", late_destructors),
    ("unwind", || ended_and_then(|| panic!("unwinding"))),
    ("exit", || ended_and_then(|| std::process::exit(7))),
    ("abort", || ended_and_then(|| std::process::abort())),
    ("fault", || ended_and_then(fault)),
    ("fault_in_a_thread", || ended_and_then(|| std::thread::spawn(fault).join().unwrap())),
    ("overflow", || ended_and_then(|| assert_eq!(overflow(1), 0))),
    ("wait_to_be_killed", || ended_and_then(|| std::thread::sleep(PATIENCE))),
    ("renamed_abort", renamed_abort),
    ("flood", flood),
    ("nonblocking", nonblocking),
    ("traced_signal_handler", traced_signal_handler),
    ("fork", fork),
    ("exit_while_others_trace", exit_while_others_trace),
    ("recovered_faults", recovered_faults),
];

fn tree() {
    set_thread_name("main");
    let outer = zone!("outer");
    drop(zone!("leaf"));
    {
        let _block = zone!("block");
        drop(zone!("inner"));
        message!("said");
    }
    drop(outer);
    std::thread::Builder::new().name("worker".into()).spawn(|| drop(zone!("alone"))).unwrap().join().unwrap();
}

fn every_call() {
    let session = zonecast::start();
    set_thread_name("caller");
    app_info("version 1");
    {
        let zone = zone!("static", color = 0xff8800);
        zone.text("one");
        zone_text!(zone, "two {}", 2);
        zone.value(42);
    }
    {
        let zone = zone!("renamed", callstack = 8);
        zone.name("another name");
        zone.color(0x0000ff);
    }
    drop(zone!(name = &format!("made {}", "now")));
    drop(function_zone!());
    let parts = LocationParts { name: "kernel", function: "f", file: "model.mlir", line: 8, color: 0 };
    drop(Zone::begin_interned(&Location::intern(parts)));
    let mut switched = zone!("first");
    switched.switch(location!("second"));
    drop(switched);
    message!("plain");
    message!(severity = Severity::Error, color = 0xff0000, "bad {}", "news");
    plot!("integer", -3);
    plot!("double", 0.1);
    plot!("single", 0.1_f32);
    plot!("no number", f64::NAN);
    plot_style(
        name!("double"),
        PlotStyle { format: PlotFormat::Percentage, step: true, fill: true, color: 0xff },
    );
    frame_mark!();
    frame_mark!("named");
    drop(Frame::begin(name!("gappy")));
    frame_image(FrameImage { pixels: &[0; 64], width: 4, height: 4, age: 1, flipped: true });
    Pool::MAIN.alloc(0x1000, 64);
    Pool::MAIN.free(0x1000);
    let device = Pool::named(name!("device"));
    device.alloc(0x2000, 128);
    device.discard();
    let lock = lock!("queue");
    lock.name("queue 7");
    lock.wait();
    lock.obtained();
    lock.released();
    lock.tried(false);
    drop(lock);
    drop(Fiber::enter(name!("fiber")));
    assert!(zonecast::is_connected());
    session.flush();
}

fn fibers() {
    let (one, two) = (name!("one"), Name::intern("two"));
    let _thread = zone!("thread");
    let fiber = Fiber::enter(one);
    let kept = zone!("kept");
    drop(fiber);
    {
        let _fiber = Fiber::enter(two);
        drop(zone!("on two"));
    }
    {
        let _fiber = Fiber::enter(one);
        drop(zone!("inside kept"));
    }
    // Ended while its fiber is not running.
    drop(kept);
}

fn frames() {
    for _ in 0..3 {
        frame_mark!();
    }
    drop(Frame::begin(name!("gappy")));
    drop(Frame::begin(name!("gappy")));
}

fn lanes() {
    let _session = zonecast::start();
    let _around = zone!("around");
    let from = Time::now();
    let at = |ns| from.plus(ns);
    let mut lane = Lane::of_kind("stream\n0", LaneKind::Cuda);
    lane.zones(&mut [
        LaneZone {
            launched: Some((at(-3_000), at(-2_000))),
            measured_ns: 8_001,
            ..LaneZone::new(location!("pass"), at(1_000), at(9_000))
        },
        LaneZone::new(location!("draw"), at(1_000), at(5_000)).at_depth(1).named("renamed"),
        LaneZone::new(location!("leaf"), at(2_000), at(3_000)).at_depth(2),
    ]);
    lane.zone_at(location!("later"), at(10_000), at(10_001));
    drop(lane);
    let mut early = Lane::new("early");
    early.zone_at(location!("long ago"), from.plus(-3_600_000_000_000), from.plus(-3_599_000_000_000));
}

/// Ends zones that were never begun.
fn forged() {
    drop(zone!("begun"));
    for mark in [1, 2, 7, 1 << 40, u64::MAX] {
        let zone = ZoneId { mark, data: 3 };
        zonecast::raw::zone_text(zone, "no zone");
        zonecast::raw::zone_end(zone);
    }
    drop(zone!("begun"));
}

fn out_of_order() {
    let outer = zone!("outer");
    let first = zone!("first");
    let second = zone!("second");
    drop(zone!("leaf"));
    drop(first);
    drop(zone!("after first"));
    drop(outer);
    drop(zone!("after outer"));
    drop(second);
    drop(zone!("last"));
}

fn forgotten() {
    for _ in 0..1_000 {
        let _outer = zone!("outer");
        let forgotten = zone!("forgotten");
        forgotten.text("never shown");
        std::mem::forget(forgotten);
    }
    drop(zone!("last"));
}

fn deep() {
    fn go_down(depth: u32) {
        let _zone = zone!("level");
        if depth > 0 {
            go_down(depth - 1);
        }
    }
    // Frames of an unoptimised build with several providers are large.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(|| go_down(2_999));
    thread.unwrap().join().unwrap();
}

fn names() {
    let hostile = Location::intern(LocationParts {
        name: "a\nb \"c\" \\ \x1b[31m \u{85}\u{202e}",
        function: "f\r",
        file: "dir\n/file\t.rs",
        line: 3,
        color: 0,
    });
    let zone = Zone::begin_interned(&hostile);
    zone.text("text\nwith \"quotes\"");
    drop(zone);
    static NOT_UTF8: Location = Location::new(Some(c"a\xffb"), c"\xfe", c"\xfd.c", 1, 0);
    drop(Zone::begin(&NOT_UTF8));
    static NOTHING: Location = Location::new(None, c"", c"", 0, 0);
    drop(Zone::begin(&NOTHING));
    set_thread_name("thread\n\x1b]0;title\x07\"");
    message!("message\r\n\x1b[2J");
    plot!(Name::intern("plot\n"), 1);
}

fn durations() {
    fn short() {
        drop(zone!("short"));
    }
    let _long = zone!("long");
    short();
    {
        let _shown = zone!("shown");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(20) {}
        short();
    }
    let other = zone!("other");
    other.name("shown by name");
    drop(other);
}

fn sources() {
    let text: String = (1..=100).map(|line| format!("line {line}\n")).collect();
    zonecast::sources::publish("kernel.mlir", text.into_bytes());
    let parts = LocationParts { name: "kernel", function: "k", file: "kernel.mlir", line: 50, color: 0 };
    let place = Location::intern(parts);
    let part = Location::intern(LocationParts { name: "kernel workgroup", ..parts });
    for _ in 0..3 {
        drop(Zone::begin_interned(&place));
        drop(Zone::begin_interned(&part));
    }
    drop(zone!("no source"));
}

fn numbers() {
    fn inner() {
        drop(zone!("inner"));
    }
    for round in 0..1_000 {
        let _outer = zone!("outer");
        (0..3).for_each(|_| inner());
        plot!("level", round);
        Pool::MAIN.alloc(round, round);
        Pool::MAIN.free(round);
        message!("round");
    }
    std::thread::spawn(inner).join().unwrap();
    let lock = lock!("queue");
    for _ in 0..5 {
        lock.wait();
        lock.obtained();
        lock.released();
    }
    for _ in 0..11 {
        frame_mark!();
    }
    // Of two addresses, but one content.
    static ONE: Location = Location::new(Some(c"same"), c"f", c"file", 1, 0);
    static TWO: Location = Location::new(Some(c"same"), c"f", c"file", 1, 0);
    drop((Zone::begin(&ONE), Zone::begin(&TWO)));
}

fn around_the_session() {
    drop(zone!("before"));
    let session = zonecast::start();
    drop(zone!("during"));
    drop(session);
    drop(zone!("after"));
}

/// The variable that says how many zones of five each thread has.
pub(crate) const ROUNDS: &str = "ZONECAST_TEST_ROUNDS";

fn threads() {
    let rounds: u64 = std::env::var(ROUNDS).unwrap().parse().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            scope.spawn(move || {
                for round in 0..rounds {
                    let outer = zone!("outer");
                    outer.value(thread);
                    for inner in 0..4 {
                        let zone = zone!("inner");
                        zone.value(round * 4 + inner);
                    }
                }
            });
        }
    });
}

/// Lines too long for a buffer, and for what a pipe takes at once.
fn long_texts() {
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            scope.spawn(move || {
                let letter = ["a", "b", "c", "d"][thread];
                for length in [10, 5_000, 70_000, 200_000] {
                    let zone = zone!("long");
                    zone.text(&letter.repeat(length));
                    message!("{}", letter.repeat(length));
                }
            });
        }
    });
}

/// Fails unless the line of a zone that has ended is in the file while the one around it is open.
fn within_a_long_zone() {
    let file = std::env::var("ZONECAST_FILE").unwrap();
    let _long = zone!("long");
    drop(zone!("ended"));
    let begun = Instant::now();
    while !std::fs::read_to_string(&file).unwrap().contains("ended") {
        assert!(begun.elapsed() < PATIENCE, "the line of a zone that has ended is held back");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn late_destructors() {
    struct Late(&'static str);
    impl Drop for Late {
        fn drop(&mut self) {
            drop(zone!("late"));
            message!("{}", self.0);
        }
    }
    thread_local! {
        static BEFORE: Late = const { Late("made before the first call") };
        static AFTER: Late = const { Late("made after the first call") };
    }
    extern "C" fn at_exit() {
        drop(zone!("at exit"));
    }
    // SAFETY: the function lives as long as the program. It is registered before the console's own,
    // and so runs after it, when no line is held back any more.
    unsafe { libc::atexit(at_exit) };
    std::thread::spawn(|| {
        BEFORE.with(|_| ());
        drop(zone!("early"));
        AFTER.with(|_| ());
    })
    .join()
    .unwrap();
    std::thread::spawn(|| BEFORE.with(|_| ())).join().unwrap();
    AFTER.with(|_| ());
}

/// Ends zones inside an outer one, and then the program.
fn ended_and_then(end: fn()) {
    let _outer = zone!("outer");
    for _ in 0..10 {
        drop(zone!("ended"));
    }
    let _open = zone!("open");
    println!("ready");
    end();
}

fn renamed_abort() {
    let _zone = zone!(name = "its own name");
    std::process::abort();
}

/// More lines than a pipe takes that nobody reads.
fn flood() {
    println!("ready");
    loop {
        drop(zone!("flood"));
    }
}

fn nonblocking() {
    // SAFETY: standard error is open.
    unsafe { libc::fcntl(libc::STDERR_FILENO, libc::F_SETFL, libc::O_NONBLOCK) };
    long_texts();
}

fn fault() {
    let _kernel = zone!("kernel");
    // SAFETY: it is not: this is the fault.
    unsafe { std::ptr::without_provenance_mut::<u32>(8).write_volatile(1) };
}

#[allow(unconditional_recursion, reason = "the stack is to overflow")]
fn overflow(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    overflow(depth + 1) + frame[7]
}

/// A signal handler that traces, in the middle of calls.
fn traced_signal_handler() {
    extern "C" fn handler(_: libc::c_int) {
        let zone = zone!("handler");
        zone.text("from a handler");
    }
    let often = libc::timeval { tv_sec: 0, tv_usec: 200 };
    let timer = libc::itimerval { it_interval: often, it_value: often };
    // SAFETY: the handler is of the right shape and traces only; the timer is ours.
    unsafe {
        libc::signal(libc::SIGALRM, handler as *const () as usize);
        libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut());
    }
    for _ in 0..20_000 {
        let outer = zone!("outer");
        outer.value(1);
        let inner = zone!("inner");
        inner.text("inner's text");
    }
}

fn fork() {
    let outer = zone!("outer");
    drop(zone!("parent's, held back"));
    // SAFETY: the child traces and ends. It ends by a signal, since other libraries' exit handlers may
    // not be made for a child without their threads.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(zone!("child's"));
        drop(outer);
        std::process::abort();
    }
    let mut status = 0;
    // SAFETY: `status` is ours.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WTERMSIG(status), libc::SIGABRT);
    drop(zone!("parent's, later"));
}

fn exit_while_others_trace() {
    for _ in 0..4 {
        std::thread::spawn(|| {
            loop {
                let _outer = zone!("outer");
                drop(zone!("inner"));
            }
        });
    }
    drop(zone!("main's"));
    std::process::exit(0);
}

/// A runtime that turns faults into errors, as some do.
fn recovered_faults() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static PAGE: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn make_writable(_: libc::c_int) {
        // SAFETY: the page is the one mapped below.
        unsafe {
            let page = PAGE.load(Ordering::Relaxed) as *mut libc::c_void;
            libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_WRITE);
        }
    }
    // SAFETY: a new page that cannot be written, and a handler that changes that.
    unsafe {
        let page = libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        PAGE.store(page as usize, Ordering::Relaxed);
        libc::signal(libc::SIGSEGV, make_writable as *const () as usize);
        let _outer = zone!("outer");
        drop(zone!("ended"));
        page.cast::<u8>().write_volatile(1);
        drop(zone!("after the fault"));
    }
}
