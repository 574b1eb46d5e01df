//! What is compared: how long each zone took in a recording or a JSON capture.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use serde_json::Value;
use zonecast_tracy_wire::{Distribution, Keep, Recording};

use crate::Failure;
use crate::files::about;

/// What makes two zones the same in two captures. Lines move, so they are no part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) gpu: bool,
    pub(crate) name: String,
    pub(crate) file: String,
}

/// Durations by zone.
pub(crate) type Durations = BTreeMap<Key, Distribution>;

/// Reads a recording or a JSON capture, whichever the file is.
pub(crate) fn load(path: &Path) -> Result<Durations, Failure> {
    let mut file = File::open(path).map_err(|error| about(path, &error))?;
    let mut first = [0];
    file.read_exact(&mut first).map_err(|error| about(path, &error))?;
    if first == *b"{" { from_json(path) } else { from_recording(path) }
}

fn from_recording(path: &Path) -> Result<Durations, Failure> {
    let mut recording = Recording::open(path).map_err(|error| about(path, &error))?;
    let capture =
        recording.replay(|engine| engine.keep(Keep::Statistics)).map_err(|error| about(path, &error))?;
    let mut durations = Durations::new();
    for row in capture.summary() {
        let key = Key { gpu: row.gpu, name: row.name.into(), file: row.file.into() };
        durations.entry(key).or_default().merge(&row.durations);
    }
    Ok(durations)
}

fn from_json(path: &Path) -> Result<Durations, Failure> {
    let file = BufReader::new(File::open(path).map_err(|error| about(path, &error))?);
    let capture: Value = serde_json::from_reader(file).map_err(|error| about(path, &error))?;
    let mut durations = Durations::new();
    for (list, gpu) in [("zones", false), ("gpu_zones", true)] {
        let zones = capture[list].as_array().ok_or_else(|| about(path, &Missing(list)))?;
        for zone in zones {
            // A zone that never ended has no duration.
            let (Some(start), Some(end)) = (zone["start_ns"].as_i64(), zone["end_ns"].as_i64()) else {
                continue;
            };
            let text = |field: &str| zone[field].as_str().unwrap_or_default().to_owned();
            let key = Key { gpu, name: text("name"), file: text("file") };
            durations.entry(key).or_default().add(end.saturating_sub(start));
        }
    }
    Ok(durations)
}

#[derive(Debug)]
struct Missing(&'static str);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the JSON has no list {:?}: it is not of `zonecast capture --format json`", self.0)
    }
}

impl std::error::Error for Missing {}
