//! Puts small files of the test data, and the executables inside them, where the fuzz targets begin.

use std::path::Path;

use zonecast_embed::Executable;

/// Larger files only slow the fuzzer down.
const LARGEST: usize = 40_000;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(here.join("../tests/data/iree")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(executable) = Executable::open(&path) else { continue };
        let name = executable.name();
        put(&here.join("corpus/open"), name, executable.bytes());
        put(&here.join("corpus/iree_module"), name, executable.bytes());
        for image in executable.images() {
            let folder = here.join("corpus").join(image.format().as_str().replace('-', "_"));
            put(&folder, &format!("{name}.{}", image.index()), image.bytes().unwrap());
        }
    }
}

fn put(folder: &Path, name: &str, bytes: &[u8]) {
    if bytes.len() <= LARGEST {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
