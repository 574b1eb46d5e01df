//! Putting a table together.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::Path;

use super::TableError;
use super::layout::{self, export};

/// Collects exports and sources, and writes them as one zonecast table.
///
/// See the [module](super) for an example.
#[derive(Debug, Clone, Default)]
pub struct TableBuilder {
    name: Vec<u8>,
    target: Vec<u8>,
    exports: Vec<Export>,
    sources: BTreeMap<Vec<u8>, Vec<u8>>,
    #[cfg(feature = "zstd")]
    compress: bool,
}

/// A kernel, where it is written, and where it stands in the stages of compilation.
#[derive(Debug, Clone)]
pub struct Export {
    name: Vec<u8>,
    location: Location,
    /// By name, so that they ascend.
    stages: BTreeMap<Vec<u8>, Location>,
    repeats_a_stage: bool,
}

#[derive(Debug, Clone, Default)]
struct Location {
    file: Vec<u8>,
    line: u32,
}

impl Location {
    fn new(file: impl AsRef<[u8]>, line: u32) -> Self {
        Self { file: file.as_ref().to_vec(), line }
    }
}

impl Export {
    /// An export by the name by which the runtime launches it.
    pub fn new(name: impl AsRef<[u8]>) -> Self {
        let name = name.as_ref().to_vec();
        Self { name, location: Location::default(), stages: BTreeMap::new(), repeats_a_stage: false }
    }

    /// Where its author wrote it. Lines count from 1; 0 is unknown.
    pub fn at(mut self, file: impl AsRef<[u8]>, line: u32) -> Self {
        self.location = Location::new(file, line);
        self
    }

    /// Where it stands in a stage of compilation.
    pub fn stage(mut self, name: impl AsRef<[u8]>, file: impl AsRef<[u8]>, line: u32) -> Self {
        let before = self.stages.insert(name.as_ref().to_vec(), Location::new(file, line));
        self.repeats_a_stage |= before.is_some();
        self
    }
}

impl TableBuilder {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the executable calls itself.
    pub fn name(&mut self, name: impl AsRef<[u8]>) -> &mut Self {
        self.name = name.as_ref().to_vec();
        self
    }

    /// What it is compiled for, for instance `sm_90`.
    pub fn target(&mut self, target: impl AsRef<[u8]>) -> &mut Self {
        self.target = target.as_ref().to_vec();
        self
    }

    /// Compresses each text where that makes it smaller. Readers then have to unpack a text before they can
    /// show it, and need zonecast-embed's feature `zstd` for that.
    #[cfg(feature = "zstd")]
    pub fn compress(&mut self, compress: bool) -> &mut Self {
        self.compress = compress;
        self
    }

    /// Adds an export. Exports keep their order, which should be the one by which runtimes number them.
    ///
    /// # Errors
    ///
    /// If the export or a stage has no name, two of its stages have the same, or there are more than 1,024.
    pub fn export(&mut self, export: Export) -> Result<&mut Self, TableError> {
        if export.name.is_empty() || export.stages.contains_key(&b""[..]) {
            return Err(TableError::Nameless);
        }
        if export.repeats_a_stage || export.stages.len() > export::MOST_STAGES as usize {
            return Err(TableError::Stages { export: export.name });
        }
        self.exports.push(export);
        Ok(self)
    }

    /// Adds a source file. The same file may be added again. Files that share their text share its bytes.
    ///
    /// # Errors
    ///
    /// If the path is empty, or stands for another text already.
    pub fn source(
        &mut self,
        path: impl AsRef<[u8]>,
        text: impl AsRef<[u8]>,
    ) -> Result<&mut Self, TableError> {
        let (path, text) = (path.as_ref(), text.as_ref());
        if path.is_empty() {
            return Err(TableError::Nameless);
        }
        match self.sources.get(path) {
            Some(other) if other != text => Err(TableError::Ambiguous { path: path.to_vec() }),
            Some(_) => Ok(self),
            None => {
                self.sources.insert(path.to_vec(), text.to_vec());
                Ok(self)
            }
        }
    }

    /// Adds the source file that is on disk at `path`, under that path.
    ///
    /// # Errors
    ///
    /// If it cannot be read, and as [`source`](Self::source).
    pub fn source_file(&mut self, path: impl AsRef<Path>) -> io::Result<&mut Self> {
        let path = path.as_ref();
        let text = std::fs::read(path)?;
        self.source(path.as_os_str().as_encoded_bytes(), text).map_err(io::Error::other)
    }

    /// Writes the table's bytes to a file, for [`embed_table!`](crate::embed_table) or as it is.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, and as [`build`](Self::build).
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        std::fs::write(path, self.build().map_err(io::Error::other)?)
    }

    /// The table's bytes. They are the same whenever what was added is the same.
    ///
    /// # Errors
    ///
    /// If they would be more than 4 GiB.
    pub fn build(&self) -> Result<Vec<u8>, TableError> {
        let stages = self.exports.iter().map(|export| export.stages.len()).sum();
        let mut end = u64::from(layout::HEADER_SIZE);
        let mut array = |count: usize, size: u64| {
            let array = (end, count as u64);
            end += count as u64 * size;
            array
        };
        let arrays = [
            array(self.exports.len(), export::SIZE),
            array(stages, layout::stage::SIZE),
            array(self.sources.len(), layout::source::SIZE),
        ];
        let mut data = Data { at: end, bytes: Vec::new(), placed: HashMap::new() };
        let mut names = Vec::new();
        data.put_string(&mut names, &self.name)?;
        data.put_string(&mut names, &self.target)?;
        let records = self.records(&mut data)?;

        let size = (end + data.bytes.len() as u64).next_multiple_of(layout::ALIGNMENT.into());
        let mut table = layout::MAGIC.to_vec();
        put(&mut table, [layout::VERSION, layout::HEADER_SIZE, number(size)?, 0]);
        table.extend(names);
        for (at, count) in arrays {
            put(&mut table, [number(at)?, number(count)?]);
        }
        table.extend(records);
        table.extend(data.bytes);
        table.resize(size as usize, 0);
        Ok(table)
    }

    /// The records of exports, stages and sources; their names and texts go to `data`.
    fn records(&self, data: &mut Data) -> Result<Vec<u8>, TableError> {
        let (mut exports, mut stages, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        let mut next_stage = 0;
        for export in &self.exports {
            let count = number(export.stages.len() as u64)?;
            data.put_string(&mut exports, &export.name)?;
            data.put_location(&mut exports, &export.location)?;
            put(&mut exports, [number(next_stage)?, count, 0]);
            next_stage += u64::from(count);
            for (name, location) in &export.stages {
                data.put_string(&mut stages, name)?;
                data.put_location(&mut stages, location)?;
                put(&mut stages, [0]);
            }
        }
        // The texts behind all that is looked at to find them, so that who looks touches few pages.
        for path in self.sources.keys() {
            data.place(path);
        }
        for (path, text) in &self.sources {
            let packed = self.pack(text);
            data.put_string(&mut sources, path)?;
            data.put_string(&mut sources, packed.as_deref().unwrap_or(text))?;
            let flags = if packed.is_some() { layout::source::FLAG_ZSTD } else { 0 };
            put(&mut sources, [number(text.len() as u64)?, flags]);
        }
        exports.extend(stages);
        exports.extend(sources);
        Ok(exports)
    }

    #[cfg(feature = "zstd")]
    fn pack(&self, text: &[u8]) -> Option<Vec<u8>> {
        let fits = self.compress && text.len() as u64 <= layout::source::MOST_UNPACKED.into();
        fits.then(|| crate::zstd::pack(text)).filter(|packed| packed.len() < text.len())
    }

    #[cfg(not(feature = "zstd"))]
    fn pack(&self, _text: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

fn number(value: u64) -> Result<u32, TableError> {
    value.try_into().map_err(|_| TableError::TooLarge)
}

fn put<const N: usize>(records: &mut Vec<u8>, numbers: [u32; N]) {
    records.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

/// Names and texts, each stored once.
struct Data {
    /// Where they will begin in the table.
    at: u64,
    bytes: Vec<u8>,
    /// Where in `bytes` those of that hash are: no second copy of every text is kept to compare with.
    placed: HashMap<u64, Vec<(usize, usize)>>,
}

impl Data {
    /// Writes the offset and length of `string`.
    fn put_string(&mut self, records: &mut Vec<u8>, string: &[u8]) -> Result<(), TableError> {
        let start = if string.is_empty() { 0 } else { number(self.at + self.place(string) as u64)? };
        put(records, [start, number(string.len() as u64)?]);
        Ok(())
    }

    fn put_location(&mut self, records: &mut Vec<u8>, location: &Location) -> Result<(), TableError> {
        self.put_string(records, &location.file)?;
        put(records, [location.line]);
        Ok(())
    }

    fn place(&mut self, string: &[u8]) -> usize {
        let mut hasher = std::hash::DefaultHasher::new();
        string.hash(&mut hasher);
        let placed = self.placed.entry(hasher.finish()).or_default();
        let same = placed.iter().find(|(start, len)| self.bytes[*start..*start + *len] == *string);
        if let Some((start, _)) = same {
            return *start;
        }
        let start = self.bytes.len();
        placed.push((start, string.len()));
        self.bytes.extend_from_slice(string);
        start
    }
}
