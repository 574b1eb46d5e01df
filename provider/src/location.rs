//! Where a zone is: the record that Tracy calls a source location.
//!
//! A [`Location`] is made once and lives as long as the program: as a constant where the code is
//! known when it is compiled (the [`zone!`](crate::zone!) macro does this), by [`Location::intern`]
//! where it is learnt at run time. Its layout is Tracy's own, so that its address can be sent as it
//! is.
//!
//! Tracy's server tells locations apart **by address** and ends a capture past about 32,000 of
//! them. So run-time locations are interned by content: a module that is loaded again brings no new
//! address. Past [`Location::LIMIT`] of them, further ones share one location and carry their name
//! with each zone; this is said once.

use core::ffi::{CStr, c_char};
use core::fmt;

/// A place in the source of a program or a kernel, for as long as the program runs.
///
/// Laid out as Tracy 0.14's `SourceLocationData`: name, function and file as NUL-terminated
/// strings, then line and colour.
#[repr(C)]
pub struct Location {
    name: *const c_char,
    function: *const c_char,
    file: *const c_char,
    line: u32,
    color: u32,
}

// SAFETY: every pointer comes from a `&'static CStr` (see `new`) and nothing is ever written.
unsafe impl Sync for Location {}
// SAFETY: as above.
unsafe impl Send for Location {}

impl Location {
    /// How many run-time locations are made before further ones share one.
    ///
    /// The server's own limit is about 32,000; the rest is left to the locations in code.
    pub const LIMIT: usize = 30_000;

    /// A location. `color` is `0xRRGGBB`, 0 for none. `line` is 1-based, 0 for none.
    #[must_use]
    pub const fn new(
        name: Option<&'static CStr>,
        function: &'static CStr,
        file: &'static CStr,
        line: u32,
        color: u32,
    ) -> Self {
        let name = match name {
            Some(name) => name.as_ptr(),
            None => core::ptr::null(),
        };
        Self { name, function: function.as_ptr(), file: file.as_ptr(), line, color }
    }

    /// The location with this content, made at its first use.
    ///
    /// ```
    /// use zonecast::{Location, LocationParts, Zone};
    ///
    /// let parts = LocationParts { name: "matmul", function: "matmul", file: "model.mlir", line: 8, color: 0 };
    /// let location = Location::intern(parts);
    /// let _zone = Zone::begin_interned(&location);
    /// ```
    #[must_use]
    pub fn intern(parts: LocationParts<'_>) -> Interned {
        crate::select::state::intern::location(parts)
    }

    /// The zone's own name, if it has one beside its function's.
    #[must_use]
    pub fn name(&self) -> Option<&'static CStr> {
        // SAFETY: `name` is null or came from a `&'static CStr`.
        (!self.name.is_null()).then(|| unsafe { CStr::from_ptr(self.name) })
    }

    /// The function, kernel or module that the zone is in.
    #[must_use]
    pub fn function(&self) -> &'static CStr {
        // SAFETY: `function` came from a `&'static CStr`.
        unsafe { CStr::from_ptr(self.function) }
    }

    /// The file, as the profiler asks for its text.
    #[must_use]
    pub fn file(&self) -> &'static CStr {
        // SAFETY: `file` came from a `&'static CStr`.
        unsafe { CStr::from_ptr(self.file) }
    }

    /// What a reader sees as the zone's title: its name, else its function.
    #[must_use]
    pub fn title(&self) -> &'static CStr {
        self.name().unwrap_or_else(|| self.function())
    }

    /// The line, 1-based; 0 if there is none.
    #[must_use]
    pub const fn line(&self) -> u32 {
        self.line
    }

    /// The colour, `0xRRGGBB`; 0 if there is none.
    #[must_use]
    pub const fn color(&self) -> u32 {
        self.color
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Location")
            .field("name", &self.name())
            .field("function", &self.function())
            .field("file", &self.file())
            .field("line", &self.line)
            .field("color", &self.color)
            .finish()
    }
}

/// What a run-time location is made of. Texts end at their first NUL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LocationParts<'a> {
    /// The zone's own name; empty for none.
    pub name: &'a str,
    /// The function or kernel.
    pub function: &'a str,
    /// The file.
    pub file: &'a str,
    /// The line, 1-based; 0 for none.
    pub line: u32,
    /// The colour, `0xRRGGBB`; 0 for none.
    pub color: u32,
}

/// A run-time location: one of its own, or past the limit a shared one with a name to send along.
#[derive(Clone, Debug)]
pub struct Interned {
    pub(crate) location: &'static Location,
    pub(crate) shared_name: Option<Box<str>>,
}

impl Interned {
    /// The location to begin zones with.
    #[must_use]
    pub const fn location(&self) -> &'static Location {
        self.location
    }

    /// The name to give each zone, if the location is shared because there are too many.
    #[must_use]
    pub fn shared_name(&self) -> Option<&str> {
        self.shared_name.as_deref()
    }
}

impl From<&'static Location> for Interned {
    fn from(location: &'static Location) -> Self {
        Self { location, shared_name: None }
    }
}
