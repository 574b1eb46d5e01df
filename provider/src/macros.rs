//! The macros: thin, typed, and nothing in builds without a provider.
//!
//! Each is `if ENABLED { call }`. The call is compiled in every build, so that its arguments are
//! checked; without a provider `ENABLED` is false and no code is left, not even unoptimised.

/// The [`Location`](crate::Location) of this line, with a name: `location!("name")`, or with a
/// colour as well: `location!("name", color = 0xff8800)`.
#[macro_export]
macro_rules! location {
    ($name:literal $(, color = $color:expr)? $(,)?) => {{
        static LOCATION: $crate::Location = $crate::Location::new(
            Some($crate::__private::c_str(concat!($name, "\0"))),
            $crate::__private::c_str(concat!(module_path!(), "\0")),
            $crate::__private::c_str(concat!(file!(), "\0")),
            line!(),
            0 $(+ $color)?,
        );
        &LOCATION
    }};
}

/// Begins a zone that ends with the scope: `let _zone = zone!("name");`
///
/// * `zone!("name", color = 0xff8800)` gives it a colour,
/// * `zone!("name", callstack = 16)` records as many frames of the call stack,
/// * `zone!(name = expr)` gives it a name that is made at run time (any `&str`).
///
/// ```
/// # let layer = 3;
/// let _outer = zonecast::zone!("forward");
/// let _inner = zonecast::zone!(name = &format!("layer {layer}"));
/// ```
#[macro_export]
macro_rules! zone {
    (name = $name:expr $(,)?) => {
        if $crate::ENABLED {
            let zone = $crate::Zone::begin($crate::location!("zone"));
            zone.name($name);
            zone
        } else {
            $crate::Zone::OFF
        }
    };
    ($name:literal $(, color = $color:expr)?, callstack = $depth:expr $(,)?) => {
        if $crate::ENABLED {
            $crate::Zone::begin_callstack($crate::location!($name $(, color = $color)?), $depth)
        } else {
            $crate::Zone::OFF
        }
    };
    ($name:literal $(, color = $color:expr)? $(,)?) => {
        if $crate::ENABLED {
            $crate::Zone::begin($crate::location!($name $(, color = $color)?))
        } else {
            $crate::Zone::OFF
        }
    };
}

/// Begins a zone named after the function it stands in: `let _zone = function_zone!();`
///
/// The name is found at the first call; from then on it costs one load more than
/// [`zone!`](crate::zone!).
///
/// ```
/// fn forward() {
///     let _zone = zonecast::function_zone!();
/// }
/// forward();
/// ```
#[macro_export]
macro_rules! function_zone {
    () => {
        if $crate::ENABLED {
            static PLACE: $crate::__private::FunctionPlace = $crate::__private::FunctionPlace::new();
            fn here() {}
            $crate::Zone::begin_interned(PLACE.get(&here, file!(), line!()))
        } else {
            $crate::Zone::OFF
        }
    };
}

/// Adds a formatted text to a zone: `zone_text!(zone, "batch {}", n)`.
#[macro_export]
macro_rules! zone_text {
    ($zone:expr, $($text:tt)+) => {
        if $crate::ENABLED {
            $crate::Zone::text_fmt(&$zone, format_args!($($text)+));
        }
    };
}

/// Records a message: `message!("loaded {n} weights")`.
///
/// `message!(severity = Severity::Warning, "…")` says how loud (else
/// [`Severity::Info`](crate::Severity::Info)), `message!(color = 0xff0000, "…")` gives it a
/// colour; with both, the severity comes first.
///
/// ```
/// use zonecast::{Severity, message};
///
/// message!("loaded {} weights", 48);
/// message!(severity = Severity::Warning, color = 0xffaa00, "no source is embedded");
/// ```
#[macro_export]
macro_rules! message {
    (severity = $severity:expr, color = $color:expr, $($text:tt)+) => {
        if $crate::ENABLED {
            $crate::message_fmt($severity, $color, format_args!($($text)+));
        }
    };
    (severity = $severity:expr, $($text:tt)+) => {
        $crate::message!(severity = $severity, color = 0, $($text)+)
    };
    (color = $color:expr, $($text:tt)+) => {
        $crate::message!(severity = $crate::Severity::Info, color = $color, $($text)+)
    };
    ($($text:tt)+) => {
        $crate::message!(severity = $crate::Severity::Info, color = 0, $($text)+)
    };
}

/// A [`Name`](crate::Name) from a literal, for plots, frames, pools and fibers.
#[macro_export]
macro_rules! name {
    ($name:literal) => {
        const { $crate::Name::new($crate::__private::c_str(concat!($name, "\0"))) }
    };
}

/// Adds a point to a plot: `plot!("queue length", n)`, with any [`PlotValue`](crate::PlotValue).
/// The plot is a literal or a [`Name`](crate::Name).
///
/// ```
/// zonecast::plot!("queue length", 17);
/// zonecast::plot!("loss", 0.25_f32);
/// ```
#[macro_export]
macro_rules! plot {
    ($plot:literal, $value:expr $(,)?) => {
        $crate::plot!($crate::name!($plot), $value)
    };
    ($plot:expr, $value:expr $(,)?) => {
        if $crate::ENABLED {
            $crate::PlotValue::plot($value, $plot);
        }
    };
}

/// Ends a frame: `frame_mark!()` of the program, `frame_mark!("name")` of the sequence named.
#[macro_export]
macro_rules! frame_mark {
    () => {
        if $crate::ENABLED {
            $crate::frame_mark();
        }
    };
    ($name:literal) => {
        if $crate::ENABLED {
            $crate::frame_mark_named($crate::name!($name));
        }
    };
}

/// Announces a [`Lock`](crate::Lock) made at this line: `lock!("name")`.
#[macro_export]
macro_rules! lock {
    ($name:literal) => {
        $crate::Lock::announce($crate::location!($name))
    };
}

/// What the macros need in their callers' crates. Not part of the interface.
#[doc(hidden)]
pub mod __private {
    use core::ffi::CStr;
    use std::sync::OnceLock;

    use crate::{Interned, Location, LocationParts};

    /// A text of the compiler's with a NUL at its end.
    #[must_use]
    pub const fn c_str(text: &'static str) -> &'static CStr {
        match CStr::from_bytes_with_nul(text.as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("a name holds a NUL"),
        }
    }

    /// The place of one `function_zone!`, found at its first call.
    #[derive(Debug)]
    pub struct FunctionPlace(OnceLock<Interned>);

    impl FunctionPlace {
        #[expect(clippy::new_without_default, reason = "it is only ever a static")]
        #[must_use]
        pub const fn new() -> Self {
            Self(OnceLock::new())
        }

        /// `_here` is a function inside the one to be named.
        #[inline]
        pub fn get<F: Fn()>(&self, _here: &F, file: &str, line: u32) -> &Interned {
            self.0.get_or_init(|| {
                let inner = core::any::type_name::<F>();
                let function = inner.strip_suffix("::here").unwrap_or(inner);
                Location::intern(LocationParts { name: "", function, file, line, color: 0 })
            })
        }
    }
}
