//! Programs to capture, chosen by the first argument: `c++:NAME` for Tracy's own macros, `NAME` for
//! the API of `tracy-client`.

use std::ffi::{CString, c_char, c_int};
use std::time::{Duration, Instant};

use tracy_client::{Client, GpuContextType, PlotConfiguration, PlotFormat, frame_name, plot_name, span, span_location};

unsafe extern "C" {
    fn run_macros(name: *const c_char) -> c_int;
}

fn main() {
    let client = Client::start();
    let case = std::env::args().nth(1).expect("a case is named");
    if let Some(name) = case.strip_prefix("c++:") {
        let name = CString::new(name).expect("a name has no NUL");
        // SAFETY: the function reads a C string and keeps nothing of it.
        let known = unsafe { run_macros(name.as_ptr()) };
        assert_eq!(known, 1, "there is no C++ case of this name in this build");
        return;
    }
    match case.as_str() {
        "spans" => spans(&client),
        "threads" => threads(),
        "messages" => messages(&client),
        "plots" => plots(&client),
        "frames" => frames(&client),
        "gpu" => gpu(client),
        "memory" => memory(),
        "endless" => endless(),
        "flood" => flood(),
        #[cfg(feature = "fibers")]
        "fibers" => fibers(),
        other => panic!("there is no case {other}"),
    }
}

fn spans(client: &Client) {
    let outer = client.clone().span(span_location!("outer"), 0);
    outer.emit_text("some text");
    outer.emit_text("more text");
    outer.emit_value(7);
    outer.emit_value(u64::MAX);
    outer.emit_color(0xAB_CDEF);
    {
        let _inner = span!("inner");
        let dynamic = client.clone().span_alloc(Some("dynamic"), "its function", "its/file.rs", 77, 0);
        dynamic.emit_text("Übergröße");
    }
    let _deep = client.clone().span(span_location!("deep"), 20);
}

fn threads() {
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            std::thread::spawn(move || {
                tracy_client::Client::running().expect("it runs").set_thread_name(&format!("worker {worker}"));
                for _ in 0..1000 {
                    let _outer = span!("work");
                    let _inner = span!("part");
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().expect("a worker ends"));
}

fn messages(client: &Client) {
    client.message("plain", 0);
    client.color_message("green", 0x00FF_00FF, 0);
    client.message("with callstack", 10);
    client.message(&"long ".repeat(200), 0);
}

fn plots(client: &Client) {
    let name = plot_name!("load");
    let look = PlotConfiguration::default().format(PlotFormat::Percentage).fill(false).color(Some(0x12_3456));
    client.plot_config(name, look);
    for value in [1.0, 2.5, -3.0] {
        client.plot(name, value);
    }
    client.plot(name, f64::NAN);
}

fn frames(client: &Client) {
    for shade in 0..3_u8 {
        client.frame_image(&[shade; 8 * 4 * 4], 8, 4, 0, true);
        client.frame_mark();
    }
    client.secondary_frame_mark(frame_name!("physics"));
    drop(client.non_continuous_frame(frame_name!("load level")));
}

fn gpu(client: Client) {
    let context = client.new_gpu_context(Some("queue 0"), GpuContextType::Vulkan, 1_000, 2.0).expect("a context");
    let mut outer = context.span(span_location!("pass")).expect("a span");
    let mut inner = context.span_alloc("draw", "draw_function", "draw.rs", 12).expect("a span");
    inner.end_zone();
    outer.end_zone();
    outer.upload_timestamp_start(1_100);
    inner.upload_timestamp_start(1_200);
    inner.upload_timestamp_end(1_300);
    outer.upload_timestamp_end(1_500);
}

/// Blocks that do not come from an allocator: what is traced is what the calls say.
fn memory() {
    let blocks = [0x1000_usize, 0x2000, 0x3000].map(|address| address as *const std::ffi::c_void);
    for (size, block) in blocks.into_iter().enumerate() {
        // SAFETY: the addresses are recorded and never followed.
        unsafe { tracy_client_sys::___tracy_emit_memory_alloc(block, 100 + size) };
    }
    for block in blocks {
        // SAFETY: as above.
        unsafe { tracy_client_sys::___tracy_emit_memory_free(block) };
    }
}

/// Zones until somebody ends the process.
fn endless() {
    loop {
        let _zone = span!("again");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// As many zones as the second argument says, from two threads, spread over the third in seconds.
fn flood() {
    let argument = |place: usize| std::env::args().nth(place).and_then(|text| text.parse::<f64>().ok());
    let zones = argument(2).expect("a number of zones") as u64;
    let seconds = argument(3).unwrap_or(0.0);
    let rounds = 1000;
    let workers = [0, 1].map(|_| {
        std::thread::spawn(move || {
            let start = Instant::now();
            for round in 0..rounds {
                for _ in 0..zones / 2 / rounds {
                    let _zone = span!("flood");
                }
                let due = Duration::from_secs_f64(seconds * (round + 1) as f64 / rounds as f64);
                std::thread::sleep(due.saturating_sub(start.elapsed()));
            }
        })
    });
    workers.into_iter().for_each(|worker| worker.join().expect("a worker ends"));
}

#[cfg(feature = "fibers")]
fn fibers() {
    // SAFETY: the names are C strings that live for ever, and every enter has its leave.
    unsafe { tracy_client_sys::___tracy_fiber_enter(c"coroutine".as_ptr()) };
    drop(span!("on a fiber"));
    // SAFETY: as above.
    unsafe { tracy_client_sys::___tracy_fiber_leave() };
    drop(span!("on the thread"));
}
