//! One dispatch while it runs: its records, and the workgroups that are left.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::abi::{DispatchState, Environment, Grid, WorkgroupState};
use crate::library::Export;
use crate::{Binding, Buffer, Count, Dispatch, Error, Observer, Running, Workers, Workgroup};

/// The interface's limit for constants and for bindings.
const MOST: usize = 64;

/// The unit in which a library says how much local memory a workgroup needs.
const PAGE: usize = 4096;

/// Bit of an export's flags: its workgroups run one after another.
const SEQUENTIAL: u64 = 1;
/// Bit of an export's flags: its workgroup size is up to the caller.
const DYNAMIC_SIZE: u64 = 2;

/// A dispatch whose arguments have been checked.
pub(crate) struct Job<'a, 'd, O> {
    export: &'a Export,
    records: Records<'d>,
    running: Running<'a>,
    observer: &'a O,
    total: u64,
    /// The workgroup that comes next, in order of x, then y, then z.
    next: AtomicU64,
    failure: OnceLock<(i32, [u32; 3])>,
}

/// The records that all workgroups share, and the arrays that they point to.
struct Records<'d> {
    environment: Environment,
    state: DispatchState,
    _starts: Vec<*mut u8>,
    _lengths: Vec<usize>,
    _bindings: &'d mut [Binding<'d>],
}

// SAFETY: what the pointers lead to is borrowed for as long as the records live (the bindings, the import
// tables) or belongs to them (the arrays), and nobody writes to it but kernels to bindings. Kernels write to bindings from several threads at once; they are
// compiled for that, and no Rust code touches the bindings meanwhile.
unsafe impl Sync for Records<'_> {}

impl<'a, 'd, O: Observer> Job<'a, 'd, O> {
    /// Checks the arguments.
    pub(crate) fn new(
        export: &'a Export,
        image: usize,
        environment: Environment,
        dispatch: Dispatch<'d>,
        workers: usize,
        observer: &'a O,
    ) -> Result<Self, Error> {
        let Dispatch { ordinal, workgroups, .. } = dispatch;
        check_count(export, Count::Constants, dispatch.constants.len())?;
        check_count(export, Count::Bindings, dispatch.bindings.len())?;
        check_alignment(export, dispatch.bindings)?;
        let total =
            total(workgroups).ok_or_else(|| Error::Workgroups { export: export.name.clone(), workgroups })?;
        let most = if export.flags & SEQUENTIAL == 0 { workers as u64 } else { 1 };
        let concurrency = most.min(total).max(1) as usize;
        let running = Running { image, ordinal, name: &export.name, workgroups, concurrency };
        Ok(Self {
            export,
            records: Records::new(export, environment, dispatch, concurrency)?,
            running,
            observer,
            total,
            next: AtomicU64::new(0),
            failure: OnceLock::new(),
        })
    }

    /// Runs all workgroups.
    ///
    /// # Safety
    ///
    /// As `Library::dispatch`; the export's library is loaded.
    pub(crate) unsafe fn run(&self, workers: &Workers) -> Result<(), Error> {
        let _watched = self.observer.dispatch(self.running);
        // SAFETY: the caller's promises are passed on.
        workers.run(self.running.concurrency == 1, |worker| unsafe { self.work(worker) });
        match self.failure.get() {
            None => Ok(()),
            Some(&(code, workgroup)) => {
                Err(Error::Failed { export: self.export.name.clone(), code, workgroup })
            }
        }
    }

    /// Runs workgroups until none is left or one has failed.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run).
    unsafe fn work(&self, worker: usize) {
        let mut local = Buffer::zeroed(usize::from(self.export.local_memory_pages) * PAGE);
        while let Some(workgroup) = self.take() {
            let _watched = self.observer.workgroup(self.running, Workgroup { id: workgroup, worker });
            // SAFETY: the caller's promises are passed on.
            let code = unsafe { self.call(workgroup, worker, &mut local) };
            if code != 0 {
                // The first one to fail is the one to tell about.
                let _ = self.failure.set((code, workgroup));
            }
        }
    }

    /// The next workgroup to run.
    fn take(&self) -> Option<[u32; 3]> {
        if self.failure.get().is_some() {
            return None;
        }
        // Relaxed: the number alone matters. What workgroups write, the end of the dispatch publishes.
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let [x, y, _] = self.running.workgroups.map(u64::from);
        (index < self.total).then(|| [index % x, index / x % y, index / x / y].map(|number| number as u32))
    }

    /// # Safety
    ///
    /// As [`run`](Self::run).
    unsafe fn call(&self, workgroup: [u32; 3], worker: usize, local: &mut Buffer) -> i32 {
        let state = WorkgroupState {
            // The count was checked, so each of these fits.
            id: Grid { x: workgroup[0], y: workgroup[1], z: workgroup[2] as u16 },
            reserved: 0,
            processor: worker as u32,
            local_memory: if local.is_empty() { ptr::null_mut() } else { local.as_mut_ptr() },
            local_memory_size: local.len() as u32,
        };
        // SAFETY: the records are laid out and aligned as the interface says and live until the call
        // returns; local memory is this worker's own. The rest is the caller's promise.
        unsafe { (self.export.kernel)(&self.records.environment, &self.records.state, &state) }
    }
}

impl<'d> Records<'d> {
    fn new(
        export: &Export,
        environment: Environment,
        dispatch: Dispatch<'d>,
        concurrency: usize,
    ) -> Result<Self, Error> {
        let size = match export.workgroup_size {
            _ if export.flags & DYNAMIC_SIZE != 0 => dispatch.workgroup_size,
            // Before version 6, the runtime passed ones.
            size => size.or(Some([1, 1, 1])),
        };
        let size = size.and_then(Grid::new);
        let count = Grid::new(dispatch.workgroups);
        let starts: Vec<_> = dispatch.bindings.iter().map(Binding::start).collect();
        let lengths: Vec<_> = dispatch.bindings.iter().map(Binding::length).collect();
        Ok(Self {
            environment,
            state: DispatchState {
                workgroup_size: size.ok_or_else(|| Error::WorkgroupSize { export: export.name.clone() })?,
                constant_count: dispatch.constants.len() as u16,
                workgroup_count: count.ok_or_else(|| Error::Workgroups {
                    export: export.name.clone(),
                    workgroups: dispatch.workgroups,
                })?,
                max_concurrency: concurrency.min(u8::MAX.into()) as u8,
                binding_count: dispatch.bindings.len() as u8,
                constants: dispatch.constants.as_ptr(),
                bindings: starts.as_ptr(),
                lengths: lengths.as_ptr(),
            },
            _starts: starts,
            _lengths: lengths,
            _bindings: dispatch.bindings,
        })
    }
}

fn check_count(export: &Export, of: Count, given: usize) -> Result<(), Error> {
    let recorded = export.counts.map(|counts| usize::from(counts[of as usize]));
    let fits = recorded.map_or(given <= MOST, |takes| takes == given);
    let takes = recorded.unwrap_or(MOST);
    let recorded = recorded.is_some();
    if fits { Ok(()) } else { Err(Error::Count { export: export.name.clone(), of, takes, recorded, given }) }
}

fn check_alignment(export: &Export, bindings: &[Binding<'_>]) -> Result<(), Error> {
    let misaligned = |binding: &Binding<'_>| !binding.start().addr().is_multiple_of(Buffer::ALIGNMENT);
    match bindings.iter().position(misaligned) {
        None => Ok(()),
        Some(binding) => {
            let address = bindings[binding].start().addr();
            Err(Error::Misaligned { export: export.name.clone(), binding, address })
        }
    }
}

/// How many workgroups there are in all.
fn total([x, y, z]: [u32; 3]) -> Option<u64> {
    (u64::from(x) * u64::from(y)).checked_mul(z.into())
}
