//! Recordings of LLVM, whole and damaged.

mod common;

use std::fs;
use std::path::Path;

use common::{SAXPY, STEM, copy, data, edit};
use zonecast_recordings::llvm::{
    self, Generation, Limits, Note, Part, Pointee, Recording, find_all, write_globals,
};
use zonecast_recordings::{ErrorKind, ImageKind};

fn failure(path: impl AsRef<Path>) -> String {
    Recording::open(path).unwrap_err().to_string()
}

fn names(recording: &Recording) -> Vec<(&str, usize)> {
    recording.globals().iter().map(|global| (global.name.as_str(), global.range.len())).collect()
}

#[test]
fn the_first_generation_is_read() {
    let (recordings, errors) = find_all(&data("first")).unwrap();
    assert!(errors.is_empty());
    let kernels: Vec<_> = recordings.iter().map(|recording| &*recording.description().kernel).collect();
    assert_eq!(kernels, [SAXPY, "__omp_offloading_fe00_9d4762_main_l17"]);
    let saxpy = &recordings[0];
    assert_eq!(saxpy.generation(), Generation::First);
    assert_eq!((saxpy.description().teams, saxpy.description().threads), (2, 4));
    assert_eq!(saxpy.description().trip_count, 16);
    assert_eq!(saxpy.description().arguments, [16, 139931654799440, 139931654799376]);
    // Nothing says where the memory began.
    assert!(saxpy.arguments().all(|argument| argument.pointee.is_none()));
    assert_eq!((saxpy.description().base, saxpy.len(Part::Input)), (None, Some(128)));
    assert_eq!(recordings[1].description().threads, 0);
    assert_eq!(saxpy.notes(), []);
}

#[test]
fn the_second_generation_is_read_and_its_arguments_are_said_to_be_lost() {
    let recording = Recording::open(data("second").join(SAXPY)).unwrap();
    assert_eq!(recording.generation(), Generation::Second);
    assert_eq!(recording.description().base, Some(139625846784016));
    assert_eq!(names(&recording), [("scale", 4), ("table", 32)]);
    assert_eq!(recording.read(Part::Globals).unwrap()[recording.globals()[0].range.clone()], [3, 0, 0, 0]);
    assert_eq!(ImageKind::of(&recording.read(Part::Image).unwrap()), ImageKind::Elf(62));
    assert!(recording.arguments().all(|argument| argument.pointee.is_none()));
    assert_eq!(recording.notes(), [Note::ArgumentsLost]);
}

#[test]
fn the_third_generation_is_read_with_its_report() {
    let (recordings, errors) = find_all(&data("third")).unwrap();
    assert!(errors.is_empty());
    let [recording] = &recordings[..] else { panic!("there is one") };
    let described = recording.description();
    assert_eq!(recording.generation(), Generation::Third);
    assert_eq!((described.teams, described.threads, described.shared_memory), (2, 4, Some(0)));
    assert_eq!(described.teams_limits, Some(Limits { least: 2, most: 2 }));
    assert_eq!(described.threads_limits, Some(Limits { least: 1, most: 1024 }));
    assert_eq!((described.base, described.reserved), (Some(139625846784016), Some(1 << 30)));
    assert_eq!(names(recording), [("scale", 4), ("table", 32)]);
    assert_eq!(recording.buffers(), [0..64, 64..128]);
    let pointees: Vec<_> = recording.arguments().map(|argument| argument.pointee).collect();
    let at = |buffer, offset| Some(Pointee { buffer, offset });
    assert_eq!(pointees, [None, None, at(1, 64), at(0, 0)]);
    let line = recording.report().unwrap();
    assert_eq!((line.kernel.as_str(), line.time, line.occurrences), (SAXPY, 12345, 3));
    assert_eq!(recording.notes(), []);
}

#[test]
fn a_recording_is_found_by_json_stem_or_folder() {
    for path in [data("third"), data("third").join(STEM), data("third").join(format!("{STEM}.json"))] {
        assert_eq!(Recording::open(path).unwrap().description().kernel, SAXPY);
    }
    assert!(failure(data("first")).contains("there are 2 in this folder; name one"));
    assert!(failure(data("third").join("nothing")).contains("there is no such recording"));
    assert!(failure(data("third").join(format!("{STEM}.image"))).contains("give its .json file"));
    assert!(failure(tempfile::tempdir().unwrap()).contains("no recording in this folder"));
}

/// A symbol may hold dots.
#[test]
fn dots_in_stems_are_kept() {
    let folder = copy("second");
    for extension in ["json", "memory", "original.output", "globals", "image"] {
        let named = |stem: &str| folder.path().join(format!("{stem}.{extension}"));
        fs::rename(named(SAXPY), named("saxpy.llvm.123")).unwrap();
    }
    let recording = Recording::open(folder.path().join("saxpy.llvm.123")).unwrap();
    assert_eq!(recording.len(Part::Output), Some(128));
    assert_eq!(recording.place(Part::Output).file_name().unwrap(), "saxpy.llvm.123.original.output");
}

#[test]
fn what_is_missing_is_tolerated_and_listed() {
    let folder = copy("third");
    for extension in ["record_output", "globals", "image"] {
        fs::remove_file(folder.path().join(format!("{STEM}.{extension}"))).unwrap();
    }
    let recording = Recording::open(folder.path()).unwrap();
    let missing: Vec<_> = recording.notes().iter().map(ToString::to_string).collect();
    assert_eq!(missing.len(), 3, "{missing:?}");
    assert!(missing[0].ends_with(".record_output is not there"), "{missing:?}");
    let error = recording.read(Part::Image).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Missing(_)), "{error}");
}

#[test]
fn file_names_are_checked_against_what_they_hash() {
    for (from, to) in
        [("main_l14", "main_l15"), (r#""NumTeams":2"#, r#""NumTeams":3"#), ("Size\":0", "Size\":8")]
    {
        let folder = copy("third");
        edit(&folder, STEM, from, to);
        let recording = Recording::open(folder.path()).unwrap();
        let misnamed = |note: &Note| matches!(note, Note::Misnamed { .. });
        assert!(recording.notes().iter().any(misnamed), "{to}: {:?}", recording.notes());
    }
    let folder = copy("third");
    for extension in ["json", "record_input", "record_output", "globals", "image"] {
        let named = |stem: &str| folder.path().join(format!("{stem}.{extension}"));
        fs::rename(named(STEM), named("mine")).unwrap();
    }
    assert_eq!(Recording::open(folder.path()).unwrap().notes(), [Note::Renamed]);
}

#[test]
fn the_form_that_was_never_released_is_refused_by_name() {
    let folder = copy("second");
    edit(&folder, SAXPY, r#""BumpAllocVAStart":"#, r#""SharedMemorySize":0,"VAllocSize":1024,"VAllocAddr":"#);
    let error = failure(folder.path());
    assert!(error.contains("pull request 190588") && error.contains("no release"), "{error}");
}

/// Between its merge and its release, the newest form had its file names and the older keys.
#[test]
fn the_newest_form_is_known_by_its_files_too() {
    let folder = copy("third");
    edit(&folder, STEM, "NumTeams\"", "NumTeamsClause\"");
    edit(&folder, STEM, "NumThreads\"", "ThreadLimitClause\"");
    let recording = Recording::open(folder.path()).unwrap();
    assert_eq!((recording.generation(), recording.description().threads), (Generation::Third, 4));
}

#[test]
fn addresses_from_2_63_up_are_written_as_negative_numbers() {
    let folder = copy("third");
    edit(&folder, STEM, "139625846784016]", "-4611686018427387904]");
    edit(&folder, STEM, "VAllocAddr\":139625846784016", "VAllocAddr\":-4611686018427387968");
    let recording = Recording::open(folder.path()).unwrap();
    assert_eq!(recording.description().base, Some(0xBFFF_FFFF_FFFF_FFC0));
    assert_eq!(recording.arguments().last().unwrap().pointee, Some(Pointee { buffer: 1, offset: 64 }));
}

#[test]
fn contradictions_are_refused() {
    let cases = [
        (r#""NumArgs":4"#, r#""NumArgs":5"#, "`NumArgs` words"),
        ("[0,0,0,0]", "[0,0,0]", "as many zeros"),
        ("[0,0,0,0]", "[0,0,8,0]", "as many zeros"),
        ("[2,2]", "[2,0]", "twice 0"),
        ("[2,2]", "[3,2]", "twice 0"),
        ("[2,2]", "[2]", "twice 0"),
        ("[2,2]", "2", "an array"),
        (r#""NumTeams":2"#, r#""NumTeams":"2""#, "64 bits as `NumTeams`"),
        (r#""NumTeams":2"#, r#""NumTeams":2.5"#, "64 bits as `NumTeams`"),
        (r#""NumTeams":2"#, r#""NumTeams":1e30"#, "64 bits as `NumTeams`"),
        (r#""LoopTripCount":16,"#, "", "a number as `LoopTripCount`"),
        (r#""Name":"__"#, r#""Name":"../"#, "without slashes"),
        (r#""Name":"__"#, r#""Name":"\u0000"#, "without slashes"),
        (r#""Name":"__omp_offloading_fe00_9d4762_main_l14""#, r#""Name":"""#, "without slashes"),
        (r#""VAllocSize":1073741824"#, r#""VAllocSize":127"#, "no more bytes than were reserved"),
        (r#""Name""#, r#""Nome""#, "no description of a kernel launch"),
        ("{", "[", "no description of a kernel launch"),
    ];
    for (from, to, says) in cases {
        let folder = copy("third");
        edit(&folder, STEM, from, to);
        let error = failure(folder.path());
        assert!(error.contains(says) && error.contains(STEM), "{to}: {error}");
    }
}

#[test]
fn cut_files_are_refused() {
    let folder = copy("second");
    let memory = folder.path().join(format!("{SAXPY}.memory"));
    fs::write(&memory, &fs::read(&memory).unwrap()[..127]).unwrap();
    assert!(failure(folder.path()).contains("128 bytes, as described; there are 127"));

    let folder = copy("third");
    let output = folder.path().join(format!("{STEM}.record_output"));
    fs::write(&output, [0; 112]).unwrap();
    assert!(failure(folder.path()).contains("at least the 128 bytes of the input; there are 112"));
    fs::write(&output, [0; 144]).unwrap();
    let recording = Recording::open(folder.path()).unwrap();
    assert_eq!(recording.notes(), [Note::Grown { input: 128, output: 144 }]);
}

/// No prefix of either layout is a table, but the one without entries and, of the older, whole entries.
#[test]
fn globals_end_where_their_file_does() {
    let file = Path::new("x.globals");
    for (name, generation, wholes) in [
        ("second/__omp_offloading_fe00_9d4762_main_l14", Generation::Second, &[0, 14][..]),
        (&format!("third/{STEM}"), Generation::Third, &[0]),
    ] {
        let bytes = fs::read(data(&format!("{name}.globals"))).unwrap();
        assert_eq!(llvm::globals(&bytes, generation, file).unwrap().len(), 2);
        for cut in 0..bytes.len() {
            let whole = llvm::globals(&bytes[..cut], generation, file).is_ok();
            assert_eq!(whole, wholes.contains(&cut), "{name} cut at {cut}");
        }
        let longer = [&bytes[..], b"x"].concat();
        assert!(llvm::globals(&longer, generation, file).is_err());
    }
}

#[test]
fn hostile_globals_are_refused() {
    let file = Path::new("x.globals");
    let read =
        |bytes: &[u8]| llvm::globals(bytes, Generation::Third, file).map(|_| ()).unwrap_err().to_string();
    let whole = write_globals(&[("scale", &[3, 0, 0, 0])]);
    assert_eq!(llvm::globals(&whole, Generation::Third, file).unwrap().len(), 1);
    let with = |at: usize, bytes: &[u8]| {
        let mut damaged = whole.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        read(&damaged)
    };
    assert!(with(0, &u32::MAX.to_le_bytes()).contains("the length of a global's name"));
    assert!(with(4, &u32::MAX.to_le_bytes()).contains("a global's name"));
    assert!(with(4, &0_u32.to_le_bytes()).contains("ends in NUL"));
    assert!(with(8, &u64::MAX.to_le_bytes()).contains("18446744073709551615 bytes of the global scale"));
    assert!(with(16, b"\n").contains("a symbol"));
    assert!(with(16, b"\xFF").contains("a symbol"));
    assert!(with(16, b"\0").contains("a symbol"));
}

#[test]
fn a_folder_of_other_things_is_told_file_by_file() {
    let folder = copy("third");
    fs::write(folder.path().join("other.json"), "{}").unwrap();
    fs::write(folder.path().join("binary.json"), [0xFF; 100]).unwrap();
    let (recordings, errors) = find_all(folder.path()).unwrap();
    assert_eq!((recordings.len(), errors.len()), (1, 2));
    assert!(errors.iter().all(|error| error.to_string().contains("no description of a kernel launch")));
}

/// What is no regular file is not opened: a pipe would never end.
#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let folder = copy("third");
    let image = folder.path().join(format!("{STEM}.image"));
    fs::remove_file(&image).unwrap();
    fs::create_dir(&image).unwrap();
    assert!(failure(folder.path()).contains("a regular file"));
}
