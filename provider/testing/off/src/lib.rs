//! Two loops: one empty, one with every macro of zonecast in it. Without a provider they are to be
//! the same machine code, optimised or not.
//!
//! A package of its own, tested alone: cargo unifies features across the packages that it builds
//! together, and a provider elsewhere would be a provider here.

use core::arch::asm;

use zonecast::{Severity, frame_mark, function_zone, message, plot, zone, zone_text};

/// The empty loop. It binds as many names to nothing as the other one does to its zones: an unoptimised
/// build lays out its stack frame by them.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn zonecast_off_empty(mut left: u64) {
    while left != 0 {
        let _function = ();
        let _zone = ();
        let _colored = ();
        let _callstack = ();
        let _named = ();
        // SAFETY: changes the one register that it names.
        unsafe { asm!("sub {0}, 1", inout(reg) left) };
    }
}

/// The same loop with every macro in it. (Counting is in assembly so that an unoptimised build has no
/// call in it either, whose address would differ between the two.)
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn zonecast_off_traced(mut left: u64) {
    while left != 0 {
        let _function = function_zone!();
        let zone = zone!("plain");
        let _colored = zone!("colored", color = 0xff8800);
        let _callstack = zone!("callstack", callstack = 8);
        let _named = zone!(name = &format!("layer {left}"));
        zone_text!(zone, "left {left}");
        message!("left {}", left);
        message!(severity = Severity::Warning, color = 0xff0000, "left {}", left);
        plot!("left", left);
        frame_mark!();
        frame_mark!("sequence");
        // SAFETY: changes the one register that it names.
        unsafe { asm!("sub {0}, 1", inout(reg) left) };
    }
}
