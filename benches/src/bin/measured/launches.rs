//! Launches through a recorder, and what a snapshot of memory costs beside a plain copy.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::LazyLock;

use zonecast_recordings::recorder::{
    Backend, Choice, Description, Held, Instance, Keep, Launcher, Off, Recorder, Recording,
};

/// How much memory a snapshot is of.
const BYTES: usize = 16 << 20;

/// A device whose kernels do nothing.
struct Idle;

impl Backend for Idle {
    type Launch<'a> = &'a [u8];
    type Error = Infallible;

    fn describe(&self, _: &&[u8]) -> Result<Description, Infallible> {
        Ok(Description::default())
    }

    fn memory(&self, launch: &&[u8], _: &Held<'_>) -> Result<Vec<(u64, u64)>, Infallible> {
        Ok(vec![(0, launch.len() as u64)])
    }

    fn read(&self, launch: &&[u8], _: u64, into: &mut [u8]) -> Result<(), Infallible> {
        into.copy_from_slice(launch);
        Ok(())
    }

    #[inline]
    unsafe fn run(&self, launch: &mut &[u8]) -> Result<(), Infallible> {
        black_box(launch);
        Ok(())
    }
}

fn recorder() -> Recorder<Idle> {
    let choice = Choice { keep: Keep::All, ..Choice::default() };
    Recorder::new(Idle, choice, |_: &Instance, recording: Recording| {
        black_box(recording);
        Ok(())
    })
}

static MEMORY: LazyLock<Vec<u8>> = LazyLock::new(|| vec![7; BYTES]);

zonecast_benches::loops! {
    /// The device's own launch.
    fn loop_launch(n) {
        for _ in 0..n {
            let mut launch: &[u8] = black_box(&[]);
            // SAFETY: it does nothing.
            unsafe { Idle.run(&mut launch) }.unwrap();
        }
    }

    /// The same through no recorder.
    fn loop_launch_off(n) {
        for _ in 0..n {
            let launch: &[u8] = black_box(&[]);
            // SAFETY: as above.
            unsafe { Off(Idle).launch(launch) }.unwrap();
        }
    }

    /// The same through a recorder that is paused.
    fn loop_launch_paused(n) {
        let recorder = recorder();
        recorder.pause();
        for _ in 0..n {
            // SAFETY: as above.
            unsafe { recorder.launch(black_box(&[])) }.unwrap();
        }
    }

    /// Memory copied before and after a launch, by hand.
    fn loop_copy(n) {
        for _ in 0..n {
            black_box((MEMORY.clone(), MEMORY.clone()));
        }
    }

    /// A launch recorded, with the same memory.
    fn loop_record(n) {
        let recorder = recorder();
        for _ in 0..n {
            // SAFETY: as above.
            unsafe { recorder.launch(&MEMORY) }.unwrap();
        }
    }
}
