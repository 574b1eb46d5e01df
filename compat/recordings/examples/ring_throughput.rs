//! How fast a ring is summed up, and in how much memory.
//!
//! ```sh
//! cargo run --release -p zonecast-recordings --example ring_throughput -- 2048
//! ```
//!
//! makes a stream with a ring of so many MiB in a temporary file (a kernel that adds two buffers into a third,
//! in workgroups of 4 KiB), and sums it up.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use zonecast_recordings::Contents;
use zonecast_recordings::instruments::{AccessMap, Filter, Function, InstrumentRing, Stream, Workgroup};

const BUFFER: u64 = 16 << 20;
const TILE: u64 = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = std::env::args().nth(1).map_or(Ok(64), |size| size.parse::<usize>())? << 20;
    let file = tempfile::NamedTempFile::new()?;
    make(size, &mut BufWriter::new(File::create(file.path())?))?;
    let contents = Contents::open(file.path())?;
    // What the system reads from the disk is not what is measured.
    plain(&contents);
    let (plain, checksum) = timed(|| plain(&contents))?;
    let stream = Stream::read(&contents)?;
    let before = anonymous_kib()?;
    let (seconds, map) = timed(|| AccessMap::of(&stream.modules()[0], &Filter::default()))?;
    let uses = &map.sites()[0].uses;
    println!("{} records, {} buffers, checksum {checksum}", map.records(), uses.len());
    println!(
        "{:.2} GB per second of one processor, {:.1} ns per record; {:.1} times as long as a plain sum of the same bytes",
        size as f64 / seconds / 1e9,
        seconds / map.records() as f64 * 1e9,
        seconds / plain,
    );
    println!("anonymous memory: {} MiB more than before", (anonymous_kib()?.saturating_sub(before)) / 1024);
    Ok(())
}

/// What reading alone takes.
fn plain(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks();
    words.iter().fold(0, |sum, word| u64::from_le_bytes(*word).wrapping_add(sum))
}

/// The seconds of a processor that `work` takes.
fn timed<T>(work: impl FnOnce() -> T) -> io::Result<(f64, T)> {
    let begin = processor_seconds()?;
    let result = work();
    Ok((processor_seconds()? - begin, result))
}

/// Fills the ring with whole workgroups.
fn make(size: usize, out: &mut impl Write) -> io::Result<()> {
    let ring = InstrumentRing::new(size);
    let tiles = (BUFFER / TILE) as u32;
    let of_a_tile = 32 + 3 * 16 * (TILE / 16);
    for index in 0..size as u64 / of_a_tile {
        let tile = index % u64::from(tiles);
        let workgroup = Workgroup { site: 0, id: [tile as u32, 0, 0], count: [tiles, 1, 1], processor: 0 };
        let key = ring.workgroup(workgroup);
        for step in (0..TILE).step_by(16) {
            let at = 0x7f00_0000_0000 + tile * TILE + step;
            ring.load(key, at, 16);
            ring.load(key, at + 2 * BUFFER, 16);
            ring.store(key, at + 4 * BUFFER, 16);
        }
    }
    let function = Function { name: b"add", target: None, layout: None, source: None };
    ring.save(&[function], &[0], out)?;
    out.flush()
}

/// The time that this process has had of a processor, whatever else runs on it; by Linux's 100 ticks a second.
fn processor_seconds() -> io::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 =
        after_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / 100.0)
}

fn anonymous_kib() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.trim().split(' ').next()).and_then(|number| number.parse().ok());
    number.ok_or(io::Error::other("the system does not say"))
}
