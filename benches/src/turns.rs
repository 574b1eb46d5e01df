//! Comparing times: the loops of a program take turns, so that a noisy machine is unjust to all.

use std::process::Command;

use crate::build::Programs;
use crate::items::{Comparison, named};
use crate::{Error, server};

/// How the times of an item compare with the first one's, turn by turn.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The item.
    pub name: &'static str,
    /// The ratio in the middle.
    pub median: f64,
    /// A quarter of the ratios is below.
    pub low: f64,
    /// A quarter of the ratios is above.
    pub high: f64,
}

/// Compares the items of a comparison.
///
/// # Errors
/// If the program is not built, does not run, or prints something else than ratios.
pub fn compare(comparison: &Comparison, programs: &mut Programs, rounds: u64) -> Result<Vec<Ratio>, Error> {
    let items = comparison.items.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
    let set = items[items.len() - 1].set;
    let folder = server::folder()?;
    let mut command = Command::new(programs.get(set)?);
    command.args(["turns", &rounds.to_string(), &comparison.runs.to_string()]);
    command.args(items.iter().map(|item| item.symbol));
    command.envs(items.iter().filter_map(|item| item.environment));
    let printed = server::run(command, folder.path(), set.tracy, comparison.drained)?;
    let ratios = printed.lines().zip(&items).map(|(line, item)| {
        let mut numbers = line.split(' ').skip(1).map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Ratio { name: item.name, median: next()?, low: next()?, high: next()? })
    });
    ratios.collect::<Option<Vec<_>>>().filter(|ratios| ratios.len() == items.len()).ok_or_else(|| {
        Error::Odd {
            what: set.name.to_owned(),
            reason: "the measured program printed something else than one line of ratios per loop",
        }
    })
}
