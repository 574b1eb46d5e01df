//! Compiling C and C++ against the header and linking it with the library of this very build.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// This package's folder.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The static library that cargo built beside this test.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.with_file_name("libzonecast_iree.a");
    assert!(library.exists(), "{} is missing", library.display());
    library
}

/// A pair of compilers with a language level each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Toolchain {
    pub(crate) cc: &'static str,
    pub(crate) c: &'static str,
    pub(crate) cxx: &'static str,
    pub(crate) cpp: &'static str,
}

pub(crate) const GCC: Toolchain = Toolchain { cc: "gcc", c: "gnu11", cxx: "g++", cpp: "c++17" };

impl Toolchain {
    pub(crate) fn is_here(&self) -> bool {
        [self.cc, self.cxx].iter().all(|tool| Command::new(tool).arg("--version").output().is_ok())
    }
}

/// A program to be made of sources.
pub(crate) struct Program<'a> {
    pub(crate) toolchain: Toolchain,
    pub(crate) sources: Vec<PathBuf>,
    pub(crate) includes: Vec<PathBuf>,
    pub(crate) defines: Vec<String>,
    /// Where it and its objects go.
    pub(crate) folder: &'a Path,
}

impl Program<'_> {
    /// Compiles and links it with every warning an error. What the compiler says, if it refuses.
    pub(crate) fn build(&self) -> Result<PathBuf, String> {
        let objects =
            self.sources.iter().map(|source| self.compile(source)).collect::<Result<Vec<_>, _>>()?;
        let program = self.folder.join("program");
        let mut link = Command::new(self.toolchain.cxx);
        link.args(&objects).arg(library()).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program);
        run(&mut link).map(|_| program)
    }

    fn compile(&self, source: &Path) -> Result<PathBuf, String> {
        let object = self.folder.join(source.file_name().unwrap()).with_extension(match source.extension() {
            Some(extension) if extension == "c" => "c.o",
            _ => "cc.o",
        });
        let is_c = source.extension() == Some(OsStr::new("c"));
        let (compiler, level) = if is_c {
            (self.toolchain.cc, self.toolchain.c)
        } else {
            (self.toolchain.cxx, self.toolchain.cpp)
        };
        let mut compile = Command::new(compiler);
        compile.arg(format!("-std={level}")).args(["-O3", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]);
        compile.args(["-Wno-unused-function", "-Wno-unused-parameter", "-Wno-misleading-indentation"]);
        compile.args(self.defines.iter().map(|define| format!("-D{define}")));
        compile.args(self.includes.iter().map(|folder| format!("-I{}", folder.display())));
        compile.arg("-c").arg(source).arg("-o").arg(&object);
        run(&mut compile).map(|_| object)
    }
}

/// What a command printed, or what it complained of.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?}: {}\n{said}", output.status)),
    }
}

/// What the provider is to see, by the program's lines `features 0xBITS` and `expect KIND COUNT`.
pub(crate) fn expectations(output: &str) -> BTreeMap<&str, usize> {
    let features = output.lines().find_map(|line| line.strip_prefix("features 0x"));
    let features = features.and_then(|bits| u32::from_str_radix(bits, 16).ok()).expect("a line `features`");
    let is_on = |kind: &str| match kind {
        "alloc" | "free" => features & 0x008 != 0,
        "mutex" => features & 0x060 != 0,
        "gpu" => features & 0x004 != 0,
        _ => features & 0x001 != 0,
    };
    output.lines().filter_map(expectation).filter(|(kind, _)| is_on(kind)).collect()
}

fn expectation(line: &str) -> Option<(&str, usize)> {
    let mut words = line.strip_prefix("expect ")?.split_whitespace();
    Some((words.next()?, words.next()?.parse().ok()?))
}
