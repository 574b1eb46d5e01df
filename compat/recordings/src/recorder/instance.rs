//! Which launches are the same, and which of those are kept.

use std::collections::HashMap;
use std::fmt;

use twox_hash::XxHash3_64;

use super::Description;

/// Launches of one kernel with one shape: one instance. With [`Choice::by_arguments`], of equal arguments, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instance {
    /// The kernel.
    pub kernel: String,
    /// How many blocks (workgroups) there are, in x, y and z.
    pub grid: [u32; 3],
    /// How many threads each has, in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_memory: u64,
    /// A hash of the arguments, if they are told apart.
    pub arguments: Option<u64>,
}

impl Instance {
    /// That of a launch.
    pub fn of(launch: &Description, by_arguments: bool) -> Self {
        let bytes = || launch.arguments.iter().flat_map(|argument| argument.bytes.iter().copied());
        Self {
            kernel: launch.kernel.clone(),
            grid: launch.grid,
            block: launch.block,
            shared_memory: launch.shared_memory,
            arguments: by_arguments.then(|| XxHash3_64::oneshot(&bytes().collect::<Vec<_>>())),
        }
    }

    /// A number for file names. Whether two instances are the same is never asked of it.
    pub fn hash(&self) -> u64 {
        let shape = self.grid.iter().chain(&self.block).flat_map(|number| number.to_le_bytes());
        let rest = [self.shared_memory, self.arguments.unwrap_or(0), self.arguments.is_some().into()];
        let numbers = shape.chain(rest.into_iter().flat_map(u64::to_le_bytes));
        XxHash3_64::oneshot(&self.kernel.bytes().chain([0]).chain(numbers).collect::<Vec<_>>())
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        write!(f, "{} ({gx} x {gy} x {gz} blocks of {bx} x {by} x {bz})", self.kernel)
    }
}

/// Which of an instance's launches are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first.
    #[default]
    First,
    /// The last. Each one is recorded, over the one before.
    Last,
    /// That one, counted from 0.
    Nth(u64),
    /// All of them.
    All,
}

/// Which launches are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Only kernels of these names; all, if empty.
    pub kernels: Vec<String>,
    /// Which launches of each instance.
    pub keep: Keep,
    /// Whether launches with other arguments are other instances.
    pub by_arguments: bool,
    /// No more recordings than this. Launches after it are counted and not recorded.
    pub most: Option<u64>,
}

/// How often each instance was launched.
#[derive(Debug, Default)]
pub struct Instances {
    counts: HashMap<Instance, u64>,
    recorded: u64,
}

impl Instances {
    /// Counts a launch. Returns how many of its instance came before, if it is one to be recorded.
    pub fn count(&mut self, launch: &Description, choice: &Choice) -> Option<u64> {
        if !choice.kernels.is_empty() && !choice.kernels.contains(&launch.kernel) {
            return None;
        }
        let count = self.counts.entry(Instance::of(launch, choice.by_arguments)).or_default();
        let before = *count;
        *count += 1;
        let wanted = match choice.keep {
            Keep::First => before == 0,
            Keep::Nth(n) => before == n,
            Keep::Last | Keep::All => true,
        };
        if !wanted || choice.most.is_some_and(|most| self.recorded >= most) {
            return None;
        }
        self.recorded += 1;
        Some(before)
    }

    /// All instances and how often each was launched, by name and shape.
    pub fn all(&self) -> Vec<(Instance, u64)> {
        let mut all: Vec<_> =
            self.counts.iter().map(|(instance, &count)| (instance.clone(), count)).collect();
        all.sort();
        all
    }
}
