//! `trace_sources`, on what several compilers wrote.
#![cfg(feature = "formats")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../embed/tests/data/other").join(name)
}

fn trace_sources(file: &Path, kernels: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace_sources"));
    command.arg(file).args(kernels).current_dir(folder);
    command
}

/// A folder with a cubin in it that was compiled from a file in the same folder, as the compiler would have left both.
fn cubin_beside_its_source() -> tempfile::TempDir {
    // Of one length, so that one can stand for the other.
    let (there, here) = (b"/src/kernel/corpus/src", "./built/here/from/this");
    let mut cubin = std::fs::read(data("cuda/cuda_vec_lineinfo.sm90.cubin")).unwrap();
    let places: Vec<usize> = (0..cubin.len()).filter(|&at| cubin[at..].starts_with(there)).collect();
    assert!(!places.is_empty());
    for at in places {
        cubin[at..at + there.len()].copy_from_slice(here.as_bytes());
    }
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join(here);
    std::fs::create_dir_all(&sources).unwrap();
    std::fs::copy(data("src/cuda_vec.cu"), sources.join("cuda_vec.cu")).unwrap();
    std::fs::write(folder.path().join("vec.cubin"), cubin).unwrap();
    folder
}

#[cfg(feature = "tracy")]
mod tracy {
    use zonecast_tracy_wire::child::Program;
    use zonecast_tracy_wire::{Capture, Zone};

    use super::*;

    fn capture(file: &Path, kernels: &[&str], folder: &Path) -> Capture {
        let mut command = trace_sources(file, kernels, folder);
        command.arg("--wait");
        Program::new(command).run().unwrap().succeeded()
    }

    /// The kernel's zone is at the line that declares it, and the text that came along has that line.
    fn assert_shown(capture: &Capture, kernel: &str, file: &str, line: u32, declaration: &str) {
        let zone: Zone<'_> = capture.zones().named(kernel).one();
        assert_eq!((zone.function(), zone.line()), (kernel, line));
        assert!(zone.file().ends_with(file), "{}", zone.file());
        let text = std::str::from_utf8(capture.source_of(&zone).unwrap()).unwrap();
        let shown = text.lines().nth(line as usize - 1).unwrap();
        assert!(shown.contains(declaration), "{shown}");
        assert_eq!(capture.violations(), []);
    }

    fn here() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn a_hip_programs_kernel_has_its_text() {
        let capture = capture(&data("amdgpu/fill_host_new.elf"), &["hip_fill"], here());
        assert_shown(&capture, "hip_fill", "/corpus/fill_host.hip", 11, "hip_fill(");
    }

    #[test]
    fn a_cubins_kernels_have_the_text_of_the_file_on_disk() {
        let folder = cubin_beside_its_source();
        let axpy = "_Z9cuda_axpyIfEvT_PKS0_PS0_i";
        let capture = capture(Path::new("vec.cubin"), &["cuda_fill", axpy], folder.path());
        assert_shown(&capture, "cuda_fill", "built/here/from/this/cuda_vec.cu", 4, "cuda_fill(");
        assert_shown(&capture, axpy, "built/here/from/this/cuda_vec.cu", 10, "cuda_axpy(");
        let source = capture.source_of(&capture.zones().named("cuda_fill").one());
        assert_eq!(source, Some(&*std::fs::read(data("src/cuda_vec.cu")).unwrap()));
    }

    #[test]
    fn a_spirv_modules_kernel_has_its_text() {
        let capture = capture(&data("spirv/fill_naga30.spv"), &["zero_main"], here());
        assert_shown(&capture, "zero_main", "fill.wgsl", 14, "fn zero_main(");
    }

    #[test]
    fn a_rust_librarys_function_has_its_text() {
        let capture = capture(&data("dwarf/rust_embed.so"), &["rust_fill"], here());
        assert_shown(&capture, "rust_fill", "/corpus/lib.rs", 7, "fn rust_fill(");
    }
}

#[cfg(not(feature = "tracy"))]
mod console {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;

    /// What it prints, and what the console shows.
    fn shown(file: &Path, kernels: &[&str], folder: &Path) -> (String, String) {
        let output = trace_sources(file, kernels, folder).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }

    #[test]
    fn all_kernels_are_shown_if_none_is_named() {
        let (out, err) = shown(&data("spirv/fill_naga30.spv"), &[], Path::new("."));
        assert_eq!(out, "fill_main at fill.wgsl:9 (embedded)\nzero_main at fill.wgsl:14 (embedded)\n");
        assert!(err.contains("fn zero_main("), "{err}");
    }

    #[test]
    fn the_text_on_disk_is_shown_until_it_is_newer() {
        let folder = cubin_beside_its_source();
        let show = || shown(Path::new("vec.cubin"), &["cuda_fill"], folder.path());
        let (out, err) = show();
        assert_eq!(out, "cuda_fill at built/here/from/this/cuda_vec.cu:4 (from disk)\n");
        assert!(err.contains("cuda_fill("), "{err}");

        let source = folder.path().join("built/here/from/this/cuda_vec.cu");
        let edited = SystemTime::now() + Duration::from_secs(60);
        File::options().write(true).open(&source).unwrap().set_modified(edited).unwrap();
        let (out, err) = show();
        assert_eq!(out, "cuda_fill at cuda_vec.cu.sm_90.ptx:15 (a listing)\n");
        assert!(err.contains("cuda_vec.cu is newer than vec, so its text is not shown"), "{err}");
        assert!(err.contains(".entry cuda_fill("), "{err}");

        std::fs::remove_file(source).unwrap();
        let (out, err) = show();
        assert_eq!(out, "cuda_fill at cuda_vec.cu.sm_90.ptx:15 (a listing)\n");
        assert!(!err.contains("newer"), "{err}");
    }

    #[test]
    fn what_is_not_there_is_said() {
        let (out, err) = shown(&data("dwarf/rust_embed.so"), &["nobody"], Path::new("."));
        assert_eq!(out, "");
        assert!(err.ends_with("\ntrace_sources: there is no kernel nobody in the file\n"), "{err}");
        let (_, err) = shown(Path::new("no-such-file"), &[], Path::new("."));
        assert!(err.contains("\ntrace_sources: no-such-file: No such file"), "{err}");
    }
}
