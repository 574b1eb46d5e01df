//! What tests of recordings share.
#![allow(dead_code, reason = "each test uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use tempfile::TempDir;

pub(crate) const SAXPY: &str = "__omp_offloading_fe00_9d4762_main_l14";
pub(crate) const STEM: &str = "8999975377531113871_7661461400537895360";

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/llvm").join(name)
}

/// A copy of a folder, to damage.
pub(crate) fn copy(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(data(name)).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    folder
}

pub(crate) fn edit(folder: &TempDir, stem: &str, from: &str, to: &str) {
    let json = folder.path().join(format!("{stem}.json"));
    let text = fs::read_to_string(&json).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(&json, text.replacen(from, to, 1)).unwrap();
}

/// A C file of `tests/data/native` as a shared library of this name. It is compiled once for each test program.
pub(crate) fn compile(source: &str, library: &str) -> PathBuf {
    static COMPILED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut compiled = COMPILED.lock().unwrap();
    let program = std::env::current_exe().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_name().unwrap());
    let path = folder.join(library);
    if !compiled.contains(&path) {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/native");
        fs::create_dir_all(&folder).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&path);
        compiler.arg(format!("-Wl,-soname,{library},--version-script,exports.map")).current_dir(&sources);
        assert!(compiler.arg(source).status().expect("a C compiler").success());
        compiled.push(path.clone());
    }
    path
}

/// A folder with what the images of LLVM's recordings need.
pub(crate) fn openmp() -> PathBuf {
    compile("openmp.c", "libomptarget.so.19.1");
    compile("openmp.c", "libomp.so.5").parent().unwrap().to_owned()
}

/// The program that replays.
pub(crate) fn child() -> Command {
    Command::new(env!("CARGO_BIN_EXE_zonecast-replay"))
}
