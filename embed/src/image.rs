//! What is in an image: exports, their locations and stages, and the source files.
//!
//! All of these are small copyable views. They borrow from the [`Executable`] and cost nothing to make;
//! a record is read when it is asked for.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;
#[cfg(feature = "zstd")]
use std::sync::OnceLock;

use crate::read::{Place, RawExport, RawSource, Text};
use crate::{Error, Executable, Note, Origin};

/// How an image is laid out, thus who wrote it. `Display` gives the name in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// The zonecast table, which any compiler can write (`zonecast`).
    Zonecast,
    /// IREE's executable library for CPUs (`iree-cpu`).
    IreeCpu,
    /// IREE's executable for CUDA (`iree-cuda`).
    IreeCuda,
    /// IREE's executable for HIP (`iree-hip`).
    IreeHip,
    /// IREE's executable for AMD GPUs without HIP (`iree-amdgpu`). Its exports bear the names of the
    /// kernels' descriptors, which end in `.kd`.
    IreeAmdgpu,
    /// IREE's executable for Vulkan (`iree-vulkan`).
    IreeVulkan,
    /// IREE's executable for Metal (`iree-metal`).
    IreeMetal,
    /// IREE's bytecode for its own interpreter (`iree-vmvx`). It records neither locations nor sources,
    /// nor, in a form that is understood here, exports.
    IreeVmvx,
    /// An object, library, program or WebAssembly module with DWARF (`dwarf`).
    Dwarf,
    /// A code object for AMD GPUs (`amdgpu`). Its exports bear the names of the kernels, without `.kd`.
    Amdgpu,
    /// Code for NVIDIA GPUs (`cubin`).
    Cubin,
    /// A text in NVIDIA's PTX (`ptx`).
    Ptx,
    /// NVIDIA's container for cubins and PTX (`fatbin`). They follow it as further images.
    Fatbin,
    /// LLVM bitcode in an object, of which code for a GPU is made when that is linked (`bitcode`).
    Bitcode,
    /// A SPIR-V module (`spirv`).
    Spirv,
    /// What Triton's compiler leaves in its cache for one kernel, or one of the texts there (`triton`).
    Triton,
}

impl Format {
    /// The short name that `Display` gives.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Zonecast => "zonecast",
            Self::IreeCpu => "iree-cpu",
            Self::IreeCuda => "iree-cuda",
            Self::IreeHip => "iree-hip",
            Self::IreeAmdgpu => "iree-amdgpu",
            Self::IreeVulkan => "iree-vulkan",
            Self::IreeMetal => "iree-metal",
            Self::IreeVmvx => "iree-vmvx",
            Self::Dwarf => "dwarf",
            Self::Amdgpu => "amdgpu",
            Self::Cubin => "cubin",
            Self::Ptx => "ptx",
            Self::Fatbin => "fatbin",
            Self::Bitcode => "bitcode",
            Self::Spirv => "spirv",
            Self::Triton => "triton",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A line of a file. The file may or may not be among the embedded sources: an export's own location
/// usually names the user's file, a stage's location an embedded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceLocation<'a> {
    /// The path as the compiler wrote it, raw bytes, never empty.
    pub file: &'a [u8],
    /// Counted from one; zero if unknown.
    pub line: u32,
}

/// One executable inside an [`Executable`].
#[derive(Clone, Copy)]
pub struct Image<'a> {
    executable: &'a Executable,
    index: usize,
}

impl<'a> Image<'a> {
    pub(crate) fn new(executable: &'a Executable, index: usize) -> Self {
        Self { executable, index }
    }

    /// How it is laid out.
    pub fn format(self) -> Format {
        self.found().reader.format()
    }

    /// Its index among the [images](Executable::images).
    pub fn index(self) -> usize {
        self.index
    }

    /// The name that it bears inside, for instance `mlp_net_linked`; empty if it has none, as those for
    /// GPUs.
    pub fn name(self) -> &'a [u8] {
        self.found().reader.name(self.raw()).unwrap_or_default()
    }

    /// What it was compiled for, if it says so: `x86_64`, `arm_64`, `riscv_32`, `gfx942`, …
    pub fn target(self) -> Option<&'a [u8]> {
        self.found().reader.target(self.raw()).or(self.found().target.as_deref())
    }

    /// Its place in the file; `None` for what was already loaded, or had to be unpacked.
    pub fn range(self) -> Option<Range<u64>> {
        match &self.found().place {
            Place::File(range) => Some(range.start as u64..range.end as u64),
            #[cfg(any(feature = "offload", feature = "iree"))]
            _ => None,
        }
    }

    /// Where it begins in the file, in bytes.
    pub fn offset(self) -> Option<u64> {
        self.range().map(|range| range.start)
    }

    /// Its size in the file, in bytes.
    #[allow(clippy::len_without_is_empty)] // an image is never empty
    pub fn len(self) -> Option<u64> {
        self.range().map(|range| range.end - range.start)
    }

    /// Its own bytes: for a CPU executable a whole ELF file. `None` for what was already loaded.
    pub fn bytes(self) -> Option<&'a [u8]> {
        match &self.found().place {
            #[cfg(feature = "iree")]
            Place::Memory => None,
            _ => Some(self.raw()),
        }
    }

    /// Its exports, in ordinal order, which need not be the order of their names.
    pub fn exports(self) -> Exports<'a> {
        Exports { image: self, left: 0..self.found().reader.exports(self.raw()) }
    }

    /// The export of that ordinal.
    pub fn export(self, ordinal: usize) -> Option<Export<'a>> {
        (ordinal < self.found().reader.exports(self.raw())).then(|| Export {
            image: self,
            ordinal,
            raw: self.found().reader.export(self.raw(), ordinal).unwrap_or_default(),
        })
    }

    /// The first export of that name. In debug information a binary search, else a walk through the exports.
    pub fn export_named(self, name: impl AsRef<[u8]>) -> Option<Export<'a>> {
        let ordinal = self.found().reader.find_export(self.raw(), name.as_ref())?;
        self.export(ordinal)
    }

    /// Whether its exports are only found by looking through all of it, which is done when one is first asked for:
    /// so it is with debug information.
    pub fn is_looked_through(self) -> bool {
        self.found().reader.is_looked_through()
    }

    /// The embedded source files.
    pub fn sources(self) -> Sources<'a> {
        let count = self.found().reader.sources(self.raw());
        Sources { image: self, first: 0, count, is_listing: false }
    }

    /// Texts that the compiler wrote while it made this image, for instance its PTX: something to look at where
    /// there are no sources. Stages name them.
    pub fn listings(self) -> Sources<'a> {
        let reader = &self.found().reader;
        let (first, count) = (reader.sources(self.raw()), reader.listings(self.raw()));
        Sources { image: self, first, count, is_listing: true }
    }

    /// The source with exactly this path, or else the listing.
    pub fn find(self, path: impl AsRef<[u8]>) -> Option<Source<'a>> {
        let path = path.as_ref();
        self.sources().find_source(path).or_else(|| self.listings().find_source(path))
    }

    /// The source or listing that a location of this image names: its [own](Self::find) of that path, else that
    /// of another image of the same file, for instance of a table that was [attached](crate::table) to it.
    pub fn named_source(self, path: impl AsRef<[u8]>) -> Option<Source<'a>> {
        let path = path.as_ref();
        let others = self.executable.images().filter(|image| image.index != self.index);
        std::iter::once(self).chain(others).find_map(|image| image.find(path))
    }

    /// Where the text is that a location of this image names: in the executable, on disk, or nowhere.
    pub fn origin(self, path: impl AsRef<[u8]>) -> Origin {
        let path = path.as_ref();
        match self.named_source(path) {
            Some(source) if source.is_listing() => Origin::Listing,
            Some(_) => Origin::Embedded,
            None => self.executable.disk_text(path).map_or(Origin::Missing, |file| file.origin()),
        }
    }

    /// The file that it was found in, and all else in that.
    pub fn executable(self) -> &'a Executable {
        self.executable
    }

    /// For a CPU executable, what its library header says.
    pub fn cpu_library(self) -> Option<CpuLibrary> {
        self.found().reader.cpu_library()
    }

    fn found(self) -> &'a crate::read::Found {
        &self.executable.found()[self.index]
    }

    /// The bytes that the reader works on; empty for what was already loaded.
    fn raw(self) -> &'a [u8] {
        match &self.found().place {
            Place::File(range) => self.executable.bytes().get(range.clone()).unwrap_or_default(),
            #[cfg(feature = "offload")]
            Place::Unpacked { bytes, range, .. } => bytes.get(range.clone()).unwrap_or_default(),
            #[cfg(feature = "iree")]
            Place::Memory => &[],
        }
    }

    pub(crate) fn notes(self) -> impl Iterator<Item = Note<'a>> {
        let (image, format) = (self.index, self.format());
        let unsorted = (!self.is_sorted()).then_some(Note::Unsorted { image });
        let never = (format == Format::IreeVmvx).then_some(Note::NeverSources { image, format });
        let damaged = self.found().reader.verify(self.raw()).err();
        let damaged = damaged.map(|error| Note::Damaged { image, error: self.in_file(error) });
        let remarks = self.found().reader.remarks(self.raw());
        let remarks = remarks.iter().map(move |remark| Note::Remark { image, remark });
        unsorted.into_iter().chain(never).chain(damaged).chain(remarks)
    }

    /// An error of this image's reader as one of the whole.
    fn in_file(self, error: Error) -> Error {
        let start = self.found().place.start() as u64;
        let error = match &self.found().place {
            #[cfg(feature = "offload")]
            Place::Unpacked { .. } => error.at(start),
            _ => error.moved_by(start),
        };
        error.in_file(&self.executable.place())
    }

    /// The text of source `index`, unpacked if it was not yet.
    #[cfg(feature = "zstd")]
    fn unpacked(self, index: usize, packed: &[u8], length: u32) -> Result<&'a [u8], Error> {
        let found = self.found();
        let places = found
            .unpacked
            .get_or_init(|| (0..found.reader.sources(self.raw())).map(|_| OnceLock::new()).collect());
        if let Some(text) = places[index].get() {
            return Ok(text);
        }
        // Two threads may do it at once; then one of them has done it for nothing.
        let text = crate::zstd::unpack(packed, length as usize).map_err(|error| self.in_file(error))?;
        Ok(places[index].get_or_init(|| text))
    }

    #[cfg(not(feature = "zstd"))]
    fn unpacked(self, _index: usize, _packed: &[u8], _length: u32) -> Result<&'a [u8], Error> {
        let what = "a compressed text, since zonecast-embed was built without its feature `zstd`";
        Err(self.in_file(Error::unsupported(0, what)))
    }

    /// Whether the sources ascend by path. Found out at the first call, which reads every path.
    pub(crate) fn is_sorted(self) -> bool {
        let path = |index| self.found().reader.source_path(self.raw(), index).ok();
        *self
            .found()
            .sorted
            .get_or_init(|| (0..self.found().reader.sources(self.raw())).map(path).is_sorted())
    }
}

impl fmt::Debug for Image<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("format", &self.format())
            .field("name", &String::from_utf8_lossy(self.name()))
            .field("range", &self.range())
            .field("exports", &self.exports().len())
            .field("sources", &self.sources().len())
            .finish()
    }
}

/// One kernel of an image.
#[derive(Clone, Copy)]
pub struct Export<'a> {
    image: Image<'a>,
    ordinal: usize,
    raw: RawExport<'a>,
}

impl<'a> Export<'a> {
    /// Its name, raw bytes.
    pub fn name(self) -> &'a [u8] {
        self.raw.name
    }

    /// Its place among the exports, by which runtimes call it.
    pub fn ordinal(self) -> usize {
        self.ordinal
    }

    /// The image that it belongs to.
    pub fn image(self) -> Image<'a> {
        self.image
    }

    /// Where in the user's own source it came from; `None` if unknown, or not recorded.
    pub fn location(self) -> Option<SourceLocation<'a>> {
        self.raw.location
    }

    /// Where it stands in the compiler's intermediate forms, in the compiler's order.
    pub fn stages(self) -> Stages<'a> {
        Stages { export: self, left: 0..self.raw.stages }
    }

    /// The stage of that name, for instance `0.source`.
    pub fn stage(self, name: impl AsRef<[u8]>) -> Option<Stage<'a>> {
        self.stages().find(|stage| stage.name == name.as_ref())
    }

    /// For a CPU executable, how the export is to be called.
    pub fn cpu(self) -> Option<CpuExport> {
        self.image.found().reader.cpu_export(self.image.raw(), self.ordinal)
    }
}

impl fmt::Debug for Export<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export")
            .field("name", &String::from_utf8_lossy(self.name()))
            .field("ordinal", &self.ordinal)
            .field("location", &self.location())
            .field("stages", &self.stages().len())
            .finish()
    }
}

/// An export as one stage of compilation saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stage<'a> {
    /// The stage's name, for instance `0.source`.
    pub name: &'a [u8],
    /// The file and line of the export in that stage.
    pub location: Option<SourceLocation<'a>>,
}

/// What an IREE executable library for CPUs says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuLibrary {
    /// The version of IREE's executable library interface: 4, 5 or 6. Its query function answers to
    /// exactly this one.
    pub abi_version: u32,
    /// The machine of the ELF file (`e_machine`); `None` for a loaded library, which is the host's.
    pub machine: Option<u16>,
    /// The width of a pointer in bytes, 4 or 8.
    pub pointer_size: u8,
    /// Feature bits.
    pub features: u32,
    /// 0 none, 1 address, 2 memory, 3 thread, 4 undefined behaviour.
    pub sanitizer: u32,
    /// How many functions the library imports from its host.
    pub imports: u32,
    /// How many constants the library as a whole takes when it is loaded.
    pub constants: u32,
}

/// How to call an export of an IREE executable library for CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuExport {
    /// Bit 0: workgroups run one after another; bit 1: the workgroup size is dynamic. Zero before
    /// version 6.
    pub flags: u64,
    /// The local memory that each workgroup needs, in pages of 4,096 bytes.
    pub local_memory_pages: u16,
    /// The number of 32-bit push constants.
    pub constants: u8,
    /// The number of buffer bindings.
    pub bindings: u8,
    /// The workgroup size; `None` before version 6, which did not record it.
    pub workgroup_size: Option<[u32; 3]>,
}

/// The embedded source files of an image.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    image: Image<'a>,
    /// The first one's index among all of the reader's texts.
    first: usize,
    count: usize,
    /// These are few, and in the compiler's order.
    is_listing: bool,
}

impl<'a> Sources<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The source of that index, in the table's order.
    pub fn get(self, index: usize) -> Option<Source<'a>> {
        if index >= self.len() {
            return None;
        }
        let index = self.first + index;
        let raw = self.image.found().reader.source(self.image.raw(), index).ok()?;
        Some(Source { image: self.image, index, raw })
    }

    /// All of them, in the table's order.
    pub fn iter(self) -> impl Iterator<Item = Source<'a>> + use<'a> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }

    /// The text of the file with exactly this path.
    ///
    /// A binary search. The first one checks the table's order; if that is wrong, this and all
    /// later ones look through the whole table (and [`Executable::notes`] says so).
    pub fn find(self, path: impl AsRef<[u8]>) -> Option<&'a [u8]> {
        self.find_source(path).map(Source::text)
    }

    /// As [`find`](Self::find), but gives the whole record.
    pub fn find_source(self, path: impl AsRef<[u8]>) -> Option<Source<'a>> {
        let path = path.as_ref();
        if self.is_listing || !self.image.is_sorted() {
            return self.iter().find(|source| source.path() == path);
        }
        let path_of = |index| self.image.found().reader.source_path(self.image.raw(), index).ok();
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            // A damaged path is none, and sorts first.
            match path_of(middle) < Some(path) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        // Of several with the path, the first that is whole, as the walk above would find.
        (low..self.len()).take_while(|&index| path_of(index) == Some(path)).find_map(|index| self.get(index))
    }
}

impl fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// One embedded source file.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    image: Image<'a>,
    index: usize,
    raw: RawSource<'a>,
}

impl<'a> Source<'a> {
    /// Its path, as locations name it. Raw bytes.
    pub fn path(self) -> &'a [u8] {
        self.raw.path
    }

    /// Whether it is a [listing](Image::listings).
    pub fn is_listing(self) -> bool {
        self.index >= self.image.found().reader.sources(self.image.raw())
    }

    /// The image whose table it is in.
    pub fn image(self) -> Image<'a> {
        self.image
    }

    /// Its text, borrowed from the executable: from its own bytes, or, if it is
    /// [compressed](Self::is_compressed), from a copy that is made at the first call and kept. Not
    /// NUL-terminated; UTF-8 if the compiler kept to that. Empty if it cannot be unpacked.
    pub fn text(self) -> &'a [u8] {
        self.try_text().unwrap_or_default()
    }

    /// As [`text`](Self::text), but says why a compressed text cannot be unpacked.
    ///
    /// # Errors
    ///
    /// If the compressed bytes are damaged, or this crate was built without its feature `zstd`.
    pub fn try_text(self) -> Result<&'a [u8], Error> {
        match self.raw.text {
            Text::Plain(text) => Ok(text),
            #[cfg(feature = "_index")]
            Text::Unpacked(text) => Ok(text),
            Text::Zstd { packed, length } => self.image.unpacked(self.index, packed, length),
        }
    }

    /// The length of its text in bytes. Unpacks nothing.
    pub fn len(self) -> usize {
        match self.raw.text {
            Text::Plain(text) => text.len(),
            #[cfg(feature = "_index")]
            Text::Unpacked(text) => text.len(),
            Text::Zstd { length, .. } => length as usize,
        }
    }

    /// Whether its text is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether its text is compressed, or in several pieces, in the file.
    pub fn is_compressed(self) -> bool {
        match self.raw.text {
            #[cfg(feature = "offload")]
            Text::Plain(_) if matches!(self.image.found().place, Place::Unpacked { .. }) => true,
            Text::Plain(_) => false,
            #[cfg(feature = "_index")]
            Text::Unpacked(_) => true,
            Text::Zstd { .. } => true,
        }
    }

    /// Where the text begins in the file; `None` if it is compressed there, or already loaded.
    pub fn offset(self) -> Option<u64> {
        let Text::Plain(text) = self.raw.text else { return None };
        let file = self.image.executable.bytes().as_ptr_range();
        let text = text.as_ptr_range();
        (file.start <= text.start && text.end <= file.end && file.start != file.end)
            .then(|| (text.start.addr() - file.start.addr()) as u64)
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("path", &String::from_utf8_lossy(self.path()))
            .field("length", &self.len())
            .finish()
    }
}

/// Iterator over the [exports](Image::exports) of an image.
#[derive(Debug, Clone)]
pub struct Exports<'a> {
    image: Image<'a>,
    left: Range<usize>,
}

/// Iterator over the [stages](Export::stages) of an export.
#[derive(Debug, Clone)]
pub struct Stages<'a> {
    export: Export<'a>,
    left: Range<usize>,
}

impl<'a> Exports<'a> {
    fn at(&self, ordinal: usize) -> Option<Export<'a>> {
        self.image.export(ordinal)
    }
}

impl<'a> Stages<'a> {
    fn at(&self, stage: usize) -> Option<Stage<'a>> {
        let image = self.export.image;
        let stage = image.found().reader.stage(image.raw(), self.export.ordinal, stage);
        Some(stage.unwrap_or(Stage { name: b"", location: None }))
    }
}

macro_rules! iterator_by_index {
    ($iterator:ident, $item:ident) => {
        impl<'a> Iterator for $iterator<'a> {
            type Item = $item<'a>;

            fn next(&mut self) -> Option<Self::Item> {
                self.left.next().and_then(|index| self.at(index))
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.left.size_hint()
            }
        }

        impl DoubleEndedIterator for $iterator<'_> {
            fn next_back(&mut self) -> Option<Self::Item> {
                self.left.next_back().and_then(|index| self.at(index))
            }
        }

        impl ExactSizeIterator for $iterator<'_> {}
        impl FusedIterator for $iterator<'_> {}
    };
}

iterator_by_index!(Exports, Export);
iterator_by_index!(Stages, Stage);

/// Iterator over the [images](Executable::images) of an executable.
#[derive(Debug, Clone)]
pub struct Images<'a> {
    executable: &'a Executable,
    left: Range<usize>,
}

impl<'a> Images<'a> {
    pub(crate) fn new(executable: &'a Executable) -> Self {
        Self { executable, left: 0..executable.found().len() }
    }

    fn at(&self, index: usize) -> Option<Image<'a>> {
        self.executable.image(index)
    }
}

iterator_by_index!(Images, Image);
