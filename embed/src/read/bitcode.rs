//! LLVM bitcode, which stands in objects where code for a GPU is only made when the program is linked.
//!
//! It is told of and not read: its format is that of one compiler's insides.

use super::index::{Build, Index, IndexBuilder};
use crate::Remark;
use crate::image::Format;

/// As it is, or with a header that says where it is in the file.
const MAGICS: [&[u8]; 2] = [b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];

pub(crate) fn is(bytes: &[u8]) -> bool {
    MAGICS.iter().any(|magic| bytes.starts_with(magic))
}

pub(crate) struct Bitcode;

impl Build for Bitcode {
    fn format(&self) -> Format {
        Format::Bitcode
    }

    /// The container says it.
    fn target(&self) -> Option<&[u8]> {
        None
    }

    fn build(&self, _image: &[u8]) -> Index {
        let mut builder = IndexBuilder::default();
        builder.remark(Remark::Bitcode);
        builder.finish()
    }
}
