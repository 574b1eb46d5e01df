//! The container of LLVM bitcode: a stream of bits in which blocks hold records, whose layout abbreviations say.
//!
//! ("LLVM Bitcode File Format" in LLVM's documentation.) Reading ends at the first thing that cannot be.

use std::collections::HashMap;
use std::ops::Range;

const END_BLOCK: u64 = 0;
const ENTER_BLOCK: u64 = 1;
const DEFINE_ABBREVIATION: u64 = 2;
const UNABBREVIATED: u64 = 3;

/// The block that has abbreviations for other blocks, and its record that says for which.
const BLOCK_INFO: u64 = 0;
const SET_BLOCK: u64 = 1;

/// The width of what begins an item outside of all blocks.
const OUTERMOST: u32 = 2;

/// No abbreviation that is of use has more parts. Longer ones cost more than the bits of their records.
const LONGEST_ABBREVIATION: u64 = 64;

/// As many of a record's numbers are kept.
const KEPT: usize = 32;

/// Blocks do not lie deeper in each other.
const DEEPEST: usize = 16;

/// Numbers out of bits.
#[derive(Clone)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8], start: usize) -> Self {
        Self { bytes, at: start.saturating_mul(8) }
    }

    fn is_at_end(&self) -> bool {
        self.at / 8 >= self.bytes.len()
    }

    /// A number of at most 64 bits.
    fn fixed(&mut self, width: u32) -> Option<u64> {
        let mut number = 0;
        let mut done = 0;
        while done < width {
            let byte = u64::from(*self.bytes.get(self.at / 8)?);
            let skip = (self.at % 8) as u32;
            let count = (8 - skip).min(width - done);
            number |= (byte >> skip & ((1 << count) - 1)) << done;
            done += count;
            self.at += count as usize;
        }
        Some(number)
    }

    /// A number in groups of that many bits, the highest of which says that another group follows.
    pub(super) fn groups(&mut self, width: u32) -> Option<u64> {
        let more = 1 << (width - 1);
        let mut number = 0_u64;
        for shift in (0..64).step_by(width as usize - 1) {
            let group = self.fixed(width)?;
            number |= (group & (more - 1)).checked_shl(shift)?;
            if group & more == 0 {
                return Some(number);
            }
        }
        None
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }

    /// That many whole bytes between multiples of 32 bits.
    fn blob(&mut self, length: u64) -> Option<Range<usize>> {
        self.align();
        let start = self.at / 8;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        if end > self.bytes.len() {
            return None;
        }
        self.at = end * 8;
        self.align();
        Some(start..end)
    }
}

#[derive(Clone, Copy)]
enum Part {
    Literal(u64),
    Fixed(u32),
    Groups(u32),
    Array,
    Letter,
    Blob,
}

type Abbreviation = Vec<Part>;

/// What is in a stream, in order.
pub(super) enum Item {
    Begin { block: u64 },
    End { block: u64 },
    Record(Record),
}

#[derive(Default)]
pub(super) struct Record {
    pub(super) code: u64,
    /// The first ones.
    pub(super) numbers: Vec<u64>,
    /// Bytes as they are in the stream.
    pub(super) blob: Option<Range<usize>>,
}

impl Record {
    pub(super) fn number(&self, index: usize) -> u64 {
        self.numbers.get(index).copied().unwrap_or(0)
    }
}

struct Block {
    id: u64,
    width: u32,
    abbreviations: Vec<Abbreviation>,
}

pub(super) struct Stream<'a> {
    bits: Bits<'a>,
    blocks: Vec<Block>,
    /// Abbreviations that a block has from the start, by its number.
    known: HashMap<u64, Vec<Abbreviation>>,
    /// The block for which abbreviations are being said.
    said_for: Option<u64>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(bits: Bits<'a>) -> Self {
        Self { bits, blocks: Vec::new(), known: HashMap::new(), said_for: None }
    }

    /// The next item; `None` at the end, or where the stream is damaged.
    pub(super) fn next(&mut self) -> Option<Item> {
        loop {
            let width = match self.blocks.last() {
                Some(block) => block.width,
                None if self.bits.is_at_end() => return None,
                None => OUTERMOST,
            };
            let record = match self.bits.fixed(width)? {
                END_BLOCK => {
                    self.bits.align();
                    let block = self.blocks.pop()?;
                    return Some(Item::End { block: block.id });
                }
                ENTER_BLOCK => return self.enter(),
                DEFINE_ABBREVIATION => {
                    self.define()?;
                    continue;
                }
                UNABBREVIATED => self.unabbreviated()?,
                number => self.abbreviated(number)?,
            };
            if self.blocks.last().is_some_and(|block| block.id == BLOCK_INFO) {
                self.said_for = (record.code == SET_BLOCK).then(|| record.number(0)).or(self.said_for);
            } else {
                return Some(Item::Record(record));
            }
        }
    }

    fn enter(&mut self) -> Option<Item> {
        let id = self.bits.groups(8)?;
        let width = u32::try_from(self.bits.groups(4)?).ok().filter(|width| (2..=32).contains(width))?;
        self.bits.align();
        // How long it is, for those who skip it.
        self.bits.fixed(32)?;
        if self.blocks.len() == DEEPEST {
            return None;
        }
        self.blocks.push(Block { id, width, abbreviations: Vec::new() });
        Some(Item::Begin { block: id })
    }

    fn define(&mut self) -> Option<()> {
        let count = self.bits.groups(5)?;
        if count > LONGEST_ABBREVIATION {
            return None;
        }
        let mut abbreviation = Vec::new();
        for _ in 0..count {
            abbreviation.push(self.part()?);
        }
        let block = self.blocks.last_mut()?;
        match self.said_for {
            Some(other) if block.id == BLOCK_INFO => self.known.entry(other).or_default().push(abbreviation),
            _ => block.abbreviations.push(abbreviation),
        }
        Some(())
    }

    fn part(&mut self) -> Option<Part> {
        if self.bits.fixed(1)? == 1 {
            return Some(Part::Literal(self.bits.groups(8)?));
        }
        let kind = self.bits.fixed(3)?;
        let mut width = || u32::try_from(self.bits.groups(5)?).ok().filter(|width| *width <= 64);
        Some(match kind {
            1 => match width()? {
                0 => Part::Literal(0),
                width => Part::Fixed(width),
            },
            2 => match width()? {
                0 => Part::Literal(0),
                1 => return None,
                width => Part::Groups(width.min(33)),
            },
            3 => Part::Array,
            4 => Part::Letter,
            5 => Part::Blob,
            _ => return None,
        })
    }

    fn unabbreviated(&mut self) -> Option<Record> {
        let mut record = Record { code: self.bits.groups(6)?, ..Record::default() };
        for _ in 0..self.bits.groups(6)? {
            let number = self.bits.groups(6)?;
            keep(&mut record.numbers, number);
        }
        Some(record)
    }

    fn abbreviated(&mut self, number: u64) -> Option<Record> {
        let index = usize::try_from(number - UNABBREVIATED - 1).ok()?;
        let block = self.blocks.last()?;
        let known = self.known.get(&block.id).map(Vec::as_slice).unwrap_or_default();
        let own = || block.abbreviations.get(index.checked_sub(known.len())?);
        let abbreviation = known.get(index).or_else(own)?;
        let bits = &mut self.bits;
        let mut numbers = Vec::new();
        let mut blob = None;
        let mut parts = abbreviation.iter();
        while let Some(part) = parts.next() {
            match part {
                Part::Array => {
                    let element = parts.next()?;
                    for _ in 0..bits.groups(6)? {
                        keep(&mut numbers, element.in_array(bits)?);
                    }
                }
                Part::Blob => {
                    let length = bits.groups(6)?;
                    blob = Some(bits.blob(length)?);
                }
                part => keep(&mut numbers, part.read(bits)?),
            }
        }
        if numbers.is_empty() {
            return None;
        }
        Some(Record { code: numbers.remove(0), numbers, blob })
    }
}

impl Part {
    fn read(self, bits: &mut Bits<'_>) -> Option<u64> {
        match self {
            Self::Literal(number) => Some(number),
            Self::Fixed(width) => bits.fixed(width),
            Self::Groups(width) => bits.groups(width),
            Self::Letter => bits.fixed(6),
            Self::Array | Self::Blob => None,
        }
    }

    /// As [`read`](Self::read), but not what takes no bits: of that there might be any number.
    fn in_array(self, bits: &mut Bits<'_>) -> Option<u64> {
        if matches!(self, Self::Literal(_)) { None } else { self.read(bits) }
    }
}

fn keep(numbers: &mut Vec<u64>, number: u64) {
    if numbers.len() < KEPT {
        numbers.push(number);
    }
}
