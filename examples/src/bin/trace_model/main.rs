//! Runs a compiled model and traces each of its kernels beside its own source.
//!
//! `cargo run --release --bin trace_model` shows the trace as text; with `--features tracy` the same goes
//! to the Tracy profiler. `--help` tells the rest.

mod args;
mod pace;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use zonecast::embed::{Executable, Image};
use zonecast::{dispatch, frame_mark, sources, zone};
use zonecast_dispatch::Workers;
use zonecast_examples::listing::Listing;
use zonecast_examples::mlp::{self, Mlp};
use zonecast_examples::watch::Watch;
use zonecast_examples::{is_broken_pipe, wait_for_profiler};

use crate::args::Args;
use crate::pace::Pace;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has read enough.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "trace_model: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let path = args.module.as_deref().unwrap_or(Path::new(mlp::MODULE));
    let executable = Arc::new(Executable::open(path)?);
    match runnable(&executable) {
        Ok(image) if !args.list => trace(args, &executable, image),
        // The model that ships was to be run, so this is a failure.
        Err(reason) if !args.list && args.module.is_none() => Err(reason.into()),
        image => Ok(list(path, &executable, image.err())?),
    }
}

/// The image that can be run here, or why there is none.
fn runnable(executable: &Executable) -> std::result::Result<Image<'_>, String> {
    let reason = |error: zonecast_dispatch::Error| error.to_string();
    if let Some(image) = mlp::find(executable) {
        zonecast_dispatch::check(image).map_err(reason)?;
        return match image.target() {
            Some(target) if target == mlp::TARGET.as_bytes() => Ok(image),
            _ => {
                Err(format!("src/mlp.rs tells how many workgroups its kernels need on {} only", mlp::TARGET))
            }
        };
    }
    let Some(image) = executable.image(0) else {
        return Err("there is nothing to run".to_owned());
    };
    zonecast_dispatch::check(image).map_err(reason)?;
    Err("its kernels are not those of this example, and a kernel does not tell the shapes of its buffers \
         or how many workgroups it needs; src/mlp.rs shows how to write that down"
        .to_owned())
}

fn list(path: &Path, executable: &Executable, reason: Option<String>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", mlp::short(path).display())?;
    write!(out, "{}", Listing(executable))?;
    reason.map_or(Ok(()), |reason| writeln!(out, "not run: {reason}"))
}

fn trace(args: &Args, executable: &Arc<Executable>, image: Image<'_>) -> Result<()> {
    let session = zonecast::start_with(settings(args));
    zonecast::app_info(&format!("trace_model, batch {}, threads {}", args.batch, args.threads));
    if args.wait {
        wait_for_profiler()?;
    }

    if image.sources().is_empty() {
        let advice = "compile it at debug level 3, see examples/models/README.md";
        writeln!(io::stderr(), "the module carries no source texts to show; {advice}")?;
    }

    let module = sources::register(Arc::clone(executable));
    let sites = dispatch::sites(&module);
    let watch = if args.workgroups { Watch::workgroups(&sites) } else { Watch::dispatches(&sites) };
    let name = |worker| zonecast::set_thread_name(&format!("worker {worker}"));
    let workers = Workers::with_start(args.threads.into(), name)?;
    let loading = zone!("load");
    // SAFETY: `runnable` found the image. The module ships with this example, or whoever named it on the
    // command line was told by `--help` that its code runs.
    let mut mlp = unsafe { Mlp::load(image, args.batch) }?;
    drop(loading);

    let mut runs = 0_u64;
    for () in Pace::new(args) {
        let zone = zone!("forward");
        zonecast::zone_text!(zone, "batch {}", args.batch);
        mlp.forward(&workers, &watch)?;
        drop(zone);
        frame_mark!();
        runs += 1;
    }
    let checking = zone!("check");
    let numbers = mlp.check().map_err(|mismatch| explain(mismatch, args))?;
    drop(checking);

    // The lines of the trace first, then what came of it.
    drop(session);
    let times = if runs == 1 { "once".to_owned() } else { format!("{runs} times") };
    let kernels = mlp::KERNELS.len();
    writeln!(
        io::stdout(),
        "ran {kernels} kernels {times}; all {numbers} results are what plain Rust computes"
    )?;
    Ok(())
}

/// Of the user's own module, tells what may be the matter.
fn explain(mismatch: mlp::Mismatch, args: &Args) -> String {
    let may_be = "; another program, or a compiler that divides the work otherwise, needs another src/mlp.rs";
    format!("{mismatch}{}", if args.module.is_some() { may_be } else { "" })
}

/// What the console shows, unless the environment says otherwise.
fn settings(args: &Args) -> &'static [(&'static str, &'static str)] {
    if args.repeat > 1 || args.seconds.is_some() {
        return &[("ZONECAST_CONSOLE", "summary")];
    }
    &[("ZONECAST_CONSOLE", "text,summary"), ("ZONECAST_SOURCES", "5")]
}
