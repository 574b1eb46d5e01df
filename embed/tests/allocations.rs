//! Opening allocates by the number of images, not of sources, and looking up allocates nothing.
#![cfg(feature = "iree")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use zonecast_embed::Executable;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator; the count has no part in it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending has no count any more.
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How many allocations (those that grow an earlier one count too) `work` makes on this thread.
fn count<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = COUNT.get();
    let result = work();
    (result, COUNT.get() - before)
}

fn open(bytes: &'static [u8]) -> (Executable, usize) {
    count(|| Executable::from_bytes(bytes, "module").unwrap())
}

#[test]
fn opening_allocates_by_the_number_of_images() {
    let (three, with_three) = open(include_bytes!("data/iree/scale.cpu.g3.vmfb"));
    let (many, with_many) = open(include_bytes!("data/iree/many.cpu.g3.vmfb"));
    assert_eq!((three.images().len(), three.image(0).unwrap().sources().len()), (1, 3));
    assert_eq!((many.images().len(), many.image(0).unwrap().sources().len()), (1, 36));
    assert_eq!(with_three, with_many);
    assert!(with_three <= 8, "{with_three} allocations");
}

#[test]
fn opening_a_table_allocates_the_same_for_any_number_of_sources() {
    let table = |sources: usize| {
        let mut table = zonecast_embed::table::TableBuilder::new();
        for source in 0..sources {
            table.source(format!("{source:04}.mlir"), format!("func @f{source}\n")).unwrap();
        }
        &*table.build().unwrap().leak()
    };
    let (one, with_one) = open(table(1));
    let (many, with_many) = open(table(1000));
    assert_eq!((one.image(0).unwrap().sources().len(), many.image(0).unwrap().sources().len()), (1, 1000));
    assert_eq!(with_one, with_many);
    assert!(with_many <= 4, "{with_many} allocations");
    let (text, allocations) = count(|| many.image(0).unwrap().sources().find("0777.mlir"));
    assert_eq!((text, allocations), (Some(&b"func @f777\n"[..]), 0));
}

#[test]
fn reading_allocates_nothing() {
    let (executable, _) = open(include_bytes!("data/iree/many.cpu.g3.vmfb"));
    let ((), allocations) = count(|| {
        let image = executable.image(0).unwrap();
        for export in image.exports() {
            for stage in export.stages() {
                assert!(black_box(image.sources().find(stage.location.unwrap().file)).is_some());
            }
        }
        assert_eq!(black_box(image.sources().iter()).count(), 36);
    });
    assert_eq!(allocations, 0);
}
