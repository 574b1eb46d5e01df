//! A library of our own (`data/native/kernels.c`) that reports what it was given, or fails.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::load;
use zonecast_dispatch::{Binding, Buffer, Dispatch, Error, Library, Observer, Running, Workers, Workgroup};

/// How many words each workgroup writes.
const RECORD_WORDS: usize = 32;
/// How many of them are the same whichever worker runs the workgroup.
const KNOWN: usize = 20;

const REPORT: usize = 0;
const FAIL: usize = 1;
const REPORT_IN_SEQUENCE: usize = 2;
const REPORT_SIZED: usize = 3;

fn report(library: &Library, dispatch: Dispatch<'_>, workers: &Workers) -> Vec<Vec<u64>> {
    let count: u32 = dispatch.workgroups.iter().product();
    let mut out = Buffer::zeroed(count as usize * RECORD_WORDS * size_of::<u64>());
    let dispatch = Dispatch {
        ordinal: dispatch.ordinal,
        workgroups: dispatch.workgroups,
        workgroup_size: dispatch.workgroup_size,
        constants: dispatch.constants,
        bindings: &mut [Binding::write(&mut out)],
    };
    // SAFETY: these kernels write a record for each workgroup.
    unsafe { library.dispatch(dispatch, workers, &()) }.unwrap();
    out.as_slice_of::<u64>().chunks(RECORD_WORDS).map(<[u64]>::to_vec).collect()
}

#[test]
fn kernels_are_given_what_the_interface_says() {
    let library = load("native/kernels.so");
    for threads in [1, 3] {
        let dispatch =
            Dispatch { workgroups: [5, 4, 3], constants: &[0xdead_beef, 7], ..Dispatch::of(REPORT) };
        let reports = report(&library, dispatch, &Workers::new(threads).unwrap());
        assert_eq!(reports.len(), 60);
        for (index, words) in reports.iter().enumerate() {
            let index = index as u64;
            let length = (60 * RECORD_WORDS * size_of::<u64>()) as u64;
            let expected = [
                [4, 3, 2, 5, 4, 3, threads as u64, 2, 0xdead_beef, 7].as_slice(),
                &[1, length, index % 5, index / 5 % 4, index / 20, 0],
                // Two pages of local memory; then three sums of bits that must not be set.
                &[2 * 4096, 0, 0, 0],
            ]
            .concat();
            assert_eq!(words[..KNOWN], expected, "workgroup {index}");
            assert!(words[KNOWN] < threads as u64, "worker {}", words[KNOWN]);
        }
    }
}

#[test]
fn workgroups_in_sequence_run_on_one_thread() {
    let library = load("native/kernels.so");
    let dispatch = Dispatch { workgroups: [50, 1, 1], ..Dispatch::of(REPORT_IN_SEQUENCE) };
    for words in report(&library, dispatch, &Workers::new(4).unwrap()) {
        assert_eq!((words[6], words[KNOWN], words[16]), (1, 0, 0));
    }
}

#[test]
fn a_size_left_to_the_caller_is_passed_on_or_asked_for() {
    let library = load("native/kernels.so");
    let sized = Dispatch { workgroup_size: Some([8, 2, 1]), ..Dispatch::of(REPORT_SIZED) };
    assert_eq!(report(&library, sized, &Workers::none())[0][..3], [8, 2, 1]);

    let mut out = Buffer::zeroed(RECORD_WORDS * size_of::<u64>());
    let mut unsized_dispatch = |workgroup_size| {
        let bindings = &mut [Binding::write(&mut out)];
        // SAFETY: one workgroup writes one record.
        unsafe {
            library.dispatch(
                Dispatch { workgroup_size, bindings, ..Dispatch::of(REPORT_SIZED) },
                &Workers::none(),
                &(),
            )
        }
    };
    for size in [None, Some([1, 1, 1 << 16])] {
        assert!(
            matches!(unsized_dispatch(size).unwrap_err(), Error::WorkgroupSize { export } if export == "report_sized")
        );
    }
}

#[test]
fn no_workgroup_is_a_dispatch_too() {
    let library = load("native/kernels.so");
    let dispatch = Dispatch { workgroups: [5, 0, 1], ..Dispatch::of(REPORT_IN_SEQUENCE) };
    assert!(report(&library, dispatch, &Workers::none()).is_empty());
}

fn fail(library: &Library, code: u32, workers: &Workers) -> (Result<(), Error>, Buffer) {
    let mut ran = Buffer::zeroed(1000);
    let dispatch = Dispatch {
        workgroups: [1000, 1, 1],
        constants: &[code],
        bindings: &mut [Binding::write(&mut ran)],
        ..Dispatch::of(FAIL)
    };
    // SAFETY: this kernel writes a byte for each workgroup.
    let result = unsafe { library.dispatch(dispatch, workers, &()) };
    (result, ran)
}

#[test]
fn a_failing_workgroup_stops_the_dispatch() {
    let library = load("native/kernels.so");
    let (result, ran) = fail(&library, 7, &Workers::none());
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::Failed { export, code: 7, workgroup: [3, 0, 0] } if export == "fail"));
    assert_eq!(error.to_string(), "fail returned 7 in workgroup 3,0,0; its results are of no use");
    assert_eq!(ran.iter().filter(|&&ran| ran == 1).count(), 4);

    let (result, _) = fail(&library, u32::MAX, &Workers::new(4).unwrap());
    assert!(matches!(result.unwrap_err(), Error::Failed { code: -1, workgroup: [3, 0, 0], .. }));

    let (result, ran) = fail(&library, 0, &Workers::new(4).unwrap());
    result.unwrap();
    assert!(ran.iter().all(|&ran| ran == 1));
}

/// Notes what begins and ends, in order.
#[derive(Default)]
struct Diary {
    lines: Mutex<Vec<String>>,
    open: AtomicUsize,
}

struct Entry<'a>(&'a Diary, String);

impl Diary {
    fn begin(&self, what: String) -> Entry<'_> {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.lines.lock().unwrap().push(format!("begin {what}"));
        Entry(self, what)
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.lines.lock().unwrap().push(format!("end {}", self.1));
    }
}

impl<'a> Observer for &'a Diary {
    type Dispatch = Entry<'a>;
    type Workgroup = Entry<'a>;

    fn dispatch(&self, running: Running<'_>) -> Entry<'a> {
        let Running { image, ordinal, name, workgroups, concurrency } = running;
        self.begin(format!("{image}.{ordinal} {name} {workgroups:?} on {concurrency}"))
    }

    fn workgroup(&self, running: Running<'_>, workgroup: Workgroup) -> Entry<'a> {
        self.begin(format!("{} {:?} on {}", running.ordinal, workgroup.id, workgroup.worker))
    }
}

#[test]
fn observers_see_the_dispatch_around_its_workgroups() {
    let library = load("native/kernels.so");
    let diary = Diary::default();
    let mut out = Buffer::zeroed(2 * RECORD_WORDS * size_of::<u64>());
    let dispatch = Dispatch {
        workgroups: [1, 2, 1],
        bindings: &mut [Binding::write(&mut out)],
        ..Dispatch::of(REPORT_IN_SEQUENCE)
    };
    // SAFETY: this kernel writes a record for each workgroup.
    unsafe { library.dispatch(dispatch, &Workers::none(), &&diary) }.unwrap();
    assert_eq!(
        *diary.lines.lock().unwrap(),
        [
            "begin 0.2 report_in_sequence [1, 2, 1] on 1",
            "begin 2 [0, 0, 0] on 0",
            "end 2 [0, 0, 0] on 0",
            "begin 2 [0, 1, 0] on 0",
            "end 2 [0, 1, 0] on 0",
            "end 0.2 report_in_sequence [1, 2, 1] on 1",
        ]
    );
    assert_eq!(diary.open.load(Ordering::Relaxed), 0);
}

#[test]
fn observers_are_told_of_each_workgroup_on_several_threads() {
    let library = load("native/kernels.so");
    let diary = Diary::default();
    let mut ran = Buffer::zeroed(500);
    let dispatch = Dispatch {
        workgroups: [500, 1, 1],
        constants: &[0],
        bindings: &mut [Binding::write(&mut ran)],
        ..Dispatch::of(FAIL)
    };
    // SAFETY: this kernel writes a byte for each workgroup.
    unsafe { library.dispatch(dispatch, &Workers::new(4).unwrap(), &&diary) }.unwrap();
    let lines = diary.lines.lock().unwrap();
    assert_eq!(lines.len(), 2 * 501);
    assert_eq!(lines[0], "begin 0.1 fail [500, 1, 1] on 4");
    assert_eq!(lines[1001], "end 0.1 fail [500, 1, 1] on 4");
    for x in 0..500 {
        let begins = lines.iter().filter(|line| line.starts_with(&format!("begin 1 [{x}, 0, 0] on ")));
        assert_eq!(begins.count(), 1, "workgroup {x}");
    }
}
