//! Packing and unpacking texts.

use ruzstd::decoding::FrameDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::Error;

const FRAME: &str = "a zstd frame of a text of the length given";

/// The text of `length` bytes in a frame. Offsets in errors count from nowhere useful: zero.
pub(crate) fn unpack(packed: &[u8], length: usize) -> Result<Box<[u8]>, Error> {
    let mut text = vec![0; length];
    match FrameDecoder::new().decode_all(packed, &mut text) {
        Ok(unpacked) if unpacked == length => Ok(text.into_boxed_slice()),
        _ => Err(Error::damaged(0, FRAME)),
    }
}

pub(crate) fn pack(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}
