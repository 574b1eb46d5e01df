//! Damaged files give an error or less than they had; never a panic, and never work without end.
//!
//! Damage is made from good files: cut at every 32 bytes, and every aligned number set to values that lead astray.

use zonecast_embed::{ErrorKind, Executable};

use crate::expected::data;

/// Calls every accessor.
fn read_everything(executable: &Executable) -> usize {
    let mut read = executable.notes().iter().map(|note| note.to_string().len()).sum();
    for image in executable.images() {
        read += image.name().len() + image.target().map_or(0, <[u8]>::len) + image.bytes().unwrap().len();
        for export in image.exports() {
            read += export.name().len();
            let stages = export.stages().filter_map(|stage| stage.location);
            for location in export.location().into_iter().chain(stages) {
                assert!(!location.file.is_empty());
                read += image.find(location.file).map_or(0, |source| source.text().len());
            }
        }
        for source in image.sources().iter().chain(image.listings().iter()) {
            assert_eq!(source.text().len(), source.len());
            read += source.path().len();
        }
    }
    read
}

/// Returns whether the bytes were refused.
fn try_to_read(bytes: Vec<u8>) -> bool {
    let length = bytes.len() as u64;
    match Executable::from_bytes(bytes, "damaged") {
        Ok(executable) => {
            read_everything(&executable);
            false
        }
        Err(error) => {
            let is_known = matches!(
                error.kind(),
                ErrorKind::Damaged(_) | ErrorKind::Unsupported(_) | ErrorKind::Unknown(_)
            );
            assert!(
                is_known && error.file() == Some("damaged") && error.offset().unwrap() <= length,
                "{error}"
            );
            true
        }
    }
}

fn damage(name: &str) {
    let file = std::fs::read(data(name)).unwrap();
    for length in (0..file.len()).step_by(32) {
        try_to_read(file[..length].to_vec());
    }
    for at in (0..file.len() - 4).step_by(4) {
        let old = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        for value in [u32::MAX, old.wrapping_add(8)] {
            let mut damaged = file.clone();
            damaged[at..at + 4].copy_from_slice(&value.to_le_bytes());
            try_to_read(damaged);
        }
    }
}

#[test]
#[cfg(feature = "dwarf")]
fn dwarf_damaged_anywhere() {
    damage("dwarf/saxpy_c22.o");
    damage("dwarf/saxpy_c22_split.so");
    damage("wasm/saxpy.wasm");
    damage("amdgpu/vec_c22_gfx942.hsaco");
}

#[test]
#[cfg(all(feature = "offload", feature = "cubin"))]
fn containers_and_cubins_damaged_anywhere() {
    damage("amdgpu/fill_hip_v2.ccob");
    damage("amdgpu/vec_packager.out");
    damage("amdgpu/fill_host_rdc_new.o");
    damage("cuda/cuda_vec_lz4all.fatbin");
    damage("cuda/cuda_vec_lineinfo.sm90.cubin");
    damage("cuda/cuda_vec_lineinfo.ptx");
}

#[test]
#[cfg(feature = "spirv")]
fn spirv_damaged_anywhere() {
    damage("spirv/fill_naga30.spv");
    damage("spirv/fill_slang_g3.spv");
    damage("spirv/vecp_llvmspirv15_ocl-100.spv");
}

#[test]
#[cfg(feature = "triton")]
fn triton_damaged_anywhere() {
    damage("triton/cuda_90/tri_scale.ttir");
    damage("triton/cuda_90/tri_scale.llir");
    damage("triton/cuda_90/tri_scale.json");
}
