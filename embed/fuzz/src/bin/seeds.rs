//! Puts small files of the test data, and the executables inside them, where the fuzz targets begin.

use std::path::{Path, PathBuf};

use zonecast_embed::{Executable, Format};

/// Larger files only slow the fuzzer down.
const LARGEST: usize = 40_000;

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for path in files("iree") {
        let Ok(executable) = Executable::open(&path) else { continue };
        let name = executable.name();
        put(&corpus.join("open"), name, executable.bytes());
        put(&corpus.join("iree_module"), name, executable.bytes());
        for image in executable.images() {
            let bytes = image.bytes().unwrap();
            let folder = match image.format() {
                Format::IreeCpu => "iree_cpu",
                Format::IreeVmvx => "iree_module",
                _ => "iree_gpu",
            };
            let name = format!("{name}.{}", image.index());
            put(&corpus.join(folder), &name, bytes);
            if image.format() == Format::IreeCpu {
                put(&corpus.join("fatelf"), &name, &fatelf(bytes));
                put(&corpus.join("attach"), &name, bytes);
            }
        }
    }
    for path in ["other/dwarf", "other/bpf", "other/wasm", "other/amdgpu", "other/cuda", "other/spirv", "other/triton/cuda_90"].into_iter().flat_map(files) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        put(&corpus.join(folder_of(&bytes)), &name, &bytes);
        let Ok(executable) = Executable::open(&path) else { continue };
        for image in executable.images().filter(|image| image.format() == Format::Bitcode) {
            put(&corpus.join("offload"), &format!("{name}.{}", image.index()), image.bytes().unwrap());
        }
    }
    for path in files("elf").into_iter().chain(files("tables")) {
        let bytes = std::fs::read(&path).unwrap();
        let folder = if bytes.starts_with(b"\x7fELF") { "attach" } else { "zonecast_table" };
        put(&corpus.join(folder), &path.file_name().unwrap().to_string_lossy(), &bytes);
    }
}

/// Where what other compilers wrote belongs.
fn folder_of(bytes: &[u8]) -> &'static str {
    match bytes {
        [3, 2, 0x23, 7, ..] => "spirv",
        [b'#' | b';' | b'{', ..] => "triton",
        [0x7f, b'E', b'L', b'F', ..] if bytes.get(18) == Some(&190) => "cubin",
        [0x7f, b'E', b'L', b'F', ..] | [0, b'a', b's', b'm', ..] => "dwarf",
        _ => "offload",
    }
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(folder);
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A FatELF file with only that file in it, twice.
fn fatelf(file: &[u8]) -> Vec<u8> {
    let mut fat = b"\xfa\x70\x0e\x1f\x01\x00\x02\x00".to_vec();
    for _ in 0..2 {
        fat.extend([0; 8]);
        fat.extend(64u64.to_le_bytes());
        fat.extend((file.len() as u64).to_le_bytes());
    }
    fat.resize(64, 0);
    fat.extend(file);
    fat
}

fn put(folder: &Path, name: &str, bytes: &[u8]) {
    if bytes.len() <= LARGEST {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
