//! What touches raw memory, small enough for Miri:
//! `cargo +nightly miri test -p zonecast-embed --no-default-features --features iree --test miri`.
#![cfg(feature = "iree")]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use zonecast_embed::{Executable, Loaded};

static MODULE: &[u8] = include_bytes!("data/iree/noloc.cpu.g2.vmfb");
static WITH_SOURCES: &[u8] = include_bytes!("data/iree/scale.cpu-riscv32.g3.vmfb");

#[test]
fn borrowed_bytes() {
    let executable = Executable::from_bytes(WITH_SOURCES, "scale").unwrap();
    let image = executable.image(0).unwrap();
    let export = image.export(0).unwrap();
    let stage = export.stage("1.configured").unwrap().location.unwrap();
    let source = image.sources().find_source(stage.file).unwrap();
    let start = source.offset().unwrap() as usize;
    assert_eq!(source.text().as_ptr(), WITH_SOURCES[start..].as_ptr());
    assert!(source.text().ends_with(b"}\n"));
    assert!(executable.notes().is_empty());
}

/// What was borrowed stays where it is when the executable moves to another thread.
#[test]
fn owned_bytes() {
    let executable = Executable::from_bytes(MODULE.to_vec(), "noloc").unwrap();
    let before = executable.image(0).unwrap().name().as_ptr();
    let moved = std::thread::spawn(move || executable).join().unwrap();
    let image = moved.image(0).unwrap();
    assert_eq!((image.name().as_ptr(), image.name()), (before, &b"scale_dispatch_0"[..]));
    assert_eq!(image.export(0).unwrap().name(), b"scale_dispatch_0_elementwise_256_f32");
    assert_eq!(image.export(0).unwrap().location(), None);
}

#[test]
fn damaged_bytes() {
    for length in (0..MODULE.len()).step_by(1021) {
        assert!(Executable::from_bytes(&MODULE[..length], "cut").is_err());
    }
}

// A loaded library of version 6, as a C compiler lays it out.

#[repr(C)]
struct Header {
    version: u32,
    name: *const u8,
    features: u32,
    sanitizer: u32,
}

#[repr(C)]
struct Location {
    line: u32,
    path_length: u32,
    path: *const u8,
}

#[repr(C)]
struct StageTable {
    count: u32,
    names: *const *const u8,
    locations: *const Location,
}

#[repr(C)]
struct SourceFile {
    path_length: u32,
    path: *const u8,
    length: u32,
    text: *const u8,
}

#[repr(C)]
struct Attributes {
    flags: u64,
    pages: u16,
    constants: u8,
    bindings: u8,
    size: [u32; 2],
    size_z: u16,
    rest: [u16; 21],
}

#[repr(C)]
struct Record {
    header: *const Header,
    imports: usize,
    import_names: usize,
    exports: usize,
    functions: usize,
    attributes: *const Attributes,
    parameters: usize,
    occupancy: usize,
    names: *const *const u8,
    tags: usize,
    parameter_names: usize,
    locations: *const Location,
    stages: *const StageTable,
    constants: usize,
    sources: usize,
    source_table: *const SourceFile,
}

fn bytes(text: &'static CStr) -> *const u8 {
    text.as_ptr().cast()
}

const PATH: &CStr = c"kernel.0.source.mlir";
const TEXT: &CStr = c"func @kernel\n";

/// Something that nobody writes to, with whatever it points at.
struct Shared<T>(T);

// SAFETY: all of it is read only.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: all of it is read only.
unsafe impl<T> Sync for Shared<T> {}

/// One that is kept for ever, as a library is while it is loaded.
fn library() -> &'static Record {
    static LIBRARY: OnceLock<Shared<&Record>> = OnceLock::new();
    LIBRARY.get_or_init(|| Shared(make_library())).0
}

fn make_library() -> &'static Record {
    fn leak<T>(value: T) -> &'static T {
        Box::leak(Box::new(value))
    }
    let at = |line, path: &'static CStr| Location {
        line,
        path_length: path.count_bytes() as u32,
        path: bytes(path),
    };
    leak(Record {
        header: leak(Header { version: 6, name: bytes(c"by hand"), features: 0, sanitizer: 0 }),
        imports: 0,
        import_names: 0,
        exports: 2,
        functions: 0,
        attributes: leak([attributes(3), attributes(4)]).as_ptr(),
        parameters: 0,
        occupancy: 0,
        names: leak([bytes(c"first"), bytes(c"second")]).as_ptr(),
        tags: 0,
        parameter_names: 0,
        // The first has no path, and so no location, in spite of its line.
        locations: leak([at(77, c""), at(5, c"model.py")]).as_ptr(),
        stages: leak([
            // Of no stages, and so never followed.
            StageTable {
                count: 0,
                names: NonNull::dangling().as_ptr(),
                locations: NonNull::dangling().as_ptr(),
            },
            StageTable {
                count: 1,
                names: leak([bytes(c"0.source")]).as_ptr(),
                locations: leak([at(1, PATH)]).as_ptr(),
            },
        ])
        .as_ptr(),
        constants: 0,
        sources: 1,
        source_table: leak(SourceFile {
            path_length: PATH.count_bytes() as u32,
            path: bytes(PATH),
            length: TEXT.count_bytes() as u32,
            text: bytes(TEXT),
        }),
    })
}

fn attributes(bindings: u8) -> Attributes {
    Attributes { flags: 1, pages: 2, constants: 1, bindings, size: [64, 2], size_z: 1, rest: [0; 21] }
}

fn check(loaded: Loaded) {
    // SAFETY: `library` is laid out as version 6 prescribes, and stays for ever.
    let executable = unsafe { Executable::from_loaded(loaded, "loaded") }.unwrap();
    let image = executable.image(0).unwrap();
    assert_eq!((image.name(), image.exports().len()), (&b"by hand"[..], 2));
    let [first, second] = [0, 1].map(|ordinal| image.export(ordinal).unwrap());
    assert_eq!((first.name(), first.location(), first.stages().len()), (&b"first"[..], None, 0));
    let at = second.location().unwrap();
    assert_eq!((second.name(), at.file, at.line), (&b"second"[..], &b"model.py"[..], 5));
    let stage = second.stage("0.source").unwrap().location.unwrap();
    assert_eq!(image.sources().find(stage.file), Some(TEXT.to_bytes()));
    let cpu = second.cpu().unwrap();
    assert_eq!((cpu.bindings, cpu.constants, cpu.local_memory_pages), (4, 1, 2));
    assert_eq!((cpu.flags, cpu.workgroup_size), (1, Some([64, 2, 1])));
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_loaded_library() {
    check(Loaded::IreeLibrary(NonNull::from(library()).cast()));
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_query_function() {
    unsafe extern "C" fn query(version: u32, _: *const c_void) -> *const c_void {
        if version == 6 { std::ptr::from_ref(library()).cast() } else { std::ptr::null() }
    }
    check(Loaded::IreeQuery(query));
}
