//! `zonecast instruments`: what kernels loaded, stored and computed, from IREE's dispatch instruments.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use zonecast_recordings::Contents;
use zonecast_recordings::instruments::{
    Filter, Stream, fix_ir, write_iree, write_json, write_svg, write_text,
};

use crate::Failure;
use crate::files::{about, write_to};

/// Show what kernels loaded, stored and computed, from IREE's dispatch instruments
///
/// FILE is what `iree-run-module --instrument_file=FILE` wrote, running a module compiled with
/// `--iree-hal-instrument-dispatches=SIZE`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The instrument stream
    #[arg(required_unless_present = "fix_ir")]
    file: Option<PathBuf>,
    /// What to write
    #[arg(long, default_value = "text")]
    format: Format,
    /// Where to write it, instead of the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only what was dispatched from this site
    #[arg(long, value_name = "N")]
    site: Option<u32>,
    /// Only what this workgroup of each grid did
    #[arg(long, value_name = "X,Y,Z", value_parser = workgroup)]
    workgroup: Option<[u32; 3]>,
    /// Also draw the accesses, per buffer and workgroup
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Repair the order of globals in what `iree-compile --compile-to=executable-sources` wrote with
    /// instruments, and write it to the output: `--compile-from=executable-sources` then goes on
    #[arg(long, value_name = "IN.mlir", conflicts_with_all = ["file", "site", "workgroup", "plot"])]
    fix_ir: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    /// For people: each site's source, processors, access map and probes
    Text,
    /// JSON lines: modules, records, sites with their access maps
    Json,
    /// As IREE's own iree-dump-instruments
    Iree,
}

fn workgroup(text: &str) -> Result<[u32; 3], String> {
    let parts: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    let parts = parts.map_err(|error| error.to_string())?;
    parts.try_into().map_err(|_| "three numbers are needed, as in 4,0,0".to_owned())
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(path) = &arguments.fix_ir {
        return repair(path, arguments.output.as_deref());
    }
    let path = arguments.file.as_deref().unwrap_or(Path::new(""));
    let contents = Contents::open(path)?;
    let stream = Stream::read(&contents).map_err(|error| about(path, &error))?;
    let filter = Filter { site: arguments.site, workgroup: arguments.workgroup };
    write_to(arguments.output.as_deref(), |mut out| match arguments.format {
        Format::Text => write_text(&stream, &filter, &mut out),
        Format::Json => write_json(&stream, &filter, &mut out),
        Format::Iree => write_iree(&stream, &filter, &mut out),
    })?;
    if let Some(picture) = &arguments.plot {
        write_to(Some(picture), |mut out| write_svg(&stream, &filter, &mut out))?;
    }
    if arguments.format == Format::Iree {
        stream.notes().iter().for_each(|note| eprintln!("zonecast: {}: {note}", path.display()));
    }
    if stream.modules().is_empty() {
        eprintln!("zonecast: {}: no module was instrumented", path.display());
    }
    match stream.notes() {
        [] => Ok(ExitCode::SUCCESS),
        // What there is has been written.
        _ => Ok(ExitCode::FAILURE),
    }
}

fn repair(path: &Path, output: Option<&Path>) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| about(path, &error))?;
    let fixed = fix_ir(&text).map_err(|error| about(path, &error))?;
    write_to(output, |out| out.write_all(fixed.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}
