//! Memory.
//!
//! C frees as it likes: a block that was grown in place is said to be free only after another thread
//! may have got its memory, and blocks from before tracing are freed as well. A viewer takes either
//! for a broken program and may end the capture, so what is taken is kept here, and events are put
//! in order:
//!
//! * memory that is taken while it is taken was freed before: that is said now, and the free that
//!   comes late is dropped;
//! * a free of what was not taken is dropped.

use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::LazyLock;

use parking_lot::Mutex;
use zonecast::{Name, Pool};

use crate::guard::guarded;
use crate::text;

/// Threads that take memory at the same time seldom meet.
const SHARDS: usize = 64;

static TAKEN: [LazyLock<Mutex<Taken>>; SHARDS] = [const { LazyLock::new(Mutex::default) }; SHARDS];

/// Blocks by pool and address, and how many frees are still to come that were said already.
type Taken = HashMap<(Option<Name>, usize), u32>;

/// # Safety
///
/// `pool` is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_alloc(pool: *const c_char, address: usize, size: usize, depth: u32) {
    // SAFETY: the caller's promise.
    guarded((), || alloc(unsafe { named(pool) }, address, size, depth));
}

/// # Safety
///
/// `pool` is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn zonecast_iree_free(pool: *const c_char, address: usize, depth: u32) {
    // SAFETY: the caller's promise.
    guarded((), || free(unsafe { named(pool) }, address, depth));
}

/// The pool of that name, by its text: C may have several copies of one name.
///
/// # Safety
///
/// `pool` is null or a C string.
unsafe fn named(pool: *const c_char) -> Option<Name> {
    // SAFETY: the caller's promise.
    unsafe { text::c_str(pool) }.map(|pool| Name::intern(&pool.to_string_lossy()))
}

fn alloc(name: Option<Name>, address: usize, size: usize, depth: u32) {
    let pool = name.map_or(Pool::MAIN, Pool::named);
    let mut taken = shard(address).lock();
    match taken.get_mut(&(name, address)) {
        Some(late) => {
            *late += 1;
            pool.free(address);
        }
        None => {
            taken.insert((name, address), 0);
        }
    }
    // Under the lock, so that the viewer learns in the same order.
    pool.alloc_callstack(address, size, depth);
}

fn free(name: Option<Name>, address: usize, depth: u32) {
    let pool = name.map_or(Pool::MAIN, Pool::named);
    let mut taken = shard(address).lock();
    match taken.get_mut(&(name, address)) {
        None => {}
        Some(0) => {
            taken.remove(&(name, address));
            pool.free_callstack(address, depth);
        }
        Some(late) => *late -= 1,
    }
}

fn shard(address: usize) -> &'static Mutex<Taken> {
    // Blocks are at least 16 bytes apart.
    &TAKEN[(address >> 4) % SHARDS]
}
