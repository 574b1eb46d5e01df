//! Names that providers keep by address: of plots, frames, pools and fibers.

use core::ffi::CStr;

/// A name that lives as long as the program.
///
/// [`name!`](crate::name!) makes one from a literal at no cost, [`Name::intern`] from a text learnt
/// at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name(&'static CStr);

impl Name {
    /// How many run-time names are kept; further ones are all shown as one.
    pub const LIMIT: usize = 65_536;

    /// A name from a text that lives long enough as it is.
    #[must_use]
    pub const fn new(name: &'static CStr) -> Self {
        Self(name)
    }

    /// The name with this content, copied at its first use. It ends at the first NUL.
    ///
    /// ```
    /// use zonecast::Name;
    ///
    /// let queue = Name::intern(&format!("queue {}", 3));
    /// zonecast::plot!(queue, 17);
    /// ```
    #[must_use]
    pub fn intern(name: &str) -> Self {
        Self(crate::select::state::intern::name(name))
    }

    /// The text.
    #[must_use]
    pub const fn as_c_str(self) -> &'static CStr {
        self.0
    }
}
