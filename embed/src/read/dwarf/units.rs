//! The units of debug information, read so that hostile ones cost no more than honest ones.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{
    Abbreviations, AttributeValue, DebugAbbrev, DebugAbbrevOffset, Dwarf, Reader, Section, Unit, UnitHeader,
};

use super::super::Result;
use super::lines::{self, readable};
use super::{Slice, Work};
use crate::Error;

const DECLARATIONS: &str = "declarations of debug information that do not overlap";

pub(crate) struct Units<'s, 'a> {
    pub(crate) dwarf: &'s Dwarf<Slice<'a>>,
    headers: Vec<UnitHeader<Slice<'a>>>,
    /// Where tables of abbreviations begin, ascending.
    tables: Vec<usize>,
    abbreviations: HashMap<usize, Arc<Abbreviations>>,
}

impl<'s, 'a> Units<'s, 'a> {
    /// As many as can be read, and what is wrong with the next one.
    pub(crate) fn new(dwarf: &'s Dwarf<Slice<'a>>) -> (Self, Result<()>) {
        let mut headers = Vec::new();
        let mut units = dwarf.units();
        let read = loop {
            match units.next() {
                Ok(Some(header)) => headers.push(header),
                Ok(None) => break Ok(()),
                Err(_) => break Err(readable()),
            }
        };
        let mut tables: Vec<_> = headers.iter().map(|header| header.debug_abbrev_offset().0).collect();
        tables.sort_unstable();
        tables.dedup();
        (Self { dwarf, headers, tables, abbreviations: HashMap::new() }, read)
    }

    pub(crate) fn len(&self) -> usize {
        self.headers.len()
    }

    pub(crate) fn get(&mut self, index: usize, work: &mut Work) -> Result<Unit<Slice<'a>>> {
        let header = *self.headers.get(index).ok_or_else(readable)?;
        let abbreviations = self.abbreviations(header.debug_abbrev_offset().0)?;
        check_root(self.dwarf, &header, &abbreviations, work)?;
        Unit::new_with_abbreviations(self.dwarf, header, abbreviations).map_err(|_| readable())
    }

    /// The unit that this offset in `.debug_info` is in.
    pub(crate) fn at(&mut self, offset: usize, work: &mut Work) -> Result<Unit<Slice<'a>>> {
        let start = |header: &UnitHeader<_>| header.debug_info_offset().map_or(0, |start| start.0);
        let after = self.headers.partition_point(|header| start(header) <= offset);
        self.get(after.wrapping_sub(1), work)
    }

    /// A table of abbreviations, read up to where the next one begins, so that none is read twice.
    fn abbreviations(&mut self, at: usize) -> Result<Arc<Abbreviations>> {
        if let Some(known) = self.abbreviations.get(&at) {
            return Ok(known.clone());
        }
        let all = self.dwarf.debug_abbrev.reader().slice();
        let next = self.tables.partition_point(|&table| table <= at);
        let end = self.tables.get(next).copied().unwrap_or(all.len()).min(all.len());
        let own = all.get(at..end).ok_or_else(|| Error::damaged(0, DECLARATIONS))?;
        let table = DebugAbbrev::new(own, self.dwarf.debug_abbrev.reader().endian());
        let read = table.abbreviations(DebugAbbrevOffset(0)).map_err(|_| Error::damaged(0, DECLARATIONS))?;
        let read = Arc::new(read);
        self.abbreviations.insert(at, read.clone());
        Ok(read)
    }
}

/// Pays for the unit's root and for its table of files, which are read with it.
fn check_root(
    dwarf: &Dwarf<Slice<'_>>,
    header: &UnitHeader<Slice<'_>>,
    abbreviations: &Abbreviations,
    work: &mut Work,
) -> Result<()> {
    let mut entries = header.entries_raw(abbreviations, None).map_err(|_| readable())?;
    let Some(root) = entries.read_abbreviation().map_err(|_| readable())? else { return Ok(()) };
    work.spend(1 + root.attributes().len())?;
    for &attribute in root.attributes() {
        let attribute = entries.read_attribute(attribute).map_err(|_| readable())?;
        if attribute.name() == gimli::DW_AT_stmt_list
            && let AttributeValue::DebugLineRef(offset) = attribute.value()
        {
            lines::check_header(*dwarf.debug_line.reader(), offset.0, work)?;
        }
    }
    Ok(())
}
