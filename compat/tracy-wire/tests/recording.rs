//! A recorded run, served to a second receiver, shows the same.

#[path = "support/handmade.rs"]
mod handmade;
#[path = "support/model.rs"]
mod model;
mod support;

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::assert_same;
use zonecast_tracy_wire::protocol::{FRAME_LIMIT, Kind};
use zonecast_tracy_wire::{Capture, Item, Receiver, Recording, Server};

struct Recorded {
    folder: tempfile::TempDir,
    capture: Capture,
}

impl Recorded {
    fn of(features: &str, case: &str, change: impl FnOnce(Receiver) -> Receiver + 'static) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let file = BufWriter::new(File::create(folder.path().join("run")).expect("there is room"));
        let program = support::program(features, case).receiver(|receiver| change(receiver.record_to(file)));
        // Dropped without waiting for an exit: some programs never do.
        let mut started = program.start().expect("the program starts");
        let capture = started.receiver.capture().expect("it is captured whole");
        Self { folder, capture }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn open(&self) -> Recording {
        Recording::open(self.path()).expect("it was just written")
    }
}

/// A recording of a client made by hand, which says these frames.
fn handmade(path: &Path, frames: impl FnOnce(&mut TcpStream)) -> Recording {
    let file = File::create(path).expect("there is room");
    let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    let port = listener.local_addr().expect("it listens").port();
    let recording = std::thread::spawn(move || Receiver::new("127.0.0.1", port).record_to(file).capture());
    let mut socket = handmade::accept(&listener);
    handmade::welcome(&mut socket, 1);
    frames(&mut socket);
    handmade::end(&mut socket);
    recording.join().expect("a receiver does not panic").expect("it is captured whole");
    Recording::open(path).expect("it was just written")
}

/// What a receiver sees that is served the recording.
fn served(mut recording: Recording, change: impl FnOnce(Receiver) -> Receiver) -> Capture {
    let server = Server::bind("127.0.0.1:0").expect("some port is free");
    let port = server.address().expect("it listens").port();
    let serving = std::thread::spawn(move || server.serve(&mut recording));
    let capture = change(Receiver::new("127.0.0.1", port)).capture().expect("the server answers");
    serving.join().expect("serving does not panic").expect("serving ends well");
    capture
}

#[test]
fn a_served_recording_shows_the_same() {
    for (features, case) in [
        ("", "spans"),
        ("", "threads"),
        ("", "frames"),
        ("", "gpu"),
        ("", "c++:locks"),
        ("", "c++:messages"),
        ("", "c++:memory"),
        ("", "c++:plots"),
        ("fibers", "c++:fibers"),
    ] {
        let recorded = Recorded::of(features, case, |receiver| receiver);
        assert!(recorded.open().is_complete());
        let again = served(recorded.open(), |receiver| receiver.check(true));
        assert_same(&recorded.capture, &again);
        assert_eq!(again.violations(), [], "{case}");
        assert!(again.lost().is_empty(), "{case}: {:?}", again.lost());
        let replayed = recorded.open().replay(|engine| engine).expect("it was just written");
        assert_same(&recorded.capture, &replayed);
    }
}

#[test]
fn a_stopped_capture_is_served_as_one() {
    let has_zones = |capture: &Capture| capture.zones().named("again").count() > 10;
    let recorded = Recorded::of("", "endless", move |receiver| receiver.stop_once(has_zones));
    let recording = recorded.open();
    assert!(!recording.is_complete());
    let again = served(recording, |receiver| receiver);
    assert_same(&recorded.capture, &again);
    assert!(again.zones().count() > 10);
}

#[test]
fn a_recording_that_was_cut_is_good_up_to_there() {
    let recorded = Recorded::of("", "spans", |receiver| receiver);
    let bytes = std::fs::read(recorded.path()).expect("it was just written");
    let cut = recorded.folder.path().join("cut");
    let mut seen = Vec::new();
    for length in (0..200).map(|step| bytes.len() * step / 200) {
        std::fs::write(&cut, &bytes[..length]).expect("there is room");
        match Recording::open(&cut) {
            Ok(mut recording) => {
                assert!(!recording.is_complete());
                seen.push(recording.replay(|engine| engine).expect("what is whole is good").zones().count());
            }
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::InvalidData),
        }
    }
    assert!(seen.is_sorted() && seen.last() == Some(&4), "{seen:?}");
}

#[test]
fn a_receiver_that_has_had_enough_ends_it() {
    let recorded = Recorded::of("", "threads", |receiver| receiver);
    let again = served(recorded.open(), |receiver| receiver.stop_after(Duration::ZERO));
    assert_eq!(again.welcome(), recorded.capture.welcome());
}

#[test]
fn a_server_of_another_protocol_is_told() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut recording = handmade(&folder.path().join("run"), |socket| {
        handmade::say(socket, &handmade::zone("zone"));
        handmade::say(socket, &[Item::KeepAlive]);
    });
    let server = Server::bind("127.0.0.1:0").expect("some port is free");
    let address = server.address().expect("it listens");
    let serving = std::thread::spawn(move || server.serve(&mut recording));

    let mut old = TcpStream::connect(address).expect("it listens");
    old.write_all(b"TracyPrf\x4c\0\0\0").expect("it listens");
    let mut answer = Vec::new();
    old.read_to_end(&mut answer).expect("it answers");
    assert_eq!(answer, [2], "protocol mismatch");

    let capture = Receiver::new("127.0.0.1", address.port()).capture().expect("the next one is served");
    capture.zones().named("zone").one();
    serving.join().expect("serving does not panic").expect("serving ends well");
}

/// The string that ends one frame belongs to the first item of the next, which is full already.
#[test]
fn a_text_in_another_frame_than_its_item_is_served() {
    let text = [b'x'; 1000];
    let [thread, location, begin, _] = handmade::zone("zone");
    let (zone_text, end) = (Item::ZoneText, Item::ZoneEnd { time: 250 });
    let mut full = vec![Item::KeepAlive; FRAME_LIMIT - Kind::ZoneText.size() - Kind::ZoneEnd16.size()];
    full.splice(..0, [zone_text, end]);
    let folder = tempfile::tempdir().expect("there is room");
    let recording = handmade(&folder.path().join("run"), |socket| {
        handmade::say(socket, &[thread, location, begin, Item::SingleString(&text)]);
        handmade::say(socket, &full);
    });
    let capture = served(recording, |receiver| receiver.check(true));
    assert_eq!(capture.violations(), []);
    let zone = capture.zones().named("zone").one();
    assert_eq!(zone.texts().map(str::len).collect::<Vec<_>>(), [1000]);
}

#[test]
fn what_is_no_recording_is_refused() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("run");
    std::fs::write(&path, b"PK\x03\x04 something else").expect("there is room");
    let error = Recording::open(&path).err().expect("it is no recording");
    assert_eq!(error.to_string(), "the file is no recording of a Tracy stream");
}
