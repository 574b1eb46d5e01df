//! The console in a program whose allocator is traced: what the console takes for itself is not
//! shown, and the calls from within the allocator find it at any moment.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

use zonecast::{Pool, TracedAllocator, zone};

/// Traced in the child alone, from its very first allocation on, which is before `main`.
struct Allocator;

static TRACED: TracedAllocator<System> = TracedAllocator::new(System, Pool::MAIN);

fn is_child() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    if KNOWN.load(Ordering::Relaxed) == 0 {
        // SAFETY: the name is a C string, and nobody changes the environment of this program.
        let is_child = unsafe { !libc::getenv(c"ZONECAST_TEST_CHILD".as_ptr()).is_null() };
        KNOWN.store(1 + u8::from(is_child), Ordering::Relaxed);
    }
    KNOWN.load(Ordering::Relaxed) == 2
}

// SAFETY: both allocators are the system's.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { if is_child() { TRACED.alloc(layout) } else { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { if is_child() { TRACED.dealloc(memory, layout) } else { System.dealloc(memory, layout) } }
    }
}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

const SIZE: usize = 123_456;

#[test]
#[ignore = "it is what the other test runs as a child"]
fn child() {
    let _zone = zone!("outer");
    for _ in 0..100 {
        std::hint::black_box(Vec::<u8>::with_capacity(SIZE));
    }
    std::thread::spawn(|| std::hint::black_box(Vec::<u8>::with_capacity(SIZE))).join().unwrap();
    #[cfg(unix)]
    in_a_foreign_thread();
}

/// On a thread that Rust did not make, the library itself allocates when it is asked for its name.
#[cfg(unix)]
fn in_a_foreign_thread() {
    extern "C" fn body(_: *mut libc::c_void) -> *mut libc::c_void {
        std::hint::black_box(std::thread::current().id());
        drop(zone!("foreign"));
        std::ptr::null_mut()
    }
    // SAFETY: the thread is waited for; its body is a function of the right shape.
    unsafe {
        let mut thread = std::mem::zeroed();
        assert_eq!(libc::pthread_create(&mut thread, std::ptr::null(), body, std::ptr::null_mut()), 0);
        libc::pthread_join(thread, std::ptr::null_mut());
    }
}

#[test]
fn allocations_are_shown_once() {
    for console in ["json", "text", "summary", "json,summary"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("written");
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "child"])
            .env("ZONECAST_TEST_CHILD", "1")
            .env("ZONECAST_PROVIDER", "console")
            .env("ZONECAST_CONSOLE", console)
            .env("ZONECAST_FILE", &file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{console}: {output:?}");
        let text = std::fs::read_to_string(&file).unwrap();
        match console {
            "summary" => assert!(text.contains("memory taken") && text.contains("  foreign  "), "{text}"),
            "text" => assert_eq!(text.matches("size=123456").count(), 101),
            _ => {
                let sized = |line: &&str| {
                    let line: serde_json::Value = serde_json::from_str(line).expect(line);
                    line["event"] == "alloc" && line["size"] == SIZE
                };
                assert_eq!(text.lines().filter(sized).count(), 101);
            }
        }
    }
}
