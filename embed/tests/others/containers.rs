//! What is particular about containers.

use zonecast_embed::table::attach;
use zonecast_embed::{Executable, Format, Note};

use crate::expected::{data, locations, open};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(data(name)).unwrap()
}

fn targets(executable: &Executable) -> Vec<(Format, String)> {
    let target = |image: zonecast_embed::Image<'_>| {
        (image.format(), String::from_utf8(image.target().unwrap_or_default().to_vec()).unwrap())
    };
    executable.images().map(target).collect()
}

fn named(images: &[(Format, &str)]) -> Vec<(Format, String)> {
    images.iter().map(|(format, target)| (*format, (*target).to_owned())).collect()
}

#[test]
fn each_image_is_there_with_its_target() {
    let host = open("amdgpu/fill_host_oldccob.elf");
    let expected = [(Format::Dwarf, "x86_64"), (Format::Amdgpu, "gfx1100"), (Format::Amdgpu, "gfx942")];
    assert_eq!(targets(&host), named(&expected));
    assert_eq!(targets(&open("amdgpu/vec_packager.out")), named(&[(Format::Amdgpu, "gfx942")]));
}

/// It has a function to launch the kernel, of which nothing says where it is.
#[test]
fn the_host_does_not_hide_the_kernel() {
    let host = open("amdgpu/fill_host_new.elf");
    assert!(host.image(0).unwrap().exports().all(|export| export.name() != b"hip_fill"));
    assert_eq!(locations(&host, "hip_fill").len(), 2);
}

#[test]
fn what_was_unpacked_has_bytes_and_no_place() {
    let bundle = open("amdgpu/fill_hip_v3.ccob");
    for image in bundle.images() {
        assert_eq!((image.range(), image.offset()), (None, None));
        assert!(image.bytes().unwrap().starts_with(b"\x7fELF"));
        assert!(image.sources().get(0).unwrap().is_compressed());
    }
}

/// As in a program of two sources, whose bundles the linker puts behind each other.
#[test]
fn several_bundles_in_one_section_are_all_read() {
    let mut host = bytes("amdgpu/fill_host_old.elf");
    let found = Executable::from_bytes(host.clone(), "one").unwrap();
    assert_eq!(found.images().len(), 3);
    // The section's header: a bundle more is put behind the file, and the section there too.
    let bundle = bytes("amdgpu/fill_hip.hipfb");
    let at = host.len().next_multiple_of(4096);
    host.resize(at, 0);
    host.extend(&bundle);
    host.resize(host.len().next_multiple_of(4096), 0);
    host.extend(&bundle);
    let length = (host.len() - at) as u64;
    let (headers, names) = (section_headers(&host), section_names(&host));
    let header = headers.into_iter().find(|&header| name_of(&host, names, header) == b".hip_fatbin").unwrap();
    host[header + 24..header + 32].copy_from_slice(&(at as u64).to_le_bytes());
    host[header + 32..header + 40].copy_from_slice(&length.to_le_bytes());
    let two = Executable::from_bytes(host, "two").unwrap();
    let formats: Vec<_> = two.images().map(|image| image.format()).collect();
    assert_eq!(formats, [Format::Dwarf, Format::Amdgpu, Format::Amdgpu, Format::Amdgpu, Format::Amdgpu]);
    assert_eq!(locations(&two, "hip_fill").len(), 4);
}

fn number(file: &[u8], at: usize, size: usize) -> usize {
    file[at..at + size].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

fn section_headers(file: &[u8]) -> Vec<usize> {
    let (at, count) = (number(file, 40, 8), number(file, 60, 2));
    (0..count).map(|index| at + 64 * index).collect()
}

fn section_names(file: &[u8]) -> usize {
    number(file, section_headers(file)[number(file, 62, 2)] + 24, 8)
}

fn name_of(file: &[u8], names: usize, header: usize) -> &[u8] {
    let name = &file[names + number(file, header, 4)..];
    &name[..name.iter().position(|&byte| byte == 0).unwrap()]
}

#[test]
fn bitcode_has_kernels_and_texts() {
    let object = open("amdgpu/fill_host_rdc_new.o");
    let expected = [(Format::Dwarf, "x86_64"), (Format::Bitcode, "gfx1100"), (Format::Bitcode, "gfx942")];
    assert_eq!(targets(&object), named(&expected));
    assert!(object.notes().is_empty(), "{:?}", object.notes());
    for image in object.images().skip(1) {
        let at = image.export_named("hip_fill").unwrap().location().unwrap();
        assert_eq!((at.file, at.line), (&b"/corpus/fill_host.hip"[..], 11));
        let text = image.sources().find(at.file).unwrap();
        assert!(
            text.split(|&byte| byte == b'\n').nth(10).unwrap().ends_with(b"hip_fill(float *p, float v) {")
        );
    }
    // As it is by itself, and with a header before it.
    let alone = object.image(1).unwrap().bytes().unwrap().to_vec();
    let header = [0x0b17_c0de, 0, 20, alone.len() as u32, 0].map(u32::to_le_bytes).concat();
    let wrapped = Executable::from_bytes([header, alone.clone()].concat(), "wrapped").unwrap();
    for bitcode in [Executable::from_bytes(alone, "alone").unwrap(), wrapped] {
        assert_eq!(locations(&bitcode, "hip_fill")[0].line, 11);
        assert_eq!(bitcode.image(0).unwrap().sources().len(), 1);
    }
}

/// Found by fuzzing.
#[test]
fn a_compressed_table_is_refused_at_a_place_in_the_file() {
    let table = std::fs::read(data("../tables/example.zonecast")).unwrap();
    let mut file = attach(&bytes("amdgpu/vec_c22_gfx942.hsaco"), &table).unwrap();
    let (headers, names) = (section_headers(&file), section_names(&file));
    let header = headers.into_iter().find(|&header| name_of(&file, names, header) == b".zonecast").unwrap();
    let offset = number(&file, header + 24, 8) as u64;
    // Its flags, and then where it is, too.
    file[header + 9] |= 0x08;
    let refused = |file: &[u8]| Executable::from_bytes(file.to_vec(), "packed").unwrap_err();
    assert_eq!(refused(&file).offset(), Some(offset));
    file[header + 24..header + 32].fill(0x30);
    assert_eq!(refused(&file).offset(), Some(file.len() as u64));
}

/// The first version of the format has no size in it, and its payload goes on to the end.
#[test]
fn compressed_bundles_of_all_versions_read_alike() {
    let second = bytes("amdgpu/fill_hip_v2.ccob");
    let first = [b"CCOB\x01\0", &second[6..8], &second[12..24], &second[24..]].concat();
    let first = Executable::from_bytes(first, "first").unwrap();
    assert_eq!(targets(&first), targets(&open("amdgpu/fill_hip_v2.ccob")));

    let mut unknown = second.clone();
    unknown[4] = 9;
    let error = Executable::from_bytes(unknown, "unknown").unwrap_err();
    assert!(error.to_string().contains("version other than 1, 2 and 3"), "{error}");
    assert_eq!(error.offset(), Some(4));
}

#[test]
fn bundles_that_unpack_to_too_much_are_refused() {
    for (size, reason) in [(u32::MAX, "256 MiB"), (200 << 20, "a thousand times"), (5, "the length given")] {
        let mut bundle = bytes("amdgpu/fill_hip_v2.ccob");
        bundle[12..16].copy_from_slice(&size.to_le_bytes());
        let error = Executable::from_bytes(bundle, "bomb").unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(error.offset(), Some(24));
    }
}

/// A part that is damaged is left out, and the others are read.
#[test]
fn a_damaged_part_is_said_and_left_out() {
    let mut bundle = bytes("amdgpu/fill_hip.hipfb");
    bundle[4096 + 32..4096 + 40].fill(0xff);
    let executable = Executable::from_bytes(bundle, "half").unwrap();
    assert_eq!(targets(&executable), named(&[(Format::Amdgpu, "gfx942")]));
    let notes = executable.notes();
    let [Note::Unreadable(error)] = &notes[..] else { panic!("{notes:?}") };
    assert_eq!((error.file(), error.offset()), (Some("half"), Some(4096)));
}

#[test]
#[cfg(feature = "cubin")]
fn a_fat_binary_is_followed_by_what_is_in_it() {
    let library = open("cuda/libcuda_vec.so");
    // The host's half was compiled without debug information, and is not worth telling.
    let expected = [(Format::Fatbin, ""), (Format::Ptx, "sm_90"), (Format::Cubin, "sm_90")];
    assert_eq!(targets(&library), named(&expected));
    assert_eq!(library.image(0).unwrap().exports().len(), 0);
}

#[test]
#[cfg(feature = "cubin")]
fn a_cubin_has_a_listing_to_fall_back_on() {
    let cubin = open("cuda/cuda_vec_lineinfo.sm90.cubin");
    let image = cubin.image(0).unwrap();
    assert_eq!((image.sources().len(), image.listings().len()), (0, 1));
    for export in image.exports() {
        let stage = export.stage("ptx").unwrap().location.unwrap();
        let listing = image.find(stage.file).unwrap();
        let line = listing.text().split(|&byte| byte == b'\n').nth(stage.line as usize - 1).unwrap();
        let entry = [b".entry ", export.name(), b"("].concat();
        assert!(line.windows(entry.len()).any(|window| window == entry), "{}", line.escape_ascii());
    }
    // Each target's abi has the number in another place.
    assert_eq!(targets(&open("cuda/cuda_vec_lineinfo.sm100.cubin"))[0].1, "sm_100");
    assert_eq!(targets(&open("triton/cuda_90/tri_scale.cubin"))[0].1, "sm_90");
}
