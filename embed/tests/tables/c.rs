//! A compiler that is written in C, or that emits C, writes its table by `FORMAT.md` and the header alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use zonecast_embed::{Executable, Image};

use crate::table_in;

/// Compiles `tests/c/kernels.c`. `None` if there is no C compiler here, or no ELF.
fn compile(folder: &Path, output: &str, arguments: &[&str]) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = folder.join(output);
    let result = Command::new(std::env::var_os("CC").unwrap_or("cc".into()))
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC"])
        .arg("-I")
        .arg(here.join("include"))
        .args(arguments)
        .arg(here.join("tests/c/kernels.c"))
        .arg("-o")
        .arg(&output)
        .status();
    let Ok(status) = result else {
        eprintln!("no C compiler here: nothing compiled");
        return None;
    };
    assert!(status.success(), "{arguments:?}");
    Some(output)
}

fn check(image: Image<'_>) {
    assert_eq!((image.name(), image.target()), (&b"kernels"[..], None));
    let [add, mul] = [0, 1].map(|ordinal| image.export(ordinal).unwrap());
    assert_eq!((add.name(), mul.name(), image.exports().len()), (&b"add"[..], &b"mul"[..], 2));
    let at = mul.location().unwrap();
    assert_eq!((at.file, at.line), (&b"user.py"[..], 20));
    assert_eq!(add.stage("1.low").unwrap().location.unwrap().file, b"kernels.1.mlir");
    let stage = mul.stage("0.source").unwrap().location.unwrap();
    assert_eq!((stage.line, mul.stages().len()), (2, 1));
    assert_eq!(image.sources().find(stage.file), Some(&b"func @add\nfunc @mul\n"[..]));
    assert_eq!(image.sources().len(), 2);
}

/// The table in that file, and nothing to complain about.
fn check_file(path: &Path) {
    let executable = Executable::open(path).unwrap();
    check(table_in(&executable));
    assert!(executable.notes().is_empty(), "{:?}", executable.notes());
}

#[test]
fn in_an_object_file_and_in_what_is_linked_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(object) = compile(folder.path(), "kernels.o", &["-c"]) else { return };
    check_file(&object);
    let library = compile(folder.path(), "kernels.so", &["-shared", "-Wl,--gc-sections"]).unwrap();
    check_file(&library);

    // Linkers put the tables of several objects one behind the other.
    let again = compile(folder.path(), "again.o", &["-c", "-Dadd=add_2", "-Dmul=mul_2"]).unwrap();
    let both = folder.path().join("both.so");
    let compiler = std::env::var_os("CC").unwrap_or("cc".into());
    let linked =
        Command::new(compiler).arg("-shared").args([&object, &again]).arg("-o").arg(&both).status().unwrap();
    assert!(linked.success());
    let executable = Executable::open(&both).unwrap();
    assert_eq!(executable.images().len(), 2);
    executable.images().for_each(check);
}

/// A note is found without section headers, as after `sstrip`.
#[test]
fn as_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let Some(object) = compile(folder.path(), "note.o", &["-c", "-DAS_NOTE"]) else { return };
    check_file(&object);
    let library = compile(folder.path(), "note.so", &["-shared", "-DAS_NOTE", "-Wl,--gc-sections"]).unwrap();
    check_file(&library);
    let mut stripped = std::fs::read(&library).unwrap();
    stripped[40..48].fill(0); // e_shoff
    stripped[58..64].fill(0); // e_shentsize, e_shnum, e_shstrndx
    check(table_in(&Executable::from_bytes(stripped, "stripped").unwrap()));
}

#[test]
#[cfg(target_os = "linux")]
fn in_a_loaded_library() {
    use zonecast_embed::Loaded;

    let folder = tempfile::tempdir().unwrap();
    let Some(path) = compile(folder.path(), "exported.so", &["-shared", "-DEXPORTED"]) else { return };
    // SAFETY: the library has no initialisers of its own.
    let library = unsafe { libloading::Library::new(path) }.unwrap();
    // SAFETY: a pointer to the symbol, which is data, is what is asked for.
    let table = *unsafe { library.get::<*mut u8>(b"zonecast_table") }.unwrap();
    let table = std::ptr::NonNull::new(table).unwrap();
    // SAFETY: by convention a table begins there; the library stays loaded until after the last use.
    let executable = unsafe { Executable::from_loaded(Loaded::Table(table), "loaded") }.unwrap();
    check(executable.image(0).unwrap());
}
