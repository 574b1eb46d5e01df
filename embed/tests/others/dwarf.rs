//! What is particular about DWARF.

use std::path::Path;
use std::time::Duration;

use zonecast_embed::{Error, ErrorKind, Executable, Note, Origin, Remark};

use crate::expected::{data, is_path_of, locations, open, open_alone, sources};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(data(name)).unwrap()
}

fn from(bytes: Vec<u8>) -> Executable {
    Executable::from_bytes(bytes, "changed").unwrap()
}

/// Where the only place of `part` in `whole` is.
fn only(whole: &[u8], part: &[u8]) -> usize {
    let mut places = (0..whole.len()).filter(|&at| whole[at..].starts_with(part));
    let place = places.next().unwrap();
    assert_eq!(places.next(), None);
    place
}

fn remarks(executable: &Executable) -> Vec<Remark> {
    let remark = |note| match note {
        Note::Remark { remark, .. } => remark.clone(),
        other => panic!("{other}"),
    };
    executable.notes().into_iter().map(remark).collect()
}

fn copy(names: &[&str], folder: &Path) {
    for name in names {
        std::fs::copy(data(name), folder.join(Path::new(name).file_name().unwrap())).unwrap();
    }
}

#[test]
fn a_text_is_borrowed_and_found_by_the_path_that_locations_name() {
    let executable = open("dwarf/saxpy_c22_full.so");
    let image = executable.image(0).unwrap();
    let export = image.exports().find(|export| export.name() == b"host_saxpy").unwrap();
    let text = image.sources().find(export.location().unwrap().file).unwrap();
    assert!(executable.bytes().as_ptr_range().contains(&text.as_ptr()));
    let line = text.split(|&byte| byte == b'\n').nth(4).unwrap();
    assert!(line.starts_with(b"void host_saxpy("));
    assert_eq!(executable.notes().len(), 0);
    assert_eq!(image.target(), Some(&b"x86_64"[..]));
}

#[test]
fn an_export_is_looked_up_by_its_name() {
    let executable = open("dwarf/saxpy_c22_full.so");
    let image = executable.image(0).unwrap();
    assert!(image.is_looked_through());
    for export in image.exports() {
        assert_eq!(image.export_named(export.name()).unwrap().ordinal(), export.ordinal());
    }
    for name in ["", "host", "host_saxpy_", "z"] {
        assert!(image.export_named(name).is_none());
    }
}

#[test]
fn where_the_text_of_a_path_is() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("saxpy.so");
    std::fs::copy(data("dwarf/saxpy_c22_full.so"), &library).unwrap();
    let executable = Executable::open(&library).unwrap();
    let image = executable.image(0).unwrap();
    let embedded = image.sources().get(0).unwrap().path();
    assert_eq!(image.origin(embedded), Origin::Embedded);
    assert!(image.origin(embedded).has_text());

    let source = folder.path().join("source.c");
    let origin = || image.origin(source.as_os_str().as_encoded_bytes());
    let age = |seconds| {
        let written = std::fs::metadata(&library).unwrap().modified().unwrap() + Duration::from_secs(seconds);
        std::fs::File::options().write(true).open(&source).unwrap().set_modified(written).unwrap();
    };
    assert_eq!(origin(), Origin::Missing);
    std::fs::write(&source, "int x;").unwrap();
    age(0);
    let text = executable.disk_text(source.as_os_str().as_encoded_bytes()).unwrap();
    assert_eq!((origin(), text.read()), (Origin::Disk, Some(b"int x;".to_vec())));
    age(1);
    assert_eq!((origin(), text.read()), (Origin::Newer, None));
    // A folder is no text.
    assert_eq!(image.origin(folder.path().as_os_str().as_encoded_bytes()), Origin::Missing);
}

#[test]
fn the_column_of_dwarf_6_is_read_like_that_of_llvm() {
    let mut file = bytes("dwarf/saxpy_c22_full.so");
    // The kind and form of the column; in the standard's numbering, encoded in as many bytes.
    let at = only(&file, &[0x81, 0x40, 0x1f]);
    file[at..at + 2].copy_from_slice(&[0x86, 0x00]);
    let executable = from(file);
    assert_eq!(sources(&executable).len(), 2);
    assert!(is_path_of(sources(&executable)[0].path(), "saxpy.c"));
}

#[test]
fn stripped_debug_information_is_found_beside_the_file() {
    let stripped = open("dwarf/saxpy_c22_stripped.so");
    assert_eq!(locations(&stripped, "host_saxpy")[0].line, 5);
    assert_eq!(sources(&stripped).len(), 2);
    assert_eq!(sources(&stripped)[0].text(), sources(&open("dwarf/saxpy_c22_full.so"))[0].text());
    assert_eq!(sources(&stripped)[0].offset(), None);
    assert_eq!(remarks(&stripped), []);

    let missing = Remark::MissingFile { name: b"saxpy_c22_full.so.debug".to_vec() };
    assert_eq!(remarks(&open_alone("dwarf/saxpy_c22_stripped.so")), std::slice::from_ref(&missing));

    // A file of that name that is of another build is not taken.
    let folder = tempfile::tempdir().unwrap();
    copy(&["dwarf/saxpy_c22_stripped.so"], folder.path());
    std::fs::copy(data("dwarf/saxpy_c22_gz_zstd.so"), folder.path().join("saxpy_c22_full.so.debug")).unwrap();
    let executable = Executable::open(folder.path().join("saxpy_c22_stripped.so")).unwrap();
    assert_eq!(remarks(&executable), [missing]);
    assert_eq!(sources(&executable).len(), 0);
    assert_eq!(executable.image(0).unwrap().exports().len(), 2);
}

#[test]
#[cfg(feature = "mmap")]
fn a_debug_file_that_is_written_to_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    copy(&["dwarf/saxpy_c22_stripped.so", "dwarf/saxpy_c22_full.so.debug"], folder.path());
    let executable = Executable::open(folder.path().join("saxpy_c22_stripped.so")).unwrap();
    assert_eq!(sources(&executable).len(), 2);
    assert!(executable.unchanged());
    let debug = std::fs::OpenOptions::new().append(true).open(folder.path().join("saxpy_c22_full.so.debug"));
    std::io::Write::write_all(&mut debug.unwrap(), b"more").unwrap();
    assert!(!executable.unchanged());
}

#[test]
fn units_that_were_split_off_are_found_alone_and_packed() {
    let alone = open_alone("dwarf/saxpy_c22_split.so");
    // Only the first instructions' lines are left.
    assert_eq!(locations(&alone, "host_saxpy")[0].line, 6);
    let [Remark::MissingFile { name }] = &remarks(&alone)[..] else { panic!("{alone:?}") };
    assert!(is_path_of(name, "saxpy_c22_split.so-saxpy.dwo"));

    let folder = tempfile::tempdir().unwrap();
    copy(&["dwarf/saxpy_c22_split.so", "dwarf/saxpy_c22_split.so.dwp"], folder.path());
    let packed = Executable::open(folder.path().join("saxpy_c22_split.so")).unwrap();
    assert_eq!(locations(&packed, "host_saxpy")[0].line, 5);
    assert_eq!(remarks(&packed), []);
}

#[test]
fn preprocessed_text_is_said_and_lines_are_found_in_it() {
    let executable = open("dwarf/saxpy_c22_from_i.so");
    let image = executable.image(0).unwrap();
    let export = image.exports().find(|export| export.name() == b"host_fill").unwrap();
    let location = export.location().unwrap();
    assert!(is_path_of(location.file, "saxpy.c"));
    assert_eq!((location.line, image.sources().find(location.file)), (11, None));
    let stage = export.stage("preprocessed").unwrap().location.unwrap();
    let text = image.sources().find(stage.file).unwrap();
    let line = text.split(|&byte| byte == b'\n').nth(stage.line as usize - 1).unwrap();
    assert!(line.starts_with(b"void host_fill("));
    assert_eq!(remarks(&executable), [Remark::Preprocessed { path: stage.file.to_vec() }]);
}

#[test]
fn what_is_lacking_is_said() {
    assert_eq!(remarks(&open("dwarf/saxpy_c22_noembed.so")), [Remark::NoTexts]);
    assert_eq!(remarks(&open("dwarf/saxpy_c22_split.so-saxpy.dwo")), [Remark::NoLines]);
    for remark in [Remark::NoTexts, Remark::NoLines, Remark::MissingFile { name: b"x.debug".to_vec() }] {
        let note = Note::Remark { image: 3, remark: &remark };
        assert!(note.to_string().starts_with("image 3 has "), "{note}");
    }
}

/// Opening finds out what there is and no more, so that it costs the same for any size.
#[test]
fn damage_is_noticed_when_debug_information_is_read() {
    let mut file = bytes("dwarf/saxpy_c22_full.so");
    let column = only(&file, &[0x81, 0x40, 0x1f]);
    // A form that no line table has.
    file[column + 2] = 0x7f;
    let executable = from(file);
    let notes = executable.notes();
    let [Note::Damaged { image: 0, error }] = &notes[..] else { panic!("{notes:?}") };
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert_eq!((error.file(), sources(&executable).len()), (Some("changed"), 0));
}

#[test]
fn sections_that_unpack_to_too_much_are_refused() {
    let mut file = bytes("dwarf/saxpy_c22_gz_zstd.so");
    // The header of a compressed section: zstd, the size unpacked, the alignment.
    let header = [&2u64.to_le_bytes()[..], &[]].concat();
    let at = (0..file.len() - 24).find(|&at| file[at..].starts_with(&header) && file[at + 16] == 1).unwrap();
    for size in [u64::MAX, 1 << 40, 1 << 26, 3] {
        file[at + 8..at + 16].copy_from_slice(&size.to_le_bytes());
        let executable = from(file.clone());
        let notes = executable.notes();
        assert!(matches!(notes[..], [Note::Damaged { .. }]), "{notes:?}");
        assert_eq!(executable.image(0).unwrap().exports().len(), 2);
    }
}

/// A file may have any number of units that all refer to one large table.
#[test]
fn work_that_tables_ask_for_over_and_over_is_limited() {
    let mut elf = Elf::default();
    let attributes = [0x3f, 0x19].repeat(100_000); // "external", which takes no bytes in an entry
    let table = [&[1, 0x2e, 0][..], &attributes, &[0, 0, 0]].concat();
    elf.section(".debug_abbrev", &table);
    let mut unit = [&[0u8; 4][..], &[4, 0], &[0; 4], &[8]].concat();
    unit.extend([1; 100_000]);
    let length = unit.len() as u32 - 4;
    unit[..4].copy_from_slice(&length.to_le_bytes());
    elf.section(".debug_info", &unit);
    let executable = from(elf.finish());
    let notes = executable.notes();
    let [Note::Damaged { error, .. }] = &notes[..] else { panic!("{notes:?}") };
    assert!(error.to_string().contains("without end"), "{error}");
}

/// Writes an ELF file for x86-64 with nothing but sections.
#[derive(Default)]
struct Elf {
    contents: Vec<u8>,
    names: Vec<u8>,
    headers: Vec<u8>,
}

impl Elf {
    fn section(&mut self, name: &str, contents: &[u8]) {
        self.header(name, 1, contents);
    }

    fn header(&mut self, name: &str, kind: u32, contents: &[u8]) {
        let numbers = [0, 0, 64 + self.contents.len() as u64, contents.len() as u64, 0, 1, 0];
        self.headers.extend((1 + self.names.len() as u32).to_le_bytes());
        self.headers.extend(kind.to_le_bytes());
        self.headers.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self.names.extend(name.as_bytes());
        self.names.push(0);
        self.contents.extend(contents);
    }

    fn finish(mut self) -> Vec<u8> {
        let names = [&[0][..], &self.names, b".names\0"].concat();
        self.header(".names", 3, &names);
        let count = self.headers.len() as u16 / 64 + 1;
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".to_vec();
        file.extend([0; 16]);
        file.extend((64 + self.contents.len() as u64).to_le_bytes());
        file.extend([0, 0, 0, 0, 64, 0, 56, 0, 0, 0, 64, 0]);
        file.extend(count.to_le_bytes());
        file.extend((count - 1).to_le_bytes());
        [&file[..], &self.contents, &[0; 64], &self.headers].concat()
    }
}

#[test]
fn an_unlinked_object_is_relocated_or_refused() {
    // Without its relocations every path and text would be the first string.
    let object = open("dwarf/saxpy_c22.o");
    assert_eq!(sources(&object).len(), 2);
    assert_ne!(sources(&object)[0].text(), sources(&object)[1].text());

    // Of a machine whose relocations are not known, nothing is guessed.
    let mut file = bytes("dwarf/saxpy_c22.o");
    file[18] = 0x2b; // SPARC
    let notes = from(file);
    let notes = notes.notes();
    let [Note::Damaged { error, .. }] = &notes[..] else { panic!("{notes:?}") };
    assert!(error.to_string().contains("link the file"), "{error}");
}

#[test]
fn a_file_that_is_no_elf_file_any_more_is_an_error() {
    let mut file = bytes("dwarf/saxpy_c22_full.so");
    file.truncate(60);
    let error: Error = Executable::from_bytes(file, "cut").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Damaged(_)), "{error}");
}
