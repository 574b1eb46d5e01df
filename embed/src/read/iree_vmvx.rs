//! IREE's executables for its bytecode interpreter (VMVX): modules inside a module.
//!
//! The compiler embeds no source in them at any debug level, so all there is to say is that they are there.

use super::flatbuffer::Table;
use super::{RawExport, RawSource, Reader, Result, iree_module};
use crate::Error;
use crate::image::{Format, Stage};

const NOTHING: &str = "no record, since this format has none";
const SLOT_NAME: u64 = 0;

pub(crate) struct Program;

impl Program {
    pub(crate) fn new(image: &[u8]) -> Result<Self> {
        root(image).map(|_| Self)
    }
}

fn root(image: &[u8]) -> Result<Table<'_>> {
    iree_module::buffer(image).and_then(|(_, buffer)| Table::root(buffer))
}

impl Reader for Program {
    fn format(&self) -> Format {
        Format::IreeVmvx
    }

    fn name<'a>(&'a self, image: &'a [u8]) -> Result<&'a [u8]> {
        Ok(root(image)?.bytes(SLOT_NAME)?.unwrap_or_default())
    }

    fn target<'a>(&'a self, _image: &'a [u8]) -> Option<&'a [u8]> {
        None
    }

    fn exports(&self, _image: &[u8]) -> usize {
        0
    }

    fn export<'a>(&'a self, _image: &'a [u8], _export: usize) -> Result<RawExport<'a>> {
        Err(Error::damaged(0, NOTHING))
    }

    fn stage<'a>(&'a self, _image: &'a [u8], _export: usize, _stage: usize) -> Result<Stage<'a>> {
        Err(Error::damaged(0, NOTHING))
    }

    fn sources(&self, _image: &[u8]) -> usize {
        0
    }

    fn source<'a>(&'a self, _image: &'a [u8], _source: usize) -> Result<RawSource<'a>> {
        Err(Error::damaged(0, NOTHING))
    }
    fn source_path<'a>(&'a self, _image: &'a [u8], _source: usize) -> Result<&'a [u8]> {
        Err(Error::damaged(0, NOTHING))
    }
}
