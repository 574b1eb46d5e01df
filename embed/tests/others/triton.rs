//! What is particular about Triton's cache.

use std::path::Path;

use zonecast_embed::{Executable, Format};

use crate::expected::{data, is_path_of, locations, open, open_alone};

fn check_listings(executable: &Executable, stages: &[&str]) {
    let image = executable.image(0).unwrap();
    assert_eq!(image.format(), Format::Triton);
    let export = image.export(0).unwrap();
    assert_eq!(export.name(), b"tri_scale");
    let names: Vec<_> =
        export.stages().map(|stage| String::from_utf8(stage.name.to_vec()).unwrap()).collect();
    assert_eq!(names, stages);
    assert_eq!((image.sources().len(), image.listings().len()), (0, stages.len()));
    for stage in export.stages().filter_map(|stage| stage.location) {
        let listing = image.find(stage.file).unwrap();
        let line = listing.text().split(|&byte| byte == b'\n').nth(stage.line as usize - 1).unwrap();
        assert!(line.windows(10).any(|window| window == b"tri_scale("), "{}", line.escape_ascii());
    }
}

#[test]
fn a_folder_of_the_cache_is_a_kernel_with_all_its_stages() {
    let folder = open("triton/cuda_90");
    check_listings(&folder, &["ttir", "ttgir", "llir", "ptx"]);
    assert!(folder.path().unwrap().ends_with("tri_scale.json"));
    assert_eq!(folder.image(0).unwrap().target(), Some(&b"sm_90"[..]));
    let location = locations(&folder, "tri_scale")[0];
    assert!(is_path_of(location.file, "tri.py"));
    assert_eq!(location.line, 7);
}

#[test]
fn texts_and_metadata_read_alone() {
    check_listings(&open("triton/cuda_90/tri_scale.ttir"), &["ttir"]);
    check_listings(&open("triton/cuda_90/tri_scale.source"), &["ttir"]);
    check_listings(&open("triton/cuda_90/tri_scale.ttgir"), &["ttgir"]);
    check_listings(&open("triton/cuda_90/tri_scale.llir"), &["llir"]);
    check_listings(&open_alone("triton/cuda_90/tri_scale.json"), &[]);
}

/// A name in the metadata does not lead out of the folder.
#[test]
fn metadata_leads_nowhere_else() {
    let metadata = std::fs::read_to_string(data("triton/cuda_90/tri_scale.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evil.json");
    for name in ["../tri_scale", "/etc/passwd", "..", ""] {
        std::fs::write(&path, metadata.replace("\"tri_scale\"", &format!("{name:?}"))).unwrap();
        Executable::open(&path).unwrap_err();
    }
    // Two kernels, neither of which the folder stands for.
    std::fs::copy(data("triton/cuda_90/tri_scale.json"), folder.path().join("tri_scale.json")).unwrap();
    Executable::open(folder.path()).unwrap_err();
    Executable::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap_err();
}
