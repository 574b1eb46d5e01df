//! Runs that IREE recorded in three ways at once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use zonecast_recordings::executions::Executions;
use zonecast_recordings::hal_replay::HalReplay;
use zonecast_recordings::instruments::Stream;
use zonecast_recordings::places::Places;
use zonecast_recordings::profile::Profile;
use zonecast_recordings::timeline::Zone;

const KERNEL: &str = "steps_dispatch_0_elementwise_32_f32";

fn file(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/together").join(name)).unwrap()
}

/// The dispatches of a run in order, and what does not fit together.
fn joined(name: &str, instruments: Option<&[u8]>, replay: Option<&[u8]>) -> (Vec<Zone>, Vec<String>) {
    let mut executions = Executions::default();
    if let Some(bytes) = instruments {
        executions.add_instruments(&Stream::read(bytes).unwrap());
    }
    if let Some(bytes) = replay {
        executions.add_replay(&HalReplay::read(bytes).unwrap()).unwrap();
    }
    let profile = Profile::read(&file(&format!("{name}.ireeprof"))).unwrap();
    let timeline = profile.timeline(&Places::default(), &executions);
    let mut zones: Vec<Zone> = timeline.rows.into_iter().flat_map(|row| row.zones).collect();
    zones.retain(|zone| zone.name == KERNEL);
    (zones, executions.gaps(&profile))
}

/// Of each workgroup of the kernel, as IREE's tool prints them: the lowest address and the bytes that it read and wrote,
/// by address in blocks of 128 bytes, for that is how long each buffer is.
fn printed() -> Vec<BTreeMap<u64, (u64, u64)>> {
    let text = String::from_utf8(file("run.txt")).unwrap();
    let mut found: Vec<BTreeMap<u64, (u64, u64)>> = Vec::new();
    let mut is_it = false;
    for line in text.lines().filter_map(|line| line.split_once(" | ")).map(|(_, line)| line) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "WORKGROUP" => {
                is_it = line.contains(KERNEL);
                found.extend(is_it.then(BTreeMap::new));
            }
            kind if is_it => {
                let (address, length) =
                    (u64::from_str_radix(words[1], 16).unwrap(), words[2].parse::<u64>().unwrap());
                let buffers = found.last_mut().unwrap();
                let begin =
                    buffers.range(address.saturating_sub(127)..=address).next().map_or(address, |one| *one.0);
                let sums = buffers.entry(begin).or_default();
                *(if kind == "LOAD" { &mut sums.0 } else { &mut sums.1 }) += length;
            }
            _ => {}
        }
    }
    found
}

#[test]
fn each_execution_has_its_span_and_what_it_touched() {
    let (zones, gaps) = joined("run", Some(&file("run.instruments")), Some(&file("run.ireereplay")));
    assert_eq!(gaps, [""; 0]);
    let rows = String::from_utf8(file("run.jsonl")).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let times: Vec<_> = rows
        .filter(|row| row["key"] == KERNEL)
        .map(|row| ["start_host_time_ns", "end_host_time_ns"].map(|time| row[time].as_i64().unwrap()))
        .collect();
    assert_eq!(zones.iter().map(|zone| [zone.begin, zone.end]).collect::<Vec<_>>(), times);
    let expected = printed();
    assert_eq!((zones.len(), expected.len()), (3, 3), "the loop has three steps");
    for (zone, buffers) in zones.iter().zip(expected) {
        let facts: Vec<&str> = zone.text.lines().filter(|line| line.starts_with("buffer ")).collect();
        assert_eq!((facts.len(), buffers.len()), (3, 3), "{facts:?}");
        for (begin, (read, written)) in buffers {
            let fact = format!(" at {begin:#x}: bytes 0..128, {read} bytes read, {written} written");
            assert!(facts.iter().any(|line| line.ends_with(&fact)), "{fact} in {facts:?}");
        }
    }
}

/// Each step of the loop reads what the one before wrote: in the instruments by address, in the replay by buffer.
#[test]
fn the_steps_hand_on_their_results() {
    let (zones, _) = joined("run", Some(&file("run.instruments")), Some(&file("run.ireereplay")));
    let given = |zone: &Zone, index: usize| {
        let start = format!("binding {index}: bytes 0..128 of replay buffer ");
        zone.text.lines().find_map(|line| line.strip_prefix(&start).map(str::to_owned)).unwrap()
    };
    assert!(zones.iter().all(|zone| given(zone, 1) == given(&zones[0], 1)), "the factor");
    let inputs: Vec<String> = zones.iter().map(|zone| given(zone, 0)).collect();
    assert!(inputs[0] != inputs[1] && inputs[1] != inputs[2] && inputs[0] != inputs[2], "{inputs:?}");
}

#[test]
fn what_a_ring_forgot_is_at_the_beginning() {
    let (zones, gaps) = joined("wrapped", Some(&file("wrapped.instruments")), None);
    assert_eq!(gaps, [format!("{KERNEL}: it ran 3 times, and instruments know of 1")]);
    let touched: Vec<usize> = zones.iter().map(|zone| zone.text.matches("bytes read").count()).collect();
    assert_eq!(touched, [0, 0, 3], "the last execution is the last one's");
}

/// A dispatch on a device is told of as one by the host is.
#[test]
fn dispatches_on_devices_are_joined() {
    let [profile, replay] = ["profiles/counters.ireeprof", "replays/mlp.ireereplay"]
        .map(|name| std::fs::read(other(name)).unwrap());
    let mut executions = Executions::default();
    executions.add_replay(&HalReplay::read(&replay).unwrap()).unwrap();
    let profile = Profile::read(&profile).unwrap();
    let timeline = profile.timeline(&Places::default(), &executions);
    let of = |end: &str| {
        let row = timeline.rows.iter().find(|row| row.name.ends_with(end)).unwrap();
        let zone = row.zones.iter().find(|zone| zone.name == "mlp_dispatch_0_matmul_8x16x16_f32").unwrap();
        zone.text.lines().filter(|line| line.starts_with("binding ")).collect::<Vec<_>>()
    };
    assert!(!of("queue 0").is_empty());
    assert_eq!(of("queue 0"), of(" on the device"));
}

#[test]
fn recordings_of_different_runs_are_not_taken_for_one() {
    let (_, gaps) = joined("run", None, Some(&std::fs::read(other("replays/mlp.ireereplay")).unwrap()));
    assert_eq!(gaps, [format!("{KERNEL}: it ran 3 times, and the replay knows of 0")]);
    let twice = [file("run.instruments"), file("run.instruments")].concat();
    let (zones, gaps) = joined("run", Some(&twice), None);
    assert!(gaps[0].contains("several modules have it"), "{gaps:?}");
    assert!(zones.iter().all(|zone| !zone.text.contains("bytes read")));
}

#[test]
fn damage_anywhere_is_harmless() {
    let (instruments, replay) = (file("run.instruments"), file("run.ireereplay"));
    let profile = Profile::read(&file("run.ireeprof")).unwrap();
    let look = |instruments: &[u8], replay: &[u8]| {
        let mut executions = Executions::default();
        let (stream, replay) = (Stream::read(instruments), HalReplay::read(replay));
        stream.iter().for_each(|stream| executions.add_instruments(stream));
        let _ = replay.map(|replay| executions.add_replay(&replay));
        assert!(executions.gaps(&profile).len() <= 2, "one kernel, two recordings");
        assert_eq!(profile.timeline(&Places::default(), &executions).rows.len(), 1);
    };
    for at in (0..replay.len()).step_by(7) {
        let mut damaged = replay.clone();
        damaged[at] ^= 0x11 << (at % 4);
        look(&[], &damaged);
        look(&[], &replay[..at]);
    }
    for at in (0..instruments.len()).step_by(11) {
        let mut damaged = instruments.clone();
        damaged[at] ^= 0x11 << (at % 4);
        look(&damaged, &replay[..0]);
    }
}

fn other(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}
