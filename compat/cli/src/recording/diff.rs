//! `zonecast recording diff`.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use zonecast_recordings::diff::{Difference, Element, Outcome, Region, Tolerance, compare};
use zonecast_recordings::recorder::container::Container;

use super::recorded::{Recorded, open};
use crate::files::print;
use crate::{FOUND, Failure};

#[derive(Args)]
#[command(after_help = "\
Without a tolerance, bits are compared. With one or more, two numbers may differ if any of them admits it; then -0 is 0, \
any NaN is any other NaN and no number, and an infinity is only itself.")]
pub(crate) struct Arguments {
    /// A recording
    a: PathBuf,
    /// Another one, or a file of its device memory; without it, what a replay of the first has written
    b: Option<PathBuf>,
    #[command(flatten)]
    view: View,
}

/// How memory is compared.
#[derive(Args)]
pub(super) struct View {
    /// What the memory holds, or what an argument points at: `f32`, `2=i64`. Types are u8 to u64, i8 to i64, f16, bf16, f32
    /// and f64
    #[arg(long = "type", value_name = "[ARGUMENT=]TYPE", value_parser = typed)]
    types: Vec<(Option<usize>, Element)>,
    /// Compare only what this argument points at
    #[arg(long = "argument", value_name = "ARGUMENT")]
    arguments: Vec<usize>,
    /// So many units in the last place are admitted; of integers, the distance
    #[arg(long, value_name = "COUNT")]
    ulp: Option<u64>,
    /// This share of the larger magnitude is admitted
    #[arg(long, value_name = "SHARE", value_parser = admitted)]
    relative: Option<f64>,
    /// This distance is admitted
    #[arg(long, value_name = "DISTANCE", value_parser = admitted)]
    absolute: Option<f64>,
}

fn typed(text: &str) -> Result<(Option<usize>, Element), String> {
    let Some((argument, element)) = text.split_once('=') else { return Ok((None, text.parse()?)) };
    let argument = argument.parse().map_err(|error| format!("{argument}: {error}"))?;
    Ok((Some(argument), element.parse()?))
}

fn admitted(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        Ok(_) => Err("it must be 0 or more".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let recorded = Recorded::open(&arguments.a)?;
    let mut a = output(&recorded, &arguments.a)?;
    let mut b = match &arguments.b {
        Some(path) => other_output(path)?,
        None => replay_output(&recorded)?,
    };
    report(&arguments.view.compare(&recorded, &mut a, &mut b)?)
}

impl View {
    /// Compares two outputs of a recording.
    pub(super) fn compare(
        &self,
        recorded: &Recorded,
        a: &mut dyn Read,
        b: &mut dyn Read,
    ) -> Result<Vec<Outcome>, Failure> {
        let pointees = recorded.pointees();
        let count = pointees.len();
        let named =
            self.arguments.iter().chain(self.types.iter().filter_map(|(argument, _)| argument.as_ref()));
        if let Some(argument) = named.into_iter().find(|&&argument| argument >= count) {
            return Err(format!("there is no argument {argument}; there are {count}, counted from 0").into());
        }
        let regions = self.regions(recorded, &pointees)?;
        let tolerance = Tolerance { ulp: self.ulp, relative: self.relative, absolute: self.absolute };
        Ok(compare(a, b, &regions, tolerance)?)
    }

    fn regions(&self, recorded: &Recorded, pointees: &[Option<usize>]) -> Result<Vec<Region>, Failure> {
        let of = |wanted| self.types.iter().rev().find(|(argument, _)| *argument == wanted).map(|(_, e)| *e);
        let default = of(None).unwrap_or(Element::U8);
        let element =
            |pointing: &[usize]| pointing.iter().find_map(|&index| of(Some(index))).unwrap_or(default);
        let regions = recorded.regions(element);
        if self.arguments.is_empty() {
            return Ok(regions);
        }
        let mut wanted = Vec::new();
        for &argument in &self.arguments {
            let number = || format!("argument {argument} does not point into the recorded memory");
            wanted.push(pointees[argument].ok_or_else(number)?);
        }
        let chosen = |(index, region)| wanted.contains(&index).then_some(region);
        Ok(regions.into_iter().enumerate().filter_map(chosen).collect())
    }
}

fn output(recorded: &Recorded, path: &Path) -> Result<Box<dyn Read>, Failure> {
    let missing = || format!("{}: there is no output to compare", path.display());
    Ok(recorded.output()?.ok_or_else(missing)?)
}

fn replay_output(recorded: &Recorded) -> Result<Box<dyn Read>, Failure> {
    let place = recorded.replay_output();
    match place.is_file() {
        true => open(&place),
        false => {
            let what = "there is no output of a replay; name what to compare with";
            Err(format!("{}: {what}", place.display()).into())
        }
    }
}

/// Of another recording, or the file itself.
fn other_output(path: &Path) -> Result<Box<dyn Read>, Failure> {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    match path.is_file() && !is_json && !Container::is_one(path) {
        true => open(path),
        false => output(&Recorded::open(path)?, path),
    }
}

/// Tells what differs. Returns what the command returns.
pub(crate) fn report(outcomes: &[Outcome]) -> Result<ExitCode, Failure> {
    print(|out| outcomes.iter().try_for_each(|outcome| write(out, outcome)))?;
    Ok(match outcomes.iter().all(Outcome::is_within) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(FOUND),
    })
}

fn write(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let Outcome { region, compared, differing, beyond, largest, unpaired, first } = outcome;
    let place = format!("{:#x}..{:#x}", region.range.start, region.range.end);
    write!(out, "{} ({place}, {}): ", region.name, region.element)?;
    match differing {
        0 => writeln!(out, "{compared} equal")?,
        _ => writeln!(
            out,
            "{differing} of {compared} differ, {beyond} beyond the tolerance; by {largest:e} at most"
        )?,
    }
    for difference in first {
        let Difference { index, offset, a, b } = difference;
        writeln!(out, "    [{index}] at {offset:#x}: {a} | {b}")?;
    }
    match beyond - first.len() as u64 {
        0 => {}
        more => writeln!(out, "    and {more} more")?,
    }
    match unpaired {
        0 => Ok(()),
        bytes => writeln!(out, "    and {bytes} bytes that only one of both has"),
    }
}
