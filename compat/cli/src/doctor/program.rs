//! Programs: whether zonecast is in them, and what it can do there.
//!
//! The crate `zonecast` puts a note into each program (`provider/src/built.rs`): owner `zonecast`, type 2, the
//! version in four bytes and flags in a little-endian number.

use std::fs::File;
use std::path::Path;

use object::elf::{
    ELFMAG, EM_AMDGPU, EM_BPF, EM_CUDA, ET_EXEC, FileHeader32, FileHeader64, Machine, NoteType, PT_INTERP,
};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{LittleEndian, ReadRef};

use super::Findings;

const OWNER: &[u8] = b"zonecast";
const NOTE_TYPE: NoteType = NoteType(2);
const TRACY: u32 = 1 << 0;
const PROVIDERS: u32 = 0b111;
const TRACY_SOURCES: u32 = 1 << 3;

/// What runs only where a program has put it: cubins are marked as executable, too.
const DEVICES: [Machine; 3] = [EM_CUDA, EM_AMDGPU, EM_BPF];

/// What an ELF file is as a program.
struct Program {
    /// Whether a system starts it, as opposed to a library or an object.
    can_start: bool,
    /// What zonecast has in it, if it is there.
    features: Option<u32>,
}

/// Looks at a file. Returns whether it is a program.
pub(super) fn check(path: &Path, findings: &mut Findings) -> bool {
    let Some(program) = read(path) else { return false };
    let name = path.display();
    match program.features {
        None if program.can_start => findings.add(format!(
            "{name}: there is no zonecast in this program, so nothing of it is traced; build it with zonecast, \
             or see whether another of the same name is first on the PATH"
        )),
        Some(features) if features & PROVIDERS == 0 => findings.add(format!(
            "{name}: no provider is compiled in, so all trace calls of it are nothing; build it with \
             zonecast's feature `tracy` or `console`"
        )),
        Some(features) if features & TRACY != 0 && features & TRACY_SOURCES == 0 => findings.add(format!(
            "{name}: Tracy's C++ headers were not found when it was built, so a profiler gets no source text \
             from it; set ZONECAST_TRACY_INCLUDE to their folder and build it again"
        )),
        _ => {}
    }
    program.can_start || program.features.is_some()
}

/// `None` if it is no ELF file that a system loads.
fn read(path: &Path) -> Option<Program> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = &cache;
    if file.read_bytes_at(0, 4).ok()? != ELFMAG {
        return None;
    }
    if let Ok(header) = FileHeader64::<LittleEndian>::parse(file) {
        program(header, file)
    } else {
        program(FileHeader32::<LittleEndian>::parse(file).ok()?, file)
    }
}

fn program<'data, H: FileHeader<Endian = LittleEndian>>(
    header: &H,
    file: impl ReadRef<'data>,
) -> Option<Program> {
    if DEVICES.contains(&header.e_machine(LittleEndian)) {
        return None;
    }
    let segments = header.program_headers(LittleEndian, file).ok()?;
    let is_interpreted = segments.iter().any(|segment| segment.p_type(LittleEndian) == PT_INTERP);
    let notes = segments.iter().filter_map(|segment| segment.notes(LittleEndian, file).ok()?);
    let features = notes.filter_map(|mut notes| {
        while let Ok(Some(note)) = notes.next() {
            if note.name() == OWNER && note.n_type(LittleEndian) == NOTE_TYPE {
                return Some(u32::from_le_bytes(note.desc().get(4..8)?.try_into().ok()?));
            }
        }
        None
    });
    let can_start = is_interpreted || header.e_type(LittleEndian) == ET_EXEC;
    Some(Program { can_start, features: { features }.next() })
}
