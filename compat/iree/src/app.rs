//! The program as a whole, its threads and its fibers.

use std::ffi::{c_char, c_int};

use parking_lot::Mutex;
use zonecast::Session;

use crate::guard::guarded;
use crate::{devices, modules, open, text};

/// Between enter and exit. Tracing works before and after.
static SESSION: Mutex<Option<Session>> = Mutex::new(None);

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_app_enter() {
    guarded((), || {
        modules::from_environment();
        // It may come twice: from a Python module, say, and from its host.
        SESSION.lock().get_or_insert_with(zonecast::start);
    });
}

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_app_exit(_exit_code: c_int) {
    guarded((), || {
        // Outside of the lock: it may wait for a viewer.
        let session = SESSION.lock().take();
        devices::finish();
        drop(session);
    });
}

/// # Safety
///
/// As the functions of `zones`.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_app_info(text: *const c_char, length: usize) {
    // SAFETY: the caller's promise.
    guarded((), || zonecast::app_info(&unsafe { text::counted(text, length) }));
}

/// # Safety
///
/// `name` is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_thread_name(name: *const c_char) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let Some(name) = unsafe { text::c_str(name) } {
            zonecast::set_thread_name(&name.to_string_lossy());
        }
    });
}

/// # Safety
///
/// `name` is null or a C string that stays as it is until the program ends.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_fiber_enter(name: *const c_char) {
    // SAFETY: the caller's promise.
    guarded((), || unsafe { text::name(name) }.map_or_else(open::leave_fiber, open::enter_fiber));
}

#[unsafe(no_mangle)]
extern "C" fn zonecast_iree_fiber_leave() {
    guarded((), open::leave_fiber);
}
