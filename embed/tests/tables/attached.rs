//! Tables attached to finished files of many kinds.

use std::process::Command;

use zonecast_embed::Executable;
use zonecast_embed::table::{TableError, attach};

use crate::{check_example, data, example, table_in};

const LIBRARY: &str = "elf/saxpy_c22_noembed.so";

const FILES: [&str; 6] = [
    "elf/cuda_vec_plain.sm90.cubin",
    "elf/cuda_vec_lineinfo.sm100.cubin",
    "elf/tri_scale.cubin",
    "elf/vec_c22_gfx942_noembed.hsaco",
    LIBRARY,
    "elf/saxpy_c22.o",
];

fn attach_example(file: &[u8]) -> Vec<u8> {
    attach(file, &example().build().unwrap()).unwrap()
}

/// Everything that was there is where it was, but for the file's header.
fn check_prefix(before: &[u8], after: &[u8]) {
    assert_eq!(before[64..], after[64..before.len()]);
    // In the header, only what concerns section headers is changed.
    assert_eq!(before[..40], after[..40]);
    assert_eq!(before[48..60], after[48..60]);
}

#[test]
fn files_of_all_kinds_read_back() {
    for name in FILES {
        let file = std::fs::read(data(name)).unwrap();
        let with_table = attach_example(&file);
        check_prefix(&file, &with_table);
        let executable = Executable::from_bytes(with_table, name).unwrap();
        check_example(table_in(&executable));
        assert!(executable.notes().is_empty(), "{name}: {:?}", executable.notes());
    }
}

/// What `readelf` has to complain about, without where.
fn complaints(file: &[u8]) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, file).unwrap();
    let output = Command::new("readelf").args(["-a", "-W"]).arg(&path).env("LC_ALL", "C").output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let lines = String::from_utf8_lossy(&text).into_owned();
    let is_complaint =
        |line: &&str| line.contains("readelf:") || line.contains("<corrupt") || line.contains("arning");
    Some(lines.lines().filter(is_complaint).map(str::to_owned).collect())
}

fn check_complaints(name: &str, file: &[u8]) {
    match complaints(file) {
        Some(before) => assert_eq!(complaints(&attach_example(file)).unwrap(), before, "{name}"),
        None => eprintln!("no readelf here: nothing compared"),
    }
}

#[test]
fn readelf_has_no_new_complaint() {
    for name in FILES {
        check_complaints(name, &std::fs::read(data(name)).unwrap());
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn a_shared_library_still_loads_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.so");
    std::fs::write(&path, attach_example(&std::fs::read(data(LIBRARY)).unwrap())).unwrap();
    // SAFETY: the library has no initialisers.
    let library = unsafe { libloading::Library::new(&path) }.unwrap();
    type Saxpy = unsafe extern "C" fn(a: f32, x: *const f32, y: *mut f32, n: i32);
    // SAFETY: the function is declared so in the library's source.
    let saxpy = unsafe { library.get::<Saxpy>(b"host_saxpy") }.unwrap();
    let (x, mut y) = ([1.0, 2.0, 3.0], [10.0; 3]);
    // SAFETY: both arrays are as long as said.
    unsafe { saxpy(2.0, x.as_ptr(), y.as_mut_ptr(), 3) };
    assert_eq!(y, [12.0, 14.0, 16.0]);
}

#[test]
fn a_second_table_stands_beside_the_first() {
    let file = std::fs::read(data(LIBRARY)).unwrap();
    let executable = Executable::from_bytes(attach_example(&attach_example(&file)), "two").unwrap();
    assert_eq!(executable.images().len(), 2);
    executable.images().for_each(check_example);
}

#[test]
fn what_is_no_elf_file_is_refused() {
    let table = example().build().unwrap();
    let refused = |file: &[u8]| match attach(file, &table) {
        Err(TableError::File(why)) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(b"MZ"), "it is not an ELF file");
    let mut file = std::fs::read(data(LIBRARY)).unwrap();
    assert!(
        matches!(attach(&file, b"ZONECAST"), Err(TableError::File(why)) if why.contains("not a zonecast table"))
    );
    for length in 0..file.len() {
        // Cut files are refused or, with all their headers there, extended; neither may panic.
        let _ = attach(&file[..length], &table);
    }
    file[5] = 2;
    assert_eq!(refused(&file), "it is a big-endian ELF file");
    file[5] = 1;
    file[62] = 200; // e_shstrndx
    assert_eq!(refused(&file), "its section headers are damaged");
    file[40..48].fill(0); // e_shoff
    assert_eq!(refused(&file), "its section headers have been stripped");
}

#[cfg(feature = "iree")]
mod iree {
    use zonecast_embed::Format;

    use super::*;

    fn library(module: &str) -> Vec<u8> {
        let module = Executable::open(data(module)).unwrap();
        module.image(0).unwrap().bytes().unwrap().to_vec()
    }

    #[test]
    fn a_library_has_both_its_own_tables_and_the_attached_one() {
        for module in ["iree/mlp.cpu.g0.vmfb", "iree/mlp.cpu-riscv32.g3.vmfb", "iree/mlp.cpusys.g3.vmfb"] {
            let file = library(module);
            let with_table = attach_example(&file);
            let executable = Executable::from_bytes(with_table, "both").unwrap();
            let formats: Vec<_> = executable.images().map(|image| image.format()).collect();
            assert_eq!(formats, [Format::IreeCpu, Format::Zonecast], "{module}");
            check_example(table_in(&executable));
            let library = executable.image(0).unwrap();
            assert_eq!((library.name(), library.exports().len()), (&b"mlp_net_linked"[..], 3));
            check_complaints(module, &file);
            assert!(executable.notes().is_empty());
        }
    }

    /// What the library's locations name may be in the attached table, and the other way round.
    #[test]
    fn a_location_finds_its_text_in_the_table_beside_it() {
        let mut table = zonecast_embed::table::TableBuilder::new();
        table.source("src/mlp.mlir", "the author's text").unwrap();
        let file = attach(&library("iree/mlp.cpu.g3.vmfb"), &table.build().unwrap()).unwrap();
        let executable = Executable::from_bytes(file, "both").unwrap();
        let [library, attached] = [0, 1].map(|index| executable.image(index).unwrap());
        let export = library.export(0).unwrap();
        let at = export.location().unwrap();
        assert_eq!(library.sources().find(at.file), None);
        let source = library.named_source(at.file).unwrap();
        assert_eq!((source.text(), source.image().index()), (&b"the author's text"[..], 1));
        let stage = export.stage("0.source").unwrap().location.unwrap();
        assert_eq!(attached.named_source(stage.file).unwrap().image().index(), 0);
        assert!(library.named_source("elsewhere").is_none());
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn a_library_still_loads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        std::fs::write(&path, attach_example(&library("iree/mlp.cpu.g3.vmfb"))).unwrap();
        // SAFETY: the corpus's libraries have no initialisers.
        let loaded = unsafe { libloading::Library::new(&path) }.unwrap();
        // SAFETY: the symbol is what its name says.
        let query =
            unsafe { loaded.get::<zonecast_embed::IreeQuery>(b"iree_hal_executable_library_query") }.unwrap();
        // SAFETY: the library outlives the executable.
        let executable =
            unsafe { Executable::from_loaded(zonecast_embed::Loaded::IreeQuery(*query), "loaded") }.unwrap();
        assert_eq!(executable.image(0).unwrap().exports().len(), 3);
    }

    #[test]
    fn a_debug_block_must_stay_at_the_end() {
        let mut file = library("iree/mlp.cpusys.g0.vmfb");
        file.extend(b"IREEDBG\0");
        file.extend([0; 40]);
        let error = attach(&file, &example().build().unwrap()).unwrap_err();
        assert!(error.to_string().contains("it ends in a debug block"), "{error}");
    }
}
