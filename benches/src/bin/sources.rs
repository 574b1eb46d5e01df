//! What it costs to open executables, to register them and to find a text: times beside their limits, what is
//! touched, and one loop of each for callgrind.
//!
//! `sources` prints a line for each. `sources LOOP` runs one loop a hundred times, for
//! `valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*LOOP*'`.

#[path = "../../../embed/tests/support/module.rs"]
mod module;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use module::Segment;
use zonecast::embed::Executable;
use zonecast::embed::table::{Export, TableBuilder};
use zonecast::sources::{self, Module};

type Failure = Box<dyn std::error::Error>;

const EXECUTABLES: usize = 1_000;
const SOURCES: usize = 1_000;
const ROUNDS: usize = 100;

fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let large = large_module(folder.path())?;
    let table: &'static [u8] = table()?.leak();
    let module = registered(folder.path(), table)?;
    let known = claim(&module);
    match std::env::args().nth(1).as_deref() {
        Some("open_and_list") => (0..ROUNDS).for_each(|_| drop(black_box(open_and_list(&large)))),
        Some("find_by_path") => (0..ROUNDS).for_each(|_| find_by_path(&module, &known)),
        Some("text_of_path") => (0..ROUNDS).for_each(|_| text_of_path(&known)),
        Some(other) => return Err(format!("there is no loop {other}").into()),
        None => print(&large, table, &module, &known)?,
    }
    Ok(())
}

fn print(large: &Path, table: &'static [u8], module: &Module, known: &[String]) -> Result<(), Failure> {
    let size = std::fs::metadata(large)?.len() >> 20;
    line(&format!("open and list a module of {size} MiB"), Duration::from_millis(5), 1, || {
        drop(black_box(open_and_list(large)));
    });
    #[cfg(target_os = "linux")]
    {
        let executable = open_and_list(large)?;
        let touched = module::resident(large).unwrap_or_default();
        println!("  touches {touched} KiB of it; limit 8192 KiB ({} images)", executable.images().len());
    }
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let opened: Result<Vec<Executable>, _> =
            (0..EXECUTABLES).map(|_| Executable::from_bytes(table, "module")).collect();
        let opened = opened?;
        let start = Instant::now();
        let registered: Vec<Module> = opened.into_iter().map(sources::register).collect();
        times.push(start.elapsed());
        drop(registered);
    }
    let what = format!("register {EXECUTABLES} executables of {SOURCES} sources each");
    say(&what, Duration::from_millis(5), times);
    let limit = Duration::from_micros(2);
    line("find a text in an executable", limit, known.len(), || find_by_path(module, known));
    line("find the text of a path that a location names", limit, known.len(), || text_of_path(known));
    Ok(())
}

/// Measures `work`, warm, of which `parts` make one figure.
fn line(what: &str, limit: Duration, parts: usize, work: impl Fn()) {
    work();
    let once = || {
        let start = Instant::now();
        work();
        start.elapsed() / parts as u32
    };
    say(what, limit, (0..ROUNDS).map(|_| once()).collect());
}

fn say(what: &str, limit: Duration, mut times: Vec<Duration>) {
    times.sort_unstable();
    let median = times[times.len() / 2];
    let share = median.as_secs_f64() / limit.as_secs_f64();
    println!("{what}: {median:?}; limit {limit:?}, of which it is {share:.3}");
}

#[inline(never)]
fn open_and_list(path: &Path) -> Result<Executable, zonecast::embed::Error> {
    let executable = Executable::open(path)?;
    for image in executable.images() {
        for export in image.exports() {
            black_box(export.name());
            for stage in export.stages() {
                black_box(stage);
            }
        }
        for source in image.sources().iter() {
            black_box((source.path(), source.len()));
        }
    }
    Ok(executable)
}

#[inline(never)]
fn find_by_path(module: &Module, paths: &[String]) {
    let Some(image) = module.executable().image(0) else { return };
    for path in paths {
        assert!(black_box(image.sources().find(path)).is_some());
    }
}

#[inline(never)]
fn text_of_path(paths: &[String]) {
    for path in paths {
        assert!(black_box(sources::text(path.as_bytes())).is_some());
    }
}

/// A GiB of weights, and executables of several kernels between them.
fn large_module(folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join("large.vmfb");
    let many = concat!(env!("CARGO_MANIFEST_DIR"), "/../embed/tests/data/iree/many.cpu.g3.vmfb");
    let many = Executable::open(many)?;
    let library = many.image(0).and_then(|image| image.bytes()).ok_or("there is a library in it")?;
    let weights = (0..17).flat_map(|_| [Segment::Weights(60 << 20), Segment::Executable(library)]);
    module::write(&path, &weights.chain([Segment::Weights(8 << 20)]).collect::<Vec<_>>())?;
    Ok(path)
}

/// A table of a thousand kernels with a source each.
fn table() -> Result<Vec<u8>, Failure> {
    let mut table = TableBuilder::new();
    for number in 0..SOURCES {
        let path = format!("model_dispatch_{number}_embedded_elf_x86_64.0.source.mlir");
        table.source(&path, format!("func.func @dispatch_{number}() {{\n}}\n"))?;
        table.export(Export::new(format!("dispatch_{number}")).stage("0.source", path, 1))?;
    }
    Ok(table.build()?)
}

/// The table as a file, registered.
fn registered(folder: &Path, table: &[u8]) -> Result<Module, Failure> {
    let file = folder.join("table.zonecast");
    std::fs::write(&file, table)?;
    Ok(sources::open(file)?)
}

/// Has every path of the module known, as its sites would.
fn claim(module: &Module) -> Vec<String> {
    let sources = module.executable().images().flat_map(|image| image.sources().iter());
    sources.map(|source| module.claim(0, source.path())).collect()
}
