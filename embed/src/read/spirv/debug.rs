//! What a module says of its sources and functions.
//!
//! (The SPIR-V specification, and those of the instruction sets `NonSemantic.Shader.DebugInfo.100` and
//! `OpenCL.DebugInfo.100`. In the first, numbers are the ids of constants; in the second they stand there
//! themselves, and what clang's older translator writes, `SPIRV.debug`, is laid out like it.)

use std::collections::HashMap;
use std::ops::Range;

use super::instructions::{self, Instruction};

const OP_SOURCE_CONTINUED: u16 = 2;
const OP_SOURCE: u16 = 3;
const OP_STRING: u16 = 7;
const OP_LINE: u16 = 8;
const OP_EXT_INST_IMPORT: u16 = 11;
const OP_EXT_INST: u16 = 12;
const OP_ENTRY_POINT: u16 = 15;
const OP_CONSTANT: u16 = 43;
const OP_FUNCTION: u16 = 54;
const OP_FUNCTION_END: u16 = 56;
const OP_FUNCTION_CALL: u16 = 57;
const OP_NO_LINE: u16 = 317;

const DEBUG_FUNCTION: u32 = 20;
const DEBUG_SOURCE: u32 = 35;
const DEBUG_FUNCTION_DEFINITION: u32 = 101;
const DEBUG_SOURCE_CONTINUED: u32 = 102;
const DEBUG_LINE: u32 = 103;

/// Where the operands of an extended instruction begin: behind its type, its id, the set and its number.
const OPERANDS: usize = 4;

/// A wrapper calls the function itself.
const LONGEST_CHAIN: usize = 4;

/// An instruction set for debug information.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Set {
    Shader,
    OpenCl,
}

/// A text, or, without pieces, the path of one.
#[derive(Default)]
pub(super) struct Text {
    /// The id of the string with the path.
    file: u32,
    pub(super) pieces: Vec<Range<usize>>,
}

pub(super) struct Entry<'a> {
    pub(super) name: &'a [u8],
    pub(super) function: u32,
}

/// A line of what is either the string of a path or a `DebugSource`.
#[derive(Clone, Copy)]
struct Line {
    file: u32,
    line: u32,
}

#[derive(Default)]
struct Function {
    /// The line that was said just before it.
    before: Option<Line>,
    /// The first line in its body.
    first: Option<Line>,
    calls: Option<u32>,
}

#[derive(Default)]
pub(super) struct Module<'a> {
    strings: HashMap<u32, (Range<usize>, &'a [u8])>,
    constants: HashMap<u32, u32>,
    sets: HashMap<u32, Set>,
    entries: Vec<Entry<'a>>,
    texts: Vec<Text>,
    /// The texts of `OpSource` and of `DebugSource` that were begun last.
    last: [Option<usize>; 2],
    /// Texts by the ids of `DebugSource`.
    sources: HashMap<u32, usize>,
    functions: HashMap<u32, Function>,
    /// Lines of `DebugFunction`s by their ids, and those ids by the functions'.
    declared: HashMap<u32, Line>,
    definitions: HashMap<u32, u32>,
    /// Where the walk is.
    function: Option<u32>,
    line: Option<Line>,
}

impl<'a> Module<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let mut module = Self::default();
        for instruction in instructions::all(bytes).map_while(|instruction| instruction.ok()) {
            module.take(&instruction);
        }
        module
    }

    /// Those without a name, or twice the same, are left out.
    fn take(&mut self, instruction: &Instruction<'a>) -> Option<()> {
        let word = |operand| instruction.word(operand);
        match instruction.opcode {
            OP_STRING => {
                self.strings.insert(word(0)?, (instruction.text(1)?, instruction.bytes(1)?));
            }
            OP_CONSTANT => {
                self.constants.insert(word(1)?, word(2)?);
            }
            OP_EXT_INST_IMPORT => {
                let set = match instruction.bytes(1)? {
                    b"NonSemantic.Shader.DebugInfo.100" => Set::Shader,
                    b"OpenCL.DebugInfo.100" | b"SPIRV.debug" => Set::OpenCl,
                    _ => return None,
                };
                self.sets.insert(word(0)?, set);
            }
            OP_ENTRY_POINT => self.entries.push(Entry { name: instruction.bytes(2)?, function: word(1)? }),
            OP_SOURCE => {
                let pieces = instruction.text(3).filter(|text| !text.is_empty()).into_iter().collect();
                self.last[0] = Some(self.texts.len());
                self.texts.push(Text { file: word(2).unwrap_or(0), pieces });
            }
            OP_SOURCE_CONTINUED => {
                let piece = instruction.text(0)?;
                self.texts.get_mut(self.last[0]?)?.pieces.push(piece);
            }
            OP_LINE => self.at(Line { file: word(0)?, line: word(1)? }),
            OP_NO_LINE => self.line = None,
            OP_FUNCTION => {
                let id = word(1)?;
                self.functions.insert(id, Function { before: self.line.take(), ..Function::default() });
                self.function = Some(id);
            }
            OP_FUNCTION_END => (self.function, self.line) = (None, None),
            OP_FUNCTION_CALL => {
                let called = word(2)?;
                self.current()?.calls.get_or_insert(called);
            }
            OP_EXT_INST => self.take_extended(instruction)?,
            _ => {}
        }
        Some(())
    }

    fn take_extended(&mut self, instruction: &Instruction<'a>) -> Option<()> {
        let set = *self.sets.get(&instruction.word(2)?)?;
        let id = instruction.word(1)?;
        let operand = |operand: usize| instruction.word(OPERANDS + operand);
        match instruction.word(3)? {
            DEBUG_SOURCE => {
                let text = operand(1).and_then(|text| self.strings.get(&text));
                let pieces = text.map(|(text, _)| text.clone()).into_iter().collect();
                self.last[1] = Some(self.texts.len());
                self.sources.insert(id, self.texts.len());
                self.texts.push(Text { file: operand(0)?, pieces });
            }
            DEBUG_SOURCE_CONTINUED if set == Set::Shader => {
                let piece = self.strings.get(&operand(0)?)?.0.clone();
                self.texts.get_mut(self.last[1]?)?.pieces.push(piece);
            }
            DEBUG_FUNCTION => {
                let line = self.number(set, operand(3)?)?;
                self.declared.insert(id, Line { file: operand(2)?, line });
                if set == Set::OpenCl {
                    self.definitions.insert(operand(9)?, id);
                }
            }
            DEBUG_FUNCTION_DEFINITION if set == Set::Shader => {
                self.definitions.insert(operand(1)?, operand(0)?);
            }
            DEBUG_LINE if set == Set::Shader => {
                let line = self.number(set, operand(1)?)?;
                self.at(Line { file: operand(0)?, line });
            }
            _ => {}
        }
        Some(())
    }

    fn number(&self, set: Set, operand: u32) -> Option<u32> {
        if set == Set::OpenCl { Some(operand) } else { self.constants.get(&operand).copied() }
    }

    /// What follows is from that line.
    fn at(&mut self, line: Line) {
        // Line 0 is none.
        if line.line == 0 {
            return;
        }
        match self.current() {
            Some(function) => {
                function.first.get_or_insert(line);
            }
            None => self.line = Some(line),
        }
    }

    fn current(&mut self) -> Option<&mut Function> {
        self.functions.get_mut(&self.function?)
    }

    pub(super) fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    pub(super) fn texts(&self) -> &[Text] {
        &self.texts
    }

    pub(super) fn path(&self, text: &Text) -> &'a [u8] {
        self.strings.get(&text.file).map(|(_, path)| *path).unwrap_or_default()
    }

    /// Where a function was declared, as well as that is known. A line of 0 is not known.
    pub(super) fn location(&self, function: u32) -> Option<(&'a [u8], u32)> {
        let mut id = function;
        for _ in 0..LONGEST_CHAIN {
            if let Some(line) = self.declaration(id) {
                return self.place(line);
            }
            let body = self.functions.get(&id)?;
            match body.calls {
                // A wrapper has no lines.
                Some(called) if body.first.is_none() => id = called,
                _ => break,
            }
        }
        let first = self.functions.get(&function)?.first;
        first.and_then(|line| self.place(line)).or_else(|| self.only_file())
    }

    fn declaration(&self, function: u32) -> Option<Line> {
        let declared = self.definitions.get(&function).and_then(|id| self.declared.get(id));
        let declared = declared.copied().filter(|line| line.line != 0);
        declared.or_else(|| self.functions.get(&function)?.before)
    }

    fn place(&self, line: Line) -> Option<(&'a [u8], u32)> {
        let text = self.sources.get(&line.file).map(|&text| &self.texts[text]);
        let path = match text {
            Some(text) => self.path(text),
            None => self.strings.get(&line.file)?.1,
        };
        Some((path, line.line)).filter(|(path, _)| !path.is_empty())
    }

    /// The file, if nothing says of any line, and there is only one.
    fn only_file(&self) -> Option<(&'a [u8], u32)> {
        let mut paths = self.texts.iter().map(|text| self.path(text)).filter(|path| !path.is_empty());
        let path = paths.next()?;
        paths.all(|other| other == path).then_some((path, 0))
    }
}
