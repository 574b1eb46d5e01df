//! A client made by hand: it listens, greets, and says what a test wants said.
#![allow(dead_code, reason = "not every test uses every part")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use zonecast_tracy_wire::{Encoder, Item, Location, Question, Welcome, encode_frame};

/// Waits for one server on the port that the environment names.
pub(crate) fn accept_from_environment() -> TcpStream {
    let port = std::env::var("TRACY_PORT").expect("the parent sets it").parse().expect("it is a number");
    accept(&TcpListener::bind(("127.0.0.1", port)).expect("the port is free"))
}

/// Waits for one server, and takes its greeting.
pub(crate) fn accept(listener: &TcpListener) -> TcpStream {
    let (mut socket, _) = listener.accept().expect("a server comes");
    let mut greeting = [0; 12];
    socket.read_exact(&mut greeting).expect("the server greets");
    assert_eq!(greeting[..8], *b"TracyPrf");
    socket
}

/// Greets as the process `pid` with nanoseconds for ticks.
pub(crate) fn welcome(socket: &mut impl Write, pid: u32) {
    let welcome = Welcome { pid: pid.into(), program: "handmade".into(), ..Welcome::default() };
    socket.write_all(&[1]).expect("the server listens");
    socket.write_all(&welcome.to_bytes()).expect("the server listens");
}

/// Says one frame.
pub(crate) fn say(socket: &mut impl Write, items: &[Item<'_>]) {
    let mut encoder = Encoder::default();
    items.iter().for_each(|item| encoder.push(item));
    let mut frame = Vec::new();
    encode_frame(encoder.bytes(), &mut frame);
    socket.write_all(&frame).expect("the server listens");
}

/// A zone called `name` from 100 to 250, in a frame that needs no answers but a thread's name.
pub(crate) fn zone(name: &'static str) -> [Item<'static>; 4] {
    let location =
        Location { name: Some(name.as_bytes()), function: b"f", file: b"file.rs", line: 3, color: 0 };
    [
        Item::ThreadContext { thread: 1 },
        Item::LocationPayload(location),
        Item::ZoneBegin { time: 100, location: None, callstack: false },
        Item::ZoneEnd { time: 250 },
    ]
}

/// Says that it is done, answers what it is asked as one that knows nothing, and waits for leave.
pub(crate) fn end(socket: &mut TcpStream) {
    say(socket, &[Item::Terminate]);
    answer_until(socket, Question::Terminate);
}

/// Answers what it is asked as one that knows nothing, until `last` is asked.
pub(crate) fn answer_until(socket: &mut TcpStream, last: Question) {
    loop {
        let mut bytes = [0; Question::SIZE];
        socket.read_exact(&mut bytes).expect("the server says when to go");
        match Question::from_bytes(bytes).expect("the server asks what exists") {
            question if question == last => return,
            Question::ThreadName(thread) => say(socket, &[Item::ThreadName { thread, text: b"main" }]),
            Question::SourceCode { id } => say(socket, &[Item::SourceCodeNotAvailable { id }]),
            _ => say(socket, &[Item::Acknowledge]),
        }
    }
}
