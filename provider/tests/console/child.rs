//! Running a program of `programs.rs` in a process of its own.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// A process to be, and the file that it writes.
pub(crate) struct Child {
    pub(crate) command: Command,
    pub(crate) file: PathBuf,
    _folder: tempfile::TempDir,
}

/// What a process left behind.
pub(crate) struct Done {
    pub(crate) written: Vec<u8>,
    pub(crate) output: Output,
}

impl Child {
    /// `program` with `ZONECAST_CONSOLE=console`.
    pub(crate) fn new(program: &str, console: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("written");
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "programs::run", "--nocapture", "--test-threads=1"]);
        for name in ["ZONECAST_FILTER", "ZONECAST_MIN", "ZONECAST_SOURCES", "NO_COLOR", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        command.env("ZONECAST_PROVIDER", "console").env("ZONECAST_CONSOLE", console);
        command.env("ZONECAST_FILE", &file).env(super::programs::WHICH, program);
        end_when_asked(&mut command);
        Self { command, file, _folder: folder }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it to its end, however it ends.
    pub(crate) fn end(mut self) -> Done {
        let output = self.command.output().unwrap();
        Done { written: std::fs::read(&self.file).unwrap_or_default(), output }
    }

    /// Runs it; it must succeed.
    pub(crate) fn run(self) -> Done {
        let done = self.end();
        assert!(done.output.status.success(), "{:?}\n{}", done.output.status, done.said());
        done
    }
}

/// Lets signals end the process. A shell's background jobs, and what they start, ignore Ctrl-C.
fn end_when_asked(command: &mut Command) {
    #[cfg(unix)]
    // SAFETY: `signal` may be called between fork and exec, and nothing else is.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, || {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

impl Done {
    /// What it said on standard error.
    pub(crate) fn said(&self) -> String {
        String::from_utf8(self.output.stderr.clone()).unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::str::from_utf8(&self.written).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "the last line is whole");
        text.lines().map(str::to_owned).collect()
    }

    /// The lines without the columns of times, which differ from run to run: the thread, whether
    /// there is a duration, and the tree.
    pub(crate) fn tree(&self) -> Vec<String> {
        let mut lines = self.lines().into_iter();
        assert_eq!(lines.next().as_deref(), Some("#     time s thread          duration zone"));
        lines.map(|line| tree_of(&line)).collect()
    }

    pub(crate) fn json(&self) -> Vec<Value> {
        self.lines().iter().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// The objects of one event.
    pub(crate) fn events(&self, event: &str) -> Vec<Value> {
        self.json().into_iter().filter(|line| line["event"] == event).collect()
    }
}

fn tree_of(line: &str) -> String {
    let (time, rest) = line.split_at(12);
    assert!(time.trim().parse::<f64>().is_ok(), "{line}");
    let (thread, rest) = rest[1..].split_at(14);
    let (duration, tree) = rest[1..].split_at(9);
    assert!(duration.trim().is_empty() || "ns us ms s".contains(duration[6..].trim()), "{line}");
    let mark = if duration.trim().is_empty() { "-" } else { "=" };
    format!("{} {mark}{}", thread.trim(), &tree[1..])
}
