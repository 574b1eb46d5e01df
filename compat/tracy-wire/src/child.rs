//! Capturing a program that a test starts.
//!
//! [`capture`] is the one line that a test needs: it runs a closure in a process of its own, a
//! second run of the test's executable for that one test, and hands back what a server saw of it.
//!
//! ```no_run
//! # fn code_that_is_traced() {}
//! // In a `#[test]`:
//! let capture = zonecast_tracy_wire::child::capture(|| code_that_is_traced());
//! capture.zones().named("hello").one();
//! ```
//!
//! [`Program`] captures any other command. Both give the program a free port, so many can run at
//! once, and take no other process than theirs for it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek};
use std::net::Ipv4Addr;
#[cfg(unix)]
use std::net::SocketAddrV4;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::capture::Capture;
use crate::error::{Error, ErrorKind};
use crate::receiver::Receiver;

/// Says to a second run of a test's executable which test it is to be.
const ROLE: &str = "ZONECAST_WIRE_CHILD";
/// How long a program may take to greet, to say the next thing, and to exit once its client was let go: longer
/// than any machine is busy with something else.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs `body` in a process of its own, and captures it.
///
/// Call it from a `#[test]`, at most once per test, before the test does anything that must not be
/// done twice: the process runs the test up to here, then `body`, and exits.
///
/// # Panics
/// If the process cannot be captured whole, or fails. The message holds what it printed.
#[track_caller]
pub fn capture<F: FnOnce()>(body: F) -> Capture {
    Case::new().capture(body)
}

/// A test's process, with more said about it.
#[derive(Default)]
pub struct Case {
    variables: Vec<(String, String)>,
    #[cfg(unix)]
    name: Option<String>,
    receiver: Option<Box<dyn FnOnce(Receiver) -> Receiver>>,
}

impl Case {
    /// A process like that of [`capture`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Changes how the process is captured.
    #[must_use]
    pub fn receiver(mut self, change: impl FnOnce(Receiver) -> Receiver + 'static) -> Self {
        self.receiver = Some(Box::new(change));
        self
    }

    /// Runs `body` in a process of its own, and captures it. See [`capture`].
    ///
    /// # Panics
    /// If the process cannot be captured whole, or fails.
    #[track_caller]
    pub fn capture<F: FnOnce()>(self, body: F) -> Capture {
        match self.program(body).run() {
            Ok(finished) => finished.succeeded(),
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Calls the program by this name, which its first argument tells it, instead of by its path.
    #[cfg(unix)]
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// The command that runs `body`, for a test that expects it to fail.
    pub fn program<F: FnOnce()>(self, body: F) -> Program {
        let test = test_around::<F>();
        if std::env::var(ROLE).is_ok_and(|role| role == test) {
            body();
            std::process::exit(0);
        }
        let executable = std::env::current_exe().expect("a running test has an executable");
        let mut command = Command::new(executable);
        command.args([test.as_str(), "--exact", "--nocapture", "--include-ignored", "--test-threads=1"]);
        command.env(ROLE, &test).envs(self.variables);
        #[cfg(unix)]
        if let Some(name) = self.name {
            std::os::unix::process::CommandExt::arg0(&mut command, name);
        }
        Program { command, receiver: self.receiver }
    }
}

/// The path, within its crate, of the function that a closure of type `F` stands in.
fn test_around<F>() -> String {
    let path = std::any::type_name::<F>();
    let path = path.split("::{{closure}}").next().unwrap_or(path);
    path.split_once("::").map_or(path, |(_, within)| within).to_owned()
}

/// A command to be captured.
pub struct Program {
    command: Command,
    receiver: Option<Box<dyn FnOnce(Receiver) -> Receiver>>,
}

/// A program that was captured and has exited.
pub struct Finished {
    /// What a server saw of it.
    pub capture: Result<Capture, Error>,
    /// How it exited.
    pub status: ExitStatus,
    /// What it printed, on both outputs.
    pub output: String,
}

impl Program {
    /// A program that is started by `command`. Its outputs are taken; where it listens is set.
    #[must_use]
    pub fn new(command: Command) -> Self {
        Self { command, receiver: None }
    }

    /// Changes how the program is captured.
    #[must_use]
    pub fn receiver(mut self, change: impl FnOnce(Receiver) -> Receiver + 'static) -> Self {
        self.receiver = Some(Box::new(change));
        self
    }

    /// Starts the program, captures it, and waits for it to exit. A program that does not exit
    /// within five minutes of the capture's end is killed.
    ///
    /// # Errors
    /// If it cannot be started. That it cannot be captured is told by [`Finished::capture`].
    pub fn run(self) -> std::io::Result<Finished> {
        let started = self.start()?;
        Ok(started.finish())
    }

    /// Starts the program, and leaves it to the caller to capture it.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(mut self) -> std::io::Result<Started> {
        let port = free_port();
        let output = tempfile::tempfile()?;
        self.command.env("TRACY_PORT", port.to_string()).env("TRACY_NO_EXIT", "1");
        self.command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?);
        let child = self.command.spawn()?;
        let mut receiver = Receiver::new("127.0.0.1", port)
            .connect_within(PATIENCE)
            .stall_after(PATIENCE)
            .expect_process(child.id());
        if let Some(change) = self.receiver {
            receiver = change(receiver);
        }
        Ok(Started { child, output, receiver })
    }
}

/// A program that runs and is yet to be captured.
pub struct Started {
    /// The process.
    pub child: Child,
    /// What captures it. An on-demand program may be captured several times.
    pub receiver: Receiver,
    output: File,
}

impl Started {
    /// Captures the program, and waits for it to exit.
    ///
    /// # Panics
    /// If the process cannot be waited for, which only happens if somebody else did.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        let capture = self.receiver.capture();
        let status = wait(&mut self.child).expect("nobody else waits for the program");
        let mut output = Vec::new();
        let read = self.output.rewind().and_then(|()| self.output.read_to_end(&mut output));
        read.expect("a file that was just written can be read");
        Finished { capture, status, output: String::from_utf8_lossy(&output).into_owned() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // A test that failed leaves nothing running; both calls fail if it has exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait(child: &mut Child) -> std::io::Result<ExitStatus> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Finished {
    /// The capture of a program that was captured whole and exited with success.
    ///
    /// # Panics
    /// If it was not, or did not. The message holds what it printed.
    #[must_use]
    #[track_caller]
    pub fn succeeded(self) -> Capture {
        match self.capture {
            Ok(capture) if self.status.success() => capture,
            Ok(_) => panic!("the program ended with {}\n{}", self.status, self.output),
            Err(error) => panic!("{error}; the program ended with {}\n{}", self.status, self.output),
        }
    }

    /// What went wrong with the capture, for a test that expects it to.
    ///
    /// # Panics
    /// If nothing went wrong.
    #[must_use]
    #[track_caller]
    pub fn fault(&self) -> &ErrorKind {
        match &self.capture {
            Ok(_) => panic!("the program was captured whole\n{}", self.output),
            Err(error) => error.kind(),
        }
    }
}

/// A port that nobody listens on, and that no other call of this process gets.
///
/// Such ports lie below those that systems hand out to outgoing connections: a receiver that tries
/// such a port over and over while nobody listens might otherwise connect to itself.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn free_port() -> u16 {
    static TAKEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
    const PORTS: std::ops::Range<u16> = 10_000..32_000;
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = taken.get_or_insert_default();
    // Processes begin at places of their own, so that two seldom look at the same port at once.
    let width = u32::from(PORTS.end - PORTS.start);
    let start = std::process::id().wrapping_mul(389) % width;
    (0..width)
        .map(|step| PORTS.start + ((start + step) % width) as u16)
        .find(|port| !taken.contains(port) && is_free(*port) && taken.insert(*port))
        .expect("some port of 22,000 is free")
}

/// Whether a program could listen on a port.
///
/// The port is bound and never listened on: a process that another thread starts meanwhile has a copy of the
/// socket until it runs its own program, and one that listens would keep the port from ours until then.
#[cfg(unix)]
fn is_free(port: u16) -> bool {
    use rustix::net::{AddressFamily, SocketType, bind, socket, sockopt::set_socket_reuseaddr};
    socket(AddressFamily::INET, SocketType::STREAM, None).is_ok_and(|socket| {
        // As those do that listen.
        set_socket_reuseaddr(&socket, true).is_ok()
            && bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).is_ok()
    })
}

/// Whether a program could listen on a port.
#[cfg(not(unix))]
fn is_free(port: u16) -> bool {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
