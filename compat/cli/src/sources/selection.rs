//! Which stages and texts are meant: all of them, or those of one stage.

use std::collections::BTreeSet;

use zonecast_embed::{Executable, Export, Image, Source, Stage};

use super::plain;

/// Stands for the users' own files, as in `ZONECAST_STAGE`.
const ORIGINAL: &str = "original";

pub(super) struct Selection<'s> {
    stage: Option<&'s str>,
}

impl<'s> Selection<'s> {
    pub(super) fn new(stage: Option<&'s str>) -> Self {
        Self { stage }
    }

    /// An export's stages, of those meant.
    pub(super) fn stages<'a>(&self, export: Export<'a>) -> impl Iterator<Item = Stage<'a>> {
        export.stages().filter(move |stage| self.stage.is_none_or(|meant| stage.name == meant.as_bytes()))
    }

    /// An image's texts, of those meant.
    pub(super) fn sources<'a>(&self, image: Image<'a>) -> Vec<Source<'a>> {
        let Some(stage) = self.stage else { return image.sources().iter().collect() };
        // A location may name a text of another image: one that was attached.
        let named = named(image.executable(), stage);
        // The compiler writes texts of stages in which it does not find the kernels any more.
        let part = format!(".{stage}.");
        let is_of_stage = |path: &[u8]| {
            named.contains(path) || path.windows(part.len()).any(|window| window == part.as_bytes())
        };
        image.sources().iter().filter(|source| is_of_stage(source.path())).collect()
    }

    /// An image's listings, of those meant.
    pub(super) fn listings<'a>(&self, image: Image<'a>) -> impl Iterator<Item = Source<'a>> {
        let named = self.stage.map(|stage| named(image.executable(), stage));
        let is_meant = move |path| named.as_ref().is_none_or(|named| named.contains(path));
        image.listings().iter().filter(move |listing| is_meant(listing.path()))
    }

    /// That there is nothing of what was meant.
    pub(super) fn missing(&self, executable: &Executable) -> Option<String> {
        let stage = self.stage?;
        let is_there = executable.images().any(|image| !self.sources(image).is_empty())
            || exports(executable).any(|export| self.stages(export).next().is_some());
        if is_there {
            return None;
        }
        let stages: BTreeSet<String> =
            exports(executable).flat_map(Export::stages).map(|stage| plain(stage.name)).collect();
        let stages: Vec<String> = stages.into_iter().collect();
        let there = if stages.is_empty() { "no stages".to_owned() } else { stages.join(", ") };
        Some(format!("there is nothing of stage {stage}; there are {there}"))
    }
}

fn exports(executable: &Executable) -> impl Iterator<Item = Export<'_>> {
    executable.images().flat_map(|image| image.exports())
}

/// The files that locations of a stage name.
fn named<'a>(executable: &'a Executable, stage: &str) -> BTreeSet<&'a [u8]> {
    let location = |export: Export<'a>| match stage {
        ORIGINAL => export.location(),
        name => export.stage(name).and_then(|stage| stage.location),
    };
    exports(executable).filter_map(location).map(|at| at.file).collect()
}
