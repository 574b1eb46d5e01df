//! Which provider the calls go to: the one place that looks at cargo's provider features.
//!
//! * No provider feature, or `null` alone: [`ENABLED`] is false, and the macros are nothing.
//! * One: [`choice`] is a constant, so that calls are static.
//! * Several: the first call (or [`start`](crate::start)) decides and everyone keeps to it:
//!   `ZONECAST_PROVIDER=tracy|console|null`, else an installed one, else Tracy before the console.
//!
//! Features add up across a program, so the ones below never contradict each other.

#[cfg(feature = "console")]
#[path = "console/mod.rs"]
pub(crate) mod console;
#[cfg(feature = "custom")]
#[path = "custom.rs"]
pub(crate) mod custom;
#[cfg(feature = "tracy")]
#[path = "tracy/mod.rs"]
pub(crate) mod tracy;

/// The interner and the source registry, in builds where somebody asks them.
#[cfg(any(feature = "tracy", feature = "console", feature = "custom"))]
#[path = "state/mod.rs"]
pub(crate) mod state;
/// Their empty stand-ins.
#[cfg(not(any(feature = "tracy", feature = "console", feature = "custom")))]
#[path = "stateless.rs"]
pub(crate) mod state;

#[cfg(any(feature = "tracy", feature = "console", feature = "custom"))]
pub(crate) use crate::zone::Open as Guard;
#[cfg(not(any(feature = "tracy", feature = "console", feature = "custom")))]
pub(crate) use crate::zone::Shut as Guard;

/// Whether any provider is compiled in. The macros are nothing where it is false.
pub const ENABLED: bool = cfg!(any(feature = "tracy", feature = "console", feature = "custom"));

/// What this build has, for [`built`](crate::built): providers, and what Tracy can do.
pub(crate) const FEATURES: u32 = {
    use crate::built::*;
    flag(cfg!(feature = "tracy"), TRACY)
        | flag(cfg!(feature = "console"), CONSOLE)
        | flag(cfg!(feature = "custom"), CUSTOM)
        | flag(cfg!(tracy_shim), TRACY_SOURCES)
};

/// The providers of this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    #[allow(dead_code, reason = "a build with one provider chooses no other")]
    Null,
    #[cfg(feature = "tracy")]
    Tracy,
    #[cfg(feature = "console")]
    Console,
    #[cfg(feature = "custom")]
    Custom,
}

/// Whether the provider chosen does anything.
pub(crate) fn is_recording() -> bool {
    choice() != Choice::Null
}

/// Tells the compiler to look at the other choices first.
#[cold]
#[inline(always)]
pub(crate) const fn seldom() {}

/// Calls `$call` with `$p` as the provider chosen.
macro_rules! provider {
    (|$p:ident| $call:expr) => {
        $crate::select::provider!($crate::select::choice(), |$p| $call)
    };
    ($choice:expr, |$p:ident| $call:expr) => {{
        #[allow(unused_imports, reason = "the custom provider is a trait object")]
        use $crate::Provider as _;
        match $choice {
            $crate::select::Choice::Null => {
                $crate::select::seldom();
                let $p = &$crate::Null;
                $call
            }
            #[cfg(feature = "tracy")]
            $crate::select::Choice::Tracy => {
                let $p = &$crate::select::tracy::Tracy;
                $call
            }
            #[cfg(feature = "console")]
            $crate::select::Choice::Console => {
                let $p = &$crate::select::console::Console;
                $call
            }
            #[cfg(feature = "custom")]
            $crate::select::Choice::Custom => {
                let $p = $crate::select::custom::installed();
                $call
            }
        }
    }};
}
pub(crate) use provider;

#[cfg(not(any(feature = "tracy", feature = "console", feature = "custom")))]
#[inline(always)]
pub(crate) const fn choice() -> Choice {
    Choice::Null
}

#[cfg(all(feature = "tracy", not(any(feature = "console", feature = "custom"))))]
#[inline(always)]
pub(crate) const fn choice() -> Choice {
    Choice::Tracy
}

#[cfg(all(feature = "console", not(any(feature = "tracy", feature = "custom"))))]
#[inline(always)]
pub(crate) const fn choice() -> Choice {
    Choice::Console
}

/// The same if it is settled. None before the first call of a build with several.
#[cfg(not(any(feature = "custom", all(feature = "tracy", feature = "console"))))]
#[inline(always)]
pub(crate) const fn settled() -> Option<Choice> {
    Some(choice())
}

#[cfg(feature = "custom")]
pub(crate) use at_start::decide;
#[cfg(any(feature = "custom", all(feature = "tracy", feature = "console")))]
pub(crate) use at_start::{choice, settled};

#[cfg(any(feature = "custom", all(feature = "tracy", feature = "console")))]
mod at_start {
    use core::cell::Cell;
    use core::sync::atomic::{AtomicU8, Ordering};

    use super::Choice;

    /// Nobody has asked yet.
    const OPEN: u8 = u8::MAX;
    static CHOSEN: AtomicU8 = AtomicU8::new(OPEN);

    /// The provider of this run. The first caller decides.
    #[inline(always)]
    pub(crate) fn choice() -> Choice {
        settled().unwrap_or_else(first_call)
    }

    /// The same, unless nobody has asked yet.
    #[inline(always)]
    pub(crate) fn settled() -> Option<Choice> {
        // Acquire: pairs with `decide`, so that an installed provider is seen whole.
        named(CHOSEN.load(Ordering::Acquire))
    }

    /// Settles on `choice` unless that has been done; returns what it is.
    pub(crate) fn decide(choice: Choice) -> Choice {
        match CHOSEN.compare_exchange(OPEN, choice as u8, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => choice,
            Err(earlier) => named(earlier).unwrap_or(Choice::Null),
        }
    }

    #[inline(always)]
    fn named(number: u8) -> Option<Choice> {
        match number {
            n if n == Choice::Null as u8 => Some(Choice::Null),
            #[cfg(feature = "tracy")]
            n if n == Choice::Tracy as u8 => Some(Choice::Tracy),
            #[cfg(feature = "console")]
            n if n == Choice::Console as u8 => Some(Choice::Console),
            #[cfg(feature = "custom")]
            n if n == Choice::Custom as u8 => Some(Choice::Custom),
            _ => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn first_call() -> Choice {
        thread_local!(static IS_CHOOSING: Cell<bool> = const { Cell::new(false) });
        // Reading the environment takes memory: the calls of an allocator that is traced are left out.
        if IS_CHOOSING.replace(true) {
            return Choice::Null;
        }
        let choice = decide(wanted());
        IS_CHOOSING.set(false);
        choice
    }

    fn wanted() -> Choice {
        let wanted = crate::settings::text("ZONECAST_PROVIDER").unwrap_or_default();
        match wanted.as_str() {
            "" => PREFERRED,
            "null" => Choice::Null,
            #[cfg(feature = "tracy")]
            "tracy" => Choice::Tracy,
            #[cfg(feature = "console")]
            "console" => Choice::Console,
            other => {
                crate::say::say!(
                    "ZONECAST_PROVIDER={other} names no provider of this build (it has {BUILT}); using {PREFERRED:?}"
                );
                PREFERRED
            }
        }
    }

    /// What a run without a wish gets.
    #[cfg(feature = "tracy")]
    const PREFERRED: Choice = Choice::Tracy;
    #[cfg(all(feature = "console", not(feature = "tracy")))]
    const PREFERRED: Choice = Choice::Console;
    #[cfg(not(any(feature = "console", feature = "tracy")))]
    const PREFERRED: Choice = Choice::Null;

    const BUILT: &str = match (cfg!(feature = "tracy"), cfg!(feature = "console")) {
        (true, true) => "tracy, console, null",
        (true, false) => "tracy, null",
        (false, true) => "console, null",
        (false, false) => "null",
    };
}
