//! Nothing: every call keeps the trait's own empty default, and zones are not recorded.

/// The provider that does nothing. It is what is chosen when no other is compiled in, and by
/// `ZONECAST_PROVIDER=null` when several are.
#[derive(Clone, Copy, Debug)]
pub struct Null;

impl crate::Provider for Null {
    #[inline(always)]
    fn is_recording(&self) -> bool {
        false
    }
}
