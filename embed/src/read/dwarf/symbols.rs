//! The functions that a file exports.

use std::borrow::Cow;

use object::elf::{EM_AMDGPU, Machine};
use object::{Object, ObjectSymbol, SymbolFlags, SymbolKind, elf};

use super::{cubin, relocate};

/// What clang and nvcc put before the name of a kernel for the function on the host that launches it.
const STUB: &[u8] = b"__device_stub__";

/// An exported function.
pub(crate) struct Symbol<'a> {
    pub(crate) name: Cow<'a, [u8]>,
    /// `None` if its code cannot be told from that of others.
    pub(crate) address: Option<u64>,
    /// Whether it only launches the kernel that it is named after.
    pub(crate) is_stub: bool,
}

/// The exports of an ELF file, ascending by name.
pub(crate) fn of_elf<'a>(file: &object::File<'a>, machine: Machine) -> Vec<Symbol<'a>> {
    let mut symbols = match machine {
        EM_AMDGPU => kernels(file),
        cubin::MACHINE => cubin::kernels(file),
        _ => functions(file),
    };
    symbols.sort_by(|a, b| a.name.cmp(&b.name));
    symbols.dedup_by(|a, b| a.name == b.name);
    symbols
}

/// The functions that a loader would find; in files that are not meant to be loaded, all global ones.
fn functions<'a>(file: &object::File<'a>) -> Vec<Symbol<'a>> {
    let dynamic: Vec<_> = file.dynamic_symbols().filter_map(|symbol| function(file, &symbol)).collect();
    if dynamic.is_empty() {
        file.symbols().filter_map(|symbol| function(file, &symbol)).collect()
    } else {
        dynamic
    }
}

fn function<'a>(file: &object::File<'a>, symbol: &object::Symbol<'a, '_>) -> Option<Symbol<'a>> {
    let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.is_global();
    if !is_function || is_hidden(symbol) {
        return None;
    }
    let name = symbol.name_bytes().ok().filter(|name| !name.is_empty())?;
    let address = relocate::address(file, symbol);
    // The lowest bit of an ARM function says in which of two instruction sets it is.
    let is_arm = file.architecture() == object::Architecture::Arm;
    let address = Some(if is_arm { address & !1 } else { address });
    let kernel = without_stub(name);
    Some(Symbol { is_stub: *kernel != *name, name: kernel, address })
}

fn is_hidden(symbol: &object::Symbol<'_, '_>) -> bool {
    match symbol.flags() {
        SymbolFlags::Elf { st_other, .. } => {
            matches!(st_other.visibility(), elf::STV_HIDDEN | elf::STV_INTERNAL)
        }
        _ => false,
    }
}

/// The kernels of an AMDGPU code object: those with a descriptor, `NAME.kd`.
fn kernels<'a>(file: &object::File<'a>) -> Vec<Symbol<'a>> {
    let symbols = || file.dynamic_symbols().chain(file.symbols()).filter(|symbol| symbol.is_definition());
    let mut functions: Vec<(&[u8], u64)> = symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text)
        .filter_map(|symbol| Some((symbol.name_bytes().ok()?, relocate::address(file, &symbol))))
        .collect();
    functions.sort_unstable();
    let kernel = |symbol: object::Symbol<'a, '_>| {
        let name = symbol.name_bytes().ok()?.strip_suffix(b".kd").filter(|name| !name.is_empty())?;
        let at = functions.partition_point(|(function, _)| *function < name);
        let address =
            functions.get(at).filter(|(function, _)| *function == name).map(|(_, address)| *address);
        Some(Symbol { name: Cow::Borrowed(name), address, is_stub: false })
    };
    symbols().filter_map(kernel).collect()
}

/// The kernel's name, for a function that launches a kernel.
fn without_stub(name: &[u8]) -> Cow<'_, [u8]> {
    let Some(at) = name.windows(STUB.len()).position(|window| window == STUB) else {
        return Cow::Borrowed(name);
    };
    let (before, kernel) = (&name[..at], &name[at + STUB.len()..]);
    // In mangled names, the length of the whole stands before it.
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, length) = before.split_at(before.len() - digits);
    if length.is_empty() {
        return if before.is_empty() { Cow::Borrowed(kernel) } else { Cow::Borrowed(name) };
    }
    let length = std::str::from_utf8(length).ok().and_then(|length| length.parse::<usize>().ok());
    match length.and_then(|length| length.checked_sub(STUB.len())) {
        Some(length) => [before, length.to_string().as_bytes(), kernel].concat().into(),
        None => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::without_stub;

    #[test]
    fn a_launching_function_is_named_as_its_kernel() {
        for (function, kernel) in [
            ("hip_fill", "hip_fill"),
            ("__device_stub__hip_fill", "hip_fill"),
            ("_Z23__device_stub__hip_axpyIfEvT_PKS0_PS0_", "_Z8hip_axpyIfEvT_PKS0_PS0_"),
            ("_ZN3net19__device_stub__reluEPf", "_ZN3net4reluEPf"),
            ("_Z3__device_stub__x", "_Z3__device_stub__x"),
            ("my__device_stub__x", "my__device_stub__x"),
        ] {
            assert_eq!(without_stub(function.as_bytes()), function_bytes(kernel));
        }
    }

    fn function_bytes(name: &str) -> &[u8] {
        name.as_bytes()
    }
}
