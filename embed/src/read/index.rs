//! For formats that have to be looked through: what was found, put in order once, when it is first asked for.
//!
//! In debug information nothing is where a name would lead to it. So the first question goes through all of an
//! image, and later ones are look-ups. Texts are found again as places, in the image where they are whole there.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::{RawExport, RawSource, Reader, Result, Text};
use crate::image::{Format, SourceLocation, Stage};
use crate::storage::Opened;
use crate::{Error, Remark};

const RECORD: &str = "a record within its index";

/// Looks through images of one format.
pub(crate) trait Build: Send + Sync {
    fn format(&self) -> Format;
    fn target(&self) -> Option<&[u8]>;
    fn build(&self, image: &[u8]) -> Index;
}

/// The reader for a format that has to be looked through.
pub(crate) struct Indexed<B> {
    build: B,
    index: OnceLock<Index>,
}

/// What is in an image.
#[derive(Default)]
pub(crate) struct Index {
    /// Names and paths, one behind the other.
    names: Vec<u8>,
    exports: Vec<Export>,
    /// The exports' indices, ascending by name.
    by_name: Vec<usize>,
    /// First the sources, ascending by path, then the listings.
    texts: Vec<Entry>,
    listings: usize,
    homes: Vec<Opened>,
    damage: Option<Error>,
    remarks: Vec<Remark>,
}

/// A range of `Index::names`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    start: usize,
    length: usize,
}

struct Export {
    name: Span,
    location: Option<(Span, u32)>,
    stages: Vec<(Span, Option<(Span, u32)>)>,
}

struct Entry {
    path: Span,
    place: Place,
}

/// Where a text is.
#[derive(Clone)]
pub(crate) enum Place {
    Image(Range<usize>),
    /// In one of `Index::homes`.
    Home {
        home: usize,
        range: Range<usize>,
        /// Whether it is there because it is not whole in the file.
        is_unpacked: bool,
    },
}

/// Collects what is in an image.
#[derive(Default)]
pub(crate) struct IndexBuilder {
    index: Index,
    /// Paths that are there already.
    paths: HashMap<Box<[u8]>, Span>,
    sources: Vec<Entry>,
    listings: Vec<Entry>,
}

impl IndexBuilder {
    fn name(&mut self, name: &[u8]) -> Span {
        let span = Span { start: self.index.names.len(), length: name.len() };
        self.index.names.extend_from_slice(name);
        span
    }

    fn path(&mut self, path: &[u8]) -> Span {
        if let Some(&span) = self.paths.get(path) {
            return span;
        }
        let span = self.name(path);
        self.paths.insert(path.into(), span);
        span
    }

    fn location(&mut self, location: Option<(&[u8], u32)>) -> Option<(Span, u32)> {
        let (path, line) = location.filter(|(path, _)| !path.is_empty())?;
        Some((self.path(path), line))
    }

    /// Adds an export and returns its ordinal.
    pub(crate) fn export(&mut self, name: &[u8], location: Option<(&[u8], u32)>) -> usize {
        let export = Export { name: self.name(name), location: self.location(location), stages: Vec::new() };
        self.index.exports.push(export);
        self.index.exports.len() - 1
    }

    #[cfg(feature = "dwarf")]
    pub(crate) fn stage(&mut self, export: usize, name: &[u8], location: Option<(&[u8], u32)>) {
        let stage = (self.path(name), self.location(location));
        self.index.exports[export].stages.push(stage);
    }

    /// Keeps a file beside the image, in which places are.
    pub(crate) fn home(&mut self, file: Opened) -> usize {
        self.index.homes.push(file);
        self.index.homes.len() - 1
    }

    /// Keeps bytes that are not in the file as they are, in which places are.
    pub(crate) fn home_of(&mut self, bytes: Vec<u8>) -> usize {
        self.home(Opened::memory(bytes))
    }

    /// Keeps a text that is not whole in the image.
    #[cfg(any(feature = "cubin", feature = "spirv"))]
    pub(crate) fn unpacked(&mut self, text: Vec<u8>) -> Place {
        let range = 0..text.len();
        Place::Home { home: self.home_of(text), range, is_unpacked: true }
    }

    pub(crate) fn source(&mut self, path: &[u8], place: Place) {
        let path = self.path(path);
        self.sources.push(Entry { path, place });
    }

    #[cfg(feature = "cubin")]
    pub(crate) fn listing(&mut self, path: &[u8], place: Place) {
        let path = self.path(path);
        self.listings.push(Entry { path, place });
    }

    /// The file of the first export that has a location.
    #[cfg(feature = "cubin")]
    pub(crate) fn first_path(&self) -> Option<Vec<u8>> {
        let path = self.index.exports.iter().find_map(|export| export.location);
        path.map(|(path, _)| self.index.bytes(path).to_vec())
    }

    pub(crate) fn remark(&mut self, remark: Remark) {
        if !self.index.remarks.contains(&remark) {
            self.index.remarks.push(remark);
        }
    }

    /// Something is wrong. The first of several is kept.
    #[cfg(feature = "dwarf")]
    pub(crate) fn damaged(&mut self, error: Error) {
        self.index.damage.get_or_insert(error);
    }

    pub(crate) fn finish(self) -> Index {
        let Self { mut index, mut sources, mut listings, .. } = self;
        // Stable, so that of several texts for one path the first stays the first.
        sources.sort_by(|a, b| index.bytes(a.path).cmp(index.bytes(b.path)));
        let mut by_name: Vec<usize> = (0..index.exports.len()).collect();
        by_name.sort_by(|&a, &b| index.export_name(a).cmp(index.export_name(b)));
        index.by_name = by_name;
        index.listings = listings.len();
        index.texts = sources;
        index.texts.append(&mut listings);
        index
    }
}

impl Index {
    fn bytes(&self, span: Span) -> &[u8] {
        self.names.get(span.start..span.start + span.length).unwrap_or_default()
    }

    fn export_name(&self, export: usize) -> &[u8] {
        self.exports.get(export).map(|export| self.bytes(export.name)).unwrap_or_default()
    }

    fn at(&self, location: Option<(Span, u32)>) -> Option<SourceLocation<'_>> {
        location.map(|(file, line)| SourceLocation { file: self.bytes(file), line })
    }

    fn text<'a>(&'a self, image: &'a [u8], place: &Place) -> Text<'a> {
        match place {
            Place::Image(range) => Text::Plain(image.get(range.clone()).unwrap_or_default()),
            Place::Home { home, range, is_unpacked } => {
                let home = self.homes.get(*home).map(Opened::bytes).unwrap_or_default();
                let text = home.get(range.clone()).unwrap_or_default();
                if *is_unpacked { Text::Unpacked(text) } else { Text::Plain(text) }
            }
        }
    }
}

impl<B: Build> Indexed<B> {
    pub(crate) fn new(build: B) -> Self {
        Self { build, index: OnceLock::new() }
    }

    fn index(&self, image: &[u8]) -> &Index {
        self.index.get_or_init(|| self.build.build(image))
    }

    fn get(&self, image: &[u8], export: usize) -> Result<&Export> {
        self.index(image).exports.get(export).ok_or(Error::damaged(0, RECORD))
    }

    fn text(&self, image: &[u8], source: usize) -> Result<&Entry> {
        self.index(image).texts.get(source).ok_or(Error::damaged(0, RECORD))
    }
}

impl<B: Build> Reader for Indexed<B> {
    fn format(&self) -> Format {
        self.build.format()
    }

    fn is_checked_when_touched(&self) -> bool {
        true
    }

    fn is_looked_through(&self) -> bool {
        true
    }

    fn verify(&self, image: &[u8]) -> Result<()> {
        self.index(image).damage.as_ref().map_or(Ok(()), |error| Err(error.again()))
    }

    fn unchanged(&self) -> bool {
        self.index.get().is_none_or(|index| index.homes.iter().all(Opened::unchanged))
    }

    fn remarks<'a>(&'a self, image: &'a [u8]) -> &'a [Remark] {
        &self.index(image).remarks
    }

    fn name<'a>(&'a self, _image: &'a [u8]) -> Result<&'a [u8]> {
        Ok(b"")
    }

    fn target<'a>(&'a self, _image: &'a [u8]) -> Option<&'a [u8]> {
        self.build.target()
    }

    fn exports(&self, image: &[u8]) -> usize {
        self.index(image).exports.len()
    }

    fn export<'a>(&'a self, image: &'a [u8], export: usize) -> Result<RawExport<'a>> {
        let export = self.get(image, export)?;
        let index = self.index(image);
        let location = index.at(export.location);
        Ok(RawExport { name: index.bytes(export.name), location, stages: export.stages.len() })
    }

    fn find_export(&self, image: &[u8], name: &[u8]) -> Option<usize> {
        let index = self.index(image);
        let at = index.by_name.partition_point(|&export| index.export_name(export) < name);
        index.by_name.get(at).copied().filter(|&export| index.export_name(export) == name)
    }

    fn stage<'a>(&'a self, image: &'a [u8], export: usize, stage: usize) -> Result<Stage<'a>> {
        let stage = self.get(image, export)?.stages.get(stage).ok_or(Error::damaged(0, RECORD))?;
        let index = self.index(image);
        Ok(Stage { name: index.bytes(stage.0), location: index.at(stage.1) })
    }

    fn sources(&self, image: &[u8]) -> usize {
        let index = self.index(image);
        index.texts.len() - index.listings
    }

    fn listings(&self, image: &[u8]) -> usize {
        self.index(image).listings
    }

    fn source<'a>(&'a self, image: &'a [u8], source: usize) -> Result<RawSource<'a>> {
        let entry = self.text(image, source)?;
        let index = self.index(image);
        Ok(RawSource { path: index.bytes(entry.path), text: index.text(image, &entry.place) })
    }

    fn source_path<'a>(&'a self, image: &'a [u8], source: usize) -> Result<&'a [u8]> {
        Ok(self.index(image).bytes(self.text(image, source)?.path))
    }
}
