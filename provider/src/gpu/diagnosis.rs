//! What this machine has for GPU zones, for people.

use core::fmt;

use super::Error;

/// What one of the backends finds on this machine. Displays as a sentence.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The backend: `CUDA` or `HIP`.
    pub backend: &'static str,
    /// The names of its devices, or why there are none.
    pub devices: Result<Vec<String>, Error>,
    /// Functions that the driver lacks, without which zones inside of graphs are not possible.
    pub lacks: Vec<&'static str>,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { backend, devices, lacks } = self;
        match devices {
            Err(error) => write!(f, "{backend}: {error}"),
            Ok(names) => {
                write!(f, "{backend}: zones can be recorded on {}", names.join(", "))?;
                if !lacks.is_empty() {
                    write!(f, "; but not inside of graphs, since the driver has no {}", lacks.join(", "))?;
                }
                Ok(())
            }
        }
    }
}

/// Asks each backend of this build for its devices. With none (neither the feature `cuda` nor `hip`),
/// nothing.
///
/// ```
/// for found in zonecast::gpu::diagnose() {
///     println!("{found}");
/// }
/// ```
#[must_use]
pub fn diagnose() -> Vec<Diagnosis> {
    vec![
        #[cfg(feature = "cuda")]
        Diagnosis { backend: "CUDA", devices: super::cuda::devices(), lacks: super::cuda::lacks() },
        #[cfg(feature = "hip")]
        Diagnosis { backend: "HIP", devices: super::hip::devices(), lacks: super::hip::lacks() },
    ]
}
