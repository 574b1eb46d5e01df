//! Compares times: items of one program take turns, and the median of their ratios is printed.

use std::process::ExitCode;

use clap::Parser;
use zonecast_benches::Error;
use zonecast_benches::build::Programs;
use zonecast_benches::items::{COMPARISONS, named};
use zonecast_benches::turns::compare;

/// Compare the times of trace calls, ours and our peers'.
///
/// Prints for each item the median ratio of its time to that of the first one, and between which
/// ratios the middle half lies. Needs a C and a C++ compiler.
#[derive(Parser)]
struct Arguments {
    /// Only the comparisons that have one of these items in them; all unless said.
    names: Vec<String>,
    /// How many rounds a comparison has.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("ratio: {e}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let names = &arguments.names;
    names.iter().try_for_each(|name| named(name).map(drop))?;
    let mut programs = Programs::default();
    for comparison in COMPARISONS {
        if !names.is_empty() && !comparison.items.iter().any(|item| names.iter().any(|name| name == item)) {
            continue;
        }
        let server = if comparison.drained { ", a profiler draining" } else { "" };
        println!("against {}{server}:", comparison.items[0]);
        for ratio in compare(comparison, &mut programs, arguments.rounds)?.iter().skip(1) {
            println!("  {:24} {:.3}  ({:.3}..{:.3})", ratio.name, ratio.median, ratio.low, ratio.high);
        }
    }
    Ok(())
}
