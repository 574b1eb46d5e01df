//! The texts in line tables of version 5, with their paths.
//!
//! These lists of files are read here, one entry at a time and only once each, rather than through the units that
//! refer to them.

use std::collections::{HashMap, HashSet};

use gimli::{DwForm, DwLnct, Format, Reader, constants as dw};

use super::super::Result;
use super::lines::{self, Start, readable};
use super::preprocessed;
use super::sections::Sections;
use super::{Slice, Work};
use crate::Error;

/// The column of texts in DWARF 6; LLVM's own number for it is that of `DW_LNCT_LLVM_source`.
const SOURCE: DwLnct = DwLnct(0x6);

const FORM: &str = "a list of files whose columns are known";

/// The texts in a file's line tables.
#[derive(Default)]
pub(crate) struct Texts<'a> {
    /// Paths and texts. A path may come with several texts, of which each is there once.
    pub(crate) texts: Vec<(Vec<u8>, &'a [u8])>,
    /// Files that have no text because the compiler had none: what it had is the text of that number.
    pub(crate) preprocessed: HashMap<Vec<u8>, usize>,
    known: HashSet<(Vec<u8>, usize)>,
}

/// Collects the texts of all tables. Ends at the first that cannot be read.
pub(crate) fn collect<'a>(sections: &'a Sections<'_>, texts: &mut Texts<'a>, work: &mut Work) -> Result<()> {
    let section = sections.slice(gimli::SectionId::DebugLine);
    let mut offset = 0;
    while offset < section.len() {
        let start = Start::read(section, offset)?;
        offset = start.next;
        if start.version >= 5 {
            Table { sections, format: start.format }.collect(start.header, texts, work)?;
        }
    }
    Ok(())
}

/// One table.
struct Table<'s, 'a> {
    sections: &'a Sections<'s>,
    format: Format,
}

/// A column: what is in it, and how that is stored.
type Column = (DwLnct, DwForm);

/// What an entry's columns hold.
#[derive(Default)]
struct Entry {
    path: Value,
    folder: u64,
    source: Value,
    has_md5: bool,
}

/// A string by its place.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Value {
    #[default]
    None,
    /// In the table itself, from there to its end.
    Inline(usize, usize),
    /// In `.debug_line_str` or `.debug_str`.
    In(gimli::SectionId, usize),
}

impl<'s, 'a> Table<'s, 'a> {
    fn collect(self, mut input: Slice<'a>, texts: &mut Texts<'a>, work: &mut Work) -> Result<()> {
        let header = input;
        self.skip_to_folders(&mut input).map_err(|_| readable())?;
        let columns = columns(&mut input).map_err(|_| readable())?;
        let count = input.read_uleb128().map_err(|_| readable())?;
        let mut folders = Vec::new();
        for _ in 0..count {
            folders.push(self.entry(header, &mut input, &columns, work)?.path);
        }
        let columns = columns_of_files(&mut input)?;
        if !columns.iter().any(|(kind, _)| is_source(*kind)) {
            return Ok(());
        }
        let count = input.read_uleb128().map_err(|_| readable())?;
        let first = texts.texts.len();
        for _ in 0..count {
            let entry = self.entry(header, &mut input, &columns, work)?;
            self.add(header, &folders, &entry, first, texts, work)?;
        }
        Ok(())
    }

    fn skip_to_folders(&self, input: &mut Slice<'a>) -> gimli::Result<()> {
        // The lengths of instructions and operations, `is_stmt`, and the base and range of lines.
        input.skip(5)?;
        let opcodes = input.read_u8()?;
        input.skip(usize::from(opcodes.saturating_sub(1)))
    }

    /// Adds a file's text, if it has one. `first` is the number of the table's first text.
    fn add(
        &self,
        header: Slice<'a>,
        folders: &[Value],
        entry: &Entry,
        first: usize,
        texts: &mut Texts<'a>,
        work: &mut Work,
    ) -> Result<()> {
        let text = self.string(header, entry.source, work)?;
        if text.is_empty() {
            return Ok(());
        }
        let compiled_in = self.string(header, folders.first().copied().unwrap_or_default(), work)?;
        let folder = match entry.folder {
            0 => &[],
            folder => {
                let folder = usize::try_from(folder).ok().and_then(|folder| folders.get(folder));
                self.string(header, folder.copied().unwrap_or_default(), work)?
            }
        };
        let path = lines::join(compiled_in, folder, self.string(header, entry.path, work)?);
        if path.is_empty() {
            return Ok(());
        }
        if entry.has_md5 || !preprocessed::is(text) {
            texts.add(path, text);
        } else {
            let own = texts.texts.get(first..).unwrap_or_default();
            let same = own.iter().position(|(_, other)| std::ptr::eq(*other, text));
            let number = match same {
                Some(at) => first + at,
                None => texts.add(preprocessed::path(&path), text),
            };
            texts.preprocessed.entry(path).or_insert(number);
        }
        Ok(())
    }

    fn entry(
        &self,
        header: Slice<'a>,
        input: &mut Slice<'a>,
        columns: &[Column],
        work: &mut Work,
    ) -> Result<Entry> {
        work.spend(columns.len())?;
        let mut entry = Entry::default();
        let before = input.len();
        for &(kind, form) in columns {
            let value = self.value(header, input, form)?;
            match (kind, value) {
                (dw::DW_LNCT_path, Cell::String(path)) => entry.path = path,
                (dw::DW_LNCT_directory_index, Cell::Number(folder)) => entry.folder = folder,
                (dw::DW_LNCT_MD5, _) => entry.has_md5 = true,
                (kind, Cell::String(source)) if is_source(kind) => entry.source = source,
                _ => {}
            }
        }
        // An entry of no bytes may be there any number of times.
        if input.len() == before { Err(readable()) } else { Ok(entry) }
    }

    /// The next cell of an entry.
    fn value(&self, header: Slice<'a>, input: &mut Slice<'a>, form: DwForm) -> Result<Cell> {
        self.try_value(header, input, form).map_err(|_| readable())?.ok_or(Error::unsupported(0, FORM))
    }

    /// `None` if the form is not one for line tables.
    fn try_value(
        &self,
        header: Slice<'a>,
        input: &mut Slice<'a>,
        form: DwForm,
    ) -> gimli::Result<Option<Cell>> {
        let mut offset = |section| {
            let offset = input.read_offset(self.format)?;
            Ok(Cell::String(Value::In(section, offset)))
        };
        Ok(Some(match form {
            dw::DW_FORM_line_strp => return offset(gimli::SectionId::DebugLineStr).map(Some),
            dw::DW_FORM_strp => return offset(gimli::SectionId::DebugStr).map(Some),
            dw::DW_FORM_string => {
                let start = input.offset_from(header);
                let string = input.read_null_terminated_slice()?;
                Cell::String(Value::Inline(start, start + string.len()))
            }
            dw::DW_FORM_udata => Cell::Number(input.read_uleb128()?),
            dw::DW_FORM_data1 => Cell::Number(input.read_u8()?.into()),
            dw::DW_FORM_data2 => Cell::Number(input.read_u16()?.into()),
            dw::DW_FORM_data4 => Cell::Number(input.read_u32()?.into()),
            dw::DW_FORM_data8 => Cell::Number(input.read_u64()?),
            dw::DW_FORM_data16 => {
                input.skip(16)?;
                Cell::Other
            }
            dw::DW_FORM_block => {
                let length = input.read_uleb128()?;
                input.skip(usize::try_from(length).map_err(|_| gimli::Error::UnsupportedOffset)?)?;
                Cell::Other
            }
            _ => return Ok(None),
        }))
    }

    fn string(&self, header: Slice<'a>, value: Value, work: &mut Work) -> Result<&'a [u8]> {
        let string = match value {
            Value::None => &[],
            Value::Inline(start, end) => header.slice().get(start..end).ok_or_else(readable)?,
            Value::In(section, offset) => {
                let rest = self.sections.slice(section).slice().get(offset..).ok_or_else(readable)?;
                let length = rest.iter().position(|&byte| byte == 0).ok_or_else(readable)?;
                &rest[..length]
            }
        };
        work.spend(string.len() / 8)?;
        Ok(string)
    }
}

/// What stands in one column of an entry.
enum Cell {
    String(Value),
    Number(u64),
    Other,
}

impl<'a> Texts<'a> {
    /// Returns the text's number.
    fn add(&mut self, path: Vec<u8>, text: &'a [u8]) -> usize {
        if self.known.insert((path.clone(), text.as_ptr().addr())) {
            self.texts.push((path, text));
        }
        self.texts.len() - 1
    }
}

fn is_source(kind: DwLnct) -> bool {
    kind == dw::DW_LNCT_LLVM_source || kind == SOURCE
}

fn columns_of_files(input: &mut Slice<'_>) -> Result<Vec<Column>> {
    columns(input).map_err(|_| readable())
}

fn columns(input: &mut Slice<'_>) -> gimli::Result<Vec<Column>> {
    let count = input.read_u8()?;
    let mut column = |_| {
        let kind = input.read_uleb128_u16()?;
        Ok((DwLnct(kind), DwForm(input.read_uleb128_u16()?)))
    };
    (0..count).map(&mut column).collect()
}
