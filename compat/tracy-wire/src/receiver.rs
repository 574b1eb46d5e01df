//! Capturing a live client over a socket.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::ask::Question;
use crate::builder::Keep;
use crate::capture::Capture;
use crate::discover::{self, BROADCAST_PORT};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind};
use crate::frame::{FrameDecoder, check_size};
use crate::protocol::{PROTOCOL_VERSION, SHIBBOLETH, handshake};
use crate::record::Recorder;
use crate::welcome::Welcome;

/// How often a quiet connection is looked at for a reason to stop.
const TICK: Duration = Duration::from_millis(50);
/// Between two attempts to connect.
const RETRY: Duration = Duration::from_millis(10);
/// How long an attempt may take, where nothing even refuses it.
const ATTEMPT: Duration = Duration::from_secs(3);
/// How long a client that has ended because it was told to may be silent before it is let go. It throws away what
/// its threads look up from then on, so not every answer comes.
const DRAIN: Duration = Duration::from_secs(5);

/// What is told of a capture's progress.
type Report = Box<dyn FnMut(&Capture) + Send>;
/// What says that a capture has all that is wanted.
type Enough = Box<dyn FnMut(&Capture) -> bool + Send>;

/// Connects to a client and captures what it tells.
///
/// ```no_run
/// use std::time::Duration;
/// use zonecast_tracy_wire::Receiver;
///
/// let capture = Receiver::new("127.0.0.1", 8086)
///     .connect_within(Duration::from_secs(10))
///     .capture()?;
/// for zone in capture.summary() {
///     println!("{:>8} x {}", zone.durations.count(), zone.name);
/// }
/// # Ok::<(), zonecast_tracy_wire::Error>(())
/// ```
///
/// A client that traces from its start has one server in its life. One that traces on demand may be
/// captured again and again: each [`capture`](Self::capture) connects anew.
pub struct Receiver {
    address: String,
    port: u16,
    connect_within: Duration,
    stall_after: Duration,
    stop_after: Option<Duration>,
    stop: Option<Arc<AtomicBool>>,
    stop_once: Option<Enough>,
    process: Option<u64>,
    broadcast_port: u16,
    keep: Keep,
    sources: bool,
    check: bool,
    record: Option<Box<dyn Write + Send>>,
    progress: Option<Report>,
}

impl Receiver {
    /// A receiver for the client at `address`, which says nothing until [`capture`](Self::capture).
    #[must_use]
    pub fn new(address: impl Into<String>, port: u16) -> Self {
        Self {
            address: address.into(),
            port,
            connect_within: Duration::from_secs(10),
            stall_after: Duration::from_secs(30),
            stop_after: None,
            stop: None,
            stop_once: None,
            process: None,
            broadcast_port: BROADCAST_PORT,
            keep: Keep::Everything,
            sources: true,
            check: false,
            record: None,
            progress: None,
        }
    }

    /// How long to wait for the client to be there and to greet. 10 s unless said.
    #[must_use]
    pub fn connect_within(mut self, limit: Duration) -> Self {
        self.connect_within = limit;
        self
    }

    /// How long the client may be silent. 30 s unless said; an idle client says something every 5 s, and one that
    /// looks up names of functions may take longer. One that is done or was told to stop, and does not answer what
    /// it was asked, is let go then: [`Capture::lost`] counts what is missing.
    #[must_use]
    pub fn stall_after(mut self, limit: Duration) -> Self {
        self.stall_after = limit;
        self
    }

    /// Stops the capture after so long, with the client's consent, so that nothing asked is lost.
    #[must_use]
    pub fn stop_after(mut self, limit: Duration) -> Self {
        self.stop_after = Some(limit);
        self
    }

    /// Stops the capture once `flag` is set; for a signal handler.
    #[must_use]
    pub fn stop_when(mut self, flag: Arc<AtomicBool>) -> Self {
        self.stop = Some(flag);
        self
    }

    /// Stops the capture once `enough` says so of what came, as [`stop_after`](Self::stop_after) would.
    /// It is asked every 50 ms; by then, more may have come.
    #[must_use]
    pub fn stop_once(mut self, enough: impl FnMut(&Capture) -> bool + Send + 'static) -> Self {
        self.stop_once = Some(Box::new(enough));
        self
    }

    /// Takes no other process than `pid` for the client.
    #[must_use]
    pub fn expect_process(mut self, pid: u32) -> Self {
        self.process = Some(u64::from(pid));
        self
    }

    /// Where to listen for a client's announcement, which tells the protocol of one that does not
    /// speak ours. 8086 unless said, as in Tracy.
    #[must_use]
    pub fn broadcast_port(mut self, port: u16) -> Self {
        self.broadcast_port = port;
        self
    }

    /// What to keep. Everything unless said.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Whether to ask for source files. They are asked for unless said.
    #[must_use]
    pub fn ask_for_sources(mut self, ask: bool) -> Self {
        self.sources = ask;
        self
    }

    /// Whether to check the stream against the real server's rules: [`Capture::violations`].
    /// It is not checked unless said.
    #[must_use]
    pub fn check(mut self, check: bool) -> Self {
        self.check = check;
        self
    }

    /// Keeps the next capture's stream in `file`, to be served again: see
    /// [`Recording`](crate::Recording). Wrap a file into a buffer.
    #[must_use]
    pub fn record_to(mut self, file: impl Write + Send + 'static) -> Self {
        self.record = Some(Box::new(file));
        self
    }

    /// Calls `report` with the capture so far, at most every 50 ms.
    #[must_use]
    pub fn on_progress(mut self, report: impl FnMut(&Capture) + Send + 'static) -> Self {
        self.progress = Some(Box::new(report));
        self
    }

    /// Connects, captures until the client is done or the capture is stopped, and lets the client
    /// go.
    ///
    /// # Errors
    /// See [`ErrorKind`]. Once the client has greeted, the error holds what it told until the
    /// fault: [`Error::into_partial`].
    pub fn capture(&mut self) -> Result<Capture, Error> {
        let (socket, welcome) = self.connect()?;
        let recorder = match self.record.take() {
            Some(file) => Some(Recorder::new(file, &welcome).map_err(ErrorKind::Record)?),
            None => None,
        };
        let engine = Engine::new(welcome).keep(self.keep).ask_for_sources(self.sources).check(self.check);
        let mut session =
            Session { socket, engine, recorder, input: Input::default(), frames: FrameDecoder::default() };
        match session.run(self) {
            Ok(()) => Ok(session.engine.finish()),
            Err(kind) => Err(Error::with_partial(kind, session.engine.finish())),
        }
    }

    fn connect(&self) -> Result<(TcpStream, Welcome), ErrorKind> {
        let deadline = Instant::now() + self.connect_within;
        let mut socket = self.reach(deadline)?;
        let welcome = self.greet(&mut socket, deadline)?;
        match self.process {
            Some(expected) if expected != welcome.pid => {
                Err(ErrorKind::WrongProcess { expected, found: welcome.pid })
            }
            _ => Ok((socket, welcome)),
        }
    }

    /// Tries until something accepts the connection.
    fn reach(&self, deadline: Instant) -> Result<TcpStream, ErrorKind> {
        loop {
            let error = match self.try_to_reach(deadline) {
                Ok(socket) => return Ok(socket),
                Err(error) => error,
            };
            self.go_on()?;
            if Instant::now() + RETRY >= deadline {
                let address = format!("{}:{}", self.address, self.port);
                return Err(ErrorKind::Unreachable { address, waited: self.connect_within, last: error });
            }
            std::thread::sleep(RETRY);
        }
    }

    fn try_to_reach(&self, deadline: Instant) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the address has no host");
        for address in (self.address.as_str(), self.port).to_socket_addrs()? {
            let left = deadline.saturating_duration_since(Instant::now());
            match TcpStream::connect_timeout(&address, left.clamp(RETRY, ATTEMPT)) {
                Ok(socket) => {
                    socket.set_nodelay(true)?;
                    return Ok(socket);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn greet(&self, socket: &mut TcpStream, deadline: Instant) -> Result<Welcome, ErrorKind> {
        socket.write_all(&greeting()).map_err(disconnected)?;
        let mut answer = [0];
        if !self.read_before(socket, &mut answer, deadline)? {
            return Err(ErrorKind::NotTracy { answer: None });
        }
        match answer[0] {
            handshake::WELCOME => {}
            handshake::PROTOCOL_MISMATCH => {
                return Err(ErrorKind::OtherProtocol { protocol: self.find_protocol() });
            }
            handshake::NOT_AVAILABLE | handshake::DROPPED => return Err(ErrorKind::NotAvailable),
            byte => return Err(ErrorKind::NotTracy { answer: Some(byte) }),
        }
        let mut message = [0; Welcome::SIZE];
        self.read_whole(socket, &mut message, deadline)?;
        let mut welcome = Welcome::from_bytes(&message);
        if welcome.is_on_demand() {
            let mut addition = [0; Welcome::ON_DEMAND_SIZE];
            self.read_whole(socket, &mut addition, deadline)?;
            welcome.add_on_demand(addition);
        }
        Ok(welcome)
    }

    /// Has the client announce itself again, and reads which protocol it speaks.
    fn find_protocol(&self) -> Option<u32> {
        let announcements = discover::listen(self.broadcast_port)?;
        let mut socket = self.try_to_reach(Instant::now() + self.connect_within).ok()?;
        socket.write_all(&greeting()).ok()?;
        discover::protocol_of(self.port, &announcements)
    }

    fn read_whole(
        &self,
        socket: &mut TcpStream,
        into: &mut [u8],
        deadline: Instant,
    ) -> Result<(), ErrorKind> {
        match self.read_before(socket, into, deadline)? {
            true => Ok(()),
            false => Err(ErrorKind::Disconnected { source: None }),
        }
    }

    /// Fills `into` before the deadline. Says `false` if the client hung up instead.
    fn read_before(
        &self,
        socket: &mut TcpStream,
        into: &mut [u8],
        deadline: Instant,
    ) -> Result<bool, ErrorKind> {
        let mut filled = 0;
        while filled < into.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::Stalled { waited: self.connect_within });
            }
            self.go_on()?;
            socket.set_read_timeout(Some(left.min(TICK))).map_err(disconnected)?;
            match socket.read(&mut into[filled..]) {
                Ok(0) => return Ok(false),
                Ok(count) => filled += count,
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(disconnected(error)),
            }
        }
        Ok(true)
    }

    /// Says so if it was told to stop.
    fn go_on(&self) -> Result<(), ErrorKind> {
        match self.is_told_to_stop() {
            true => Err(ErrorKind::Stopped { address: format!("{}:{}", self.address, self.port) }),
            false => Ok(()),
        }
    }

    fn has_enough(&mut self, capture: &Capture) -> bool {
        self.stop_once.as_mut().is_some_and(|enough| enough(capture))
    }

    fn is_told_to_stop(&self) -> bool {
        self.stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// What a server says first.
fn greeting() -> [u8; 12] {
    let mut greeting = [0; 12];
    greeting[..8].copy_from_slice(&SHIBBOLETH);
    greeting[8..].copy_from_slice(&PROTOCOL_VERSION.to_le_bytes());
    greeting
}

fn disconnected(error: io::Error) -> ErrorKind {
    ErrorKind::Disconnected { source: Some(error) }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// When things happened on a connection.
struct Pace {
    start: Instant,
    heard: Instant,
    reported: Instant,
    /// Whether all that is wanted has come.
    enough: bool,
    stopping: bool,
}

impl Pace {
    fn new() -> Self {
        let now = Instant::now();
        Self { start: now, heard: now, reported: now, enough: false, stopping: false }
    }

    fn is_time_to_report(&mut self) -> bool {
        let now = Instant::now();
        let due = now - self.reported >= TICK;
        if due {
            self.reported = now;
        }
        due
    }

    /// Whether there is a reason to stop.
    fn is_due(&self, receiver: &Receiver) -> bool {
        self.enough
            || receiver.is_told_to_stop()
            || receiver.stop_after.is_some_and(|limit| self.start.elapsed() >= limit)
    }
}

/// One connection.
struct Session {
    socket: TcpStream,
    engine: Engine,
    recorder: Option<Recorder>,
    input: Input,
    frames: FrameDecoder,
}

impl Session {
    fn run(&mut self, receiver: &mut Receiver) -> Result<(), ErrorKind> {
        self.socket.set_read_timeout(Some(TICK)).map_err(disconnected)?;
        self.socket.set_write_timeout(Some(receiver.stall_after)).map_err(disconnected)?;
        let mut pace = Pace::new();
        loop {
            if self.input.fill(&mut self.socket)? {
                pace.heard = Instant::now();
                self.take_frames()?;
            }
            self.send_questions()?;
            if pace.is_time_to_report() {
                self.report(receiver)?;
                pace.enough |= receiver.has_enough(self.engine.capture());
            }
            let ended = self.engine.is_ended();
            let silent = pace.heard.elapsed();
            let limit = if ended && pace.stopping { DRAIN } else { receiver.stall_after };
            let stalled = silent >= limit;
            if ended && self.engine.is_settled() || (ended || pace.stopping) && stalled {
                return self.let_go(pace.stopping);
            }
            if stalled {
                return Err(ErrorKind::Stalled { waited: silent });
            }
            if !ended && !pace.stopping && pace.is_due(receiver) {
                (pace.stopping, pace.heard) = (true, Instant::now());
                self.engine.stopped();
                self.send(Question::Disconnect)?;
            }
        }
    }

    fn report(&mut self, receiver: &mut Receiver) -> Result<(), ErrorKind> {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush().map_err(ErrorKind::Record)?;
        }
        if let Some(report) = &mut receiver.progress {
            report(self.engine.capture());
        }
        Ok(())
    }

    fn take_frames(&mut self) -> Result<(), ErrorKind> {
        while let Some(block) = self.input.next_block()? {
            if let Some(recorder) = &mut self.recorder {
                recorder.frame(block).map_err(ErrorKind::Record)?;
            }
            let items = self.frames.decode(block)?;
            self.engine.feed(items)?;
        }
        Ok(())
    }

    fn send_questions(&mut self) -> Result<(), ErrorKind> {
        let mut bytes = Vec::new();
        while let Some(question) = self.engine.next_question() {
            bytes.extend_from_slice(&question.to_bytes());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.questions(&bytes).map_err(ErrorKind::Record)?;
        }
        self.write(&bytes)
    }

    fn let_go(&mut self, stopped: bool) -> Result<(), ErrorKind> {
        if let Some(recorder) = &mut self.recorder {
            let whole = self.engine.is_ended() && self.engine.is_settled() && !stopped;
            let written = if whole { recorder.end() } else { Ok(()) };
            written.and_then(|()| recorder.flush()).map_err(ErrorKind::Record)?;
        }
        // The capture is whole already: a client that did not wait for its leave is no loss.
        self.send(Question::Terminate).or(Ok(()))
    }

    fn send(&mut self, question: Question) -> Result<(), ErrorKind> {
        self.write(&question.to_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        match self.socket.write_all(bytes) {
            Ok(()) => Ok(()),
            // What the client said before it went is still there to be read, and reading says that
            // it went.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(disconnected(error)),
        }
    }
}

/// Bytes that have arrived and were not used yet.
struct Input {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Default for Input {
    fn default() -> Self {
        // A few frames: twice the largest would do.
        Self { buffer: vec![0; 1 << 20].into_boxed_slice(), start: 0, end: 0 }
    }
}

impl Input {
    /// Reads what there is. Says whether anything came within the socket's timeout.
    fn fill(&mut self, socket: &mut TcpStream) -> Result<bool, ErrorKind> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        match socket.read(&mut self.buffer[self.end..]) {
            Ok(0) => Err(ErrorKind::Disconnected { source: None }),
            Ok(count) => {
                self.end += count;
                Ok(true)
            }
            Err(error) if is_timeout(&error) => Ok(false),
            Err(error) => Err(disconnected(error)),
        }
    }

    /// The next frame's block, if all of it is here.
    fn next_block(&mut self) -> Result<Option<&[u8]>, ErrorKind> {
        let here = &self.buffer[self.start..self.end];
        let Some((size, rest)) = here.split_first_chunk::<4>() else { return Ok(None) };
        let size = check_size(u32::from_le_bytes(*size))?;
        if rest.len() < size {
            return Ok(None);
        }
        let block = self.start + 4;
        self.start = block + size;
        Ok(Some(&self.buffer[block..self.start]))
    }
}
