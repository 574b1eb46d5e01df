//! Packing and unpacking with zstd.

use ruzstd::decoding::FrameDecoder;
#[cfg(feature = "zstd")]
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

#[cfg(feature = "zstd")]
use crate::Error;

#[cfg(feature = "zstd")]
const FRAME: &str = "a zstd frame of a text of the length given";

/// The window that every decoder should have room for (RFC 8878, 3.1.1.1.2). What is written without its length
/// being known has a window of up to that size, however short it turns out to be.
const USUAL_WINDOW: u64 = 8 << 20;

/// Unpacks as many bytes as there is room for, and returns how many there were. A frame that reserves much more
/// memory than it gives bytes is refused.
pub(crate) fn unpack_into(packed: &[u8], room: &mut [u8]) -> Option<usize> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(USUAL_WINDOW.max(room.len() as u64));
    decoder.decode_all(packed, room).ok()
}

/// The text of `length` bytes in a frame. Offsets in errors count from nowhere useful: zero.
#[cfg(feature = "zstd")]
pub(crate) fn unpack(packed: &[u8], length: usize) -> Result<Box<[u8]>, Error> {
    let mut text = vec![0; length];
    match unpack_into(packed, &mut text) {
        Some(unpacked) if unpacked == length => Ok(text.into_boxed_slice()),
        _ => Err(Error::damaged(0, FRAME)),
    }
}

#[cfg(feature = "zstd")]
pub(crate) fn pack(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

#[cfg(test)]
mod tests {
    use super::unpack_into;

    /// A frame with five bytes in it as they are, and a window of 2 to the power of that.
    fn frame(window: u8) -> Vec<u8> {
        [b"\x28\xb5\x2f\xfd\0", &[(window - 10) << 3][..], b"\x29\0\0saxpy"].concat()
    }

    #[test]
    fn a_short_frame_may_not_reserve_much_memory() {
        let mut room = [0; 5];
        assert_eq!(unpack_into(&frame(23), &mut room), Some(5));
        assert_eq!(&room, b"saxpy");
        assert_eq!(unpack_into(&frame(26), &mut room), None);
    }
}
