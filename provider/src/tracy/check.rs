//! Whether the inline path may write to the queues of the Tracy that is linked.
//!
//! The compiler's layout is that of the headers. That they are the linked client's is proved when
//! the first thread begins: the client itself records an item, and it has to be found where the
//! inline path would have written it. The item is a line of application info, which no zone or
//! plot is disturbed by and which the client sends as it is: so a trace says which zonecast made it.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Once;

use tracy_client_sys as sys;

use super::inline::{layout, ticks};
use super::shim::{self, Queue};
use super::{linked, text};
use crate::say::say;

const INFO: &str = concat!("zonecast ", env!("CARGO_PKG_VERSION"));

static ONCE: Once = Once::new();
static HAS_PASSED: AtomicBool = AtomicBool::new(false);

/// Whether the inline path is valid.
pub(super) fn has_passed() -> bool {
    HAS_PASSED.load(Ordering::Relaxed)
}

/// Checks it, the first time. `queue` is this thread's.
pub(super) fn run(queue: *mut Queue) {
    if !linked::INLINE {
        return;
    }
    ONCE.call_once(|| {
        let has_passed = is_as_expected(queue);
        HAS_PASSED.store(has_passed, Ordering::Relaxed);
        if !has_passed {
            say!(
                "the Tracy that is linked is not the one whose headers zonecast was built with; zones go \
                 through its C interface and cost about four times as much"
            );
        }
    });
}

fn is_as_expected(queue: *mut Queue) -> bool {
    // SAFETY: as many values as it is told.
    let is_compiled = unsafe { shim::zonecast_tracy_is_layout(layout::ALL.as_ptr(), layout::ALL.len()) };
    // SAFETY: `queue` is this thread's, and nobody else writes to it.
    is_compiled && unsafe { is_linked(queue) }
}

/// # Safety
///
/// `queue` is this thread's.
unsafe fn is_linked(queue: *mut Queue) -> bool {
    let base = queue.cast::<u8>().cast_const();
    // SAFETY: a queue is far larger than these offsets, whatever its layout.
    let tail = || unsafe { base.add(layout::TAIL).cast::<usize>().read_volatile() };
    let (before, earliest) = (tail(), ticks());
    // SAFETY: the client is up; the text is as long as it is told.
    unsafe { sys::___tracy_emit_message_appinfo(text::bytes(INFO), INFO.len()) };
    let (after, latest) = (tail(), ticks());
    if after != before.wrapping_add(1) {
        return false;
    }
    // SAFETY: the tail index was where it should be, so the block is, too; the item just
    // written lies in it. The client's thread reads such an item and never changes it.
    let read = |at: usize| unsafe {
        let block = base.add(layout::BLOCK).cast::<*const u8>().read();
        let item = block.add((before % layout::BLOCK_ITEMS) * layout::ITEM_SIZE);
        item.add(at).cast::<u64>().read_unaligned()
    };
    let time = read(layout::MESSAGE_TIME);
    let size = (read(layout::MESSAGE_SIZE) & 0xffff) as usize;
    let kind = (read(layout::TYPE) & 0xff) as usize;
    kind == layout::MESSAGE_APP_INFO && size == INFO.len() && (earliest..=latest).contains(&time)
}
