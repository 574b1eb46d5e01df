//! Programs outside IREE: installed with `install.sh`, found by pkg-config and by CMake, run.

use std::path::Path;
use std::process::Command;

use crate::support::{package, run};

/// Installs the libraries that cargo built beside this test.
fn install(prefix: &Path) {
    let library = crate::support::library();
    let mut install = Command::new("bash");
    install.arg(package().join("install.sh")).arg(prefix).arg("as-built");
    run(install.env("ZONECAST_IREE_BUILT", library.parent().unwrap())).unwrap();
}

fn is_here(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

/// Runs an example and looks at what it printed and, if the console was there, traced.
fn check(program: &Path, said: &str, traced: &[&str]) {
    // cargo has libraries of its own found first, which may be of an earlier build.
    let mut command = Command::new(program);
    let output = command.env("ZONECAST_PROVIDER", "console").env_remove("LD_LIBRARY_PATH").output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), said);
    if cfg!(feature = "console") {
        let lines = String::from_utf8_lossy(&output.stderr);
        assert!(traced.iter().all(|title| lines.contains(title)), "{lines}");
    }
}

#[test]
fn examples_build_and_run_as_their_comments_say() {
    let prefix = tempfile::tempdir().unwrap();
    install(prefix.path());
    let examples = package().join("examples");
    if is_here("pkg-config") {
        let mut flags = Command::new("pkg-config");
        flags.args(["--cflags", "--libs", "zonecast_iree"]);
        let flags = run(flags.env("PKG_CONFIG_PATH", prefix.path().join("lib/pkgconfig"))).unwrap();
        for (compiler, source, said, traced) in [
            ("gcc", "inference.c", "sum 4352.0\n", ["layer", "four layers of 1024"]),
            ("g++", "scopes.cc", "done\n", ["all workers", "step"]),
        ] {
            let program = prefix.path().join(source).with_extension("shared");
            let rpath = format!("-Wl,-rpath,{}", prefix.path().join("lib").display());
            let mut compile = Command::new(compiler);
            compile.args(["-Wall", "-Wextra", "-Werror", "-pthread", &rpath]).arg(examples.join(source));
            run(compile.args(flags.split_whitespace()).arg("-o").arg(&program)).unwrap();
            check(&program, said, &traced);
        }
    }
    if is_here("cmake") {
        let build = prefix.path().join("build");
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&examples).arg("-B").arg(&build);
        run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.path().display()))).unwrap();
        run(Command::new("cmake").arg("--build").arg(&build)).unwrap();
        check(&build.join("inference"), "sum 4352.0\n", &["layer"]);
        check(&build.join("scopes"), "done\n", &["all workers", "step"]);
    }
}

#[test]
fn features_that_are_off_are_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for source in ["inference.c", "scopes.cc"] {
        let compiler = if source.ends_with('c') && !source.ends_with("cc") { "gcc" } else { "g++" };
        let program = folder.path().join(source).with_extension("off");
        let mut compile = Command::new(compiler);
        compile.args(["-Wall", "-Werror", "-pthread", "-DIREE_TRACING_FEATURES_REQUESTED=0", "-I"]);
        compile.arg(package().join("include")).arg(package().join("examples").join(source));
        // Without the library: nothing is called.
        run(compile.arg("-o").arg(&program)).unwrap();
        assert!(run(&mut Command::new(&program)).is_ok());
    }
}
