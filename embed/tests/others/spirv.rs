//! What is particular about SPIR-V.

use zonecast_embed::{ErrorKind, Executable, Format, Note, Remark};

use crate::expected::{data, locations, open, sources};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(data(name)).unwrap()
}

#[test]
fn a_preamble_is_left_out_since_lines_do_not_count_it() {
    let module = open("spirv/fill_glslang_g.spv");
    assert_eq!(module.image(0).unwrap().format(), Format::Spirv);
    let location = locations(&module, "main")[0];
    let text = module.image(0).unwrap().sources().find(location.file).unwrap();
    assert!(text.starts_with(b"#version "), "{}", text.escape_ascii());
    let line = text.split(|&byte| byte == b'\n').nth(location.line as usize - 1).unwrap();
    assert!(line.starts_with(b"void main("), "{}", line.escape_ascii());
}

#[test]
fn the_line_of_the_declaration_is_found_above_the_first_in_the_body() {
    let module = open("spirv/fill_naga30_big.spv");
    let location = locations(&module, "zero_main")[0];
    let text = module.image(0).unwrap().sources().find(location.file).unwrap();
    let line = text.split(|&byte| byte == b'\n').nth(location.line as usize - 1).unwrap();
    assert!(line.starts_with(b"fn zero_main("), "{}", line.escape_ascii());
}

#[test]
fn without_text_the_first_line_in_the_body_is_all_there_is() {
    let module = open("spirv/fill_slang_g1.spv");
    assert_eq!(locations(&module, "slang_fill")[0].line, 9);
    assert_eq!(sources(&module).len(), 0);
    assert!(matches!(module.notes()[..], [Note::Remark { remark: Remark::NoTexts, .. }]));
    assert!(matches!(
        open("spirv/fill_glslang_plain.spv").notes()[..],
        [Note::Remark { remark: Remark::NoLines, .. }]
    ));
}

#[test]
fn a_module_in_the_other_byte_order_is_named() {
    let swapped: Vec<u8> =
        bytes("spirv/fill_glslang_g.spv").chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    let error = Executable::from_bytes(swapped, "swapped").unwrap_err();
    assert!(error.to_string().contains("big-endian"), "{error}");
}

#[test]
fn an_instruction_without_end_is_an_error_with_its_place() {
    let mut module = bytes("spirv/fill_glslang_g.spv");
    for length in [0, 0xffff_u16] {
        module[22..24].copy_from_slice(&length.to_le_bytes());
        let error = Executable::from_bytes(module.clone(), "endless").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Damaged(_)), "{error}");
        assert_eq!(error.offset(), Some(20));
    }
}

#[test]
fn functions_that_call_each_other_have_no_line() {
    // OpEntryPoint, and two functions, each with a call of the other.
    let function =
        |id: u32, other: u32| [5 << 16 | 54, 1, id, 0, 2, 4 << 16 | 57, 1, id + 10, other, 1 << 16 | 56];
    let entry = [5 << 16 | 15, 5, 3, u32::from_le_bytes(*b"main"), 0];
    let words = [&[0x0723_0203, 0x1_0000, 0, 20, 0][..], &entry, &function(3, 4), &function(4, 3)].concat();
    let module: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let module = Executable::from_bytes(module, "round").unwrap();
    let export = module.image(0).unwrap().export(0).unwrap();
    assert_eq!((export.name(), export.location()), (&b"main"[..], None));
}
