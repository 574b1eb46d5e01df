//! Keeping panics out of C.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `f`. Should it panic, the call was nothing: the panic's own message has been printed.
#[inline]
pub(crate) fn guarded<R>(otherwise: R, f: impl FnOnce() -> R) -> R {
    // Nothing that a panic could leave half-done is used again: locks are released, and the stacks
    // of `open` are changed last.
    catch_unwind(AssertUnwindSafe(f)).unwrap_or(otherwise)
}
