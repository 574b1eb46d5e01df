//! What Triton's compiler leaves in its cache: for each kernel a folder with what it made of it step by step.
//!
//! `NAME.json` says what the kernel is and what it is for; beside it are `NAME.ttir`, `.ttgir` and `.llir`, texts
//! in MLIR and LLVM IR, and `.ptx` and `.cubin`, or `.amdgcn` and `.hsaco`. The kernel itself, in Python, is nowhere but
//! in the file that they name, so they are listings to fall back on. (Read from what Triton 3.9 writes.)

mod texts;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::index::{Build, Index, IndexBuilder, Place};
use super::ptx::{self, Kernel};
use crate::Remark;
use crate::image::Format;
use crate::storage::Opened;

/// The stages, in the compiler's order, which are the extensions of the files, too.
const STAGES: [&str; 4] = ["ttir", "ttgir", "llir", "ptx"];

/// A larger text is none of a kernel's.
const LARGEST: u64 = 64 << 20;

/// One of the files.
pub(crate) enum Triton {
    /// A text, at a stage.
    Text(&'static str),
    Metadata {
        name: String,
        target: Option<Vec<u8>>,
        /// Where the file is, beside which the others are.
        path: Option<PathBuf>,
    },
}

impl Triton {
    /// `None` for what is none of Triton's files.
    pub(crate) fn recognise(bytes: &[u8], path: Option<&Path>) -> Option<Self> {
        if let Some(stage) = texts::stage(bytes) {
            return Some(Self::Text(stage));
        }
        if !bytes.starts_with(b"{") {
            return None;
        }
        let metadata: Value = serde_json::from_slice(bytes).ok()?;
        // Of the many files in JSON that there are, those with all of these are Triton's.
        metadata.get("hash")?;
        metadata.get("num_warps")?;
        let name = metadata.get("name")?.as_str().filter(|name| is_file_name(name))?.to_owned();
        let target = target(metadata.get("target")?);
        Some(Self::Metadata { name, target, path: path.map(Path::to_owned) })
    }
}

/// The metadata in a folder of the cache, if it is one.
pub(crate) fn metadata_in(folder: &Path) -> Option<PathBuf> {
    let mut found = None;
    for entry in std::fs::read_dir(folder).ok()? {
        let path = entry.ok()?.path();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        // A list of the others.
        let is_group = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"__grp__"));
        if is_json && !is_group && found.replace(path).is_some() {
            return None;
        }
    }
    found
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && Path::new(name).file_name() == Some(name.as_ref())
}

/// `sm_90` or `gfx942`.
fn target(target: &Value) -> Option<Vec<u8>> {
    let arch = target.get("arch")?;
    let name = match arch.as_u64() {
        Some(number) => format!("sm_{number}"),
        None => arch.as_str()?.to_owned(),
    };
    Some(name.into_bytes())
}

impl Build for Triton {
    fn format(&self) -> Format {
        Format::Triton
    }

    fn target(&self) -> Option<&[u8]> {
        match self {
            Self::Text(_) => None,
            Self::Metadata { target, .. } => target.as_deref(),
        }
    }

    fn build(&self, image: &[u8]) -> Index {
        let mut builder = IndexBuilder::default();
        match self {
            Self::Text(stage) => text(&mut builder, image, stage),
            Self::Metadata { name, path, .. } => kernel(&mut builder, name, path.as_deref()),
        }
        builder.finish()
    }
}

/// A text alone.
fn text(builder: &mut IndexBuilder, image: &[u8], stage: &str) {
    let kernels = texts::kernels(image);
    let first = kernels.first().map_or(&b"module"[..], |kernel| &kernel.name);
    let path = [first, b".", stage.as_bytes()].concat();
    builder.listing(&path, Place::Image(0..image.len()));
    for kernel in kernels {
        let location = kernel.location.as_ref().map(|(path, line)| (&**path, *line));
        let export = builder.export(&kernel.name, location);
        builder.stage(export, stage.as_bytes(), Some((&path, kernel.line)));
    }
}

/// A kernel, with the texts that are beside its metadata.
fn kernel(builder: &mut IndexBuilder, name: &str, path: Option<&Path>) {
    let mut found: HashMap<&str, (Opened, Kernel)> = HashMap::new();
    for stage in STAGES {
        let beside = path.map(|path| path.with_file_name(format!("{name}.{stage}")));
        let Some(file) = beside.and_then(|path| open(&path)) else { continue };
        let kernels = if stage == "ptx" { ptx::kernels(file.bytes()) } else { texts::kernels(file.bytes()) };
        if let Some(kernel) = kernels.into_iter().find(|kernel| kernel.name == name.as_bytes()) {
            found.insert(stage, (file, kernel));
        }
    }
    let located = STAGES.iter().find_map(|stage| found.get(stage)?.1.location.clone());
    let export = builder.export(name.as_bytes(), located.as_ref().map(|(path, line)| (&**path, *line)));
    builder.remark(if located.is_some() { Remark::NoTexts } else { Remark::NoLines });
    for stage in STAGES {
        let Some((file, kernel)) = found.remove(stage) else { continue };
        let path = format!("{name}.{stage}");
        let range = 0..file.bytes().len();
        let home = builder.home(file);
        builder.listing(path.as_bytes(), Place::Home { home, range, is_unpacked: false });
        builder.stage(export, stage.as_bytes(), Some((path.as_bytes(), kernel.line)));
    }
}

fn open(path: &Path) -> Option<Opened> {
    // Asked before opening, since opening some things that are no files waits or has effects.
    std::fs::metadata(path).ok().filter(|metadata| metadata.is_file() && metadata.len() <= LARGEST)?;
    Opened::file(path).ok()
}
