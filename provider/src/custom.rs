//! A provider of one's own, installed at run time.
//!
//! As with the `log` crate, it is installed once and before the first call:
//!
//! ```
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use zonecast::{Location, Provider, ZoneId};
//!
//! struct Counter(AtomicU32);
//!
//! impl Provider for Counter {
//!     fn zone_begin(&self, _: &'static Location) -> ZoneId {
//!         self.0.fetch_add(1, Ordering::Relaxed);
//!         ZoneId { mark: 1, data: 0 }
//!     }
//! }
//!
//! static COUNTER: Counter = Counter(AtomicU32::new(0));
//!
//! zonecast::install(&COUNTER)?;
//! drop(zonecast::zone!("one"));
//! assert_eq!(COUNTER.0.load(Ordering::Relaxed), 1);
//! assert!(zonecast::install(&COUNTER).is_err());
//! # Ok::<(), zonecast::InstallError>(())
//! ```

use std::fmt;
use std::sync::OnceLock;

use crate::Provider;
use crate::select::{Choice, decide};

static INSTALLED: OnceLock<&'static dyn Provider> = OnceLock::new();

/// Sends all calls from here on to `provider`.
///
/// # Errors
///
/// If a call has been made before, if a provider was installed before, or if the environment
/// variable `ZONECAST_PROVIDER` asks for another one.
pub fn install(provider: &'static dyn Provider) -> Result<(), InstallError> {
    if let Some(wanted) = crate::settings::text("ZONECAST_PROVIDER").filter(|wanted| wanted != "custom") {
        return Err(InstallError::Overridden(wanted));
    }
    // Stored before it is chosen: whoever reads the choice finds the provider.
    INSTALLED.set(provider).map_err(|_| InstallError::Installed)?;
    match decide(Choice::Custom) {
        Choice::Custom => Ok(()),
        chosen => Err(InstallError::TooLate(format!("{chosen:?}").to_lowercase())),
    }
}

/// The provider installed. Asked for only once the choice has fallen on it.
pub(crate) fn installed() -> &'static dyn Provider {
    INSTALLED.get().copied().unwrap_or(&crate::Null)
}

/// Why a provider was not installed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallError {
    /// One was installed before.
    Installed,
    /// A call was made before, and went to the provider named. Install before the first call.
    TooLate(String),
    /// `ZONECAST_PROVIDER` asks for the provider named.
    Overridden(String),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed => write!(f, "a provider is installed already; the first one stays"),
            Self::TooLate(chosen) => {
                write!(f, "a trace call came before and went to {chosen}; install before the first call")
            }
            Self::Overridden(wanted) => {
                write!(
                    f,
                    "ZONECAST_PROVIDER={wanted} asks for another provider; unset it or set it to `custom`"
                )
            }
        }
    }
}

impl std::error::Error for InstallError {}
