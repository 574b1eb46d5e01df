//! Each kernel's zone names its own file at its own line, and the text found there is its own.
//!
//! What is right comes from the answers beside the corpus in `zonecast-embed`.

mod support;

use std::process::Command;

use support::{expected, open, path, sha256};
use zonecast::dispatch::{self, Sites, Stage};
use zonecast::embed::Executable;
use zonecast::embed::table::{TableBuilder, attach};
use zonecast::sources::{self, Module};
use zonecast::{Location, LocationParts};

zonecast::embed::embed_table!("../../embed/tests/data/tables/example.zonecast");

fn register(module: &str) -> (Module, Sites) {
    let module = sources::register(open(module));
    let sites = dispatch::sites(&module);
    (module, sites)
}

/// Every site is at its own line, and its own text is found under the file it names.
fn assert_own(sites: &Sites, module: &str, stage: &str, named: impl Fn(&str) -> String) {
    let expected = expected(module, stage);
    assert_eq!(sites.iter().count(), expected.len());
    for site in sites.iter() {
        let (file, line, hash) = &expected[site.name()];
        assert_eq!(site.location().file().to_str().unwrap(), named(file), "{site:?}");
        assert_eq!(site.location().line(), *line, "{site:?}");
        assert_eq!(sha256(&site.source().unwrap()), *hash, "{site:?}");
    }
}

const TEXT: &[u8] = b"a text of a thousand";

/// A table of so many sources, and a kernel in the last.
fn table_of(sources: usize) -> Vec<u8> {
    let mut table = TableBuilder::new();
    let path = |number: usize| format!("{number:04}.mlir");
    for number in 0..sources {
        let text = format!("{} {number} {}", str::from_utf8(TEXT).unwrap(), "x".repeat(100));
        table.source(path(number), text).unwrap();
    }
    let kernel = zonecast::embed::table::Export::new("kernel").stage("0.source", path(sources - 1), 1);
    table.export(kernel).unwrap();
    table.build().unwrap()
}

/// Bytes for good, of which whole pages from some place on cannot be read: the process ends if it is tried.
struct ForbiddenPages {
    bytes: &'static [u8],
    start: *mut libc::c_void,
    length: usize,
    count: usize,
}

impl ForbiddenPages {
    fn new(bytes: &[u8], from: usize) -> Self {
        // SAFETY: a question about the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let layout = std::alloc::Layout::from_size_align(bytes.len().next_multiple_of(page), page).unwrap();
        // SAFETY: the size is not 0; all bytes are written before they are a slice, and never freed.
        let copy = unsafe {
            let start = std::alloc::alloc(layout);
            start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            std::slice::from_raw_parts(start, bytes.len())
        };
        let (first, last) = (from.next_multiple_of(page), bytes.len() / page * page);
        let start = copy.as_ptr().wrapping_add(first).cast_mut().cast();
        let pages = Self { bytes: copy, start, length: last - first, count: (last - first) / page };
        pages.protect(libc::PROT_NONE);
        pages
    }

    fn allow(&self) {
        self.protect(libc::PROT_READ | libc::PROT_WRITE);
    }

    fn protect(&self, protection: i32) {
        // SAFETY: whole pages of this value's own memory.
        assert_eq!(unsafe { libc::mprotect(self.start, self.length, protection) }, 0);
    }
}

/// Runs one case in a process of its own: what is registered is the whole process's.
fn alone(case: &str, environment: &[(&str, &str)]) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "--include-ignored", case, "--nocapture"]).env("CASE", case);
    let output = child.envs(environment.iter().copied()).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{case} did not run: {text}");
}

fn is_alone(case: &str) -> bool {
    std::env::var("CASE").is_ok_and(|alone| alone == case)
}

macro_rules! cases {
    ($($name:ident ($($variable:literal = $value:literal)?) $body:block)*) => {$(
        #[test]
        fn $name() {
            if is_alone(stringify!($name)) { $body } else { alone(stringify!($name), &[$(($variable, $value))?]) }
        }
    )*};
}

cases! {
    twelve_exports_and_three_each_have_their_own() {
        for module in ["many.cpu.g3", "mlp.cpu.g3"] {
            let (_module, sites) = register(module);
            assert_own(&sites, module, "0.source", str::to_owned);
        }
    }

    the_same_beside_other_modules() {
        let (_mlp, _) = register("mlp.cpu.g3");
        let (_scale, _) = register("scale.cpu.g3");
        let (_many, sites) = register("many.cpu.g3");
        assert_own(&sites, "many.cpu.g3", "0.source", str::to_owned);
    }

    equal_paths_with_other_texts_get_other_names() {
        let (_first, first) = register("many.cpu.g3");
        let (_second, second) = register("many.cpu-v4.g3");
        assert_own(&first, "many.cpu.g3", "0.source", str::to_owned);
        assert_own(&second, "many.cpu-v4.g3", "0.source", |file| format!("{file} [many.cpu-v4.g3]"));
        // Once more: the same text is found again under the same name.
        let (_third, third) = register("many.cpu-v4.g3");
        assert_eq!(format!("{second:?}"), format!("{third:?}"));
    }

    a_third_text_under_one_module_name_is_told_apart_too() {
        let mut names = std::collections::HashSet::new();
        let mut modules = Vec::new();
        for module in ["scale.cpu.g3", "scale.cpu-v4.g3", "scale.cpu-v5.g3"] {
            let bytes = std::fs::read(path(module)).unwrap();
            let registered = sources::register(Executable::from_bytes(bytes, "model").unwrap());
            let sites = dispatch::sites(&registered);
            let site = sites.get(0, 0).unwrap();
            assert_eq!(sha256(&site.source().unwrap()), expected(module, "0.source")[site.name()].2);
            names.insert(site.location().file().to_owned());
            modules.push(registered);
        }
        assert_eq!(names.len(), 3, "{names:?}");
    }

    equal_texts_of_two_modules_share_a_name() {
        let (_first, first) = register("mlp.cpu.g3");
        let (_second, second) = register("mlp.cpu-nolink.g3");
        for site in second.iter() {
            let twin = first.named(site.name()).unwrap();
            assert!(std::ptr::eq(site.location(), twin.location()), "{site:?} {twin:?}");
        }
    }

    another_stage_by_call() {
        let module = sources::register(open("many.cpu.g3"));
        let sites = dispatch::sites_at(&module, Stage::Named("2.translated"));
        assert_own(&sites, "many.cpu.g3", "2.translated", str::to_owned);
    }

    another_stage_by_environment("ZONECAST_STAGE" = "1.configured") {
        let module = sources::register(open("many.cpu.g3"));
        let sites = dispatch::sites_at(&module, Stage::Named("2.translated"));
        assert_own(&sites, "many.cpu.g3", "1.configured", str::to_owned);
    }

    the_users_own_file() {
        let module = sources::register(open("mlp.cpu.g3"));
        for site in dispatch::sites_at(&module, Stage::Original).iter() {
            assert_eq!(site.location().file(), c"src/mlp.mlir");
            assert_ne!(site.location().line(), 0);
            assert!(site.source().is_none());
        }
    }

    a_text_that_was_attached_is_the_librarys_too() {
        let mut table = TableBuilder::new();
        table.source("src/mlp.mlir", "the author's text").unwrap();
        let library = open("mlp.cpu.g3").image(0).unwrap().bytes().unwrap().to_vec();
        let library = attach(&library, &table.build().unwrap()).unwrap();
        let module = sources::register(Executable::from_bytes(library, "mlp").unwrap());
        assert_own(&dispatch::sites(&module), "mlp.cpu.g3", "0.source", str::to_owned);
        let original = dispatch::sites_at(&module, Stage::Original);
        assert_eq!(original.iter().count(), 3);
        for site in original.iter() {
            assert_eq!(&site.source().unwrap()[..], b"the author's text");
        }
        drop(module);
        assert_eq!(&original.iter().next().unwrap().source().unwrap()[..], b"the author's text");
    }

    registering_reads_no_text() {
        let table = table_of(1_000);
        let first = table.windows(TEXT.len()).position(|window| window == TEXT).unwrap();
        let pages = ForbiddenPages::new(&table, first);
        let modules: Vec<Module> = (0..1_000)
            .map(|_| sources::register(Executable::from_bytes(pages.bytes, "module").unwrap()))
            .collect();
        // Looking for a path does not read it, either.
        let image = modules[0].executable().image(0).unwrap();
        assert_eq!(image.sources().len(), 1_000);
        let text = image.sources().find("0999.mlir").unwrap();
        assert_eq!(dispatch::sites(&modules[0]).iter().count(), 1);
        // Nobody could have.
        assert!(pages.count > 10);
        pages.allow();
        assert!(text.starts_with(TEXT));
    }

    the_programs_own_texts_are_known_from_the_start() {
        let name = |file, line| {
            drop(Location::intern(LocationParts { name: "", function: "kernel", file, line, color: 0 }));
        };
        struct Somebody;
        impl zonecast::Provider for Somebody {}
        zonecast::install(&Somebody).unwrap();
        assert!(sources::text(b"c.mlir").is_none());
        let _session = zonecast::start();
        name("c.mlir", 2);
        assert_eq!(&sources::text(b"c.mlir").unwrap()[..], b"func @scale\nfunc @blur\n");
        // Without being named before, too.
        assert_eq!(&sources::text(b"a.py").unwrap()[..], b"def scale():\n  pass\n");
        assert!(sources::text(b"elsewhere.py").is_none());
        let sites = dispatch::sites(sources::program());
        let site = sites.named("blur").unwrap();
        assert_eq!((site.location().file(), site.location().line()), (c"b.0.source.mlir", 2));
        assert_eq!(&site.source().unwrap()[..], b"func @scale\nfunc @blur\n");
        // Another module's text of the same path is told apart from it.
        let mut table = TableBuilder::new();
        table.source("b.0.source.mlir", "another").unwrap();
        let other = Executable::from_bytes(table.build().unwrap(), "other").unwrap();
        assert_eq!(sources::register(other).claim(0, b"b.0.source.mlir"), "b.0.source.mlir [other]");
    }

    a_kernel_without_a_location_is_in_the_module() {
        let module = sources::register(open("mlp.cpu.g0"));
        for site in dispatch::sites(&module).iter() {
            assert!(site.location().file().to_str().unwrap().ends_with("mlp.cpu.g0.vmfb"));
            assert_eq!(site.location().line(), 0);
        }
    }

    a_late_question_is_answered_after_unloading() {
        let (module, sites) = register("many.cpu.g3");
        drop(module);
        assert_own(&sites, "many.cpu.g3", "0.source", str::to_owned);
    }

    an_unloaded_text_still_tells_another_one_apart() {
        let (module, _) = register("many.cpu.g3");
        drop(module);
        let (_second, second) = register("many.cpu-v4.g3");
        assert_own(&second, "many.cpu-v4.g3", "0.source", |file| format!("{file} [many.cpu-v4.g3]"));
    }

    a_file_written_in_place_is_noticed() {
        let copy = tempfile::Builder::new().suffix(".vmfb").tempfile().unwrap();
        std::fs::copy(path("scale.cpu.g3"), copy.path()).unwrap();
        let module = sources::register(Executable::open(copy.path()).unwrap());
        let sites = dispatch::sites(&module);
        let site = sites.get(0, 0).unwrap();
        assert_eq!(sha256(&site.source().unwrap()), expected("scale.cpu.g3", "0.source")[site.name()].2);

        std::fs::write(copy.path(), b"gone").unwrap();
        let said = String::from_utf8(site.source().unwrap().to_vec()).unwrap();
        assert!(said.contains("was written to after it was mapped"), "{said}");
        assert!(said.contains(copy.path().to_str().unwrap()), "{said}");
        // Unloading copies the sentence out and not what the file has become.
        drop(module);
        assert_eq!(site.source().unwrap().to_vec(), said.as_bytes());
    }

    a_file_written_in_place_is_not_read_again() {
        let copy = tempfile::Builder::new().suffix(".vmfb").tempfile().unwrap();
        std::fs::copy(path("scale.cpu.g3"), copy.path()).unwrap();
        let module = sources::register(Executable::open(copy.path()).unwrap());
        let claimed = dispatch::sites(&module);
        std::fs::write(copy.path(), b"gone").unwrap();
        assert_eq!(dispatch::sites(&module).iter().count(), 0);
        // Another module's equal path is not compared with what is gone.
        let (_other, other) = register("scale.cpu.g3");
        assert_ne!(other.get(0, 0).unwrap().location().file(), claimed.get(0, 0).unwrap().location().file());
        assert_own(&other, "scale.cpu.g3", "0.source", |file| format!("{file} [scale.cpu.g3]"));
    }

    a_file_replaced_by_renaming_stays_whole() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("model.vmfb");
        std::fs::copy(path("scale.cpu.g3"), &file).unwrap();
        let module = sources::register(Executable::open(&file).unwrap());
        let sites = dispatch::sites(&module);
        std::fs::write(directory.path().join("new"), b"another model").unwrap();
        std::fs::rename(directory.path().join("new"), &file).unwrap();
        let site = sites.get(0, 0).unwrap();
        assert_eq!(sha256(&site.source().unwrap()), expected("scale.cpu.g3", "0.source")[site.name()].2);
    }

    the_first_text_published_stays() {
        sources::publish("kernel.wgsl", &b"first"[..]);
        sources::publish("kernel.wgsl", b"second".to_vec());
        assert_eq!(&sources::text(b"kernel.wgsl").unwrap()[..], b"first");
        assert!(sources::text(b"other.wgsl").is_none());
    }

    locations_past_the_limit_share_one_and_keep_their_names() {
        let intern = |line| {
            let file = "limit.mlir";
            Location::intern(LocationParts { name: "", function: "kernel", file, line, color: 0 })
        };
        let limit = u32::try_from(Location::LIMIT).unwrap();
        (1..limit).for_each(|line| drop(intern(line)));
        let last = intern(limit);
        assert_eq!((last.location().line(), last.shared_name()), (limit, None));

        let (one, other) = (intern(limit + 1), intern(limit + 2));
        assert!(std::ptr::eq(one.location(), other.location()));
        assert_eq!(one.shared_name(), Some("kernel"));
        // Those that stood before still stand.
        assert!(std::ptr::eq(intern(limit).location(), last.location()));
    }

    a_text_that_is_too_long_is_cut_around_its_kernel() {
        let (_module, sites) = register("mlp.cpu.g3");
        let site = sites.get(0, 0).unwrap();
        let whole = site.source().unwrap();
        let file = site.location().file().to_bytes();
        assert_eq!(sources::text_for(file, whole.len()).unwrap()[..], whole[..]);

        let limit = whole.len() - 500;
        let cut = sources::text_for(file, limit).unwrap();
        assert!(cut.len() <= limit);
        let line = |text: &[u8]| text.split(|&b| b == b'\n').nth(site.location().line() as usize - 1).unwrap().to_vec();
        assert_eq!(line(&cut), line(&whole));
        assert!(cut.starts_with(b"// zonecast: too long"));
    }
}
