//! Files: what each is, and what is wrong with the executables among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use zonecast_embed::{ErrorKind, Executable, Format, Note, Origin, Source};
use zonecast_tracy_wire::protocol::{SOURCE_LIMIT, welcome_flags};
use zonecast_tracy_wire::{Recording, Welcome};

use super::{Findings, lockfile, program};
use crate::sources::{HOW_TO_EMBED, HOW_TO_PLACE, lacks_texts, level, unplaced};

/// How a recording of `zonecast capture` begins.
const RECORDING: &[u8] = b"ZCTRACY1";

pub(super) fn check(paths: &[PathBuf], findings: &mut Findings) {
    let executables: Vec<Executable> = paths.iter().filter_map(|path| check_file(path, findings)).collect();
    for executable in &executables {
        check_texts(executable, findings);
        check_edited(executable, findings);
        check_levels(executable, findings);
        check_versions(executable, findings);
        check_notes(executable, findings);
    }
    check_collisions(&executables, findings);
}

/// Looks at what a file is. Returns it opened if it is one of executables.
fn check_file(path: &Path, findings: &mut Findings) -> Option<Executable> {
    // To open a pipe would wait.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        findings.add(format!("{}: not a regular file; name one", path.display()));
        return None;
    }
    if path.file_name().is_some_and(|name| name == "Cargo.lock") {
        lockfile::check(path, findings);
        return None;
    }
    if is_recording(path) {
        match Recording::open(path) {
            Ok(recording) => check_welcome(path, recording.welcome(), findings),
            Err(error) => findings.add(format!("{}: {error}; capture again", path.display())),
        }
        return None;
    }
    let is_program = program::check(path, findings);
    match Executable::open(path) {
        Ok(executable) => Some(executable),
        // A program need not have any kernels in it.
        Err(error) if is_program && matches!(error.kind(), ErrorKind::Unsupported(_)) => None,
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::Unsupported(_) => "`zonecast embed` puts sources into an ELF file",
                ErrorKind::Damaged(_) => "make it anew",
                _ => "name a file of a kind that is understood",
            };
            findings.add(format!("{error}; {remedy}"));
            None
        }
    }
}

fn is_recording(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; RECORDING.len()];
    fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == RECORDING
}

fn check_welcome(path: &Path, welcome: &Welcome, findings: &mut Findings) {
    if welcome.flags & welcome_flags::CODE_TRANSFER == 0 {
        findings.add(format!(
            "{}: {} was built with code transfer off, so a profiler gets no source text from it; build it \
             with tracy-client-sys's feature `code-transfer`, or without TRACY_NO_CODE_TRANSFER",
            path.display(),
            welcome.program
        ));
    }
}

fn name(executable: &Executable) -> String {
    executable.path().unwrap_or(Path::new(executable.name())).display().to_string()
}

fn sources(executable: &Executable) -> impl Iterator<Item = Source<'_>> {
    executable.images().flat_map(|image| image.sources().iter())
}

fn check_levels(executable: &Executable, findings: &mut Findings) {
    let images = executable.images().len();
    if images > 0 && executable.images().all(|image| image.format() == Format::IreeVmvx) {
        findings.add(format!(
            "{}: IREE's interpreter (VMVX) embeds no source text at any debug level; compile for another \
             backend, such as llvm-cpu, to see sources",
            name(executable)
        ));
    }
    let lost: usize = executable.images().map(unplaced).sum();
    if lost > 0 {
        findings.add(format!(
            "{}: it has texts, but of {lost} exports not the place in them: {HOW_TO_PLACE}",
            name(executable)
        ));
    }
    let bare = executable.images().filter(|image| lacks_texts(*image));
    let levels: Vec<&str> = bare.filter_map(level).collect();
    let Some(lowest) = levels.iter().min() else { return };
    findings.add(format!(
        "{}: {} of {images} executables have no source text, compiled at debug level {lowest}: {HOW_TO_EMBED}",
        name(executable),
        levels.len()
    ));
}

/// Texts that a profiler does not show, or not whole.
fn check_texts(executable: &Executable, findings: &mut Findings) {
    let name = name(executable);
    for source in sources(executable) {
        let path = String::from_utf8_lossy(source.path());
        if source.len() > SOURCE_LIMIT {
            findings.add(format!(
                "{name}: the text {path} has {} bytes and Tracy carries at most {SOURCE_LIMIT}, so only the \
                 lines around its kernels are shown; `zonecast sources --extract` gives the whole",
                source.len()
            ));
        }
        if fs::read(&*path).is_ok_and(|there| there != source.text()) {
            findings.add(format!(
                "{name}: a file on this disk has the path {path}, too, and Tracy shows that instead of the \
                 embedded text where it is older than the program; move it, or run in another folder"
            ));
        }
    }
}

/// Sources on disk, of which an executable has only the lines, that were edited since.
fn check_edited(executable: &Executable, findings: &mut Findings) {
    let exports = executable.images().flat_map(|image| image.exports());
    let edited: BTreeSet<&[u8]> = exports
        .filter_map(|export| export.location().map(|at| (export.image(), at.file)))
        .filter(|(image, file)| image.is_looked_through() && image.origin(file) == Origin::Newer)
        .map(|(_, file)| file)
        .collect();
    for file in edited {
        findings.add(format!(
            "{}: {} is newer than it and may have other lines by now, so its text is not shown; compile it again",
            name(executable),
            String::from_utf8_lossy(file)
        ));
    }
}

fn check_versions(executable: &Executable, findings: &mut Findings) {
    let libraries = executable.images().filter_map(|image| image.cpu_library());
    let legacy: BTreeSet<u32> = libraries.map(|library| library.abi_version).filter(|&it| it < 6).collect();
    for version in legacy {
        findings.add(format!(
            "{}: its executables are of version {version} of IREE's interface, from before September 2025, and \
             today's runtime takes version 6 alone; compile it again with today's compiler",
            name(executable)
        ));
    }
}

fn check_notes(executable: &Executable, findings: &mut Findings) {
    let notes = executable.notes();
    // Of what is in a program, only its code for GPUs is there to be looked at.
    let is_of_host = |image: usize| {
        executable.image(image).is_some_and(|image| image.format() == zonecast_embed::Format::Dwarf)
    };
    let is_known = |note: &&Note<'_>| match note {
        Note::NeverSources { .. } => true,
        Note::Remark { image, .. } => is_of_host(*image),
        _ => false,
    };
    for note in notes.iter().filter(|note| !is_known(note)) {
        findings.add(format!("{}: {note}", name(executable)));
    }
    if executable.images().len() == 0 && executable.path().is_some() {
        findings.add(format!(
            "{}: there is no executable in it that is understood; compile it again with today's compiler",
            name(executable)
        ));
    }
}

/// Paths that stand for different texts.
fn check_collisions(executables: &[Executable], findings: &mut Findings) {
    let mut first: BTreeMap<&[u8], (&Executable, Source<'_>)> = BTreeMap::new();
    let mut colliding: BTreeMap<(String, String), Vec<&[u8]>> = BTreeMap::new();
    for executable in executables {
        for source in sources(executable) {
            let (other, stands) = first.entry(source.path()).or_insert((executable, source));
            if stands.text() != source.text() {
                let pair = (name(other), name(executable));
                colliding.entry(pair).or_default().push(source.path());
            }
        }
    }
    for ((one, other), paths) in colliding {
        let path = String::from_utf8_lossy(paths[0]);
        let place = if one == other { format!("{one} has") } else { format!("{one} and {other} have") };
        findings.add(format!(
            "{place} different texts of the same path, {path} and {} more: zonecast shows the later one as \
             `PATH [MODULE]`, but other tools take the first for both; give the MLIR modules names of their own",
            paths.len() - 1
        ));
    }
}
