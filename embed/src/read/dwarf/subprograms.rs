//! Where functions are declared.

use std::collections::HashMap;

use gimli::{AttributeValue, Dwarf, Unit, constants as dw};

use super::super::Result;
use super::lines::{self, readable};
use super::symbols::Symbol;
use super::units::Units;
use super::{Location, Slice, Work};

/// Chains of references are shorter: an instance of an abstract function, the definition of a declared one.
const LONGEST_CHAIN: usize = 4;

/// How good a match is. The name of a symbol decides between functions that the linker folded into one, and
/// between a kernel and the function of the same name that does its work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    /// The first instruction's line.
    Row,
    /// A function that begins there.
    Address,
    /// And whose name is that of the symbol.
    Name,
    /// And whose name for the linker is that of the symbol.
    LinkageName,
}

/// The exports that are looked for, and what was found of them.
pub(crate) struct Exports<'s> {
    symbols: &'s [Symbol<'s>],
    /// Addresses with the symbols' indices, ascending.
    addresses: Vec<(u64, usize)>,
    /// Those that have no address.
    names: HashMap<&'s [u8], usize>,
    found: Vec<Option<(Match, Location)>>,
}

impl<'s> Exports<'s> {
    pub(crate) fn new(symbols: &'s [Symbol<'s>]) -> Self {
        let of = |(index, symbol): (usize, &Symbol<'s>)| symbol.address.map(|address| (address, index));
        let mut addresses: Vec<_> = symbols.iter().enumerate().filter_map(of).collect();
        addresses.sort_unstable();
        let nameless = symbols.iter().enumerate().filter(|(_, symbol)| symbol.address.is_none());
        let names = nameless.map(|(index, symbol)| (&*symbol.name, index)).collect();
        Self { symbols, addresses, names, found: symbols.iter().map(|_| None).collect() }
    }

    pub(crate) fn into_locations(self) -> Vec<Option<Location>> {
        self.found.into_iter().map(|found| found.map(|(_, location)| location)).collect()
    }

    /// Those with an address in that range.
    fn between(&self, start: u64, end: u64) -> impl Iterator<Item = usize> {
        let first = self.addresses.partition_point(|(own, _)| *own < start);
        let rest = self.addresses.get(first..).unwrap_or_default();
        rest.iter().take_while(move |(own, _)| *own < end).map(|(_, symbol)| *symbol)
    }

    /// Whether there is one in that range of which nothing was found yet.
    pub(crate) fn wants(&self, start: u64, end: u64) -> bool {
        self.between(start, end).any(|symbol| self.found[symbol].is_none())
    }

    /// Whether the unit has code of one of which nothing was found yet, or may have.
    pub(crate) fn wants_in<'a>(
        &self,
        dwarf: &Dwarf<Slice<'a>>,
        unit: &Unit<Slice<'a>>,
        work: &mut Work,
    ) -> Result<bool> {
        in_ranges(dwarf, unit, work, |start, end, work| {
            let mut own = self.between(start, end);
            // Ranges may lie over one another.
            own.try_fold(false, |wants, symbol| work.spend(1).map(|()| wants || self.found[symbol].is_none()))
        })
    }

    /// The code in that range is from that line.
    pub(crate) fn found_row(&mut self, start: u64, end: u64, path: &[u8], line: u32) {
        let symbols: Vec<_> = self.between(start, end).collect();
        for symbol in symbols {
            self.found[symbol].get_or_insert_with(|| (Match::Row, (path.to_vec(), line)));
        }
    }

    /// Whether the unit has code of one of them, or may have.
    pub(crate) fn may_be_in<'a>(
        &self,
        dwarf: &Dwarf<Slice<'a>>,
        unit: &Unit<Slice<'a>>,
        work: &mut Work,
    ) -> Result<bool> {
        if !self.names.is_empty() {
            return Ok(true);
        }
        in_ranges(dwarf, unit, work, |start, end, _| Ok(self.between(start, end).next().is_some()))
    }

    /// Takes what the unit says of them.
    pub(crate) fn look_in<'a>(
        &mut self,
        units: &mut Units<'_, 'a>,
        unit: &Unit<Slice<'a>>,
        files: Files<'_, 'a>,
        work: &mut Work,
    ) -> Result<()> {
        let mut entries = unit.entries_raw(None).map_err(|_| readable())?;
        while !entries.is_empty() {
            let Some(abbreviation) = entries.read_abbreviation().map_err(|_| readable())? else { continue };
            work.spend(1 + abbreviation.attributes().len())?;
            if abbreviation.tag() != dw::DW_TAG_subprogram {
                entries.skip_attributes(abbreviation.attributes()).map_err(|_| readable())?;
                continue;
            }
            let mut function = Function::default();
            for &attribute in abbreviation.attributes() {
                let attribute = entries.read_attribute(attribute).map_err(|_| readable())?;
                function.take(attribute.name(), attribute.value());
            }
            self.consider(units, unit, files, function, work)?;
        }
        Ok(())
    }

    fn consider<'a>(
        &mut self,
        units: &mut Units<'_, 'a>,
        unit: &Unit<Slice<'a>>,
        files: Files<'_, 'a>,
        function: Function<'a>,
        work: &mut Work,
    ) -> Result<()> {
        let Some(address) = function.address(units.dwarf, unit, work)? else { return Ok(()) };
        let mut candidates: Vec<_> = match address.checked_add(1) {
            Some(next) => self.between(address, next).collect(),
            None => Vec::new(),
        };
        if candidates.is_empty() && self.names.is_empty() {
            return Ok(());
        }
        let declared = function.resolve(units, unit, files, work)?;
        let names = declared.linkage_name.into_iter().chain(declared.name);
        candidates.extend(names.filter_map(|name| self.names.get(name).copied()));
        for symbol in candidates {
            work.spend(1)?;
            let own = Some(&*self.symbols[symbol].name);
            let rank = if declared.linkage_name.or(declared.name) == own {
                Match::LinkageName
            } else if declared.name == own {
                Match::Name
            } else {
                Match::Address
            };
            let is_better = self.found[symbol].as_ref().is_none_or(|(best, _)| *best < rank);
            if is_better && let Some(location) = &declared.location {
                self.found[symbol] = Some((rank, location.clone()));
            }
        }
        Ok(())
    }
}

/// Whether it is so of one of the unit's ranges of code; also if those are not known.
fn in_ranges<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    work: &mut Work,
    is_so: impl Fn(u64, u64, &mut Work) -> Result<bool>,
) -> Result<bool> {
    let mut ranges = dwarf.unit_ranges(unit).map_err(|_| readable())?;
    let mut is_known = false;
    while let Some(range) = ranges.next().map_err(|_| readable())? {
        work.spend(1)?;
        if is_so(range.begin, range.end, work)? {
            return Ok(true);
        }
        is_known = true;
    }
    Ok(!is_known)
}

/// A unit whose line table numbers the files that entries name.
#[derive(Clone, Copy)]
pub(crate) struct Files<'x, 'a> {
    pub(crate) dwarf: &'x Dwarf<Slice<'a>>,
    pub(crate) unit: &'x Unit<Slice<'a>>,
}

impl<'a> Files<'_, 'a> {
    fn path(self, file: u64, work: &mut Work) -> Result<Option<Vec<u8>>> {
        let Some(program) = &self.unit.line_program else { return Ok(None) };
        lines::file_path(self.dwarf, program.header(), file, work).map(Some)
    }
}

/// What one entry says of a function.
#[derive(Default)]
struct Function<'a> {
    linkage_name: Option<AttributeValue<Slice<'a>>>,
    name: Option<AttributeValue<Slice<'a>>>,
    file: Option<u64>,
    line: Option<u32>,
    low_pc: Option<AttributeValue<Slice<'a>>>,
    ranges: Option<AttributeValue<Slice<'a>>>,
    /// The entry that says the rest.
    origin: Option<AttributeValue<Slice<'a>>>,
}

/// What all entries together say of a function.
#[derive(Default)]
struct Declared<'a> {
    linkage_name: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    location: Option<Location>,
}

impl<'a> Function<'a> {
    fn take(&mut self, name: gimli::DwAt, value: AttributeValue<Slice<'a>>) {
        match name {
            dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name => self.linkage_name = Some(value),
            dw::DW_AT_name => self.name = Some(value),
            dw::DW_AT_decl_file => {
                self.file = match value {
                    AttributeValue::FileIndex(file) => Some(file),
                    value => value.udata_value(),
                }
            }
            dw::DW_AT_decl_line => self.line = value.udata_value().and_then(|line| line.try_into().ok()),
            dw::DW_AT_low_pc => self.low_pc = Some(value),
            dw::DW_AT_ranges => self.ranges = Some(value),
            dw::DW_AT_abstract_origin | dw::DW_AT_specification => self.origin = Some(value),
            _ => {}
        }
    }

    /// Where its code begins, if it has any here.
    fn address(
        &self,
        dwarf: &Dwarf<Slice<'a>>,
        unit: &Unit<Slice<'a>>,
        work: &mut Work,
    ) -> Result<Option<u64>> {
        if let Some(low_pc) = self.low_pc {
            return dwarf.attr_address(unit, low_pc).map_err(|_| readable());
        }
        let Some(ranges) = self.ranges else { return Ok(None) };
        let Some(mut ranges) = dwarf.attr_ranges(unit, ranges).map_err(|_| readable())? else {
            return Ok(None);
        };
        work.spend(1)?;
        Ok(ranges.next().map_err(|_| readable())?.map(|range| range.begin))
    }

    /// Goes on to the entries that this one refers to. What is said here goes before what is said there.
    fn resolve(
        self,
        units: &mut Units<'_, 'a>,
        unit: &Unit<Slice<'a>>,
        files: Files<'_, 'a>,
        work: &mut Work,
    ) -> Result<Declared<'a>> {
        let mut declared = Declared::default();
        let (mut path, mut line) = (None, None);
        let mut function = self;
        let mut other: Option<Unit<Slice<'a>>> = None;
        for _ in 0..LONGEST_CHAIN {
            let here = other.as_ref().unwrap_or(unit);
            let mut string = |value: Option<AttributeValue<Slice<'a>>>| -> Result<Option<&'a [u8]>> {
                let Some(value) = value else { return Ok(None) };
                let string = units.dwarf.attr_string(here, value).map_err(|_| readable())?.slice();
                work.spend(string.len() / 8)?;
                Ok(Some(string))
            };
            declared.linkage_name = declared.linkage_name.or(string(function.linkage_name)?);
            declared.name = declared.name.or(string(function.name)?);
            if path.is_none()
                && let Some(file) = function.file
            {
                let own = other.as_ref().map(|unit| Files { dwarf: units.dwarf, unit });
                path = own.unwrap_or(files).path(file, work)?;
            }
            line = line.or(function.line);
            let Some(origin) = function.origin else { break };
            let (next, entry) = refer(units, here, origin, work)?;
            function = entry;
            other = next.or(other);
        }
        declared.location = path.zip(line).filter(|(path, line)| !path.is_empty() && *line != 0);
        Ok(declared)
    }
}

/// The entry that a reference leads to, and its unit if that is another one.
fn refer<'a>(
    units: &mut Units<'_, 'a>,
    unit: &Unit<Slice<'a>>,
    reference: AttributeValue<Slice<'a>>,
    work: &mut Work,
) -> Result<(Option<Unit<Slice<'a>>>, Function<'a>)> {
    let (other, offset) = match reference {
        AttributeValue::UnitRef(offset) => (None, offset),
        AttributeValue::DebugInfoRef(offset) => {
            let other = units.at(offset.0, work)?;
            let within = offset.to_unit_offset(&other.header).ok_or_else(readable)?;
            (Some(other), within)
        }
        _ => return Err(readable()),
    };
    let entry = other.as_ref().unwrap_or(unit).entry(offset).map_err(|_| readable())?;
    work.spend(1 + entry.attrs().len())?;
    let mut function = Function::default();
    for attribute in entry.attrs() {
        function.take(attribute.name(), attribute.value());
    }
    Ok((other, function))
}
