//! The other files that a file's debug information may be in.
//!
//! Symbols for debuggers can be stripped from a file and kept in another, which is named in a section
//! (`.gnu_debuglink`, with a checksum) or found by the build's own number; and the compiler can leave units in files
//! beside its objects (split DWARF), or a tool can pack them into one (`.dwp`).

use std::path::{Path, PathBuf};

use gimli::{Dwarf, DwoId, Unit};

use super::binary::Binary;
use super::lines::readable;
use super::sections::Sections;
use super::subprograms::{Exports, Files};
use super::units::Units;
use super::{Slice, Work};
use crate::read::Result;
use crate::storage::Opened;

/// Where distributions keep debug files.
const DISTRIBUTION: &str = "/usr/lib/debug";

pub(crate) enum Search {
    Found(Opened, PathBuf),
    /// Not where it would be.
    Missing(Vec<u8>),
    /// The file names none.
    None,
}

/// The file that the debug information was moved to when it was stripped.
pub(crate) fn find(binary: &Binary<'_>, path: Option<&Path>) -> Search {
    let id = binary.build_id();
    let link = binary.debug_link();
    let by_id = id.filter(|id| id.len() > 1).map(|id| {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Path::new(DISTRIBUTION).join(format!(".build-id/{}/{}.debug", hex(&id[..1]), hex(&id[1..])))
    });
    let by_link = link.iter().flat_map(|(name, _)| beside(name, path));
    for candidate in by_link.chain(path.and(by_id)) {
        let Some(file) = open(&candidate) else { continue };
        if is_of(&file, id, link.map(|(_, checksum)| checksum)) {
            return Search::Found(file, candidate);
        }
    }
    link.map_or(Search::None, |(name, _)| Search::Missing(name.to_vec()))
}

/// Where debuggers look for a debug file.
fn beside(name: &[u8], path: Option<&Path>) -> Vec<PathBuf> {
    let (Some(folder), Ok(name)) = (path.and_then(Path::parent), std::str::from_utf8(name)) else {
        return Vec::new();
    };
    // It names a file, and does not lead elsewhere.
    if Path::new(name).file_name() != Some(name.as_ref()) {
        return Vec::new();
    }
    let mut places = vec![folder.join(name), folder.join(".debug").join(name)];
    if let Ok(absolute) = std::path::absolute(folder)
        && let Ok(relative) = absolute.strip_prefix("/")
    {
        places.push(Path::new(DISTRIBUTION).join(relative).join(name));
    }
    places
}

/// Opens a file, if it is one.
fn open(path: &Path) -> Option<Opened> {
    // Asked before opening, since opening some things that are no files waits or has effects.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Opened::file(path).ok()
}

/// Whether a debug file belongs to the file that names it. Where both have a build's number, that says it.
fn is_of(file: &Opened, id: Option<&[u8]>, checksum: Option<u32>) -> bool {
    let Ok(binary) = Binary::parse(file.bytes()) else { return false };
    match (id, binary.build_id()) {
        (Some(id), Some(own)) => id == own,
        _ => checksum == Some(crc32(file.bytes())),
    }
}

/// The checksum that `.gnu_debuglink` has: CRC-32 as zip has it.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    let step = |sum: u32, &byte: &u8| TABLE[(sum as u8 ^ byte) as usize] ^ sum >> 8;
    !bytes.iter().fold(!0, step)
}

/// Takes what a unit says that was split off from `skeleton`, if its file is there.
pub(crate) fn look_in_split(
    exports: &mut Exports<'_>,
    dwarf: &Dwarf<Slice<'_>>,
    skeleton: &Unit<Slice<'_>>,
    path: Option<&Path>,
) -> Result<Outcome> {
    let Some(id) = skeleton.dwo_id else { return Ok(Outcome::NotSplit) };
    let Some(name) = skeleton.dwo_name().map_err(|_| readable())? else { return Ok(Outcome::NotSplit) };
    let name = dwarf.attr_string(skeleton, name).map_err(|_| readable())?;
    let compiled_in = skeleton.comp_dir.map(|folder| folder.slice()).unwrap_or_default();
    for candidate in split_places(name.slice(), compiled_in, path) {
        let Some(file) = open(&candidate) else { continue };
        let Ok(object) = object::File::parse(file.bytes()) else { continue };
        let Ok(sections) = Sections::of_split(&object, file.bytes()) else { continue };
        let mut split = sections.dwarf();
        split.make_dwo(dwarf);
        if candidate.extension().is_some_and(|extension| extension == "dwp") {
            match packed(&sections, id, dwarf) {
                Some(unit) => split = unit,
                None => continue,
            }
        }
        if look_in(exports, &split, sections.len(), id, Files { dwarf, unit: skeleton })? {
            return Ok(Outcome::Read);
        }
    }
    Ok(Outcome::Missing(name.slice().to_vec()))
}

/// The unit in a package of many.
fn packed<'a>(sections: &'a Sections<'_>, id: DwoId, dwarf: &Dwarf<Slice<'a>>) -> Option<Dwarf<Slice<'a>>> {
    let load = |id| Ok::<_, gimli::Error>(sections.slice(id));
    let package = gimli::DwarfPackage::load(load, sections.slice(gimli::SectionId::DebugTypes)).ok()?;
    package.find_cu(id, dwarf).ok()?
}

/// Where the file of a unit may be: where it was written, beside the file, or in a package beside it.
fn split_places(name: &[u8], compiled_in: &[u8], path: Option<&Path>) -> Vec<PathBuf> {
    let Ok(name) = std::str::from_utf8(name) else { return Vec::new() };
    let mut places = Vec::new();
    if let Ok(compiled_in) = std::str::from_utf8(compiled_in) {
        places.push(Path::new(compiled_in).join(name));
    }
    if let Some(path) = path {
        let beside = Path::new(name).file_name().map(|name| path.with_file_name(name));
        places.extend(beside);
        let mut package = path.as_os_str().to_owned();
        package.push(".dwp");
        places.push(package.into());
    }
    places
}

/// What became of a unit that may have been split.
pub(crate) enum Outcome {
    NotSplit,
    Read,
    Missing(Vec<u8>),
}

fn look_in<'a>(
    exports: &mut Exports<'_>,
    split: &Dwarf<Slice<'a>>,
    length: usize,
    id: DwoId,
    files: Files<'_, 'a>,
) -> Result<bool> {
    let mut work = Work::for_bytes(length);
    let (mut units, _) = Units::new(split);
    for index in 0..units.len() {
        let mut unit = units.get(index, &mut work)?;
        if unit.dwo_id == Some(id) {
            unit.copy_relocated_attributes(files.unit);
            exports.look_in(&mut units, &unit, files, &mut work)?;
            return Ok(true);
        }
    }
    Ok(false)
}
