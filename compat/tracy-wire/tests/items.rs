//! Every item, to bytes and back.

#[path = "support/every_item.rs"]
mod every_item;

use every_item::every_item;
use zonecast_tracy_wire::protocol::Kind;
use zonecast_tracy_wire::{DecodeError, Decoder, Encoder, Engine, Keep, Welcome, measure};

#[test]
fn every_item_survives_the_wire() {
    let items = every_item();
    let mut encoder = Encoder::default();
    items.iter().for_each(|item| encoder.push(item));
    let mut read = Vec::new();
    let mut kinds = Vec::new();
    Decoder::default()
        .decode(encoder.bytes(), |kind, item, _| {
            kinds.push(kind);
            read.push(item);
            Ok::<_, DecodeError>(())
        })
        .expect("what was encoded can be read");
    assert_eq!(read, items);

    let missing: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| !kinds.contains(kind)).collect();
    let internal = [Kind::ExternalNameMetadata, Kind::SymbolCodeMetadata, Kind::SourceCodeMetadata];
    assert_eq!(missing, internal, "only what never crosses the wire was left out");
}

#[test]
fn an_item_that_is_cut_anywhere_is_refused() {
    for item in every_item() {
        let mut encoder = Encoder::default();
        encoder.push(&item);
        let bytes = encoder.take();
        assert_eq!(measure(&bytes).map(|(_, length)| length), Ok(bytes.len()), "{item:?}");
        for length in 1..bytes.len().min(300) {
            assert_eq!(measure(&bytes[..length]), Err(DecodeError::Truncated { offset: 0 }), "{item:?}");
        }
    }
}

fn decode(bytes: &[u8]) -> Result<(), DecodeError> {
    Decoder::default().decode(bytes, |_, _, _| Ok(()))
}

#[test]
fn unknown_and_internal_kinds_are_refused_where_they_stand() {
    let alive = Kind::KeepAlive as u8;
    assert_eq!(decode(&[alive, alive, 132]), Err(DecodeError::UnknownItem { byte: 132, offset: 2 }));
    let internal = Kind::SourceCodeMetadata as u8;
    assert!(matches!(decode(&[alive, internal]), Err(DecodeError::Malformed { offset: 1, .. })));
}

#[test]
fn a_location_without_its_texts_is_refused() {
    let mut payload = vec![Kind::SourceLocationPayload as u8];
    payload.extend_from_slice(&[0; 8]);
    payload.extend_from_slice(&12_u16.to_le_bytes());
    payload.extend_from_slice(b"colrlinefunc");
    assert!(matches!(decode(&payload), Err(DecodeError::Malformed { offset: 0, .. })));
}

/// A thousand streams of real items, in which every other frame has a byte changed: errors are fine,
/// faults are not. The fuzz targets go on from here.
#[test]
fn damaged_streams_do_no_harm() {
    let items = every_item();
    let mut encoder = Encoder::default();
    let frames = items.chunks(4).map(|some| {
        some.iter().for_each(|item| encoder.push(item));
        encoder.take()
    });
    let frames: Vec<Vec<u8>> = frames.filter(|frame| frame.len() < 4096).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    let (mut whole, mut broken) = (0, 0);
    for round in 0..1000 {
        let keep = if round % 2 == 0 { Keep::Everything } else { Keep::Statistics };
        let mut engine = Engine::new(Welcome::default()).keep(keep).ask_for_sources(true).check(true);
        for _ in 0..frames.len() {
            let mut frame = frames[random(frames.len())].clone();
            if random(2) == 0 {
                let place = random(frame.len());
                frame[place] = random(256) as u8;
            }
            match engine.feed(&frame) {
                Ok(()) => whole += 1,
                Err(_) => broken += 1,
            }
            while engine.next_question().is_some() {}
        }
        let capture = engine.finish();
        let _ = (capture.summary(), capture.lost(), capture.plots(), capture.memory());
    }
    assert!(whole > 1000 && broken > 1000, "{whole} frames were read, {broken} were not");
}
