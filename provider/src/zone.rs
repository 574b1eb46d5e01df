//! Zones: a begin and an end on one thread.

use core::fmt;
use core::marker::PhantomData;

use crate::select::{Guard, provider};
use crate::{Interned, Location, ZoneId};

/// A zone that ends when this is dropped. It stays on its thread.
///
/// ```
/// let zone = zonecast::zone!("matmul");
/// zone.value(1_000);
/// zonecast::zone_text!(zone, "batch {}", 7);
/// drop(zone);
/// ```
///
/// ```compile_fail,E0277
/// let zone = zonecast::zone!("matmul");
/// std::thread::spawn(move || drop(zone));
/// ```
#[must_use = "a zone ends when its guard is dropped; bind it: `let _zone = …`"]
pub struct Zone {
    guard: Guard,
    on_its_thread: PhantomData<*const ()>,
}

impl Zone {
    /// The zone that is not there.
    pub const OFF: Self = Self::from_id(ZoneId::NONE);

    /// Begins a zone.
    #[inline(always)]
    pub fn begin(location: &'static Location) -> Self {
        Self::from_id(provider!(|p| p.zone_begin(location)))
    }

    /// Begins a zone at a place learnt at run time.
    #[inline]
    pub fn begin_interned(place: &Interned) -> Self {
        match place.shared_name() {
            None => Self::begin(place.location()),
            Some(_) => Self::begin_named(place),
        }
    }

    /// Apart, so that the compiler knows of the common case's zone that it is recorded.
    #[cold]
    #[inline(never)]
    fn begin_named(place: &Interned) -> Self {
        let zone = Self::begin(place.location());
        place.shared_name().into_iter().for_each(|name| zone.name(name));
        zone
    }

    /// Begins a zone and records up to `depth` frames of the call stack, where the provider can.
    #[inline]
    pub fn begin_callstack(location: &'static Location, depth: u32) -> Self {
        Self::from_id(provider!(|p| p.zone_begin_callstack(location, depth)))
    }

    /// A guard for a zone that was begun through the provider itself.
    #[inline(always)]
    pub(crate) const fn from_id(id: ZoneId) -> Self {
        Self { guard: Guard::new(id), on_its_thread: PhantomData }
    }

    /// Ends this zone and begins the next, with no time between them.
    ///
    /// ```
    /// use zonecast::{Zone, location};
    ///
    /// let mut zone = zonecast::zone!("load");
    /// zone.switch(location!("compute"));
    /// zone.switch(location!("store"));
    /// ```
    #[inline(always)]
    pub fn switch(&mut self, location: &'static Location) {
        let id = self.guard.id();
        self.guard.set(provider!(|p| p.zone_switch(id, location)));
    }

    /// Adds a text. See [`zone_text!`](crate::zone_text!) for one to be formatted.
    #[inline]
    pub fn text(&self, text: &str) {
        self.when_recorded(|id| provider!(|p| p.zone_text(id, text)));
    }

    /// Adds a text made from `arguments`.
    #[inline]
    pub fn text_fmt(&self, arguments: fmt::Arguments<'_>) {
        self.when_recorded(|id| crate::format::with(arguments, |text| provider!(|p| p.zone_text(id, text))));
    }

    /// Gives this zone another name than its location's.
    #[inline]
    pub fn name(&self, name: &str) {
        self.when_recorded(|id| provider!(|p| p.zone_name(id, name)));
    }

    /// Adds a number.
    #[inline]
    pub fn value(&self, value: u64) {
        self.when_recorded(|id| provider!(|p| p.zone_value(id, value)));
    }

    /// Gives this zone another colour than its location's: `0xRRGGBB`.
    #[inline]
    pub fn color(&self, color: u32) {
        self.when_recorded(|id| provider!(|p| p.zone_color(id, color)));
    }

    /// Whether the zone was recorded: false without a provider, or while nobody watches on demand.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.guard.id().is_recorded()
    }

    #[inline(always)]
    fn when_recorded(&self, call: impl FnOnce(ZoneId)) {
        let id = self.guard.id();
        if id.is_recorded() {
            call(id);
        }
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Zone").field(&self.guard.id()).finish()
    }
}

/// Ends a zone that was recorded. The guard of every build that has a provider.
#[allow(dead_code, reason = "builds without a provider have no guard")]
pub(crate) struct Open(ZoneId);

#[allow(dead_code, reason = "as above")]
impl Open {
    #[inline(always)]
    pub(crate) const fn new(id: ZoneId) -> Self {
        Self(id)
    }

    #[inline(always)]
    pub(crate) const fn id(&self) -> ZoneId {
        self.0
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, id: ZoneId) {
        self.0 = id;
    }
}

impl Drop for Open {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0.is_recorded() {
            provider!(|p| p.zone_end(self.0));
        }
    }
}

/// The guard of builds without a provider. It has no destructor, so that not even an unoptimised
/// build has one to call.
#[allow(dead_code, reason = "builds with a provider have another guard")]
pub(crate) struct Shut;

#[allow(dead_code, reason = "as above")]
impl Shut {
    #[inline(always)]
    pub(crate) const fn new(_: ZoneId) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) const fn id(&self) -> ZoneId {
        ZoneId::NONE
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, _: ZoneId) {}
}
