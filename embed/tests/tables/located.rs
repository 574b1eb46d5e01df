//! Files that locations name travel along.

use zonecast_embed::Executable;
use zonecast_embed::table::{Export, SkippedReason, TableBuilder};

#[test]
fn files_that_are_there_are_taken_and_the_rest_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, contents: &[u8]| std::fs::write(folder.path().join(name), contents).unwrap();
    write("model.py", b"def model():\n");
    write("picture", b"\x89PNG\0");
    write("large", &vec![b'x'; (4 << 20) + 1]);
    write("kernel.mlir", b"a newer text than the embedded one");
    write("other", b"nobody names this");

    let mut compiled = TableBuilder::new();
    compiled.source("kernel.mlir", "the embedded text").unwrap();
    for (name, file) in
        [("a", "model.py"), ("b", "picture"), ("c", "large"), ("d", "absent"), ("e", "."), ("f", "")]
    {
        compiled.export(Export::new(name).at(file, 1).stage("0.source", "kernel.mlir", 1)).unwrap();
    }
    let executable = Executable::from_bytes(compiled.build().unwrap(), "compiled").unwrap();

    let mut table = TableBuilder::new();
    let skipped = table.located_files(&executable, folder.path());
    let reasons: Vec<_> = skipped.iter().map(|skipped| (&skipped.path[..], &skipped.reason)).collect();
    assert!(
        matches!(
            reasons[..],
            [
                (b".", SkippedReason::NoFile),
                (b"absent", SkippedReason::Unreadable(_)),
                (b"large", SkippedReason::TooLarge),
                (b"picture", SkippedReason::NoText),
            ]
        ),
        "{skipped:?}"
    );
    assert_eq!(skipped[3].to_string(), "picture: not a text");
    let located = Executable::from_bytes(table.build().unwrap(), "located").unwrap();
    let sources = located.image(0).unwrap().sources();
    assert_eq!(sources.iter().map(|source| source.path()).collect::<Vec<_>>(), [b"model.py"]);
    assert_eq!(sources.find("model.py"), Some(&b"def model():\n"[..]));
}
