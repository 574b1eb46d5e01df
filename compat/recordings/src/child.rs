//! A process of its own for what may crash, hang or eat all memory.
//!
//! A recording holds machine code of somebody's compiler. [`run`] starts a program, gives it a *job* on its
//! standard input and returns what it wrote to its standard output; if it takes too long, too much memory
//! or writes too much, it is ended, and the [`Failure`] says which.
//!
//! This limits damage by accident. It is no jail: what runs in the child may do all that this user may.
//!
//! ```
//! use std::process::Command;
//! use zonecast_recordings::child::{self, Limits};
//!
//! let answer = child::run(&mut Command::new("cat"), b"a job", &Limits::default()).unwrap();
//! assert_eq!(answer, b"a job");
//! ```

use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// How much of what the child says on its standard error is kept: its end.
const KEPT_COMPLAINTS: usize = 4096;

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// Bytes of address space. Kept on Linux only.
    pub memory: u64,
    /// Bytes that it may write to its standard output.
    pub output: u64,
}

impl Default for Limits {
    /// A minute, 8 GiB, 4 GiB.
    fn default() -> Self {
        Self { time: Duration::from_secs(60), memory: 8 << 30, output: 4 << 30 }
    }
}

/// Why there is no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// It could not be started, limited or spoken with.
    Io(io::Error),
    /// It ran longer than it may, and was ended.
    Time(Duration),
    /// It wrote more than it may, and was ended.
    Output(u64),
    /// It ended otherwise than with exit code 0.
    Ended {
        /// Its exit code or signal, in words.
        how: String,
        /// The end of what it said on its standard error.
        said: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the child process cannot be used: {error}"),
            Self::Time(limit) => {
                write!(
                    f,
                    "it ran longer than {} s and was ended; allow more time if it is slow",
                    limit.as_secs_f64()
                )
            }
            Self::Output(limit) => write!(f, "it wrote more than {limit} bytes and was ended"),
            Self::Ended { how, said } if said.is_empty() => write!(f, "it ended with {how}"),
            Self::Ended { how, said } => write!(f, "it ended with {how}: {}", said.trim_end()),
        }
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs `command` with `job` on its standard input. Returns what it wrote to its standard output. When this
/// returns, the child and what it started in its process group have ended.
///
/// # Errors
///
/// If it cannot be started, breaks a limit, or ends otherwise than with exit code 0.
pub fn run(command: &mut Command, job: &[u8], limits: &Limits) -> Result<Vec<u8>, Failure> {
    let mut answer = Vec::new();
    run_watched(command, job, limits, &mut |piece| answer.extend_from_slice(piece))?;
    Ok(answer)
}

/// As [`run`], and passes on what the child writes to its standard output while it comes.
///
/// # Errors
///
/// As [`run`]. What came before was passed on.
pub fn run_watched(
    command: &mut Command,
    job: &[u8],
    limits: &Limits,
    watch: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<(), Failure> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = Running(command.spawn()?);
    // It waits for its job, so it cannot have used much yet.
    limit(&child.0, limits)?;
    let (input, output, errors) = (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
    let too_much = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // One that does not read its whole job has its reasons.
        scope.spawn(|| input.map(|mut pipe| pipe.write_all(job)));
        let answer = scope.spawn(|| pass_on(output, limits.output, &too_much, watch));
        let said = scope.spawn(|| read_end(errors));
        // The pipes close, and the threads end, with the last process that holds them.
        let ended = child.wait(limits, &too_much).and_then(|()| Ok(child.end()?));
        drop(child);
        let ((), said) = (join(answer)?, join(said)?);
        let ended = ended?;
        match ended.success() {
            true => Ok(()),
            false => {
                Err(Failure::Ended { how: ended.to_string(), said: String::from_utf8_lossy(&said).into() })
            }
        }
    })
}

/// What the child itself calls first: it ends when its parent does, and leaves no core file.
///
/// # Errors
///
/// If the system refuses.
pub fn enter() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
        set_parent_process_death_signal(Some(Signal::KILL))?;
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn limit(child: &Child, limits: &Limits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, prlimit};
    let bytes = Rlimit { current: Some(limits.memory), maximum: Some(limits.memory) };
    prlimit(number(child), Resource::As, bytes)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn limit(_: &Child, _: &Limits) -> io::Result<()> {
    Ok(())
}

/// A child that does not outlive its parent's interest, nor do those that it started.
struct Running(Child);

impl Running {
    /// Waits until it has ended by itself, or has to be ended.
    fn wait(&mut self, limits: &Limits, too_much: &AtomicBool) -> Result<(), Failure> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        while !self.has_ended()? {
            if too_much.load(Ordering::Relaxed) {
                return Err(Failure::Output(limits.output));
            }
            if started.elapsed() >= limits.time {
                return Err(Failure::Time(limits.time));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        match too_much.load(Ordering::Relaxed) {
            true => Err(Failure::Output(limits.output)),
            false => Ok(()),
        }
    }

    /// Leaves one that has ended as it is, so that its number stays its own.
    #[cfg(target_os = "linux")]
    fn has_ended(&mut self) -> io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(child) = number(&self.0) else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(child), options)?.is_some())
    }

    #[cfg(not(target_os = "linux"))]
    fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    /// Ends it and what it started, if they have not ended by themselves.
    fn end(&mut self) -> io::Result<ExitStatus> {
        #[cfg(target_os = "linux")]
        if let Some(group) = number(&self.0) {
            // There may be nobody left in it.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.kill();
        self.0.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.end();
        }
    }
}

#[cfg(target_os = "linux")]
fn number(child: &Child) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(child.id().cast_signed())
}

/// Passes on all that comes, up to `limit` bytes.
fn pass_on(
    pipe: Option<impl Read>,
    limit: u64,
    too_much: &AtomicBool,
    watch: &mut (dyn FnMut(&[u8]) + Send),
) -> io::Result<()> {
    let (mut left, mut buffer) = (limit, vec![0; 1 << 16]);
    let Some(mut pipe) = pipe else { return Ok(()) };
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) if read as u64 > left => {
                too_much.store(true, Ordering::Relaxed);
                return Ok(());
            }
            Ok(read) => {
                left -= read as u64;
                watch(&buffer[..read]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The last of what comes.
fn read_end(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let (mut kept, mut buffer) = (Vec::new(), [0; KEPT_COMPLAINTS]);
    let Some(mut pipe) = pipe else { return Ok(kept) };
    loop {
        let read = pipe.read(&mut buffer)?;
        if read == 0 {
            return Ok(kept);
        }
        kept.extend_from_slice(&buffer[..read]);
        kept.drain(..kept.len().saturating_sub(KEPT_COMPLAINTS));
    }
}

fn join<T>(thread: ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread that read from the child panicked")))
}
