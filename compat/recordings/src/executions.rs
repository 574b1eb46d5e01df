//! A run that was recorded in several ways at once: what its instruments and its replay say of each dispatch.
//!
//! The recordings of one run share no numbers: a profile has times, a stream of instruments addresses, a replay buffers
//! and constants. They share the kernels' names and the order of each kernel's executions. So those are laid beside one
//! another from the last to the first: what a recording lacks is at the beginning, as a profile begins after the program
//! was loaded, and a ring forgets what is oldest.
//!
//! ```
//! use zonecast_recordings::executions::Executions;
//! use zonecast_recordings::hal_replay::HalReplay;
//! use zonecast_recordings::instruments::Stream;
//! use zonecast_recordings::places::Places;
//! use zonecast_recordings::profile::Profile;
//!
//! # let profile = include_bytes!("../tests/data/together/run.ireeprof");
//! # let instruments = include_bytes!("../tests/data/together/run.instruments");
//! # let replay = include_bytes!("../tests/data/together/run.ireereplay");
//! let mut executions = Executions::default();
//! executions.add_instruments(&Stream::read(instruments)?);
//! executions.add_replay(&HalReplay::read(replay)?)?;
//! let profile = Profile::read(profile)?;
//! assert!(executions.gaps(&profile).is_empty());
//! let timeline = profile.timeline(&Places::default(), &executions);
//! let dispatch = timeline.rows[0].zones.iter().find(|zone| zone.name.starts_with("steps")).unwrap();
//! assert!(dispatch.text.contains("bytes 0..128, 128 bytes read, 0 written"));
//! # Ok::<(), zonecast_recordings::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Error;
use crate::hal_replay::{BufferRange, Dispatch, HalReplay};
use crate::instruments::{self, AccessMap, Buffer, Execution, Stream, Touched};
use crate::profile::Profile;

/// What recordings beside the profile say of each kernel's executions.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    /// By kernel, oldest first.
    touched: HashMap<String, Vec<(Execution, Vec<Buffer>)>>,
    given: HashMap<String, Vec<Dispatch>>,
    /// Kernels that several sites dispatch: their executions have no common order.
    ambiguous: BTreeSet<String>,
    has: Has,
}

/// What was added.
#[derive(Clone, Copy, Debug, Default)]
struct Has {
    instruments: bool,
    replay: bool,
}

/// One execution of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Which<'n> {
    pub(crate) kernel: &'n str,
    /// How many executions of the kernel came after it.
    pub(crate) later: usize,
    pub(crate) workgroups: [u32; 3],
}

impl Executions {
    /// Adds what each execution touched.
    pub fn add_instruments(&mut self, stream: &Stream<'_>) {
        self.has.instruments = true;
        for module in stream.modules() {
            let map = AccessMap::of(module, &instruments::Filter::default());
            let executions = instruments::Executions::of(module, &map);
            for site in map.sites() {
                let name = String::from_utf8_lossy(module.metadata().site_name(site.index)).into_owned();
                let with_buffers = |one: &Execution| {
                    let buffers = one.touched.iter().map(|touched| map.buffers()[touched.buffer]);
                    (one.clone(), buffers.collect())
                };
                let list = executions.of_site(site.index).map(with_buffers).collect();
                if self.touched.insert(name.clone(), list).is_some() {
                    self.ambiguous.insert(name);
                }
            }
        }
    }

    /// Adds what each execution was given.
    ///
    /// # Errors
    ///
    /// If the replay's calls contradict themselves.
    pub fn add_replay(&mut self, replay: &HalReplay<'_>) -> Result<(), Error> {
        self.has.replay = true;
        let dispatches = replay.dispatches()?;
        // A program that was not profiled as a whole says from where to where it was.
        let is_profiled = dispatches.iter().any(|dispatch| dispatch.is_profiled);
        for dispatch in dispatches.into_iter().filter(|one| one.is_profiled || !is_profiled) {
            self.given.entry(dispatch.name.clone()).or_default().push(dispatch);
        }
        Ok(())
    }

    /// What there is to say of an execution, a fact per line.
    pub(crate) fn facts(&self, which: &Which<'_>) -> Vec<String> {
        let mut facts = Vec::new();
        if let Some((execution, buffers)) =
            self.touched_by(which).filter(|one| one.0.grid == which.workgroups)
        {
            if !execution.is_whole() {
                facts.push(format!("instruments of {} workgroups only", execution.workgroups));
            }
            facts.extend(execution.touched.iter().zip(buffers).map(touched));
        }
        if let Some(dispatch) = self.given_to(which) {
            if !dispatch.constants.is_empty() {
                let constants: Vec<String> = dispatch.constants.iter().map(u32::to_string).collect();
                facts.push(format!("constants: {}", constants.join(", ")));
            }
            facts.extend(dispatch.bindings.iter().enumerate().map(|(index, range)| binding(index, range)));
        }
        facts
    }

    fn touched_by(&self, which: &Which<'_>) -> Option<&(Execution, Vec<Buffer>)> {
        if self.ambiguous.contains(which.kernel) {
            return None;
        }
        self.touched.get(which.kernel)?.iter().nth_back(which.later)
    }

    fn given_to(&self, which: &Which<'_>) -> Option<&Dispatch> {
        let dispatch = self.given.get(which.kernel)?.iter().nth_back(which.later)?;
        dispatch.workgroups.is_none_or(|grid| grid == which.workgroups).then_some(dispatch)
    }

    /// Where the recordings do not fit together, in sentences.
    pub fn gaps(&self, profile: &Profile) -> Vec<String> {
        let mut kernels: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for which in profile.executions() {
            let (count, others) = kernels.entry(which.kernel).or_default();
            *count += 1;
            let grid = self.touched_by(&which).map(|one| one.0.grid);
            *others += usize::from(grid.is_some_and(|grid| grid != which.workgroups));
        }
        let mut gaps = Vec::new();
        for (kernel, (count, others)) in kernels {
            let instruments = self.touched.get(kernel).map_or(0, Vec::len);
            let replay = self.given.get(kernel).map_or(0, Vec::len);
            if self.ambiguous.contains(kernel) {
                gaps.push(format!(
                    "{kernel}: several modules have it; what each execution touched is not known"
                ));
            } else if self.has.instruments && instruments < count {
                gaps.push(format!("{kernel}: it ran {count} times, and instruments know of {instruments}"));
            } else if others > 0 {
                gaps.push(format!(
                    "{kernel}: {others} executions have another grid than the instruments say"
                ));
            }
            if self.has.replay && replay != count {
                gaps.push(format!("{kernel}: it ran {count} times, and the replay knows of {replay}"));
            }
        }
        gaps
    }
}

fn touched((touched, buffer): (&Touched, &Buffer)) -> String {
    let [from, to] = touched.range.map(|address| address.saturating_sub(buffer.begin));
    let Touched { buffer: number, read, written, .. } = touched;
    let begin = buffer.begin;
    format!("buffer {number} at {begin:#x}: bytes {from}..{to}, {read} bytes read, {written} written")
}

fn binding(index: usize, range: &BufferRange) -> String {
    let BufferRange { buffer, offset, length, .. } = *range;
    match length {
        u64::MAX => format!("binding {index}: bytes from {offset} of replay buffer {buffer}"),
        length => {
            let end = offset.saturating_add(length);
            format!("binding {index}: bytes {offset}..{end} of replay buffer {buffer}")
        }
    }
}
