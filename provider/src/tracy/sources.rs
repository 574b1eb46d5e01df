//! Source texts: the profiler asks for each path once, when it first meets a location that names
//! it, and the registry answers.
//!
//! The profiler takes a file of that path on its own disk first, then one on the program's disk
//! that is older than the program, and only then asks here. It does so from a thread of Tracy's.

#[cfg(tracy_shim)]
pub(super) use with_shim::register;
#[cfg(not(tracy_shim))]
pub(super) use without_shim::register;

#[cfg(not(tracy_shim))]
mod without_shim {
    use crate::say::say_once;

    pub(in super::super) fn register() {
        say_once!(
            "this program was built without Tracy's headers, so the profiler gets no source texts; \
             ZONECAST_TRACY_INCLUDE can name their folder when it is built"
        );
    }
}

#[cfg(tracy_shim)]
mod with_shim {
    use core::ffi::c_char;
    use core::sync::atomic::Ordering;
    use std::panic::catch_unwind;

    use super::super::shim::{ANSWER, Answer, IS_CONNECTED, PROFILER, REGISTER_SOURCES};
    use super::super::{calls, linked};
    use crate::say::say_once;

    /// The longest text that Tracy's client sends, in bytes.
    const LONGEST: usize = 262_127;

    /// Has Tracy ask [`answer`]. To be called before a zone names a path; more than once does no
    /// harm, and is needed where a client of manual lifetime was started since.
    pub(in super::super) fn register() {
        if !linked::is_up() {
            return;
        }
        if !layouts_agree() {
            say_once!(
                "the Tracy that is linked is not the one whose headers zonecast was built with, \
                 so the profiler gets no source texts"
            );
            return;
        }
        // SAFETY: the client is up. The names that were linked spell the configuration, and the
        // flag was found where it should be, so the shim's layout is that of the object.
        unsafe { REGISTER_SOURCES(PROFILER(), answer) }
    }

    /// Whether the flag that the shim sees is Tracy's own, which may change while we look.
    fn layouts_agree() -> bool {
        let before = calls::is_connected();
        // SAFETY: the client is up (see the caller), and the flag lies within its object.
        let seen = unsafe { &*IS_CONNECTED(PROFILER()) }.load(Ordering::Acquire);
        seen == before || seen == calls::is_connected()
    }

    /// Fills in the text that belongs to a path.
    ///
    /// # Safety
    ///
    /// `path` points to `size` bytes, and `answer` is the shim's.
    unsafe extern "C" fn answer(path: *const c_char, size: usize, answer: *mut Answer) {
        // SAFETY: by this function's contract.
        let path = unsafe { core::slice::from_raw_parts(path.cast::<u8>(), size) };
        // Unwinding must not reach C++. A text that cannot be had is not available, no more.
        let Ok(Some(text)) = catch_unwind(|| crate::sources::text_for(path, LONGEST)) else {
            return;
        };
        if !text.is_empty() && text.len() <= LONGEST {
            // SAFETY: `answer` by this function's contract; `text` is borrowed across the call.
            unsafe { ANSWER(answer, text.as_ptr().cast(), text.len()) }
        }
    }
}
