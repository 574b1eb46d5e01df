//! Peers that lie, stall or die: each gives a typed error in time, and what came before is kept.

#[path = "support/handmade.rs"]
mod handmade;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use zonecast_tracy_wire::{Capture, DecodeError, Error, ErrorKind, Item, Receiver, encode_frame};

/// How long any of these may take, with room for a busy machine.
const DEADLINE: Duration = Duration::from_secs(10);

/// What a receiver makes of a client that does `behave` once a server has greeted.
fn against(behave: impl FnOnce(TcpStream) + Send + 'static) -> Result<Capture, Error> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let port = listener.local_addr().expect("it listens").port();
    std::thread::spawn(move || behave(handmade::accept(&listener)));
    let start = Instant::now();
    let capture = Receiver::new("127.0.0.1", port)
        .connect_within(Duration::from_secs(1))
        .stall_after(Duration::from_millis(300))
        .capture();
    assert!(start.elapsed() < DEADLINE, "it took {:?}", start.elapsed());
    capture
}

/// What a receiver makes of a client that tells of one zone and then does `behave`.
fn after_a_zone(behave: impl FnOnce(&mut TcpStream) + Send + 'static) -> Fault {
    let error = against(move |mut socket| {
        handmade::welcome(&mut socket, 1);
        handmade::say(&mut socket, &handmade::zone("before"));
        behave(&mut socket);
        hold(socket);
    })
    .expect_err("the client misbehaves");
    let partial = error.partial().expect("the connection was made");
    assert_eq!(partial.zones().named("before").one().duration_ns(), Some(150));
    assert!(!error.to_string().is_empty());
    Fault(error)
}

/// An error, to be matched.
struct Fault(Error);

impl Fault {
    #[track_caller]
    fn is(&self, expected: impl FnOnce(&ErrorKind) -> bool) {
        assert!(expected(self.0.kind()), "{:?}", self.0.kind());
    }
}

/// Keeps the connection open until the receiver closes it.
fn hold(mut socket: TcpStream) {
    while socket.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
}

fn frame_of(bytes: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    encode_frame(bytes, &mut frame);
    frame
}

#[test]
fn a_lying_size_is_refused() {
    after_a_zone(|socket| socket.write_all(&u32::MAX.to_le_bytes()).expect("the server listens"))
        .is(|kind| matches!(kind, ErrorKind::Decode(DecodeError::FrameTooLarge { claimed: u32::MAX })));
}

#[test]
fn a_bad_block_is_refused() {
    after_a_zone(|socket| socket.write_all(b"\x05\0\0\0\xFF\xFF\xFF\xFF\xFF").expect("the server listens"))
        .is(|kind| matches!(kind, ErrorKind::Decode(DecodeError::Lz4 { .. })));
}

#[test]
fn an_unknown_item_is_refused() {
    after_a_zone(|socket| socket.write_all(&frame_of(&[200])).expect("the server listens"))
        .is(|kind| matches!(kind, ErrorKind::Decode(DecodeError::UnknownItem { byte: 200, offset: 0 })));
}

#[test]
fn an_item_that_is_cut_is_refused() {
    after_a_zone(|socket| socket.write_all(&frame_of(&[19, 0, 0])).expect("the server listens"))
        .is(|kind| matches!(kind, ErrorKind::Decode(DecodeError::Truncated { offset: 0 })));
}

#[test]
fn a_client_that_stalls_is_given_up() {
    after_a_zone(|_| {}).is(|kind| matches!(kind, ErrorKind::Stalled { .. }));
}

#[test]
fn a_client_that_stalls_within_a_frame_is_given_up() {
    after_a_zone(|socket| socket.write_all(b"\x10\0\0\0half").expect("the server listens"))
        .is(|kind| matches!(kind, ErrorKind::Stalled { .. }));
}

#[test]
fn a_client_that_hangs_up_is_noticed() {
    after_a_zone(|socket| socket.shutdown(std::net::Shutdown::Both).expect("it is open"))
        .is(|kind| matches!(kind, ErrorKind::Disconnected { .. }));
}

#[test]
fn answers_to_nothing_are_counted() {
    let capture = against(|mut socket| {
        handmade::welcome(&mut socket, 1);
        let unasked = Item::StringData { pointer: 5, text: b"unasked" };
        handmade::say(&mut socket, &[unasked, Item::ThreadName { thread: 9, text: b"unasked" }]);
        handmade::end(&mut socket);
    })
    .expect("it is odd, and whole");
    assert_eq!(capture.lost()["answers to nothing that was asked"], 2);
}

#[test]
fn a_client_that_is_done_but_answers_nothing_is_let_go() {
    let capture = against(|mut socket| {
        handmade::welcome(&mut socket, 1);
        handmade::say(&mut socket, &handmade::zone("zone"));
        // An on-demand client's sign of life now and then would not help it: it has to answer.
        handmade::say(&mut socket, &[Item::Terminate]);
        hold(socket);
    });
    let error = capture.expect_err("its names never came");
    assert!(matches!(error.kind(), ErrorKind::Stalled { .. }), "{error}");
    let partial = error.into_partial().expect("the connection was made");
    assert!(partial.is_ended());
    assert_eq!(partial.lost()["names"], 1);
}

#[test]
fn a_refusal_is_told() {
    for (answer, expected) in [(3, "takes no second one"), (2, "another protocol"), (77, "no Tracy client")] {
        let error = against(move |mut socket| {
            socket.write_all(&[answer]).expect("the server listens");
            hold(socket);
        })
        .expect_err("it refused");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.partial().is_none());
    }
}

#[test]
fn a_client_of_another_protocol_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let port = listener.local_addr().expect("it listens").port();
    let broadcast_port = zonecast_tracy_wire::child::free_port();
    std::thread::spawn(move || {
        for _ in 0..2 {
            handmade::accept(&listener).write_all(&[2]).expect("the server listens");
        }
        let mut announcement =
            [&3_u16.to_le_bytes()[..], &port.to_le_bytes(), &76_u32.to_le_bytes()].concat();
        announcement.resize(84, 0);
        let socket = UdpSocket::bind("127.0.0.1:0").expect("some port is free");
        socket.send_to(&announcement, ("127.0.0.1", broadcast_port)).expect("somebody listens");
    });
    let error = Receiver::new("127.0.0.1", port)
        .broadcast_port(broadcast_port)
        .capture()
        .expect_err("it speaks another protocol");
    let expected =
        "the client speaks protocol 76, Tracy 0.13; this is a receiver for protocol 82, Tracy 0.14";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn what_is_silent_or_hangs_up_is_no_client() {
    let silent = against(hold).expect_err("it says nothing");
    assert!(matches!(silent.kind(), ErrorKind::Stalled { .. }), "{silent}");
    let gone = against(drop).expect_err("it hung up");
    assert!(
        matches!(gone.kind(), ErrorKind::NotTracy { answer: None } | ErrorKind::Disconnected { .. }),
        "{gone}"
    );
    let half = against(|mut socket| {
        socket.write_all(&[1, 0, 0]).expect("the server listens");
    });
    assert!(matches!(half.expect_err("the welcome is cut").kind(), ErrorKind::Disconnected { .. }));
}

#[test]
fn nobody_there_is_told_with_the_address() {
    let error = Receiver::new("127.0.0.1", zonecast_tracy_wire::child::free_port())
        .connect_within(Duration::from_millis(100))
        .capture()
        .expect_err("nobody listens");
    assert!(matches!(error.kind(), ErrorKind::Unreachable { .. }));
    assert!(error.to_string().contains("127.0.0.1:"), "{error}");
}
