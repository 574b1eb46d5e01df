//! Makes Rust constants of `shim/layout.def`, with the values that the C++ compiler has.

use std::path::{Path, PathBuf};
use std::{env, fs};

const MARK: &[u8] = b"zonecast-layout:";

/// Writes `layout.rs`, and says whether Tracy's clock is the time stamp counter.
pub(crate) fn write(mut compiler: cc::Build) -> Result<bool, String> {
    let objects = compiler
        .file("shim/probe.cpp")
        // The digits have to stand in the object as they are: no link-time optimisation, neither of
        // the C++ compiler's own nor of rustc's.
        .inherit_rustflags(false)
        .flag_if_supported("-fno-lto")
        .cargo_metadata(false)
        .try_compile_intermediates()
        .map_err(|e| e.to_string())?;
    let object = objects.first().ok_or("no object")?;
    let bytes = fs::read(object).map_err(|e| format!("{}: {e}", object.display()))?;
    let values = values(&bytes).ok_or_else(|| format!("{}: no layout in it", object.display()))?;
    let names = names(&fs::read_to_string("shim/layout.def").map_err(|e| e.to_string())?);
    if names.len() != values.len() {
        return Err(format!("{} names of {} values", names.len(), values.len()));
    }
    let is_tsc = names.iter().zip(&values).any(|(name, value)| name == "IS_TSC" && *value == 1);
    let path = out_dir().join("layout.rs");
    fs::write(&path, constants(&names, &values)).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(is_tsc)
}

fn out_dir() -> PathBuf {
    Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).to_owned()
}

fn values(object: &[u8]) -> Option<Vec<usize>> {
    let start = object.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    let digits = object[start..].split(|&byte| byte == b';').next()?;
    let digits = core::str::from_utf8(digits).ok()?;
    digits.trim_end_matches(',').split(',').map(|value| value.parse().ok()).collect()
}

fn names(definitions: &str) -> Vec<String> {
    definitions
        .lines()
        .filter_map(|line| line.strip_prefix("LAYOUT( "))
        .filter_map(|line| line.split(',').next().map(str::to_owned))
        .collect()
}

fn constants(names: &[String], values: &[usize]) -> String {
    let one = |(name, value): (&String, &usize)| format!("pub(crate) const {name}: usize = {value};\n");
    let each: String = names.iter().zip(values).map(one).collect();
    format!("{each}pub(crate) const ALL: [usize; {}] = {values:?};\n", values.len())
}
