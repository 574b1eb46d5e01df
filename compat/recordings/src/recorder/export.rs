//! Recordings in LLVM's newest layout.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::Error;
use crate::llvm::{Generation, Part, Stem, write_globals};

use super::{Buffer, Recording, cpu};

/// LLVM writes one piece of memory, from the lowest address to the highest. Gaps between buffers that are larger than all of them
/// are refused.
const SPARSEST: u64 = 16;

/// Writes a recording into `folder` as LLVM's offload runtime does since April 2026, for its tools. Returns the JSON file.
///
/// That layout holds less: one dimension of grid and block, arguments of eight bytes, and one piece of memory.
/// Gaps between buffers are filled with zeros. Several launches of one kernel and shape have one name there; the last one stays.
///
/// # Errors
///
/// If the recording does not fit into that layout, or a file cannot be written. Other files of the recording may have been
/// written by then; the JSON file comes last.
pub fn export(recording: &Recording, folder: &Path) -> Result<PathBuf, Error> {
    let launch = &recording.description;
    if launch.backend == cpu::NAME {
        return refuse(
            folder,
            "a kernel of IREE's for CPUs: it takes records, and LLVM's kernels take words",
        );
    }
    let ([teams, 1, 1], [threads, 1, 1]) = (launch.grid, launch.block) else {
        return refuse(folder, "a launch with more than one dimension, of which that layout keeps the first");
    };
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(i64::from_le_bytes(word))
    };
    let words: Option<Vec<_>> = launch.arguments.iter().map(|argument| word(&argument.bytes)).collect();
    let Some(words) = words else {
        return refuse(folder, "an argument of more than eight bytes");
    };
    let base = recording.memory.iter().map(|buffer| buffer.address).min().unwrap_or(0);
    let (Some(input), Some(output)) =
        (arena(&recording.memory, base, |b| &b.before), arena(&recording.memory, base, |b| &b.after))
    else {
        return refuse(folder, "memory that is scattered over much more address space than it has bytes");
    };
    let shared = launch.shared_memory;
    let stem = Stem::of(&launch.kernel, teams.into(), threads.into(), shared);
    let description = json!({
        "ArgOffsets": vec![0; words.len()],
        "ArgPtrs": words,
        "DeviceId": 0,
        "LoopTripCount": 0,
        "Name": launch.kernel,
        "NumArgs": words.len(),
        "NumTeams": teams,
        "NumThreads": threads,
        "SharedMemorySize": shared,
        "TeamsLimits": [0, 0],
        "ThreadsLimits": [0, 0],
        "VAllocAddr": base.cast_signed(),
        "VAllocSize": input.len(),
    });
    let globals: Vec<_> = recording.globals.iter().map(|g| (g.name.as_str(), g.before.as_slice())).collect();
    let part = |part: Part| folder.join(format!("{stem}.{}", part.extension(Generation::Third)));
    let json = folder.join(format!("{stem}.json"));
    for (path, bytes) in [
        (part(Part::Input), &input),
        (part(Part::Output), &output),
        (part(Part::Globals), &write_globals(&globals)),
        (part(Part::Image), &recording.image),
        (json.clone(), &description.to_string().into_bytes()),
    ] {
        fs::write(&path, bytes).map_err(|error| Error::io(error).in_file(path))?;
    }
    Ok(json)
}

fn refuse<T>(folder: &Path, what: &'static str) -> Result<T, Error> {
    Err(Error::unsupported(format!("to LLVM's layout, {what}")).in_file(folder))
}

/// All buffers as one piece of memory; `None` if they are scattered.
fn arena<'a>(buffers: &'a [Buffer], base: u64, bytes: impl Fn(&'a Buffer) -> &'a Vec<u8>) -> Option<Vec<u8>> {
    let end = |buffer: &'a Buffer| buffer.address.checked_add(buffer.before.len() as u64);
    let end = buffers.iter().map(end).try_fold(base, |most, end| Some(most.max(end?)))?;
    let held: u64 = buffers.iter().map(|buffer| buffer.before.len() as u64).sum();
    if end - base > held.saturating_mul(SPARSEST) {
        return None;
    }
    let mut arena = vec![0; usize::try_from(end - base).ok()?];
    for buffer in buffers {
        let at = (buffer.address - base) as usize;
        arena.get_mut(at..at + bytes(buffer).len())?.copy_from_slice(bytes(buffer));
    }
    Some(arena)
}
