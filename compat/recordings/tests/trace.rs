//! What a trace shows of recording and replaying.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::sync::Mutex;

use zonecast::{LaneId, LaneInfo, LaneZone, Location, Provider, ZoneId, dispatch, sources};
use zonecast_dispatch::{Buffer, Library};
use zonecast_recordings::recorder::{Choice, Instance, Launcher, Recorder, Recording, cpu};
use zonecast_recordings::replay::Replay;

#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Seen {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn place(location: &Location) -> String {
    let (title, file) = (location.title().to_string_lossy(), location.file().to_string_lossy());
    let is_source = file.ends_with(".source.mlir");
    if is_source { format!("{title} at {file}:{}", location.line()) } else { title.into_owned() }
}

impl Provider for Seen {
    fn zone_begin(&self, location: &'static Location) -> ZoneId {
        self.add(place(location));
        ZoneId { mark: 1, data: 0 }
    }

    fn lane_create(&self, lane: LaneInfo<'_>) -> LaneId {
        self.add(format!("lane {}", lane.name));
        LaneId(1)
    }

    fn lane_zones(&self, _: LaneId, tree: &[LaneZone<'_>]) {
        assert!(tree.iter().all(|zone| zone.start < zone.end));
        tree.iter().for_each(|zone| self.add(place(zone.location)));
    }
}

const KERNEL: &str = "rowsum_dispatch_0_reduction_Dx10_f32";
const SOURCE: &str = "mlp_net_rowsum_dispatch_0_embedded_elf_x86_64.0.source.mlir:8";

#[test]
fn each_stage_and_each_run_is_a_zone_at_the_kernel_s_source() {
    static SEEN: Seen = Seen(Mutex::new(Vec::new()));
    zonecast::install(&SEEN).unwrap();
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/../dispatch/tests/data/mlp.cpu.g3.vmfb");
    let module = sources::open(module).unwrap();
    let image = module.executable().image(0).unwrap();
    // SAFETY: the file was compiled by IREE's own compiler and is part of this project.
    let library = unsafe { Library::load(image) }.unwrap();
    let backend = cpu::Dispatches { sites: Some(dispatch::sites(&module)), ..cpu::Dispatches::default() };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rowsum.zcrec");
    let target = file.clone();
    let recorder = Recorder::new(backend, Choice::default(), move |_: &Instance, recording: Recording| {
        recording.write(&target)
    });
    let (input, mut output) = (Buffer::from_slice(&[1.0_f32; 320]), Buffer::zeroed(128));
    let launch = cpu::Launch {
        constants: &[32, 0],
        bindings: &mut [cpu::Binding::Read(&input), cpu::Binding::Write(&mut output)],
        ..cpu::Launch::of(&library, image, 2)
    };
    // SAFETY: the kernel sums 32 rows of 10 numbers.
    unsafe { recorder.launch(launch) }.unwrap();
    assert_eq!(output.as_slice_of::<f32>(), [10.0; 32]);
    let kernel = format!("{KERNEL} at {SOURCE}");
    assert_eq!(SEEN.take(), ["record", "prologue", kernel.as_str(), "epilogue", "store"]);

    let replay = Replay { repeat: 3, ..Replay::default() };
    replay.recording(&file, &mut common::child(), &mut |_| ()).unwrap();
    assert_eq!(SEEN.take(), ["replay", "lane replay", kernel.as_str(), kernel.as_str(), kernel.as_str()]);
}
