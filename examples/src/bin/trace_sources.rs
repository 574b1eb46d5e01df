//! Opens a zone for each kernel of a file, whichever compiler wrote it: a HIP program, a cubin, a SPIR-V module, a
//! shared library, a folder of Triton's cache. No kernel runs; the zones show how each is seen in a trace.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use zonecast::dispatch::{self, Site, Sites};
use zonecast::sources;
use zonecast_examples::{is_broken_pipe, wait_for_profiler};

/// Shows the kernels of a file in a trace, each beside its own source.
#[derive(Parser)]
struct Args {
    /// A program, library, code object, cubin, PTX, SPIR-V module, or folder of Triton's cache
    file: PathBuf,
    /// The kernels to show, by the names under which runtimes launch them; all that have a line, if none is named
    kernels: Vec<String>,
    /// Wait until the Tracy profiler has connected
    #[arg(long)]
    wait: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "trace_sources: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let session = zonecast::start_with(&[("ZONECAST_SOURCES", "5")]);
    if args.wait {
        wait_for_profiler()?;
    }
    // Its texts are there as long as the module is.
    let module = sources::open(&args.file)?;
    let sites = dispatch::sites(&module);
    let shown = shown(&sites, &args.kernels)?;
    for site in &shown {
        // Here a program launches the kernel.
        drop(site.zone());
    }
    drop(session);
    let mut out = io::stdout().lock();
    for site in shown {
        writeln!(out, "{site:?} ({})", site.origin())?;
    }
    Ok(())
}

/// The sites of the kernels that were named, or of all whose lines are known.
fn shown<'a>(sites: &'a Sites, kernels: &[String]) -> Result<Vec<&'a Site>, String> {
    if !zonecast::ENABLED {
        return Err("this was built without a provider, so no file is looked into".to_owned());
    }
    if kernels.is_empty() {
        return Ok(sites.iter().filter(|site| site.location().line() > 0).collect());
    }
    let named =
        |kernel: &String| sites.named(kernel).ok_or(format!("there is no kernel {kernel} in the file"));
    kernels.iter().map(named).collect()
}
