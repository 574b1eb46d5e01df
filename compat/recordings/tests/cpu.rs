//! IREE's kernels for CPUs: recorded here, replayed in another process.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::child;
use zonecast_dispatch::{Buffer, Library};
use zonecast_embed::Executable;
use zonecast_recordings::llvm::{self, Generation, Part, Stem};
use zonecast_recordings::recorder::{
    self, Argument, Choice, Description, Folder, Keep, Launcher, Recorder, Recording, cpu, export,
};
use zonecast_recordings::replay::{Replay, ReplayError, Replayed, Word};

const MLP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dispatch/tests/data/mlp.cpu.g3.vmfb");
const BATCH: usize = 100;

/// Records the three kernels of a model, each on what the one before it wrote. Returns the files.
fn record_mlp(folder: &Path) -> Vec<PathBuf> {
    let executable = Executable::open(MLP).unwrap();
    let image = executable.image(0).unwrap();
    // SAFETY: the file was compiled by IREE's own compiler and is part of this project.
    let library = unsafe { Library::load(image) }.unwrap();
    let sink = Folder { path: folder.join("recordings"), keep: Keep::First };
    let recorder = Recorder::new(cpu::Dispatches::default(), Choice::default(), sink);
    let inputs: Vec<f32> = (0..BATCH * 32).map(|index| ((index * 7 % 17) as f32 - 8.0) / 4.0).collect();
    let mut input = Buffer::from_slice(&inputs);
    for (ordinal, (tile, columns)) in [(64, 48), (64, 10), (32, 1)].into_iter().enumerate() {
        let mut output = Buffer::zeroed(BATCH * columns * size_of::<f32>());
        let launch = cpu::Launch {
            workgroups: [BATCH.div_ceil(tile) as u32, 1, 1],
            constants: &[BATCH as u32, 0],
            bindings: &mut [cpu::Binding::Read(&input), cpu::Binding::Write(&mut output)],
            ..cpu::Launch::of(&library, image, ordinal)
        };
        // SAFETY: the shapes are those of the model: BATCH rows of 32, 48, 10 and 1 columns.
        unsafe { recorder.launch(launch) }.unwrap();
        input = output;
    }
    let instances = recorder.instances();
    assert_eq!(instances.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1, 1, 1]);
    let mut files: Vec<_> =
        fs::read_dir(folder.join("recordings")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

fn replay(file: &Path, replay: &Replay) -> Result<Replayed, ReplayError> {
    replay.recording(file, &mut child(), &mut |_| ())
}

#[test]
fn kernels_recorded_here_compute_the_same_in_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let files = record_mlp(folder.path());
    assert_eq!(files.len(), 3);
    for file in files {
        let recording = Recording::read(&file).unwrap();
        assert!(recording.has_output());
        assert_ne!(recording.memory[1].before, recording.memory[1].after);
        assert_eq!(recording.memory[0].before, recording.memory[0].after);
        assert_eq!(recording.description.backend, "iree-cpu");
        let replayed = replay(&file, &Replay { repeat: 5, ..Replay::default() }).unwrap();
        assert_eq!((replayed.runs.len(), replayed.outputs().len()), (5, 1));
        assert!(fs::read(&replayed.outputs()[0]).unwrap() == recording.output(), "{}", file.display());
    }
}

#[test]
fn another_constant_or_image_or_input_computes_something_else_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = record_mlp(folder.path()).remove(0);
    let whole = Recording::read(&file).unwrap();
    let given = |arguments| Replay { arguments, ..Replay::default() };
    let replayed = replay(&file, &given(vec![(0, Word::Value(99))])).unwrap();
    assert!(fs::read(&replayed.outputs()[0]).unwrap() != whole.output());
    let error = replay(&file, &given(vec![(2, Word::Value(99))])).unwrap_err().to_string();
    assert!(error.contains("argument 2 is none of the 2 constants"), "{error}");

    let mut changed = whole.clone();
    changed.memory[0].before[3] ^= 0x80;
    changed.memory[0].before[2] ^= 0x40;
    changed.write(&file).unwrap();
    let replayed = replay(&file, &Replay::default()).unwrap();
    assert!(fs::read(&replayed.outputs()[0]).unwrap() != whole.output());

    let scale = concat!(env!("CARGO_MANIFEST_DIR"), "/../dispatch/tests/data/scale.cpu.g3.vmfb");
    let error = replay(&file, &Replay { image: Some(scale.into()), ..Replay::default() }).unwrap_err();
    assert!(error.to_string().contains("is it of this recording?"), "{error}");

    let without = Recording { image: Vec::new(), ..whole.clone() };
    without.write(&file).unwrap();
    let error = replay(&file, &Replay::default()).unwrap_err().to_string();
    assert!(error.contains("needs the image, and it was not recorded"), "{error}");

    let mut foreign = whole;
    foreign.description.backend = "cuda".into();
    foreign.write(&file).unwrap();
    let error = replay(&file, &Replay::default()).unwrap_err().to_string();
    assert!(error.contains("launched on cuda, rather than on a CPU"), "{error}");
}

/// What LLVM recorded, as one of our own.
fn saxpy() -> Recording {
    let recording = llvm::Recording::open(common::data("third")).unwrap();
    let described = recording.description();
    let base = described.base.unwrap();
    let (input, output) = (recording.read(Part::Input).unwrap(), recording.read(Part::Output).unwrap());
    let globals = recording.read(Part::Globals).unwrap();
    let argument = |word: &u64| Argument {
        bytes: word.to_le_bytes().to_vec(),
        pointee: word.checked_sub(base).map(|at| (0, at)),
    };
    Recording {
        description: Description {
            backend: "host".into(),
            kernel: described.kernel.clone(),
            grid: [2, 1, 1],
            block: [4, 1, 1],
            arguments: described.arguments.iter().map(argument).collect(),
            ..Description::default()
        },
        memory: [0..64, 64..128]
            .map(|range: std::ops::Range<usize>| recorder::Buffer {
                address: base + range.start as u64,
                before: input[range.clone()].to_vec(),
                after: output[range].to_vec(),
                ..recorder::Buffer::default()
            })
            .into(),
        globals: recording
            .globals()
            .iter()
            .map(|global| recorder::Buffer {
                name: global.name.clone(),
                before: globals[global.range.clone()].to_vec(),
                ..recorder::Buffer::default()
            })
            .collect(),
        image: recording.read(Part::Image).unwrap(),
        ..Recording::default()
    }
}

#[test]
fn what_is_exported_to_llvm_s_layout_is_what_llvm_would_have_written_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let json = export(&saxpy(), folder.path()).unwrap();
    let stem = Stem::of(common::SAXPY, 2, 4, 0).to_string();
    assert_eq!(json.file_stem().unwrap().to_str().unwrap(), stem);
    for extension in ["record_input", "record_output", "globals", "image"] {
        let name = format!("{stem}.{extension}");
        assert!(
            fs::read(folder.path().join(&name)).unwrap()
                == fs::read(common::data("third").join(&name)).unwrap()
        );
    }
    let exported = llvm::Recording::open(&json).unwrap();
    assert_eq!((exported.generation(), exported.notes()), (Generation::Third, &[][..]));
    let replay = Replay { library_path: vec![common::openmp()], ..Replay::default() };
    let replayed = replay.llvm(&exported, &mut child()).unwrap();
    assert!(fs::read(&replayed.outputs()[0]).unwrap() == exported.read(Part::Output).unwrap());
}

#[test]
fn what_llvm_s_layout_cannot_hold_is_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |change: &dyn Fn(&mut Recording)| {
        let mut recording = saxpy();
        change(&mut recording);
        export(&recording, folder.path()).unwrap_err().to_string()
    };
    assert!(refused(&|r| r.description.grid[1] = 2).contains("more than one dimension"));
    assert!(refused(&|r| r.description.block[2] = 2).contains("more than one dimension"));
    assert!(refused(&|r| r.description.arguments[0].bytes = vec![0; 12]).contains("more than eight bytes"));
    assert!(refused(&|r| r.memory[1].address += 1 << 40).contains("scattered"));
    assert!(refused(&|r| r.memory[1].address = u64::MAX).contains("scattered"));
    assert!(refused(&|r| r.description.backend = cpu::NAME.into()).contains("takes records"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
