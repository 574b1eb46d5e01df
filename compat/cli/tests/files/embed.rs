//! `zonecast embed`.

use std::fs;
use std::path::Path;
use std::process::Command;

use zonecast_embed::Executable;

use crate::{data, exits_with, json, succeeds, zonecast};

const LIBRARY: &str = "elf/saxpy_c22_noembed.so";

/// `zonecast embed` in a folder.
fn embed(folder: &Path, input: &Path, output: &str) -> Command {
    let mut command = zonecast();
    command.current_dir(folder).arg("embed").arg(input).args(["-o", output]);
    command
}

#[test]
fn sources_and_kernels_are_put_in() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/saxpy.c"), "void saxpy() {}\n").unwrap();
    fs::write(folder.path().join("a b=c.h"), "// header\n").unwrap();
    let said = succeeds(
        embed(folder.path(), &data(LIBRARY), "out.so")
            .args(["--source", "src/saxpy.c", "a b=c.h", "--export", "saxpy=src/saxpy.c:1"])
            .args(["--export", "other=a b=c.h:2"]),
    );
    assert_eq!(said, "out.so: source texts put in: 2; kernels: 2\n");
    let out = folder.path().join("out.so");
    let listed = json(&succeeds(zonecast().arg("sources").arg(&out).args(["--format", "json"])));
    let table = &listed["files"][0]["executables"][0];
    assert_eq!((&table["format"], &table["name"]), (&"zonecast".into(), &"saxpy_c22_noembed".into()));
    let places: Vec<String> = table["exports"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        places,
        [
            r#"{"name":"saxpy","location":{"file":"src/saxpy.c","line":1},"stages":[]}"#,
            r#"{"name":"other","location":{"file":"a b=c.h","line":2},"stages":[]}"#,
        ]
    );
    assert_eq!(table["sources"][1]["path"], "src/saxpy.c");
    let offset = table["sources"][1]["offset"].as_u64().unwrap() as usize;
    assert!(fs::read(&out).unwrap()[offset..].starts_with(b"void saxpy() {}\n"));
    let modes = [&out, &data(LIBRARY)].map(|path| fs::metadata(path).unwrap().permissions());
    assert_eq!(modes[0], modes[1]);
}

/// The files that an executable's and the command line's locations name travel along; the rest is said.
#[test]
fn what_locations_name_travels_along() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/mlp.mlir"), "// the author's\n").unwrap();
    fs::write(folder.path().join("new.py"), "pass\n").unwrap();
    let module = Executable::open(data("iree/mlp.cpu.g3.vmfb")).unwrap();
    let library = folder.path().join("library.so");
    fs::write(&library, module.image(0).unwrap().bytes().unwrap()).unwrap();

    // In place.
    let mut command = embed(folder.path(), &library, "library.so");
    command.args(["--from-locations", "--export", "new=new.py:3", "--export", "odd=absent\n.py:1"]);
    let (_, errors) = exits_with(0, &mut command);
    assert_eq!(errors, "zonecast: left out absent\\n.py: No such file or directory (os error 2)\n");
    let extracted = folder.path().join("out");
    succeeds(
        zonecast().arg("sources").arg(&library).args(["--stage", "original", "--extract"]).arg(&extracted),
    );
    assert_eq!(fs::read_to_string(extracted.join("src/mlp.mlir")).unwrap(), "// the author's\n");
    assert_eq!(fs::read_to_string(extracted.join("new.py")).unwrap(), "pass\n");
    let executable = Executable::open(&library).unwrap();
    let export = executable.image(0).unwrap().export(0).unwrap();
    assert_eq!(
        export.image().named_source(export.location().unwrap().file).unwrap().text(),
        b"// the author's\n"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing else is left behind");
}

#[test]
fn what_cannot_be_done_is_said_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "text").unwrap();
    let library = data(LIBRARY);
    let refused = |code: i32, input: &Path, arguments: &[&str]| {
        let (_, errors) = exits_with(code, embed(folder.path(), input, "out").args(arguments));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        errors
    };
    let errors = refused(1, &folder.path().join("a.txt"), &["--source", "a.txt"]);
    assert!(errors.contains("a.txt: cannot attach a table to this file: it is not an ELF file"), "{errors}");
    assert!(refused(1, &library, &["--source", "absent"]).contains("absent: No such file"));
    assert!(refused(1, Path::new("absent"), &["--source", "a.txt"]).contains("absent: No such file"));
    assert!(refused(1, &library, &["--from-locations"]).contains("there is nothing to put in"));
    for export in ["saxpy", "saxpy=a.txt", "=a.txt:1", "saxpy=:1", "saxpy=a.txt:x", "saxpy=a.txt:-1"] {
        assert!(refused(2, &library, &["--export", export]).contains("--export"));
    }
    assert!(refused(2, &library, &[]).contains("--from-locations"));
}
