//! Recordings of LLVM, run again.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{STEM, child, compile, copy, data, edit, openmp};
use object::{Object, ObjectSection, ObjectSymbol};
use tempfile::TempDir;
use zonecast_recordings::child::Limits;
use zonecast_recordings::llvm::{Part, Recording, Stem, write_globals};
use zonecast_recordings::replay::{Replay, ReplayError, Replayed, Word};

/// The kernel of the recordings of LLVM 19 and later.
const KERNEL: &str = "__omp_offloading_fe00_9d4762_main_l14";

/// Replays, with what the image needs in `library`.
fn replay(recording: &Path, library: &Path, replay: Replay) -> Result<Replayed, ReplayError> {
    let replay = Replay { library_path: vec![library.to_owned()], ..replay };
    replay.llvm(&Recording::open(recording)?, &mut child())
}

/// Whether a replay computed what was recorded.
fn is_equal(recording: &Path, replayed: &Replayed) -> bool {
    let recorded = Recording::open(recording).unwrap().read(Part::Output).unwrap();
    let outputs: Vec<_> = replayed.outputs().iter().map(|file| fs::read(file).unwrap()).collect();
    outputs.iter().all(|output| *output == recorded)
}

#[test]
fn the_newest_form_replays_bit_by_bit_as_often_as_asked() {
    let (library, recording) = (openmp(), data("third"));
    let replayed = replay(&recording, &library, Replay { repeat: 20, ..Replay::default() }).unwrap();
    assert_eq!((replayed.runs.len(), replayed.outputs().len()), (20, 1));
    assert!(is_equal(&recording, &replayed));
    assert!(
        replayed.runs.windows(2).all(|pair| pair[0].start <= pair[0].end && pair[0].end <= pair[1].start)
    );
}

#[test]
fn llvm_19_replays_with_its_arguments_given() {
    let (library, recording) = (openmp(), data("second"));
    let lost = replay(&recording, &library, Replay::default()).unwrap_err().to_string();
    assert!(lost.contains("all 4 must be given; there is none for argument 0"), "{lost}");
    let words = [Word::Value(0), Word::Value(16), Word::Offset(64), Word::Offset(0)];
    let arguments = words.into_iter().enumerate().collect();
    let replayed = replay(&recording, &library, Replay { arguments, ..Replay::default() }).unwrap();
    assert!(is_equal(&recording, &replayed));
}

#[test]
fn what_llvm_16_recorded_cannot_be_replayed() {
    let recording = data("first").join(common::SAXPY);
    let error = replay(&recording, &openmp(), Replay::default()).unwrap_err().to_string();
    assert!(error.contains("LLVM 16 recorded: it has no address"), "{error}");
}

#[test]
fn a_wrong_argument_computes_something_else() {
    let (library, recording) = (openmp(), data("third"));
    let given = Replay { arguments: vec![(1, Word::Value(17))], ..Replay::default() };
    let error = replay(&recording, &library, given).unwrap_err().to_string();
    assert!(error.contains("wrote outside of the recorded memory"), "{error}");
    for (index, word) in [(1, Word::Value(15)), (2, Word::Offset(60)), (3, Word::Offset(4))] {
        let given = Replay { arguments: vec![(index, word)], ..Replay::default() };
        assert!(!is_equal(&recording, &replay(&recording, &library, given).unwrap()), "argument {index}");
    }
    let given = Replay { arguments: vec![(4, Word::Value(0))], ..Replay::default() };
    let error = replay(&recording, &library, given).unwrap_err().to_string();
    assert!(error.contains("no argument 4; there are 4, counted from 0"), "{error}");
}

#[test]
fn a_missing_library_is_named() {
    let empty = tempfile::tempdir().unwrap();
    if let Err(error) = replay(&data("third"), empty.path(), Replay::default()) {
        let error = error.to_string();
        assert!(error.contains("libomp") && error.contains("as library path"), "{error}");
    }
}

/// A recording of one of the kernels in `kernels.c`, with four bytes of memory, 5 before the launch and
/// 12 after it, and the number 7 as second argument.
fn native(kernel: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let stem = Stem::of(kernel, 1, 1, 0).to_string();
    let file = |extension: &str| folder.path().join(format!("{stem}.{extension}"));
    fs::copy(compile("kernels.c", "kernels.so"), file("image")).unwrap();
    fs::write(file("record_input"), 5_u32.to_le_bytes()).unwrap();
    fs::write(file("record_output"), 13_u32.to_le_bytes()).unwrap();
    fs::write(file("globals"), write_globals(&[("counter", &0_u32.to_le_bytes())])).unwrap();
    let base = 0x7e00_0000_0000_u64;
    let json = format!(
        r#"{{"ArgOffsets":[0,0],"ArgPtrs":[{base},7],"DeviceId":0,"LoopTripCount":0,"Name":"{kernel}","NumArgs":2,
        "NumTeams":1,"NumThreads":1,"SharedMemorySize":0,"VAllocAddr":{base},"VAllocSize":4096}}"#
    );
    fs::write(file("json"), json).unwrap();
    folder
}

fn run(folder: &TempDir, replay: Replay) -> Result<Replayed, ReplayError> {
    replay.llvm(&Recording::open(folder.path())?, &mut child())
}

fn refused(kernel: &str, replay: Replay) -> String {
    run(&native(kernel), replay).unwrap_err().to_string()
}

/// The kernel counts its launches in a global, and adds that.
#[test]
fn memory_and_globals_are_restored_before_each_run() {
    let folder = native("add");
    let replayed = run(&folder, Replay { repeat: 5, ..Replay::default() }).unwrap();
    assert_eq!(replayed.outputs().len(), 1);
    assert!(is_equal(folder.path(), &replayed));
}

#[test]
fn a_kernel_that_crashes_hangs_or_leaves_is_told() {
    let crash = refused("crash", Replay::default());
    assert!(crash.contains("SIGSEGV"), "{crash}");
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    let hang = refused("hang", Replay { limits, ..Replay::default() });
    assert!(hang.contains("longer than 0.3 s"), "{hang}");
    let leave = refused("leave", Replay { repeat: 3, ..Replay::default() });
    assert!(leave.contains("0 runs instead of 3"), "{leave}");
}

#[test]
fn memory_is_limited() {
    let limits = Limits { memory: 256 << 20, ..Limits::default() };
    let arguments = vec![(1, Word::Value(512 << 20))];
    let error = refused("hungry", Replay { limits, arguments: arguments.clone(), ..Replay::default() });
    assert!(error.contains("exit status: 7: there is no memory"), "{error}");
    let replayed = run(&native("hungry"), Replay { arguments, ..Replay::default() }).unwrap();
    assert_eq!(fs::read(&replayed.outputs()[0]).unwrap(), [1, 0, 0, 0]);
}

/// What a kernel prints is not taken for an answer.
#[test]
fn a_kernel_may_print() {
    let replayed = run(&native("talk"), Replay { repeat: 2, ..Replay::default() }).unwrap();
    assert_eq!(replayed.runs.len(), 2);
    assert_eq!(fs::read(&replayed.outputs()[0]).unwrap(), [1, 0, 0, 0]);
}

#[test]
fn outcomes_that_differ_are_kept_apart() {
    let replayed = run(&native("noise"), Replay { repeat: 7, ..Replay::default() }).unwrap();
    assert_eq!(replayed.outputs().len(), 3);
    assert_eq!(replayed.runs.iter().map(|run| run.output).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn more_arguments_than_registers_are_passed() {
    let folder = native("sum");
    let stem = Stem::of("sum", 1, 1, 0).to_string();
    edit(&folder, &stem, ",7]", ",1,2,3,4,5,6,7,8]");
    edit(&folder, &stem, "\"ArgOffsets\":[0,0]", "\"ArgOffsets\":[0,0,0,0,0,0,0,0,0]");
    edit(&folder, &stem, "\"NumArgs\":2", "\"NumArgs\":9");
    let replayed = run(&folder, Replay::default()).unwrap();
    assert_eq!(fs::read(&replayed.outputs()[0]).unwrap(), 87_654_321_u32.to_le_bytes());
}

#[test]
fn another_image_is_caught() {
    // The kernel is not in it.
    let (library, recording) = (openmp(), data("third"));
    let foreign = native("add");
    let image = Recording::open(foreign.path()).unwrap().path(Part::Image).unwrap().to_owned();
    let swapped = Replay { image: Some(image.clone()), ..Replay::default() };
    let error = replay(&recording, &library, swapped).unwrap_err().to_string();
    assert!(error.contains("is it of this recording?"), "{error}");
    // One of that name is, and computes something else.
    let same_name = native("other");
    let stem = Stem::of("other", 1, 1, 0).to_string();
    assert!(!is_equal(same_name.path(), &run(&same_name, Replay::default()).unwrap()), "{stem}");
    // A global has another size.
    let globals = Recording::open(foreign.path()).unwrap().path(Part::Globals).unwrap().to_owned();
    fs::write(globals, write_globals(&[("counter", &[0; 8])])).unwrap();
    let error = run(&foreign, Replay::default()).unwrap_err().to_string();
    assert!(error.contains("global counter with 8 bytes, as recorded; it has 4"), "{error}");
    // It is no image for this machine.
    fs::write(&image, b"BC\xC0\xDE").unwrap();
    let error = run(&foreign, Replay::default()).unwrap_err().to_string();
    assert!(error.contains("the image is LLVM bitcode; only launches on this machine's CPU"), "{error}");
}

#[test]
fn an_address_that_cannot_be_had_is_told() {
    let folder = native("add");
    let stem = Stem::of("add", 1, 1, 0).to_string();
    edit(&folder, &stem, "\"VAllocAddr\":138538465099776", "\"VAllocAddr\":-4096");
    let error = run(&folder, Replay::default()).unwrap_err().to_string();
    assert!(error.contains("no 4 bytes at 0xfffffffffffff000"), "{error}");
}

/// Each byte of each file, flipped: it is refused, or computes something else, or stands where nothing depends on it.
#[test]
fn every_flipped_byte_that_matters_is_caught() {
    let library = openmp();
    let folder = copy("third");
    for (extension, bit, idle) in [
        // A global that the kernel does not read.
        ("globals", 1, (44..76).collect()),
        // The last bits of a number are lost when the kernel rounds.
        ("record_input", 0x80, Vec::new()),
        ("record_output", 1, Vec::new()),
        ("json", 1, idle_json()),
    ] {
        let file = folder.path().join(format!("{STEM}.{extension}"));
        let whole = fs::read(&file).unwrap();
        for at in (0..whole.len()).filter(|at| !idle.contains(at)) {
            let mut flipped = whole.clone();
            flipped[at] ^= bit;
            fs::write(&file, &flipped).unwrap();
            let replayed = replay(folder.path(), &library, quick());
            let caught = replayed.map_or(true, |replayed| !is_equal(folder.path(), &replayed));
            assert!(caught, "{extension}: byte {at}");
        }
        fs::write(&file, &whole).unwrap();
    }
    assert!(is_equal(folder.path(), &replay(folder.path(), &library, quick()).unwrap()));
}

/// A damaged image is refused, fails in its child, or computes something that a comparison finds: each byte that
/// says what the file is, and each of the kernel's own code, all of its bits.
#[test]
fn a_damaged_image_is_caught() {
    let library = openmp();
    let folder = copy("third");
    let file = folder.path().join(format!("{STEM}.image"));
    let whole = fs::read(&file).unwrap();
    let is_caught = |at: usize, bits: u8| {
        let mut flipped = whole.clone();
        flipped[at] ^= bits;
        fs::write(&file, &flipped).unwrap();
        let limits = Limits { time: Duration::from_secs(2), ..quick().limits };
        let replayed = replay(folder.path(), &library, Replay { limits, ..quick() });
        replayed.map_or(true, |replayed| !is_equal(folder.path(), &replayed))
    };
    // Magic, class, byte order, type and machine of an ELF file.
    for at in [0, 1, 2, 3, 4, 5, 16, 18] {
        assert!(is_caught(at, 0xff), "byte {at} of the header");
    }
    let code = kernel_code(&whole);
    let idle: Vec<_> = code.clone().filter(|&at| !is_caught(at, 0xff)).collect();
    // Bytes of no-ops, and of what a serial OpenMP does not look at.
    assert!(idle.len() * 4 < code.len(), "of {code:?} nothing is seen of {idle:?}");
}

/// Where the code of the recorded kernel is within its image.
fn kernel_code(image: &[u8]) -> std::ops::Range<usize> {
    let file = object::File::parse(image).unwrap();
    let symbol = file.dynamic_symbols().find(|symbol| symbol.name() == Ok(KERNEL)).unwrap();
    let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
    let start = section.file_range().unwrap().0 + symbol.address() - section.address();
    start as usize..(start + symbol.size()) as usize
}

fn quick() -> Replay {
    let limits = Limits { time: Duration::from_secs(20), memory: 1 << 30, ..Limits::default() };
    Replay { limits, ..Replay::default() }
}

/// What a replay does not depend on: the first argument, which this kernel does not read, the device, the trip count, how
/// much was reserved, and the limits, which need not be there.
fn idle_json() -> Vec<usize> {
    let text = fs::read_to_string(data("third").join(format!("{STEM}.json"))).unwrap();
    let from = |key: &str| text.find(key).unwrap();
    let value = |key: &str| {
        let start = from(key) + key.len();
        start..start + text[start..].find([',', '}']).unwrap()
    };
    let limits = from("TeamsLimits")..from("VAllocAddr") - 2;
    let unread = from("ArgPtrs\":[") + "ArgPtrs\":[".len();
    let values = ["\"DeviceId\":", "\"LoopTripCount\":", "\"VAllocSize\":"].map(value);
    values.into_iter().chain([unread..unread + 1, limits]).flatten().collect()
}
