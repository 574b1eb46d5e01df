//! The texts that the runtime publishes.
//!
//! It says that they may go once the call is over, so they are copied, once for each path. A text
//! that a registered module has under the same path is answered from there instead.

use std::ffi::{c_char, c_void};

use crate::guard::guarded;
use crate::{modules, text};

/// # Safety
///
/// As the functions of `zones`.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_source(
    path: *const c_char,
    path_length: usize,
    source: *const c_void,
    length: usize,
) {
    guarded((), || {
        modules::from_environment();
        // SAFETY: the caller's promise.
        let (path, source) = unsafe { (text::bytes(path, path_length), text::bytes(source.cast(), length)) };
        publish(path, source);
    });
}

fn publish(path: &[u8], source: &[u8]) {
    if let Some((module, image)) = modules::with_text(path, source) {
        module.claim(image, path);
        return;
    }
    let path = String::from_utf8_lossy(path);
    // Executables are loaded again and again; the same text is not copied again.
    let stands = zonecast::sources::text(path.as_bytes()).is_some_and(|known| *known == *source);
    if !stands {
        zonecast::sources::publish(&path, source.to_vec());
    }
}
