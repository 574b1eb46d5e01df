//! What it costs to open a program with much debug information, and to ask for a first function in it: beside
//! addr2line, which answers the same question by address.
//!
//! `debug_elf FILE` prints the ratios of times, by turns. `debug_elf FILE LOOP` runs one loop once, for
//! `valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*LOOP*'`.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use addr2line::Loader;
use object::{Object, ObjectSymbol};
use zonecast::embed::{Executable, Export, Image};

type Failure = Box<dyn std::error::Error>;

const ROUNDS: usize = 25;

/// A function of the file, as either side asks for it.
struct Function {
    name: Vec<u8>,
    address: u64,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a file, such as target/debug/zonecast")?;
    let file = Path::new(&file);
    let function = function(file)?;
    match arguments.next().as_deref() {
        Some("ours_open") => drop(black_box(ours_open(file)?)),
        Some("peer_open") => drop(black_box(peer_open(file)?)),
        Some("ours_first") => ours_first(file, &function)?,
        Some("peer_first") => peer_first(file, &function)?,
        Some("ours_again") => ours_again(&opened(file, &function)?, &function)?,
        Some("peer_again") => {
            let loader = peer_open(file)?;
            peer_again(&loader, &function)?;
            peer_again(&loader, &function)?;
        }
        Some(other) => return Err(format!("there is no loop {other}").into()),
        None => print(file, &function)?,
    }
    Ok(())
}

fn print(file: &Path, function: &Function) -> Result<(), Failure> {
    println!("{} of {} MiB", file.display(), std::fs::metadata(file)?.len() >> 20);
    let executable = opened(file, function)?;
    let count: usize = executable.images().map(|image| image.exports().len()).sum();
    println!("  {count} functions; asked for: {}", String::from_utf8_lossy(&function.name));
    let loader = peer_open(file)?;
    compare("open", || ours_open(file).map(drop), || peer_open(file).map(drop))?;
    compare("open and find one", || ours_first(file, function), || peer_first(file, function))?;
    compare("find it again", || ours_again(&executable, function), || peer_again(&loader, function))
}

/// Prints how long ours takes, as a ratio to what the peer takes.
fn compare(
    what: &str,
    ours: impl Fn() -> Result<(), Failure>,
    peer: impl Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        ours()?;
        let between = Instant::now();
        peer()?;
        ratios.push((between - start).as_secs_f64() / between.elapsed().as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    let at = |quarter: usize| ratios[ROUNDS * quarter / 4];
    println!("{what}: {:.3} ({:.3}-{:.3}) of addr2line's time", at(2), at(1), at(3));
    Ok(())
}

#[inline(never)]
fn ours_open(file: &Path) -> Result<Executable, Failure> {
    Ok(Executable::open(file)?)
}

#[inline(never)]
fn peer_open(file: &Path) -> Result<Loader, Failure> {
    Loader::new(file).map_err(|error| error.to_string().into())
}

#[inline(never)]
fn ours_first(file: &Path, function: &Function) -> Result<(), Failure> {
    ours_again(&ours_open(file)?, function)
}

#[inline(never)]
fn peer_first(file: &Path, function: &Function) -> Result<(), Failure> {
    peer_again(&peer_open(file)?, function)
}

#[inline(never)]
fn ours_again(executable: &Executable, function: &Function) -> Result<(), Failure> {
    let named = |image: Image<'_>| image.export_named(&function.name).and_then(Export::location).is_some();
    if executable.images().any(named) { Ok(()) } else { Err("the function has no location".into()) }
}

#[inline(never)]
fn peer_again(loader: &Loader, function: &Function) -> Result<(), Failure> {
    let location = loader.find_location(function.address).map_err(|error| error.to_string())?;
    black_box(location).map(drop).ok_or("addr2line finds no location".into())
}

/// Opened, and asked once.
fn opened(file: &Path, function: &Function) -> Result<Executable, Failure> {
    let executable = ours_open(file)?;
    ours_again(&executable, function)?;
    Ok(executable)
}

/// A function in the middle of those that have a location.
fn function(file: &Path) -> Result<Function, Failure> {
    let executable = Executable::open(file)?;
    let exports = executable.images().flat_map(|image| image.exports());
    let located: Vec<&[u8]> = exports.filter(|it| it.location().is_some()).map(Export::name).collect();
    let name = located.get(located.len() / 2).ok_or("nothing in it has a location")?.to_vec();
    let elf = object::File::parse(executable.bytes())?;
    let is_it = |symbol: &object::Symbol<'_, '_>| symbol.name_bytes().is_ok_and(|own| own == name);
    let symbol = elf.symbols().chain(elf.dynamic_symbols()).find(is_it).ok_or("it has no such symbol")?;
    Ok(Function { address: symbol.address(), name })
}
