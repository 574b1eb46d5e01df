//! What holds whichever formats are compiled in.

use zonecast_embed::{ErrorKind, Executable};

#[test]
fn unknown_contents_are_named() {
    let error = Executable::from_bytes(b"MZ\x90\x00 and so on".to_vec(), "program").unwrap_err();
    let ErrorKind::Unknown(magic) = error.kind() else { panic!("{error}") };
    assert_eq!(magic.as_bytes(), b"MZ\x90\x00 and");
    assert_eq!(error.file(), Some("program"));
    assert_eq!(error.offset(), Some(0));
    let message = error.to_string();
    assert!(
        message.starts_with("program: at offset 0x0: unknown contents, beginning 4d 5a 90 00 20 61 6e 64")
    );
    assert!(message.contains("(a Windows executable); understood: "), "{message}");
}

#[test]
fn no_contents_are_an_error() {
    let error = Executable::from_bytes(&b""[..], "nothing").unwrap_err();
    assert_eq!(error.to_string(), "nothing: at offset 0x0: there are no contents");
}

#[test]
fn a_missing_file_is_named() {
    let error = Executable::open("no/such/file.vmfb").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)));
    assert!(error.to_string().starts_with("no/such/file.vmfb: "), "{error}");
}

#[test]
fn an_empty_file_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Executable::open(file.path()).unwrap_err();
    assert!(error.to_string().ends_with("there are no contents"), "{error}");
}
