//! Counting instructions: valgrind's callgrind, switched on inside one function only.
//!
//! Each loop is run twice, with two numbers of rounds. The difference, divided by the rounds in
//! between, is what one round costs: whatever a loop does once falls out. Only the thread in the
//! loop counts, and only what it runs in user space: a system call is one instruction. Both numbers
//! of rounds stay below Tracy's block of 65,536 items, whose renewal is not in the figures; it is a
//! few thousand instructions.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::build::{Programs, is_there};
use crate::items::Item;
use crate::{Error, server};

const FEW: u64 = 2_000;
const MANY: u64 = 12_000;

/// Counts instructions, in a folder for what the programs write.
#[derive(Debug)]
pub struct Counter {
    programs: Programs,
    folder: tempfile::TempDir,
}

impl Counter {
    /// A counter.
    ///
    /// # Errors
    /// If valgrind is not there.
    pub fn new() -> Result<Self, Error> {
        is_there("valgrind", "it counts the instructions; install it (Debian: `apt install valgrind`)")?;
        Ok(Self { programs: Programs::default(), folder: server::folder()? })
    }

    /// The instructions of one round of the item's loop.
    ///
    /// # Errors
    /// If the program is not built, does not run, or callgrind does not find the loop.
    pub fn instructions(&mut self, item: &Item) -> Result<f64, Error> {
        let program = self.programs.get(item.set)?.to_owned();
        let few = self.run(item, &program, FEW)?;
        let many = self.run(item, &program, MANY)?;
        if few == 0 {
            let reason = "callgrind counted nothing: the program has no function of this name";
            return Err(Error::Odd { what: item.symbol.to_owned(), reason });
        }
        Ok((many as f64 - few as f64) / (MANY - FEW) as f64)
    }

    fn run(&self, item: &Item, program: &Path, rounds: u64) -> Result<u64, Error> {
        let counts = self.folder.path().join("callgrind.out");
        let mut command = Command::new("valgrind");
        command
            .args(["--quiet", "--tool=callgrind", "--collect-atstart=no"])
            .arg(format!("--toggle-collect={}", item.symbol))
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .arg(program)
            .args(["count", item.symbol, &rounds.to_string()])
            // Valgrind's processor does not say that its time stamp counter is steady.
            .env("TRACY_NO_INVARIANT_CHECK", "1")
            .envs(item.environment);
        server::run(command, self.folder.path(), item.set.tracy, item.connected)?;
        let text = fs::read_to_string(&counts).map_err(|e| Error::File(counts.clone(), e))?;
        total(&text).ok_or_else(|| Error::Odd {
            what: counts.display().to_string(),
            reason: "callgrind wrote no line `totals:`",
        })
    }
}

/// The sum that callgrind writes at the end of its file.
fn total(counts: &str) -> Option<u64> {
    counts.lines().rev().find_map(|line| line.strip_prefix("totals:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn the_sum_is_the_last_one() {
        assert_eq!(total("events: Ir\nsummary: 3\n\nfn=(1) main\n0 48008\ntotals: 48008\n"), Some(48_008));
        assert_eq!(total("events: Ir\n"), None);
        assert_eq!(total("totals: many\n"), None);
    }
}
