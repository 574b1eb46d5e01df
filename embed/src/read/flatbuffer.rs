//! A checked reader of FlatBuffers, for the few tables that are needed here.
//!
//! A FlatBuffer is a web of tables that point at one another by relative offsets. A table begins with the
//! (backward) distance to its *vtable*, which gives for each numbered *slot* the field's place in the
//! table, or zero if it is absent.
//!
//! Every access checks its own bounds and nothing else is ever followed, so a buffer needs no
//! verification beforehand, nor any alignment.

use super::{Result, bytes};
use crate::Error;

const TABLE: &str = "a FlatBuffer table within its buffer";
const FIELD: &str = "a FlatBuffer field within its buffer";
const VECTOR: &str = "a FlatBuffer vector within its buffer";

/// One table of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    buffer: &'a [u8],
    at: u64,
    vtable: u64,
    vtable_size: u64,
}

/// A vector of tables.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tables<'a> {
    buffer: &'a [u8],
    at: u64,
    len: u32,
}

impl<'a> Table<'a> {
    pub(crate) fn root(buffer: &'a [u8]) -> Result<Self> {
        Self::at(buffer, bytes::u32(buffer, 0, TABLE)?.into())
    }

    fn at(buffer: &'a [u8], at: u64) -> Result<Self> {
        let back = bytes::u32(buffer, at, TABLE)? as i32;
        let vtable = at.checked_add_signed(-i64::from(back)).ok_or(Error::damaged(at, TABLE))?;
        let vtable_size = bytes::u16(buffer, vtable, TABLE)?.into();
        bytes::slice(buffer, vtable, vtable_size, TABLE)?;
        Ok(Self { buffer, at, vtable, vtable_size })
    }

    /// Where the field of that slot is, if it is present.
    fn field(&self, slot: u64) -> Result<Option<u64>> {
        let entry = 4 + 2 * slot;
        if entry + 2 > self.vtable_size {
            return Ok(None);
        }
        let within = bytes::u16(self.buffer, self.vtable + entry, FIELD)?;
        Ok((within != 0).then_some(self.at + u64::from(within)))
    }

    pub(crate) fn u8(&self, slot: u64) -> Result<u8> {
        let Some(at) = self.field(slot)? else { return Ok(0) };
        bytes::slice(self.buffer, at, 1, FIELD).map(|byte| byte[0])
    }

    pub(crate) fn u64(&self, slot: u64) -> Result<u64> {
        self.field(slot)?.map_or(Ok(0), |at| bytes::u64(self.buffer, at, FIELD))
    }

    /// What the field points at.
    fn target(&self, slot: u64) -> Result<Option<u64>> {
        let Some(at) = self.field(slot)? else { return Ok(None) };
        Ok(Some(at + u64::from(bytes::u32(self.buffer, at, FIELD)?)))
    }

    /// The elements of a vector of bytes, or of a string.
    pub(crate) fn bytes(&self, slot: u64) -> Result<Option<&'a [u8]>> {
        let Some(at) = self.target(slot)? else { return Ok(None) };
        let len = bytes::u32(self.buffer, at, VECTOR)?;
        bytes::slice(self.buffer, at + 4, len.into(), VECTOR).map(Some)
    }

    /// A vector of tables; empty if absent.
    pub(crate) fn tables(&self, slot: u64) -> Result<Tables<'a>> {
        let Some(at) = self.target(slot)? else { return Ok(Tables::default()) };
        let len = bytes::u32(self.buffer, at, VECTOR)?;
        bytes::slice(self.buffer, at + 4, 4 * u64::from(len), VECTOR)?;
        Ok(Tables { buffer: self.buffer, at: at + 4, len })
    }
}

impl<'a> Tables<'a> {
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) fn get(&self, index: usize) -> Result<Table<'a>> {
        if index >= self.len() {
            return Err(Error::damaged(self.at, VECTOR));
        }
        let at = self.at + 4 * index as u64;
        Table::at(self.buffer, at + u64::from(bytes::u32(self.buffer, at, VECTOR)?))
    }
}
