//! WebAssembly modules: a list of sections, of which some are custom ones with DWARF.
//!
//! ("Binary Format" in the WebAssembly core specification; DWARF's addresses count from the contents of the code
//! section, "DWARF for WebAssembly".)

use std::borrow::Cow;

use super::super::Result;
use super::sections::Sections;
use super::symbols::Symbol;
use crate::Error;

const MAGIC: &[u8] = b"\0asm\x01\0\0\0";
const SECTION: &str = "a section within the WebAssembly module";

const CUSTOM: u8 = 0;
const IMPORT: u8 = 2;
const EXPORT: u8 = 7;
const CODE: u8 = 10;
const FUNCTION: u8 = 0;

pub(crate) fn is(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

pub(crate) struct Module<'a> {
    /// Those that hold what is of interest here, by their numbers.
    imports: Input<'a>,
    exports: Input<'a>,
    code: Input<'a>,
    custom: Vec<(&'a [u8], &'a [u8])>,
}

/// What is left to read of a section.
#[derive(Clone, Copy, Default)]
struct Input<'a>(&'a [u8]);

impl<'a> Module<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut input = Input(bytes.get(MAGIC.len()..).unwrap_or_default());
        let mut module = Self {
            imports: Input::default(),
            exports: Input::default(),
            code: Input::default(),
            custom: Vec::new(),
        };
        while !input.0.is_empty() {
            let at = bytes.len() - input.0.len();
            let section = input.byte().and_then(|id| Some((id, input.prefixed()?)));
            let (id, mut section) = section.ok_or(Error::damaged(at as u64, SECTION))?;
            match id {
                CUSTOM => {
                    let name = section.prefixed().ok_or(Error::damaged(at as u64, SECTION))?;
                    module.custom.push((name.0, section.0));
                }
                IMPORT => module.imports = section,
                EXPORT => module.exports = section,
                CODE => module.code = section,
                _ => {}
            }
        }
        Ok(module)
    }

    pub(crate) fn sections(&self) -> Sections<'a> {
        let known = |(name, contents): &(&[u8], &'a [u8])| Some((Sections::id(name)?, *contents));
        Sections::new(self.custom.iter().filter_map(known).collect())
    }

    /// The exported functions, ascending by name. What cannot be read is left out.
    pub(crate) fn exports(&self) -> Vec<Symbol<'a>> {
        let imported = self.imported_functions();
        let addresses = self.addresses();
        let mut symbols = Vec::new();
        let mut input = self.exports;
        for _ in 0..input.number().unwrap_or(0) {
            let Some((name, kind, index)) = input.export() else { break };
            let index = index.checked_sub(imported).and_then(|index| usize::try_from(index).ok());
            if kind == FUNCTION && !name.is_empty() {
                let address = index.and_then(|index| addresses.get(index).copied());
                symbols.push(Symbol { name: Cow::Borrowed(name), address, is_stub: false });
            }
        }
        symbols.sort_by(|a, b| a.name.cmp(&b.name));
        symbols.dedup_by(|a, b| a.name == b.name);
        symbols
    }

    fn imported_functions(&self) -> u64 {
        let mut input = self.imports;
        let mut count = 0;
        for _ in 0..input.number().unwrap_or(0) {
            match input.import() {
                Some(kind) => count += u64::from(kind == FUNCTION),
                None => break,
            }
        }
        count
    }

    /// Where each function begins in the code section, as debug information says it: behind its size.
    fn addresses(&self) -> Vec<u64> {
        let mut input = self.code;
        let mut addresses = Vec::new();
        for _ in 0..input.number().unwrap_or(0) {
            let Some(body) = input.prefixed() else { break };
            addresses.push((self.code.0.len() - input.0.len() - body.0.len()) as u64);
        }
        addresses
    }
}

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// An unsigned number in LEB128.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// As many bytes as a number before them says.
    fn prefixed(&mut self) -> Option<Self> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(Self(bytes))
    }

    /// An export's name, kind and index.
    fn export(&mut self) -> Option<(&'a [u8], u8, u64)> {
        Some((self.prefixed()?.0, self.byte()?, self.number()?))
    }

    /// An import's kind.
    fn import(&mut self) -> Option<u8> {
        self.prefixed()?;
        self.prefixed()?;
        let kind = self.byte()?;
        match kind {
            FUNCTION => {
                self.number()?;
            }
            // A table has an element type before its limits.
            1 => {
                self.byte()?;
                self.limits()?;
            }
            2 => self.limits()?,
            // A global: a type, and whether it can be written.
            3 => {
                self.byte()?;
                self.byte()?;
            }
            4 => {
                self.byte()?;
                self.number()?;
            }
            _ => return None,
        }
        Some(kind)
    }

    fn limits(&mut self) -> Option<()> {
        let has_most = self.byte()? & 1 != 0;
        self.number()?;
        if has_most {
            self.number()?;
        }
        Some(())
    }
}
