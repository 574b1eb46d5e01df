//! Writes sound inputs for the targets to start from.

#[path = "../../../tests/support/every_item.rs"]
mod every_item;

use std::fs;
use std::path::Path;

use zonecast_tracy_wire::{Encoder, Welcome, encode_frame};

fn main() -> std::io::Result<()> {
    let mut encoder = Encoder::default();
    let items = every_item::every_item();
    for (number, some) in items.chunks(12).enumerate() {
        some.iter().for_each(|item| encoder.push(item));
        let stream = encoder.take();
        if stream.len() > 4096 {
            continue;
        }
        let mut frame = Vec::new();
        encode_frame(&stream, &mut frame);
        let welcome = Welcome::default().to_bytes();
        let recording =
            [&record(b'W', &welcome)[..], &record(b'F', &frame[4..]), &record(b'E', &[])].concat();
        write("stream", number, &[&[255], &stream[..]].concat())?;
        write("frames", number, &frame)?;
        write("recording", number, &recording)?;
    }
    Ok(())
}

fn record(kind: u8, bytes: &[u8]) -> Vec<u8> {
    [&[kind], &(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}

fn write(target: &str, number: usize, bytes: &[u8]) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("seed-{number}")), bytes)
}
