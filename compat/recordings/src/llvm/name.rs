//! How the newest recordings are named.
//!
//! A stem is `<kernel>_<configuration>`: two decimal numbers, XXH3-64 of the kernel's stable name and of
//! three numbers of its launch. So a file can be checked against its own name.

use twox_hash::XxHash3_64;

/// A kernel's name without what the linker or the compiler may make differ from build to build: what follows
/// the last `.content.`; else what comes before the last `.llvm.`, and of that what comes before the last
/// `.__uniq.`.
///
/// ```
/// use zonecast_recordings::llvm::stable_name;
///
/// assert_eq!(stable_name("axpy.__uniq.17.llvm.4711"), "axpy");
/// assert_eq!(stable_name("a1b2.content.axpy"), "axpy");
/// ```
pub fn stable_name(name: &str) -> &str {
    if let Some((_, content)) = name.rsplit_once(".content.") {
        return content;
    }
    let before = |name: &'_ str, mark| name.rfind(mark).unwrap_or(name.len());
    let name = &name[..before(name, ".llvm.")];
    &name[..before(name, ".__uniq.")]
}

/// The two hashes that name a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stem {
    /// Of the kernel's [stable name](stable_name).
    pub kernel: u64,
    /// Of the launch.
    pub configuration: u64,
}

impl Stem {
    /// Those of a launch: `teams` and `threads` along x, and bytes of dynamic shared memory.
    pub fn of(kernel: &str, teams: u64, threads: u64, shared_memory: u64) -> Self {
        let numbers: Vec<u8> =
            [teams, threads, shared_memory].into_iter().flat_map(u64::to_le_bytes).collect();
        Self {
            kernel: XxHash3_64::oneshot(stable_name(kernel).as_bytes()),
            configuration: XxHash3_64::oneshot(&numbers),
        }
    }

    /// Reads them from a file name without its extension; `None` if it is not made of two numbers.
    pub fn parse(stem: &str) -> Option<Self> {
        let number =
            |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        let (kernel, configuration) = stem.split_once('_')?;
        Some(Self { kernel: number(kernel)?, configuration: number(configuration)? })
    }
}

impl std::fmt::Display for Stem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}_{}", self.kernel, self.configuration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers were computed with another implementation of XXH3.
    #[test]
    fn hashes_are_those_of_the_reference() {
        let stem = Stem::of("__omp_offloading_fe00_9d4762_main_l14", 2, 4, 0);
        assert_eq!(stem.to_string(), "8999975377531113871_7661461400537895360");
        assert_eq!(Stem::parse(&stem.to_string()), Some(stem));
    }

    #[test]
    fn other_names_are_no_hashes() {
        for name in ["", "_", "1_", "_1", "a_1", "1_2_3", "+1_2", "99999999999999999999_1", "main_l14"] {
            assert_eq!(Stem::parse(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_trimmed_from_the_end() {
        assert_eq!(stable_name("f.llvm.1.llvm.2"), "f.llvm.1");
        assert_eq!(stable_name("f.__uniq.1"), "f");
        assert_eq!(stable_name("h.content.g.content.f.llvm.1"), "f.llvm.1");
        assert_eq!(stable_name("plain"), "plain");
        assert_eq!(stable_name(".llvm."), "");
    }
}
