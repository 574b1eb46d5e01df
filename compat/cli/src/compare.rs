//! `zonecast compare`.
//!
//! The means are compared. Their noise is two standard errors of the difference, in percent of the
//! first mean: a change within it says nothing. A zone has regressed if it became slower by more
//! than the threshold even when the noise is taken off. Of a zone that ran once the noise is not
//! known, and nothing is taken off.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use glob::Pattern;
use zonecast_tracy_wire::Distribution;

use self::durations::{Durations, Key, load};
use crate::{FOUND, Failure};

mod durations;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The first capture: a recording, or JSON
    a: PathBuf,
    /// The second capture
    b: PathBuf,
    /// Exit with 3 if a zone's mean grew by more than this, beyond the noise
    #[arg(long, value_name = "PERCENT")]
    max_regress: Option<f64>,
    /// Compare only zones whose name matches, such as `mlp_*`
    #[arg(long, value_name = "GLOB")]
    zone: Option<Pattern>,
}

/// One zone in both captures.
struct Change<'a> {
    key: &'a Key,
    a: &'a Distribution,
    b: &'a Distribution,
    /// How much longer the second takes, in percent of the first.
    percent: f64,
    /// Within which the percentage says nothing; not known of what ran once.
    noise: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (a, b) = (load(&arguments.a)?, load(&arguments.b)?);
    let wanted = |key: &&Key| arguments.zone.as_ref().is_none_or(|pattern| pattern.matches(&key.name));
    let mut changes: Vec<Change<'_>> =
        a.keys().filter(wanted).filter_map(|key| Some(change(key, &a[key], b.get(key)?))).collect();
    changes.sort_by(|x, y| y.percent.total_cmp(&x.percent));
    print(&changes);
    print_alone("only in the first", &a, &b, wanted);
    print_alone("only in the second", &b, &a, wanted);
    let Some(limit) = arguments.max_regress else { return Ok(ExitCode::SUCCESS) };
    let regressed = changes.iter().filter(|change| change.percent - change.noise.unwrap_or(0.0) > limit);
    let mut code = ExitCode::SUCCESS;
    for Change { key, percent, noise, .. } in regressed {
        let noise = shown(*noise);
        println!("regressed: {} by {percent:+.1} % (noise {noise}), more than {limit} %", key.name);
        code = ExitCode::from(FOUND);
    }
    Ok(code)
}

fn change<'a>(key: &'a Key, a: &'a Distribution, b: &'a Distribution) -> Change<'a> {
    let of_first = |nanoseconds: f64| 100.0 * nanoseconds / a.mean().max(1.0);
    let error = |d: &Distribution| d.deviation() * d.deviation() / d.count() as f64;
    let is_known = a.count() > 1 && b.count() > 1;
    Change {
        key,
        a,
        b,
        percent: of_first(b.mean() - a.mean()),
        noise: is_known.then(|| of_first(2.0 * (error(a) + error(b)).sqrt())),
    }
}

fn shown(noise: Option<f64>) -> String {
    noise.map_or_else(|| "unknown".to_owned(), |noise| format!("{noise:.1} %"))
}

fn print(changes: &[Change<'_>]) {
    println!(
        "{:>9} {:>8} {:>12} {:>12} {:>9} {:>9}  zone",
        "change", "noise", "mean A", "mean B", "count A", "count B"
    );
    for Change { key, a, b, percent, noise } in changes {
        let place = if key.gpu { "GPU " } else { "" };
        println!(
            "{percent:>+7.1} % {:>8} {:>9.0} ns {:>9.0} ns {:>9} {:>9}  {place}{} ({})",
            shown(*noise),
            a.mean(),
            b.mean(),
            a.count(),
            b.count(),
            key.name,
            key.file,
        );
    }
}

fn print_alone(title: &str, some: &Durations, other: &Durations, wanted: impl Fn(&&Key) -> bool) {
    for key in some.keys().filter(|key| wanted(key) && !other.contains_key(*key)) {
        println!("{title}: {} ({})", key.name, key.file);
    }
}
