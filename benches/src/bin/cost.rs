//! Counts instructions: one line per item, `name instructions`.

use std::collections::HashMap;
use std::process::ExitCode;

use clap::Parser;
use zonecast_benches::Error;
use zonecast_benches::callgrind::Counter;
use zonecast_benches::items::{Gate, Item, chosen, named};

/// Count the instructions of trace calls, ours and our peers'.
///
/// Builds one program per feature set and runs each item's loop under callgrind. Needs valgrind and,
/// for the peers, a C and a C++ compiler.
#[derive(Parser)]
struct Arguments {
    /// The items to count; all unless said.
    names: Vec<String>,
    /// Compare with the gates, and fail past them. Without names, count the items that have one.
    #[arg(long)]
    check: bool,
    /// Print the names of the items.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("cost: {e}");
            ExitCode::from(2)
        }
    }
}

/// Whether everything is within its gate.
fn run(arguments: &Arguments) -> Result<bool, Error> {
    let mut items = chosen(&arguments.names)?;
    if arguments.list {
        items.iter().for_each(|item| println!("{}", item.name));
        return Ok(true);
    }
    if arguments.check && arguments.names.is_empty() {
        items.retain(|item| item.gate.is_some());
    }
    let mut costs = Costs { counter: Counter::new()?, known: HashMap::new() };
    let mut all_within = true;
    for item in items {
        let cost = costs.of(item)?;
        print!("{:24} {}", item.name, shown(cost));
        if arguments.check
            && let Some(gate) = item.gate
        {
            let (limit, gate) = costs.limit(gate)?;
            let within = cost <= limit;
            all_within &= within;
            print!("  {gate}: {}", if within { "ok" } else { "PAST ITS GATE" });
        }
        println!();
    }
    Ok(all_within)
}

/// Whole numbers as such: what differs from round to round is seldom worth a digit.
fn shown(cost: f64) -> String {
    let text = format!("{cost:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// What was counted so far: gates that speak of other items count those, too.
struct Costs {
    counter: Counter,
    known: HashMap<&'static str, f64>,
}

impl Costs {
    fn of(&mut self, item: &Item) -> Result<f64, Error> {
        if let Some(&cost) = self.known.get(item.name) {
            return Ok(cost);
        }
        let cost = self.counter.instructions(item)?;
        self.known.insert(item.name, cost);
        Ok(cost)
    }

    /// The most that is let through, and the gate in words.
    fn limit(&mut self, gate: Gate) -> Result<(f64, String), Error> {
        const ROOM: f64 = 1.1;
        Ok(match gate {
            Gate::AtMost(most) => (most * ROOM, format!("at most {most}")),
            Gate::MoreThan(other, more) => {
                (self.of(named(other)?)? + more * ROOM, format!("at most {more} more than {other}"))
            }
            Gate::Same(other) => (self.of(named(other)?)?, format!("the same as {other}")),
        })
    }
}
