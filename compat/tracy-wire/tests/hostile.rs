//! Peers that lie, stall or die: each gives a typed error in time, and what came before is kept.

#[path = "support/handmade.rs"]
mod handmade;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use zonecast_tracy_wire::{Capture, DecodeError, Error, ErrorKind, Item, Receiver, encode_frame};

/// How long a client may be silent that is to be heard: longer than any machine is busy with something else.
const PATIENT: Duration = Duration::from_secs(300);
/// How long one may be silent that is to be given up. What it does say has to come at once.
const IMPATIENT: Duration = Duration::from_millis(300);

/// What a receiver makes of a client that does `behave` once a server has greeted.
fn against(behave: impl FnOnce(TcpStream) + Send + 'static) -> Result<Capture, Error> {
    receiver_of(behave).capture()
}

fn receiver_of(behave: impl FnOnce(TcpStream) + Send + 'static) -> Receiver {
    let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let port = listener.local_addr().expect("it listens").port();
    std::thread::spawn(move || behave(handmade::accept(&listener)));
    Receiver::new("127.0.0.1", port).connect_within(PATIENT).stall_after(PATIENT)
}

/// A client that greets, tells of one zone and says `rest`, all at once, and then does `behave`.
fn tells_of_a_zone(rest: &[u8], behave: impl FnOnce(TcpStream) + Send + 'static) -> Receiver {
    let mut words = Vec::new();
    handmade::welcome(&mut words, 1);
    handmade::say(&mut words, &handmade::zone("before"));
    words.extend_from_slice(rest);
    receiver_of(move |mut socket| {
        socket.write_all(&words).expect("the server listens");
        behave(socket);
    })
}

/// What a receiver makes of it.
fn fault(receiver: &mut Receiver) -> Fault {
    let error = receiver.capture().expect_err("the client misbehaves");
    let partial = error.partial().expect("the connection was made");
    assert_eq!(partial.zones().named("before").one().duration_ns(), Some(150));
    assert!(!error.to_string().is_empty());
    Fault(error)
}

/// What a receiver makes of a client that tells of a zone and then says `rest`.
fn after_a_zone(rest: &[u8]) -> Fault {
    fault(&mut tells_of_a_zone(rest, hold))
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
    after_a_zone(&u32::MAX.to_le_bytes())
        .is(|kind| matches!(kind, ErrorKind::Decode(DecodeError::FrameTooLarge { claimed: u32::MAX })));
}

#[test]
fn a_bad_block_is_refused() {
    after_a_zone(b"\x05\0\0\0\xFF\xFF\xFF\xFF\xFF")
        .is(|kind| matches!(kind, ErrorKind::Decode(DecodeError::Lz4 { .. })));
}

#[test]
fn an_unknown_item_is_refused() {
    after_a_zone(&frame_of(&[200]))
        .is(|kind| matches!(kind, ErrorKind::Decode(DecodeError::UnknownItem { byte: 200, offset: 0 })));
}

#[test]
fn an_item_that_is_cut_is_refused() {
    after_a_zone(&frame_of(&[19, 0, 0]))
        .is(|kind| matches!(kind, ErrorKind::Decode(DecodeError::Truncated { offset: 0 })));
}

#[test]
fn a_client_that_stalls_is_given_up() {
    for rest in [&b""[..], b"\x10\0\0\0half a frame"] {
        fault(&mut tells_of_a_zone(rest, hold).stall_after(IMPATIENT))
            .is(|kind| matches!(kind, ErrorKind::Stalled { .. }));
    }
}

#[test]
fn a_client_that_hangs_up_is_noticed() {
    fault(&mut tells_of_a_zone(b"", |socket| {
        socket.shutdown(std::net::Shutdown::Both).expect("it is open");
        hold(socket);
    }))
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
    // An on-demand client's sign of life now and then would not help it: it has to answer.
    let mut done = Vec::new();
    handmade::say(&mut done, &[Item::Terminate]);
    let capture = tells_of_a_zone(&done, hold).stall_after(IMPATIENT).capture().expect("it was done");
    assert!(capture.is_ended());
    assert_eq!(capture.lost()["names"], 1);
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
        .connect_within(PATIENT)
        .broadcast_port(broadcast_port)
        .capture()
        .expect_err("it speaks another protocol");
    let expected =
        "the client speaks protocol 76, Tracy 0.13; this is a receiver for protocol 82, Tracy 0.14";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn what_is_silent_or_hangs_up_is_no_client() {
    let silent = receiver_of(hold).connect_within(IMPATIENT).capture().expect_err("it says nothing");
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
