//! What the environment asks for.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::filter::Filter;
use crate::say::say;
use crate::settings;

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Json,
}

/// What is asked for. Made at the first call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// Lines as things happen.
    pub(super) lines: Option<Format>,
    /// A summary at the end.
    pub(super) summary: bool,
    /// The file; `None` for standard error.
    pub(super) file: Option<PathBuf>,
    /// The zones that are shown.
    pub(super) filter: Filter,
    /// Shorter zones have no line. In nanoseconds.
    pub(super) min: u64,
    /// How many lines of a kernel's source are shown.
    pub(super) sources: usize,
    /// Whether the output may be coloured if it is a terminal.
    pub(super) may_color: bool,
}

static CONFIG: OnceLock<Config> = OnceLock::new();

/// What is asked for.
pub(super) fn get() -> &'static Config {
    CONFIG.get_or_init(|| Config::read(settings::get))
}

impl Config {
    fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| given(name).map(|value| value.to_string_lossy().into_owned());
        let (lines, summary) = text("ZONECAST_CONSOLE").map_or((Some(Format::Text), false), |v| outputs(&v));
        Self {
            lines,
            summary,
            file: given("ZONECAST_FILE").map(with_process_id),
            filter: Filter::new(&text("ZONECAST_FILTER").unwrap_or_default()),
            min: text("ZONECAST_MIN").map_or(0, |value| or_say("ZONECAST_MIN", &value, duration)),
            sources: text("ZONECAST_SOURCES").map_or(0, |value| or_say("ZONECAST_SOURCES", &value, count)),
            may_color: given("NO_COLOR").is_none() && given("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

fn outputs(value: &str) -> (Option<Format>, bool) {
    let (mut lines, mut summary) = (None, false);
    for word in value.split(',').map(str::trim) {
        match word {
            "text" if lines != Some(Format::Json) => lines = Some(Format::Text),
            "json" if lines != Some(Format::Text) => lines = Some(Format::Json),
            "summary" => summary = true,
            _ => {
                say!(
                    "ZONECAST_CONSOLE={value} is none of text, json, summary, text,summary and json,summary; \
                     using text"
                );
                return (Some(Format::Text), false);
            }
        }
    }
    (lines, summary)
}

/// `%p` in a path is the process's number, so that children do not overwrite their parent's file.
fn with_process_id(path: OsString) -> PathBuf {
    match path.to_str() {
        Some(text) => text.replace("%p", &std::process::id().to_string()).into(),
        None => path.into(),
    }
}

/// The value, or 0 and a sentence about what was expected.
fn or_say<T: Default>(name: &str, value: &str, read: impl Fn(&str) -> Result<T, &'static str>) -> T {
    read(value.trim()).unwrap_or_else(|expected| {
        say!("{name}={value} is not {expected}; using none");
        T::default()
    })
}

fn count(value: &str) -> Result<usize, &'static str> {
    value.parse().map_err(|_| "a number of lines")
}

fn duration(value: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "a duration such as 500ns, 10us, 1.5ms or 2s";
    let digits = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let nanoseconds = match unit.trim() {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err(EXPECTED),
    };
    number.parse::<f64>().map(|number| (number * nanoseconds) as u64).map_err(|_| EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Config {
        Config::read(|name| variables.iter().find(|v| v.0 == name).map(|v| v.1.into()))
    }

    #[test]
    fn without_a_wish_there_is_text_on_standard_error() {
        let expected = Config {
            lines: Some(Format::Text),
            summary: false,
            file: None,
            filter: Filter::default(),
            min: 0,
            sources: 0,
            may_color: true,
        };
        assert_eq!(read(&[]), expected);
        assert_eq!(read(&[("ZONECAST_CONSOLE", ""), ("ZONECAST_MIN", ""), ("ZONECAST_FILE", "")]), expected);
        let wrong = [("ZONECAST_CONSOLE", "xml"), ("ZONECAST_MIN", "10"), ("ZONECAST_SOURCES", "-1")];
        assert_eq!(read(&wrong), expected);
        assert_eq!(read(&[("ZONECAST_CONSOLE", "text,json")]), expected);
    }

    #[test]
    fn outputs_combine() {
        for (value, expected) in [
            ("text", (Some(Format::Text), false)),
            ("json", (Some(Format::Json), false)),
            ("summary", (None, true)),
            ("json, summary", (Some(Format::Json), true)),
            ("summary,text", (Some(Format::Text), true)),
        ] {
            assert_eq!(outputs(value), expected, "{value}");
        }
    }

    #[test]
    fn durations() {
        for (value, expected) in
            [("500ns", 500), ("10us", 10_000), ("1.5ms", 1_500_000), ("2 s", 2_000_000_000)]
        {
            assert_eq!(duration(value), Ok(expected), "{value}");
        }
        for value in ["", "10", "us", "1.2.3us", "-1us", "10 apples"] {
            assert!(duration(value).is_err(), "{value}");
        }
        assert_eq!(duration("99999999999999999999s"), Ok(u64::MAX));
    }

    #[test]
    fn others() {
        let config = read(&[("ZONECAST_FILE", "a-%p.txt"), ("ZONECAST_SOURCES", "7"), ("NO_COLOR", "1")]);
        assert_eq!(config.file, Some(format!("a-{}.txt", std::process::id()).into()));
        assert_eq!(config.sources, 7);
        assert!(!config.may_color);
        assert!(!read(&[("TERM", "dumb")]).may_color);
    }
}
