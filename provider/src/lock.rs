//! Locks: who waits for whom, and for how long.

use crate::select::provider;
use crate::{Location, LockId};

/// A lock that is shown on the timeline, beside a lock of the program's own.
///
/// Tracy's profiler is sent the first 64 threads that use it, and the first 255 times that it is
/// obtained without being released: it can count no more.
///
/// ```
/// use std::sync::Mutex;
/// use zonecast::lock;
///
/// let queue = Mutex::new(Vec::new());
/// let shown = lock!("queue");
///
/// shown.wait();
/// let mut guard = queue.lock().unwrap();
/// shown.obtained();
/// guard.push(1);
/// drop(guard);
/// shown.released();
/// ```
#[derive(Debug)]
pub struct Lock {
    id: LockId,
}

impl Lock {
    /// Announces a lock. It is gone when this is dropped. See [`lock!`](crate::lock!).
    #[must_use]
    pub fn announce(location: &'static Location) -> Self {
        Self { id: provider!(|p| p.lock_announce(location)) }
    }

    /// Gives it a name of its own, where one place makes many locks.
    pub fn name(&self, name: &str) {
        provider!(|p| p.lock_name(self.id, name));
    }

    /// This thread begins to wait for it.
    #[inline]
    pub fn wait(&self) {
        provider!(|p| p.lock_wait(self.id));
    }

    /// This thread has it, after [`wait`](Self::wait).
    #[inline]
    pub fn obtained(&self) {
        provider!(|p| p.lock_obtain(self.id));
    }

    /// This thread tried to take it without waiting.
    #[inline]
    pub fn tried(&self, obtained: bool) {
        provider!(|p| p.lock_try_obtain(self.id, obtained));
    }

    /// This thread has released it.
    #[inline]
    pub fn released(&self) {
        provider!(|p| p.lock_release(self.id));
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        provider!(|p| p.lock_terminate(self.id));
    }
}
