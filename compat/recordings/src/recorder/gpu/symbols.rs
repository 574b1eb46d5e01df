//! The names of a module's variables, which drivers do not tell.

use object::{Object, ObjectSymbol, SymbolKind};

/// The variables of an image: of an ELF file's symbol table, or declared as `.visible` in PTX. Their addresses and sizes
/// are the driver's to tell.
pub(super) fn globals(image: &[u8]) -> Vec<String> {
    if image.starts_with(b"\x7FELF") {
        return elf(image);
    }
    ptx(&String::from_utf8_lossy(image))
}

fn elf(image: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(image) else { return Vec::new() };
    let is_variable =
        |s: &object::Symbol<'_, '_>| s.kind() == SymbolKind::Data && s.is_definition() && s.is_global();
    let names = file.symbols().filter(is_variable).filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

fn ptx(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let declared = line.trim().strip_prefix(".visible")?.trim_start();
        let declared = declared.strip_prefix(".global").or_else(|| declared.strip_prefix(".const"))?;
        let word = declared.split(['=', ';']).next()?.split_whitespace().next_back()?;
        Some(word.split('[').next()?.to_owned())
    };
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::globals;

    #[test]
    fn variables_of_ptx_are_found() {
        let text = b".version 7.0\n.visible .global .align 4 .b8 table[64];\n.visible .const .f32 scale = 0f3F800000;\n\
            .global .u32 hidden;\n.visible .entry f()\n{ ret; }\n";
        assert_eq!(globals(text), ["table", "scale"]);
        assert!(globals(b"\x7FELF damaged").is_empty() && globals(b"").is_empty());
    }
}
