//! Modules: the functions, parameters and variables that a module's PTX declares.
//!
//! Nothing is compiled. A kernel does what a test gave for its name, else nothing.

use std::collections::HashMap;
use std::ffi::c_void;

use crate::Memory;

/// What a kernel does: it gets pointers to its parameters, and the grid's and the block's sizes (six numbers).
pub type Kernel = extern "C" fn(params: *const *mut c_void, shape: *const u32);

/// A function of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where each parameter lies among all, and its size. None if the module is no text, and cannot be asked.
    pub params: Option<Vec<(usize, usize)>>,
}

/// A module.
#[derive(Debug, Default)]
pub struct Module {
    functions: HashMap<String, Function>,
    /// Where variables are, and their sizes.
    globals: HashMap<String, (u64, usize)>,
    /// It was no text: it has a function of any name.
    is_opaque: bool,
}

impl Module {
    /// A module of machine code, which nobody here reads.
    #[must_use]
    pub fn opaque() -> Self {
        Self { is_opaque: true, ..Self::default() }
    }

    /// A module of PTX. Its variables get memory.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_ptx(text: &str, memory: &mut Memory) -> Result<Self, u32> {
        let mut module = Self::default();
        for entry in text.split(".entry").skip(1) {
            let Some((name, rest)) = entry.split_once('(') else { continue };
            let name = name.trim().to_owned();
            let params = Some(layout(rest.split(')').next().unwrap_or_default()));
            module.functions.insert(name.clone(), Function { name, params });
        }
        for line in text.lines().map(str::trim) {
            let declared = line.trim_start_matches(".visible").trim_start();
            if let Some((name, size, _)) = declared.strip_prefix(".global").and_then(declaration) {
                module.globals.insert(name.to_owned(), (memory.allocate(size)?, size));
            }
        }
        Ok(module)
    }

    /// The function of this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<Function> {
        let opaque = || self.is_opaque.then(|| Function { name: name.to_owned(), params: None });
        self.functions.get(name).cloned().or_else(opaque)
    }

    /// Where the variable of this name is, and its size.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<(u64, usize)> {
        self.globals.get(name).copied()
    }
}

/// Where each of the parameters declared lies, and its size.
fn layout(declarations: &str) -> Vec<(usize, usize)> {
    let mut end = 0_usize;
    let place = |(_, size, align): (&str, usize, usize)| {
        let offset = end.next_multiple_of(align);
        end = offset + size;
        (offset, size)
    };
    declarations.split(',').filter_map(declaration).map(place).collect()
}

/// The name, size and alignment that a declaration such as `.param .align 4 .b8 name[12]` tells.
fn declaration(text: &str) -> Option<(&str, usize, usize)> {
    let text = text.split(['=', ';']).next()?.trim();
    let word = text.split_whitespace().last()?;
    let (name, count) = match word.split_once('[') {
        Some((name, count)) => (name, count.trim_end_matches(']').parse().ok()?),
        None => (word, 1),
    };
    let bits =
        |word: &str| word.strip_prefix(['.'])?.strip_prefix(['b', 'u', 's', 'f'])?.parse::<usize>().ok();
    let each = text.split_whitespace().find_map(bits)? / 8;
    // The alignment before the type is the parameter's; behind `.ptr` it is that of what it points to.
    let before_type = text.split_whitespace().take_while(|word| bits(word).is_none());
    let align = before_type.skip_while(|word| *word != ".align").nth(1).and_then(|align| align.parse().ok());
    Some((name, each.max(1) * count, align.unwrap_or(each).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_variables_are_read() {
        let text = ".version 7.0\n.visible .global .align 4 .b8 table[64];\n.global .u32 counter = 0;\n\
                    .visible .entry add(\n .param .u64 .ptr .global .align 16 add_0,\n .param .b32 add_1,\n\
                    .param .f64 add_2,\n .param .align 4 .b8 add_3[12]\n)\n{ ret; }\n.entry none()\n{ ret; }\n";
        let mut memory = Memory::default();
        let module = Module::from_ptx(text, &mut memory).unwrap();
        assert_eq!(module.function("add").unwrap().params.unwrap(), [(0, 8), (8, 4), (16, 8), (24, 12)]);
        assert_eq!(module.function("none").unwrap().params.unwrap(), []);
        assert_eq!(module.function("other"), None);
        assert_eq!(module.global("table").unwrap().1, 64);
        assert_eq!(module.global("counter").unwrap().1, 4);
        assert_eq!(Module::opaque().function("any").unwrap().params, None);
    }
}
