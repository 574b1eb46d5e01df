//! LLVM bitcode, which stands in objects where code for a GPU is only made when the program is linked.
//!
//! Its debug information is a list of numbered metadata, strings first: functions name a file by its number, and a
//! file has its text, if the compiler was asked for it (clang's `-gembed-source`). Metadata in a function is numbered on
//! from that of the module. (`llvm/Bitcode/LLVMBitCodes.h` and `MetadataLoader.cpp` in LLVM's sources.)

mod bits;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use self::bits::{Bits, Item, Record, Stream};
use super::index::{Build, Index, IndexBuilder, Place};
use super::{bytes, dwarf};
use crate::Remark;
use crate::image::Format;

const MAGIC: &[u8] = b"BC\xc0\xde";
/// Before the stream stands a header that says where it is.
const WRAPPED: &[u8] = b"\xde\xc0\x17\x0b";
const HEADER: &str = "the header of LLVM bitcode";

const MODULE: u64 = 8;
const FUNCTION: u64 = 12;
const METADATA: u64 = 15;
const NAMES: u64 = 23;

const MODULE_FUNCTION: u64 = 8;
const NAMES_BLOB: u64 = 1;

const FILE: u64 = 16;
const SUBPROGRAM: u64 = 21;
const STRINGS: u64 = 35;
/// Records that are no metadata themselves: names, kinds, attachments and indices.
const UNNUMBERED: [u64; 7] = [4, 6, 10, 11, 36, 38, 39];

/// The calling conventions of kernels: for NVIDIA, for OpenCL, for AMD.
const KERNELS: [u64; 3] = [71, 76, 91];

/// A longer path is none.
const LONGEST_PATH: usize = 4096;

pub(crate) fn is(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(WRAPPED)
}

pub(crate) struct Bitcode;

impl Build for Bitcode {
    fn format(&self) -> Format {
        Format::Bitcode
    }

    /// The container says it.
    fn target(&self) -> Option<&[u8]> {
        None
    }

    fn build(&self, image: &[u8]) -> Index {
        let mut builder = IndexBuilder::default();
        let module = Module::read(image);
        let mut has_lines = false;
        for name in module.kernels() {
            let location = module.declared.get(name).map(|(path, line)| (joined(*path), *line));
            has_lines |= location.is_some();
            builder.export(name, location.as_ref().map(|(path, line)| (&**path, *line)));
        }
        if module.texts.is_empty() {
            builder.remark(if has_lines { Remark::NoTexts } else { Remark::NoLines });
        }
        for (path, text) in &module.texts {
            builder.source(&joined(*path), Place::Image(text.clone()));
        }
        builder.finish()
    }
}

/// What is of interest in a module.
#[derive(Default)]
struct Module<'a> {
    image: &'a [u8],
    /// Where strings are, by their numbers.
    strings: BTreeMap<u64, Range<usize>>,
    files: BTreeMap<u64, File>,
    /// The next number.
    next: u64,
    /// How many more files, functions and kernels are kept. By abbreviations, a hostile record may take a few bits
    /// where an honest one takes more bytes.
    left: usize,
    /// Functions whose file is yet to be looked up, by name: that of their file, and their line.
    subprograms: Vec<(&'a [u8], u64, u64)>,
    declared: HashMap<&'a [u8], (Path<'a>, u32)>,
    texts: Vec<(Path<'a>, Range<usize>)>,
    /// Where the names of kernels are in those of all functions.
    kernels: Vec<(u64, u64)>,
    names: &'a [u8],
}

/// A folder, and a path that counts from there.
type Path<'a> = (&'a [u8], &'a [u8]);

fn joined((folder, name): Path<'_>) -> Vec<u8> {
    dwarf::join(folder, &[], name)
}

/// The numbers of strings.
#[derive(Clone, Copy)]
struct File {
    name: u64,
    folder: u64,
    text: u64,
}

impl<'a> Module<'a> {
    fn read(image: &'a [u8]) -> Self {
        let mut module = Self { image, left: image.len() / 8, ..Self::default() };
        let start =
            if image.starts_with(WRAPPED) { bytes::u32(image, 8, HEADER).unwrap_or(0) as usize } else { 0 };
        let mut stream = Stream::new(Bits::new(image, start.saturating_add(MAGIC.len())));
        let mut blocks = Vec::new();
        // Where the numbers of what is in a function begin.
        let mut outside = 0;
        while let Some(item) = stream.next() {
            match item {
                Item::Begin { block } => {
                    if block == FUNCTION {
                        outside = module.next;
                    }
                    blocks.push(block);
                }
                Item::End { block } => {
                    if block == FUNCTION || block == MODULE {
                        module.resolve();
                    }
                    if block == FUNCTION {
                        module.forget_from(outside);
                    }
                    blocks.pop();
                }
                Item::Record(record) => {
                    module.take(blocks.last().copied(), &record);
                }
            }
        }
        module
    }

    fn take(&mut self, block: Option<u64>, record: &Record) -> Option<()> {
        match (block?, record.code) {
            (MODULE, MODULE_FUNCTION) => {
                let is_declaration = record.number(4) != 0;
                if KERNELS.contains(&record.number(3)) && !is_declaration {
                    self.spend(1)?;
                    self.kernels.push((record.number(0), record.number(1)));
                }
            }
            (NAMES, NAMES_BLOB) => self.names = self.image.get(record.blob.clone()?)?,
            (METADATA, STRINGS) => self.take_strings(record)?,
            (METADATA, code) if !UNNUMBERED.contains(&code) => {
                self.take_node(record);
                self.next += 1;
            }
            _ => {}
        }
        Some(())
    }

    /// The lengths of the strings stand before their bytes.
    fn take_strings(&mut self, record: &Record) -> Option<()> {
        let blob = record.blob.clone()?;
        let mut lengths = Bits::new(self.image.get(..blob.end)?, blob.start);
        let mut at = blob.start.checked_add(usize::try_from(record.number(1)).ok()?)?;
        for _ in 0..record.number(0) {
            // Each takes a length of six bits and at least a byte.
            if self.strings.len() > self.image.len() / 2 {
                return None;
            }
            let end = at.checked_add(usize::try_from(lengths.groups(6)?).ok()?)?;
            if end > blob.end {
                return None;
            }
            self.strings.insert(self.next, at..end);
            self.next += 1;
            at = end;
        }
        Some(())
    }

    fn take_node(&mut self, record: &Record) -> Option<()> {
        let number = |index| record.number(index);
        match record.code {
            FILE => {
                let file = File { name: number(1), folder: number(2), text: number(5) };
                // Any two strings may be put together.
                let (folder, name) = self.path(file);
                self.spend(1 + (folder.len() + name.len()) / 8)?;
                self.files.insert(self.next, file);
                self.take_text(file);
            }
            // Its name for the linker, if it has one, else its own.
            SUBPROGRAM => {
                self.spend(1)?;
                let name = if number(3) != 0 { number(3) } else { number(2) };
                self.subprograms.push((self.string(name), number(4), number(5)));
            }
            _ => {}
        }
        Some(())
    }

    fn spend(&mut self, count: usize) -> Option<()> {
        self.left = self.left.checked_sub(count)?;
        Some(())
    }

    fn take_text(&mut self, file: File) {
        let text = file.text.checked_sub(1).and_then(|text| self.strings.get(&text)).cloned();
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.texts.push((self.path(file), text));
        }
    }

    /// The string that a reference leads to: one more than its number, or 0 for none.
    fn string(&self, reference: u64) -> &'a [u8] {
        let range = reference.checked_sub(1).and_then(|number| self.strings.get(&number));
        range.and_then(|range| self.image.get(range.clone())).unwrap_or_default()
    }

    fn path(&self, file: File) -> Path<'a> {
        let part = |reference| Some(self.string(reference)).filter(|part| part.len() <= LONGEST_PATH);
        (part(file.folder).unwrap_or_default(), part(file.name).unwrap_or_default())
    }

    /// Looks up the files of functions, now that all that they can refer to is known.
    fn resolve(&mut self) {
        for (name, file, line) in std::mem::take(&mut self.subprograms) {
            let file = file.checked_sub(1).and_then(|file| self.files.get(&file));
            let line = u32::try_from(line).ok().filter(|line| *line != 0);
            if let (Some(file), Some(line)) = (file, line) {
                let path = self.path(*file);
                self.declared.entry(name).or_insert((path, line));
            }
        }
    }

    /// What is in a function is not known outside of it.
    fn forget_from(&mut self, number: u64) {
        self.strings.split_off(&number);
        self.files.split_off(&number);
        self.next = number;
    }

    /// Their names. Those of a module with several of one name are there once.
    fn kernels(&self) -> Vec<&'a [u8]> {
        let name = |(at, length): &(u64, u64)| Some(&self.names[bytes::range(self.names, *at, *length)?]);
        let mut names: Vec<&[u8]> =
            self.kernels.iter().filter_map(name).filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
