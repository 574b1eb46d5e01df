//! What other compilers wrote: each kernel's zone at its own line, with the text of that, wherever it is.
//!
//! What is right comes from the answers beside the corpus in `zonecast-embed`.

#[allow(dead_code, reason = "the answers of another corpus")]
mod support;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use support::sha256;
use zonecast::dispatch::{self, Site, Sites};
use zonecast::embed::{Executable, Origin};
use zonecast::sources::{self, Module};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../embed/tests/data/other").join(name)
}

fn register(name: &str) -> (Module, Sites) {
    let module = sources::open(data(name)).unwrap();
    let sites = dispatch::sites(&module);
    (module, sites)
}

fn answers() -> Vec<Value> {
    let answers = std::fs::read(data("expected.json")).unwrap();
    let mut answers: Value = serde_json::from_slice(&answers).unwrap();
    serde_json::from_value(answers["files"].take()).unwrap()
}

/// Its compiler has left out the lines.
const WITHOUT_LINES: &str = "spirv/vecp_c22_nsdi.spv";

#[test]
fn each_kernel_of_the_corpus_is_at_its_line_with_its_text() {
    for answer in answers() {
        let file = answer["file"].as_str().unwrap();
        if answer.get("expect_error").is_some() || file == WITHOUT_LINES {
            continue;
        }
        let (_module, sites) = register(file);
        for kernel in answer["kernels"].as_array().into_iter().flatten() {
            let name = kernel["name"].as_str().unwrap();
            let site = sites.named(name).unwrap_or_else(|| panic!("{file}: there is no {name}"));
            let line = site.location().line();
            match site.origin() {
                Origin::Embedded if site.location().file().to_bytes().ends_with(b".i") => {
                    assert_names(site, name);
                }
                Origin::Embedded => {
                    assert_eq!(kernel["decl_line"], line, "{file}: {site:?}");
                    assert_own_text(&answer, kernel, site);
                }
                Origin::Listing => assert_names(site, name),
                Origin::Missing => assert_eq!(kernel["decl_line"], line, "{file}: {site:?}"),
                other => panic!("{file}: {site:?} ({other})"),
            }
            // Of SPIR-V the answers tell of checksums in the place of texts, too.
            if file.starts_with("spirv/") {
                continue;
            }
            let has_text = answer["sources"].as_array().unwrap().iter().any(|source| source["length"] != 0);
            // Beside that file is the one with the texts that it was stripped of.
            let has_text = has_text || file == "dwarf/saxpy_c22_stripped.so";
            assert_eq!(site.origin() == Origin::Embedded, has_text, "{file}: {site:?}");
        }
    }
}

/// The line of a text that a compiler wrote names the kernel.
fn assert_names(site: &Site, name: &str) {
    let text = site.source().unwrap();
    let line = text.split(|&byte| byte == b'\n').nth(site.location().line() as usize - 1).unwrap();
    assert!(String::from_utf8_lossy(line).contains(name), "{site:?}");
}

/// The text is the one that the answers tell of. (They tell of texts in SPIR-V by their pieces, as they are there.)
fn assert_own_text(answer: &Value, kernel: &Value, site: &Site) {
    let path = kernel["file"].as_str().unwrap();
    let is_own = |source: &&Value| source["path"].as_str().is_some_and(|own| own.ends_with(path));
    let own = answer["sources"].as_array().unwrap().iter().find(is_own);
    if let Some(own) = own.filter(|own| own.get("pieces").is_none()) {
        assert_eq!(own["sha256"], sha256(&site.source().unwrap()), "{site:?}");
    }
}

#[test]
fn sites_in_debug_information_are_made_when_they_are_asked_for() {
    let (module, sites) = register("dwarf/saxpy_c22_full.so");
    assert_eq!(format!("{sites:?}"), "[]");
    let saxpy = sites.named("host_saxpy").unwrap();
    assert!(std::ptr::eq(saxpy, sites.named("host_saxpy").unwrap()));
    assert!(std::ptr::eq(saxpy, sites.clone().named("host_saxpy").unwrap()));
    assert!(sites.named("host_nothing").is_none());
    assert_eq!(format!("{sites:?}"), format!("[{saxpy:?}]"));

    // What was made outlives the module, and nothing is made any more.
    drop(module);
    assert!(std::ptr::eq(saxpy, sites.named("host_saxpy").unwrap()));
    assert_names(saxpy, "host_saxpy");
    assert!(sites.named("host_fill").is_none());
    assert_eq!(sites.iter().count(), 1);
}

#[test]
fn nothing_is_looked_up_in_a_file_that_was_written_to() {
    let copy = tempfile::NamedTempFile::new().unwrap();
    std::fs::copy(data("dwarf/saxpy_c22_full.so"), copy.path()).unwrap();
    let module = sources::open(copy.path()).unwrap();
    let (untouched, sites) = (dispatch::sites(&module), dispatch::sites(&module));
    let saxpy = sites.named("host_saxpy").unwrap();
    std::fs::write(copy.path(), b"gone").unwrap();
    assert!(std::ptr::eq(saxpy, sites.named("host_saxpy").unwrap()));
    assert!(sites.named("host_fill").is_none() && sites.get(0, 0).is_none());
    assert_eq!((sites.iter().count(), untouched.iter().count()), (1, 0));
}

#[test]
fn all_sites_can_be_made() {
    let (_module, sites) = register("dwarf/saxpy_c22_full.so");
    let names: Vec<_> = sites.iter().map(|site| site.name()).collect();
    assert_eq!(names, ["host_fill", "host_saxpy"]);
    assert!(std::ptr::eq(sites.get(0, 1).unwrap(), sites.named("host_saxpy").unwrap()));
    assert!(sites.get(0, 2).is_none() && sites.get(1, 0).is_none());
}

#[test]
fn code_for_gpus_goes_before_the_program_that_launches_it() {
    let (_module, sites) = register("amdgpu/fill_host_old.elf");
    let site = sites.named("hip_fill").unwrap();
    assert!(std::ptr::eq(site, sites.get(1, 0).unwrap()));
    assert_eq!(format!("{sites:?}"), format!("[{site:?}]"));
    assert_eq!(sites.named("main").unwrap().location().line(), 15);
}

/// A library that was compiled without texts from a file in that folder, and that file.
fn library_beside_its_source(folder: &Path) -> (PathBuf, PathBuf) {
    // Its source is named by a path in a folder that is as long as this one is not: so the name is put in place.
    let mut library = std::fs::read(data("dwarf/saxpy_c22_noembed.so")).unwrap();
    let name = b"/corpus\0";
    let places: Vec<usize> = (0..library.len()).filter(|&at| library[at..].starts_with(name)).collect();
    assert!(!places.is_empty());
    for at in places {
        library[at..at + name.len()].copy_from_slice(b"./srcs/\0");
    }
    let source = folder.join("srcs/saxpy.c");
    std::fs::create_dir_all(source.parent().unwrap()).unwrap();
    std::fs::write(&source, TEXT).unwrap();
    let path = folder.join("libsaxpy.so");
    std::fs::write(&path, library).unwrap();
    (path, source)
}

const TEXT: &str = "the text\nthat was\ncompiled\n";

fn set_age(file: &Path, time: SystemTime) {
    File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
}

/// The only test here that depends on the current folder, since a path in a library has the length that it has.
#[test]
fn a_text_on_disk_is_that_of_a_module_only_until_it_is_edited() {
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let (library, source) = library_beside_its_source(folder.path());
    let made = std::fs::metadata(&library).unwrap().modified().unwrap();
    let seconds = Duration::from_secs;

    let module = sources::open(&library).unwrap();
    let sites = dispatch::sites(&module);
    let site = sites.named("host_saxpy").unwrap();
    assert_eq!((site.location().file(), site.location().line()), (c"srcs/saxpy.c", 5));
    assert_eq!(site.origin(), Origin::Disk);
    assert_eq!(&site.source().unwrap()[..], TEXT.as_bytes());

    // Edited, it says so instead.
    std::fs::write(&source, "another").unwrap();
    set_age(&source, made + seconds(10));
    let said = String::from_utf8(site.source().unwrap().to_vec()).unwrap();
    assert!(said.starts_with("// zonecast: srcs/saxpy.c was written to since"), "{said}");

    // Of a module that is registered now, the file is not the source, and no viewer finds it by its name.
    let late = sources::open(&library).unwrap();
    let sites = dispatch::sites(&late);
    let refused = sites.named("host_saxpy").unwrap();
    assert_eq!(refused.origin(), Origin::Newer);
    assert_eq!(refused.location().file(), c"srcs/saxpy.c [newer than libsaxpy]");
    assert_eq!(refused.location().line(), 5);
    let said = String::from_utf8(refused.source().unwrap().to_vec()).unwrap();
    assert!(said.contains("srcs/saxpy.c is newer than libsaxpy"), "{said}");

    // Compiled again, it has the new text, whatever the first module's zones say.
    set_age(&library, made + seconds(20));
    let again = sources::open(&library).unwrap();
    let sites = dispatch::sites(&again);
    let new = sites.named("host_saxpy").unwrap();
    assert_eq!(&new.source().unwrap()[..], b"another");
    assert_ne!(new.location().file(), site.location().file());

    // The same bytes, handed over by a compiler in this program, were just made.
    let jit = Executable::from_bytes(std::fs::read(&library).unwrap(), "jit").unwrap();
    set_age(&source, made);
    let jit = sources::register(jit);
    assert_eq!(dispatch::sites(&jit).named("host_saxpy").unwrap().origin(), Origin::Disk);
}
