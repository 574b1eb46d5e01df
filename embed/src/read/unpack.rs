//! Unpacking parts of files that are compressed, into as much as they say and no more.

use super::Result;
use crate::Error;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// More than this is not unpacked, whatever a file says.
const MOST: u64 = 1 << 30;

/// No compiler's output packs better than this; what says so is made to fill memory.
const BEST_RATIO: u64 = 1_000;

const ZLIB: &str = "a zlib stream of the length given";
const ZSTD: &str = "a zstd frame of the length given";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Zlib,
    Zstd,
    /// A block without a frame.
    #[cfg(feature = "offload")]
    Lz4,
}

/// Unpacks what gives `length` bytes. Offsets in errors are 0.
pub(crate) fn unpack(packed: &[u8], packing: Packing, length: u64) -> Result<Vec<u8>> {
    let mut bytes = buffer(packed, length)?;
    let unpacked = match packing {
        Packing::Zlib => zlib(packed, &mut bytes),
        Packing::Zstd => crate::zstd::unpack_into(packed, &mut bytes),
        #[cfg(feature = "offload")]
        Packing::Lz4 => lz4_flex::block::decompress_into(packed, &mut bytes).ok(),
    };
    let expected = match packing {
        Packing::Zlib => ZLIB,
        Packing::Zstd => ZSTD,
        #[cfg(feature = "offload")]
        Packing::Lz4 => "an LZ4 block of the length given",
    };
    if unpacked == Some(bytes.len()) { Ok(bytes) } else { Err(Error::damaged(0, expected)) }
}

/// Room for `length` bytes, if that is believable.
fn buffer(packed: &[u8], length: u64) -> Result<Vec<u8>> {
    if length > MOST {
        return Err(Error::unsupported(0, "a compressed part of more than 1 GiB; unpack it beforehand"));
    }
    let most = (packed.len() as u64).saturating_mul(BEST_RATIO).saturating_add(1 << 16);
    if length > most {
        return Err(Error::damaged(0, "a compressed part of at most a thousand times its size"));
    }
    Ok(vec![0; length as usize])
}

fn zlib(packed: &[u8], bytes: &mut [u8]) -> Option<usize> {
    let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, _, unpacked) = decompress(&mut Box::<DecompressorOxide>::default(), packed, bytes, 0, flags);
    (status == TINFLStatus::Done).then_some(unpacked)
}
