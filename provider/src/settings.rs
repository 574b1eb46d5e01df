//! What the user wants, by the environment; else what the program wants.

use std::ffi::OsString;
use std::sync::OnceLock;

/// Names of environment variables, and what each counts as where it is unset or empty.
type Settings = &'static [(&'static str, &'static str)];

static OF_PROGRAM: OnceLock<Settings> = OnceLock::new();

/// Takes the program's settings, unless that has been done.
pub(crate) fn of_program(settings: Settings) {
    let _ = OF_PROGRAM.set(settings);
}

/// The value of one of zonecast's environment variables, if anybody has set it to something.
pub(crate) fn get(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty()).or_else(|| by_program(name))
}

/// As [`get`], as text.
pub(crate) fn text(name: &str) -> Option<String> {
    get(name).map(|value| value.to_string_lossy().into_owned())
}

fn by_program(name: &str) -> Option<OsString> {
    let settings = OF_PROGRAM.get()?;
    settings.iter().find(|setting| setting.0 == name).map(|setting| setting.1.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_goes_before_the_program_and_the_first_program_before_others() {
        of_program(&[("ZONECAST_NOBODY_SETS_THIS", "first"), ("PATH", "nowhere")]);
        of_program(&[("ZONECAST_NOBODY_SETS_THIS", "second")]);
        assert_eq!(text("ZONECAST_NOBODY_SETS_THIS").as_deref(), Some("first"));
        assert_eq!(get("PATH"), std::env::var_os("PATH"));
        assert_eq!(get("ZONECAST_NOR_THIS"), None);
    }
}
