//! Serving a recording, as the recorded program would.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use crate::answers::AnswerSession;
use crate::ask::Question;
use crate::decode::measure;
use crate::encode::Encoder;
use crate::frame::encode_frame;
use crate::item::Item;
use crate::protocol::{FRAME_LIMIT, PROTOCOL_VERSION, SHIBBOLETH, handshake};
use crate::recording::Recording;

/// How long a server may take to greet.
const GREET_WITHIN: Duration = Duration::from_secs(5);

/// Listens as a client does, for a profiler or any other server of the recording's protocol.
///
/// ```no_run
/// use zonecast_tracy_wire::{Recording, Server};
///
/// let mut recording = Recording::open("run.zctracy")?;
/// let server = Server::bind("127.0.0.1:8086")?;
/// // Point the Tracy 0.14 profiler at this machine now.
/// server.serve(&mut recording)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Server {
    listener: TcpListener,
}

impl Server {
    /// Listens at `address`; port 0 picks a free one.
    ///
    /// # Errors
    /// If the address cannot be listened at.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address)? })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves the recording to the first that greets as a server of its protocol, until that one
    /// has had enough. Others are told that they speak another protocol.
    ///
    /// # Errors
    /// If the connection breaks before the other end says that it is done, or the recording cannot
    /// be read.
    pub fn serve(&self, recording: &mut Recording) -> io::Result<()> {
        loop {
            let (mut socket, _) = self.listener.accept()?;
            if greet(&mut socket).is_ok_and(|speaks_it| speaks_it) {
                return serve(socket, recording);
            }
        }
    }
}

/// Takes a server's greeting. Says whether it speaks the protocol; if not, it has been told.
fn greet(socket: &mut TcpStream) -> io::Result<bool> {
    socket.set_read_timeout(Some(GREET_WITHIN))?;
    let mut greeting = [0; 12];
    socket.read_exact(&mut greeting)?;
    let (shibboleth, version) = greeting.split_at(SHIBBOLETH.len());
    if shibboleth != SHIBBOLETH {
        return Ok(false);
    }
    let speaks_it = version == PROTOCOL_VERSION.to_le_bytes();
    let answer = if speaks_it { handshake::WELCOME } else { handshake::PROTOCOL_MISMATCH };
    socket.write_all(&[answer])?;
    socket.set_read_timeout(None)?;
    Ok(speaks_it)
}

fn serve(mut socket: TcpStream, recording: &mut Recording) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.write_all(&recording.welcome().to_bytes())?;
    let questions = listen(socket.try_clone()?);
    let mut peer = Peer {
        socket,
        questions,
        answers: recording.answers(),
        reply: Vec::new(),
        frame: Vec::new(),
        ended: false,
    };
    let complete = recording.is_complete();
    let served = recording
        .each_frame(|items| {
            peer.say(items)?;
            peer.answer_what_was_asked()
        })
        .and_then(|()| peer.end(complete));
    match served {
        Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => Ok(()),
        other => other,
    }
}

/// Reads questions in a thread of its own, so that neither side waits for the other to read.
fn listen(mut socket: TcpStream) -> Receiver<Question> {
    let (sender, questions) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; Question::SIZE];
        while socket.read_exact(&mut bytes).is_ok() {
            let Some(question) = Question::from_bytes(bytes) else { return };
            if sender.send(question).is_err() {
                return;
            }
        }
    });
    questions
}

/// How many bytes of `items` are whole items that fit into one frame. Each came in a frame, so one does.
fn whole_items(items: &[u8]) -> usize {
    if items.len() <= FRAME_LIMIT {
        return items.len();
    }
    let mut end = 0;
    while let Ok((_, length)) = measure(&items[end..])
        && end + length <= FRAME_LIMIT
    {
        end += length;
    }
    end
}

/// The server at the other end.
struct Peer {
    socket: TcpStream,
    questions: Receiver<Question>,
    answers: AnswerSession,
    reply: Vec<u8>,
    frame: Vec<u8>,
    /// Whether the other end was told that this was all.
    ended: bool,
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The thread that reads questions holds the socket too, and would keep it open.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// Says that the other end has had enough.
fn enough() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

impl Peer {
    /// Says whole items, in as many frames as they need.
    fn say(&mut self, items: &[u8]) -> io::Result<()> {
        let mut rest = items;
        while !rest.is_empty() {
            let (first, others) = rest.split_at(whole_items(rest));
            self.frame.clear();
            encode_frame(first, &mut self.frame);
            self.socket.write_all(&self.frame)?;
            rest = others;
        }
        Ok(())
    }

    fn answer_what_was_asked(&mut self) -> io::Result<()> {
        loop {
            match self.questions.try_recv() {
                Ok(question) => self.answer(question)?,
                Err(TryRecvError::Empty) => return self.send_reply(),
                Err(TryRecvError::Disconnected) => return Err(io::ErrorKind::ConnectionReset.into()),
            }
        }
    }

    fn answer(&mut self, question: Question) -> io::Result<()> {
        match question {
            Question::Terminate => return Err(enough()),
            // The rest of the stream is not wanted, but what was asked is.
            Question::Disconnect if !self.ended => return self.end(true),
            Question::Disconnect => return Ok(()),
            _ => {}
        }
        self.answers.answer(question, &mut self.reply);
        if self.reply.len() > FRAME_LIMIT { self.send_reply() } else { Ok(()) }
    }

    fn send_reply(&mut self) -> io::Result<()> {
        if self.reply.is_empty() {
            return Ok(());
        }
        let reply = std::mem::take(&mut self.reply);
        self.say(&reply)
    }

    /// Says that this was all, and answers until the other end is content.
    fn end(&mut self, complete: bool) -> io::Result<()> {
        self.ended = true;
        let mut last = Encoder::default();
        if !complete {
            // Zones may be open that will never end; a server waits for them unless it is told that
            // the program crashed.
            last.push(&Item::Crash);
        }
        last.push(&Item::Terminate);
        self.say(last.bytes())?;
        loop {
            let question = self.questions.recv().map_err(|_| io::ErrorKind::ConnectionReset)?;
            self.answer(question)?;
            self.answer_what_was_asked()?;
        }
    }
}
