//! Futures in a zone.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use zonecast::{Interned, Location, Name, raw};

use crate::open::{self, Key, Open};

/// Puts futures into zones.
pub trait FutureExt: Future + Sized {
    /// Runs this future in a zone.
    ///
    /// Without the feature `fibers`, each poll is a zone on the thread that polls; the time in
    /// which the future waits belongs to nobody. With it, the future has a timeline of its own, on
    /// which one zone lasts from its first poll to its end, whichever threads poll it.
    ///
    /// Spans that the future enters lie inside the zone. One that is still entered when the future
    /// waits is entered again with it, on the thread that polls it next.
    ///
    /// ```
    /// use zonecast::location;
    /// use zonecast_tracing::FutureExt;
    ///
    /// async fn fetch() -> u32 {
    ///     17
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert_eq!(fetch().in_zone(location!("fetch")).await, 17);
    /// # });
    /// ```
    fn in_zone(self, place: impl Into<Interned>) -> InZone<Self> {
        InZone { future: self, task: Task::new(place.into()) }
    }
}

impl<F: Future> FutureExt for F {}

pin_project_lite::pin_project! {
    /// A future in a zone. See [`FutureExt::in_zone`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are polled"]
    pub struct InZone<F> {
        // Dropped first, so that what its destructor traces still finds the zone.
        #[pin]
        future: F,
        task: Task,
    }
}

impl<F: Future> Future for InZone<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let running = Running::resume(this.task);
        let polled = this.future.poll(cx);
        running.task.is_done |= polled.is_ready();
        polled
    }
}

/// The zone of one future.
#[derive(Debug)]
struct Task {
    place: Interned,
    fiber: Option<FiberName>,
    /// What is entered in the future. While it is polled, what is entered outside of it.
    open: Open,
    is_begun: bool,
    is_done: bool,
}

/// No span's key: those have an owner.
const OWN: Key = Key { owner: 0, span: 0 };

impl Task {
    fn new(place: Interned) -> Self {
        Self { place, fiber: None, open: Open::nothing(None), is_begun: false, is_done: false }
    }

    fn begin(&mut self) {
        self.is_begun = true;
        let place = &self.place;
        open::here(|open| {
            open.enter(OWN, || {
                let zone = raw::zone_begin(place.location());
                if let Some(name) = place.shared_name() {
                    raw::zone_name(zone, name);
                }
                Some((place.location(), zone))
            });
        });
    }

    /// Changes places between what is entered on this thread and what is entered in the future.
    fn change_places(&mut self) {
        let (mut outside, mut inside) = (None, None);
        open::here(|here| {
            outside = here.fiber();
            std::mem::swap(here, &mut self.open);
            inside = here.fiber();
        });
        if outside.is_some() {
            raw::fiber_leave();
        }
        if let Some(fiber) = inside {
            raw::fiber_enter(fiber);
        }
    }
}

impl Drop for Task {
    /// A future that is dropped before its end ends its zones here.
    fn drop(&mut self) {
        if self.is_begun && !self.is_done {
            self.is_done = true;
            drop(Running::resume(self));
        }
    }
}

/// A future that is being polled. Suspended when this is dropped, so also by a panic.
struct Running<'a> {
    task: &'a mut Task,
}

impl<'a> Running<'a> {
    fn resume(task: &'a mut Task) -> Self {
        if cfg!(feature = "fibers") && !task.is_begun {
            let fiber = FiberName::take(task.place.location());
            task.open = Open::nothing(Some(fiber.name));
            task.fiber = Some(fiber);
        }
        task.change_places();
        if !task.is_begun {
            task.begin();
        } else if task.fiber.is_none() {
            open::here(Open::resume);
        }
        Self { task }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.task.is_done {
            open::here(Open::end_all);
        } else if self.task.fiber.is_none() {
            open::here(Open::suspend);
        }
        self.task.change_places();
        if self.task.is_done {
            self.task.fiber = None;
        }
    }
}

/// The name of a fiber, nobody else's while this lives.
///
/// A profiler makes a timeline of each name, so names are used again: there are as many as there
/// ever were futures of one place at once.
#[derive(Debug)]
struct FiberName {
    name: Name,
    place: &'static Location,
    number: u32,
}

static NUMBERS: Mutex<Option<HashMap<usize, Numbers>>> = Mutex::new(None);

/// The numbers of one place's fibers.
#[derive(Default)]
struct Numbers {
    free: BTreeSet<u32>,
    used: u32,
}

impl FiberName {
    fn take(place: &'static Location) -> Self {
        let number = numbers(place, |numbers| {
            numbers.free.pop_first().unwrap_or_else(|| {
                numbers.used += 1;
                numbers.used
            })
        });
        let name = Name::intern(&format!("{} #{number}", place.title().to_string_lossy()));
        Self { name, place, number }
    }
}

impl Drop for FiberName {
    fn drop(&mut self) {
        numbers(self.place, |numbers| numbers.free.insert(self.number));
    }
}

fn numbers<R>(place: &'static Location, f: impl FnOnce(&mut Numbers) -> R) -> R {
    let mut places = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let places = places.get_or_insert_default();
    f(places.entry(std::ptr::from_ref(place).addr()).or_default())
}
