//! Frames: a little-endian `u32` size and one LZ4 block of that size.
//!
//! Blocks are chained: each may refer to up to 64 KiB of what was decompressed before it. A decoder
//! therefore keeps that much history directly in front of the place it decompresses to, and moves
//! it back to the front of its buffer only when the buffer is used up, once every 2 MiB.

use lz4_flex::block::{compress_into, decompress_into_with_dict, get_maximum_output_size};

use crate::error::DecodeError;
use crate::protocol::{COMPRESSED_LIMIT, FRAME_LIMIT};

const HISTORY: usize = 64 * 1024;
const BUFFER: usize = HISTORY + 8 * FRAME_LIMIT;

/// Decompresses the frames of one connection, in order.
pub struct FrameDecoder {
    buffer: Box<[u8]>,
    /// Where the next frame goes; the history ends here.
    end: usize,
}

impl Default for FrameDecoder {
    fn default() -> Self {
        Self { buffer: vec![0; BUFFER].into_boxed_slice(), end: 0 }
    }
}

impl FrameDecoder {
    /// Decompresses `block` and lends what it held. An empty slice is a frame without items.
    ///
    /// # Errors
    /// [`DecodeError::Lz4`] for a damaged block, or one that holds more than
    /// [`FRAME_LIMIT`] bytes. No later frame can be read then.
    pub fn decode(&mut self, block: &[u8]) -> Result<&[u8], DecodeError> {
        self.make_room();
        let (before, after) = self.buffer.split_at_mut(self.end);
        let history = &before[before.len().saturating_sub(HISTORY)..];
        let length = decompress_into_with_dict(block, &mut after[..FRAME_LIMIT], history)
            .map_err(|error| DecodeError::Lz4 { reason: error.to_string() })?;
        let start = self.end;
        self.end += length;
        Ok(&self.buffer[start..self.end])
    }

    fn make_room(&mut self) {
        if self.end + FRAME_LIMIT > self.buffer.len() {
            self.buffer.copy_within(self.end - HISTORY..self.end, 0);
            self.end = HISTORY;
        }
    }
}

/// Checks the size in front of a frame before anything of that size is read.
///
/// # Errors
/// [`DecodeError::FrameTooLarge`] beyond what LZ4 makes of the largest frame.
pub fn check_size(claimed: u32) -> Result<usize, DecodeError> {
    match usize::try_from(claimed) {
        Ok(size) if size <= COMPRESSED_LIMIT => Ok(size),
        _ => Err(DecodeError::FrameTooLarge { claimed }),
    }
}

/// Appends `items` to `out` as one frame, which needs no history to be read.
///
/// # Panics
/// If `items` is larger than [`FRAME_LIMIT`].
pub fn encode_frame(items: &[u8], out: &mut Vec<u8>) {
    assert!(items.len() <= FRAME_LIMIT, "{} bytes do not fit into a frame", items.len());
    let start = out.len();
    out.resize(start + 4 + get_maximum_output_size(items.len()), 0);
    let size = compress_into(items, &mut out[start + 4..]).expect("the bound holds any block");
    out[start..start + 4].copy_from_slice(&(size as u32).to_le_bytes());
    out.truncate(start + 4 + size);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that refer to their predecessors, over more data than the buffer holds.
    #[test]
    fn chained_frames_come_back_whole() {
        let mut decoder = FrameDecoder::default();
        let mut history: Vec<u8> = Vec::new();
        let mut state = 1_u32;
        for round in 0..64 {
            let copied = history.len().min(40_000);
            let mut frame = history[history.len() - copied..].to_vec();
            frame.extend((0..50_000).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            }));
            let dictionary = &history[history.len().saturating_sub(HISTORY)..];
            let block = lz4_flex::block::compress_with_dict(&frame, dictionary);
            assert!(round == 0 || block.len() < 60_000, "the block does refer to the one before");
            assert_eq!(decoder.decode(&block), Ok(&frame[..]));
            history.extend_from_slice(&frame);
        }
    }

    #[test]
    fn what_is_framed_is_read_back() {
        let mut framed = Vec::new();
        encode_frame(&[7; 1000], &mut framed);
        let size = u32::from_le_bytes(framed[..4].try_into().unwrap());
        assert_eq!(check_size(size), Ok(framed.len() - 4));
        assert_eq!(FrameDecoder::default().decode(&framed[4..]), Ok(&[7; 1000][..]));
    }

    #[test]
    fn a_lying_size_is_refused() {
        assert_eq!(check_size(u32::MAX), Err(DecodeError::FrameTooLarge { claimed: u32::MAX }));
    }

    #[test]
    fn a_bomb_is_refused() {
        let bomb = lz4_flex::block::compress(&vec![0; FRAME_LIMIT + 1]);
        assert!(matches!(FrameDecoder::default().decode(&bomb), Err(DecodeError::Lz4 { .. })));
    }
}
