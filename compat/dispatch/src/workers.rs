//! The threads that share a dispatch's workgroups.

use std::io;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// A set of threads that stay, so that a trace shows the same few from first to last.
#[derive(Debug)]
pub struct Workers {
    pool: Option<ThreadPool>,
}

impl Workers {
    /// No threads: workgroups run on the thread that calls, one after another.
    pub const fn none() -> Self {
        Self { pool: None }
    }

    /// `threads` threads, named `worker 0`, `worker 1`, …; as [`none`](Self::none) if `threads` is 1 or 0.
    ///
    /// # Errors
    ///
    /// If the system gives no more threads.
    pub fn new(threads: usize) -> io::Result<Self> {
        Self::with_start(threads, |_| ())
    }

    /// As [`new`](Self::new), and each thread calls `start` with its number before all else, for instance
    /// to tell a profiler its name.
    ///
    /// # Errors
    ///
    /// If the system gives no more threads.
    pub fn with_start(threads: usize, start: impl Fn(usize) + Send + Sync + 'static) -> io::Result<Self> {
        if threads <= 1 {
            return Ok(Self::none());
        }
        let builder =
            ThreadPoolBuilder::new().num_threads(threads).thread_name(|index| format!("worker {index}"));
        let pool = builder.start_handler(start).build().map_err(io::Error::other)?;
        Ok(Self { pool: Some(pool) })
    }

    /// How many workgroups can run at once.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Calls `work` with the worker's number, at once on every worker, or just here if `alone`.
    /// Returns when all have returned.
    pub(crate) fn run(&self, alone: bool, work: impl Fn(usize) + Sync) {
        match &self.pool {
            Some(pool) if !alone => drop(pool.broadcast(|context| work(context.index()))),
            _ => work(0),
        }
    }
}
