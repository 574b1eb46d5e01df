//! The recorder: on a device that many threads use at once, and on IREE's kernels.

mod common;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use zonecast_recordings::recorder::{
    Allocate, Argument, Backend, Choice, Description, Error, Held, Instance, Keep, Launcher, Off, Recorder,
    Recording,
};

/// A device of words, shared with whoever looks at it. A launch fills one piece of memory with a number, word after word.
#[derive(Clone)]
struct Device(Arc<Words>);

struct Words {
    words: Vec<AtomicU64>,
    free: Mutex<Vec<u64>>,
    /// It copies late: when nobody holds the lock any more.
    late: bool,
}

const PIECE: usize = 64;
const PIECES: usize = 64;

struct Fill {
    address: u64,
    number: u64,
}

impl Device {
    fn new(late: bool) -> Self {
        Self(Arc::new(Words {
            words: (0..PIECE * PIECES).map(|_| AtomicU64::new(0)).collect(),
            free: Mutex::new((0..PIECES).map(|piece| (piece * PIECE * 8) as u64).collect()),
            late,
        }))
    }

    fn at(&self, address: u64) -> &[AtomicU64] {
        &self.0.words[address as usize / 8..]
    }

    fn copy(&self, address: u64, into: &mut [u8]) {
        for (word, bytes) in self.at(address).iter().zip(into.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
    }
}

impl Backend for Device {
    type Launch<'a> = Fill;
    type Error = Infallible;

    fn describe(&self, launch: &Fill) -> Result<Description, Infallible> {
        let argument = |word: u64, pointee| Argument { bytes: word.to_le_bytes().to_vec(), pointee };
        Ok(Description {
            kernel: format!("fill{}", launch.number % 2),
            grid: [1, 1, 1],
            block: [PIECE as u32, 1, 1],
            arguments: vec![argument(launch.address, None), argument(launch.number, None)],
            ..Description::default()
        })
    }

    fn read(&self, _: &Fill, address: u64, into: &mut [u8]) -> Result<(), Infallible> {
        if !self.0.late {
            self.copy(address, into);
        }
        Ok(())
    }

    unsafe fn run(&self, launch: &mut Fill) -> Result<(), Infallible> {
        for (index, word) in self.at(launch.address)[..PIECE].iter().enumerate() {
            word.store(launch.number, Ordering::Relaxed);
            // Others get their turn in the middle.
            if index == PIECE / 2 {
                std::thread::yield_now();
            }
        }
        Ok(())
    }
}

impl Allocate for Device {
    fn allocate(&self, _: u64) -> Result<u64, Infallible> {
        let address = self.0.free.lock().unwrap().pop().expect("fewer pieces than threads");
        self.at(address)[..PIECE].iter().for_each(|word| word.store(0, Ordering::Relaxed));
        Ok(address)
    }

    unsafe fn free(&self, address: u64, _: u64) -> Result<(), Infallible> {
        self.0.free.lock().unwrap().push(address);
        // What is free may hold anything.
        self.at(address)[..PIECE].iter().for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
        Ok(())
    }
}

/// Whether all words of a piece are one number, and that of a piece that is in use.
fn is_whole(bytes: &[u8]) -> bool {
    let mut words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    let first = words.next().unwrap();
    first != u64::MAX && words.all(|word| word == first)
}

/// 16 threads allocate, launch and free as fast as they can, while another one records so many launches. Returns how many
/// of those snapshots are torn; stops at the first if `at_most_one`.
fn torn(late: bool, snapshots: u64, at_most_one: bool) -> u64 {
    let device = Device::new(late);
    let (torn, taken) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let sink = {
        let (device, torn, taken) = (device.clone(), torn.clone(), taken.clone());
        move |_: &Instance, mut recording: Recording| {
            if late {
                recording.memory.iter_mut().for_each(|buffer| device.copy(buffer.address, &mut buffer.after));
                recording.memory.iter_mut().for_each(|buffer| buffer.before.clone_from(&buffer.after));
            }
            let whole = recording.memory.iter().all(|b| is_whole(&b.before) && is_whole(&b.after));
            torn.fetch_add(u64::from(!whole), Ordering::Relaxed);
            taken.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    };
    // The recorded kernel is `fill1`, the others' is `fill0`.
    let choice = Choice { kernels: vec!["fill1".into()], keep: Keep::All, ..Choice::default() };
    let recorder = Recorder::new(device, choice, sink);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..16_u64 {
            let (recorder, done) = (&recorder, &done);
            scope.spawn(move || {
                let mut number = 2 * thread;
                while !done.load(Ordering::Relaxed) {
                    let address = recorder.allocate(8 * PIECE as u64).unwrap();
                    for _ in 0..4 {
                        number += 32;
                        // SAFETY: the piece was just allocated, and is this thread's.
                        unsafe { recorder.launch(Fill { address, number }) }.unwrap();
                    }
                    // SAFETY: nobody else knows of it.
                    unsafe { recorder.free(address) }.unwrap();
                }
            });
        }
        let address = recorder.allocate(8 * PIECE as u64).unwrap();
        for snapshot in 0..snapshots {
            // SAFETY: as above.
            unsafe { recorder.launch(Fill { address, number: 2 * snapshot + 1 }) }.unwrap();
            if at_most_one && torn.load(Ordering::Relaxed) > 0 {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(at_most_one || taken.load(Ordering::Relaxed) == snapshots);
    torn.load(Ordering::Relaxed)
}

#[test]
fn of_ten_thousand_snapshots_none_is_torn() {
    assert_eq!(torn(false, 10_000, false), 0);
}

/// The test above can fail: here, what is copied is copied when the lock was released.
#[test]
fn a_recorder_that_releases_its_lock_before_it_copies_is_found_out() {
    assert!(torn(true, 10_000, true) > 0);
}

/// A recording: kernel, occurrence, and the number that was filled in.
type Kept = (String, u64, u64);

/// What was recorded, in that order, and how often each instance was launched.
fn kept(choice: Choice, launches: &[(u64, u64)]) -> (Vec<Kept>, Vec<(Instance, u64)>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let sink = {
        let kept = kept.clone();
        move |_: &Instance, recording: Recording| {
            let number = u64::from_le_bytes(recording.memory[0].after[..8].try_into().unwrap());
            kept.lock().unwrap().push((recording.description.kernel, recording.occurrence, number));
            Ok(())
        }
    };
    let recorder = Recorder::new(Device::new(false), choice, sink);
    let address = recorder.allocate(8 * PIECE as u64).unwrap();
    for &(offset, number) in launches {
        // SAFETY: it was just allocated. (The last piece has room behind it.)
        unsafe { recorder.launch(Fill { address: address - offset, number }) }.unwrap();
    }
    let kept = kept.lock().unwrap().clone();
    (kept, recorder.instances())
}

fn odd(occurrence: u64, number: u64) -> Kept {
    ("fill1".into(), occurrence, number)
}

#[test]
fn the_first_the_last_one_of_many_or_all_are_kept_and_all_are_counted() {
    let launches = [(0, 1), (0, 2), (0, 3), (0, 5)];
    let only = |keep| Choice { kernels: vec!["fill1".into()], keep, ..Choice::default() };
    for (keep, expected) in [
        (Keep::First, vec![odd(0, 1)]),
        (Keep::Nth(1), vec![odd(1, 3)]),
        (Keep::Nth(3), vec![]),
        (Keep::All, vec![odd(0, 1), odd(1, 3), odd(2, 5)]),
        (Keep::Last, vec![odd(0, 1), odd(1, 3), odd(2, 5)]),
    ] {
        let (kept, instances) = kept(only(keep), &launches);
        assert_eq!(kept, expected, "{keep:?}");
        let [(instance, count)] = &instances[..] else { panic!("{instances:?}") };
        assert_eq!((instance.kernel.as_str(), instance.block, *count), ("fill1", [PIECE as u32, 1, 1], 3));
    }
    let (kept, instances) = kept(Choice { most: Some(1), keep: Keep::All, ..Choice::default() }, &launches);
    assert_eq!((kept.len(), instances.len()), (1, 2));
}

#[test]
fn launches_with_other_arguments_are_other_instances_if_asked() {
    let launches = [(0, 1), (0, 3), (0, 1)];
    assert_eq!(kept(Choice::default(), &launches).1.len(), 1);
    let (kept, instances) = kept(Choice { by_arguments: true, ..Choice::default() }, &launches);
    assert_eq!(kept, [odd(0, 1), odd(0, 3)]);
    assert_eq!(instances.iter().map(|(_, count)| *count).sum::<u64>(), 3);
    assert_eq!(instances.len(), 2);
    let [a, b] = [&instances[0].0, &instances[1].0];
    assert_ne!(a.hash(), b.hash());
}

#[test]
fn a_paused_recorder_launches_and_counts_nothing() {
    let recorder = Recorder::new(Device::new(false), Choice::default(), |_: &Instance, _: Recording| {
        panic!("nothing is recorded")
    });
    let address = recorder.allocate(8).unwrap();
    recorder.pause();
    // SAFETY: it was just allocated.
    unsafe { recorder.launch(Fill { address, number: 7 }) }.unwrap();
    assert_eq!(recorder.with_memory(|device| device.at(address)[0].load(Ordering::Relaxed)), 7);
    assert_eq!(recorder.instances(), []);
}

#[test]
fn what_is_allocated_and_freed_is_known() {
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    let sink = {
        let seen = seen.clone();
        move |_: &Instance, recording: Recording| {
            *seen.lock().unwrap() =
                recording.memory.iter().map(|b| (b.address, b.before.len())).collect::<BTreeMap<_, _>>();
            Ok(())
        }
    };
    let choice = Choice { keep: Keep::All, ..Choice::default() };
    let recorder = Recorder::new(Device::new(false), choice, sink);
    let [a, b, c] = [8, 16, 24].map(|length| recorder.allocate(length).unwrap());
    // SAFETY: nobody uses it.
    unsafe { recorder.free(b) }.unwrap();
    // SAFETY: as above; what is not allocated is left alone.
    unsafe { recorder.free(b) }.unwrap();
    // SAFETY: the piece behind it is the device's, too.
    unsafe { recorder.launch(Fill { address: a, number: 1 }) }.unwrap();
    assert_eq!(*seen.lock().unwrap(), BTreeMap::from([(a, 8), (c, 24)]));
}

/// A device whose copies fail.
struct Broken;

impl Backend for Broken {
    type Launch<'a> = &'a AtomicU64;
    type Error = std::fmt::Error;

    fn describe(&self, _: &&AtomicU64) -> Result<Description, std::fmt::Error> {
        Ok(Description::default())
    }

    fn memory(&self, _: &&AtomicU64, _: &Held<'_>) -> Result<Vec<(u64, u64)>, std::fmt::Error> {
        Ok(vec![(0, u64::MAX)])
    }

    fn read(&self, _: &&AtomicU64, _: u64, _: &mut [u8]) -> Result<(), std::fmt::Error> {
        Err(std::fmt::Error)
    }

    unsafe fn run(&self, launch: &mut &AtomicU64) -> Result<(), std::fmt::Error> {
        launch.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn what_cannot_be_recorded_is_launched_all_the_same() {
    let ran = AtomicU64::new(0);
    let recorder = Recorder::new(Broken, Choice::default(), |_: &Instance, _: Recording| Ok(()));
    // SAFETY: it counts.
    let error = unsafe { recorder.launch(&ran) }.unwrap_err();
    assert!(matches!(error, Error::Room(u64::MAX)), "{error}");
    assert!(error.to_string().contains("no room to copy"), "{error}");
    assert_eq!(ran.load(Ordering::Relaxed), 1);
    // SAFETY: as above.
    unsafe { Off(Broken).launch(&ran) }.unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), 2);
}
