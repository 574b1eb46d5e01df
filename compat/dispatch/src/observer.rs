//! Who is told what runs.

/// A dispatch that is about to run.
#[derive(Clone, Copy, Debug)]
pub struct Running<'a> {
    /// The index of its image in the executable.
    pub image: usize,
    /// Its export.
    pub ordinal: usize,
    /// The export's name; what is not UTF-8 is replaced.
    pub name: &'a str,
    /// How many workgroups there are.
    pub workgroups: [u32; 3],
    /// On how many threads they run at most.
    pub concurrency: usize,
}

/// One workgroup that is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workgroup {
    /// Which one of the grid.
    pub id: [u32; 3],
    /// The worker that runs it, counted from zero.
    pub worker: usize,
}

/// Is told when a dispatch and its workgroups begin; what it returns is dropped when they end.
///
/// `()` watches nothing. One that watches:
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use zonecast_dispatch::{Observer, Running, Workgroup};
///
/// #[derive(Default)]
/// struct Count(AtomicUsize);
///
/// impl Observer for Count {
///     type Dispatch = ();
///     type Workgroup = ();
///
///     fn dispatch(&self, _: Running<'_>) {}
///
///     fn workgroup(&self, _: Running<'_>, _: Workgroup) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
/// ```
pub trait Observer: Sync {
    /// Lives as long as the dispatch, on the thread that called it.
    type Dispatch;
    /// Lives as long as the workgroup, on the thread that runs it.
    type Workgroup;

    /// The dispatch begins; its arguments have been checked.
    fn dispatch(&self, running: Running<'_>) -> Self::Dispatch;

    /// One of its workgroups begins.
    fn workgroup(&self, running: Running<'_>, workgroup: Workgroup) -> Self::Workgroup;
}

impl Observer for () {
    type Dispatch = ();
    type Workgroup = ();

    #[inline]
    fn dispatch(&self, _: Running<'_>) {}

    #[inline]
    fn workgroup(&self, _: Running<'_>, _: Workgroup) {}
}
