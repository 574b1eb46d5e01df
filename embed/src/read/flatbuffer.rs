//! A checked reader of FlatBuffers, for the few tables that are needed here.
//!
//! A FlatBuffer is a web of tables that point at one another by relative offsets. A table begins with the
//! (backward) distance to its *vtable*, which gives for each numbered *slot* the field's place in the
//! table, or zero if it is absent.
//!
//! Every access checks its own bounds and nothing else is ever followed, so a buffer needs no
//! verification beforehand, nor any alignment.
//!
//! Why not the `flatbuffers` crate: it was tried on the CUDA executables. It reads them, but wants about
//! 1,100 generated lines with a dozen `unsafe` blocks for each of five schemas, against these few without
//! any; it refuses strings that are not UTF-8, which paths need not be; and it is safe only after it has
//! walked through the whole buffer, strings included, while here opening must not touch what nobody asks for.

use super::{Result, bytes};
use crate::Error;

const TABLE: &str = "a FlatBuffer table within its buffer";
const FIELD: &str = "a FlatBuffer field within its buffer";
const VECTOR: &str = "a FlatBuffer vector within its buffer";

/// One table of a buffer. Fields are named by their slot: the number of fields before them in the schema.
///
/// ```
/// use zonecast_embed::flatbuffer::Table;
///
/// // An offset to the table at 12; a vtable of one slot at 4; the table, with its field.
/// let buffer = [12, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 42, 0, 0, 0];
/// let table = Table::root(&buffer)?;
/// assert_eq!((table.i32(0)?, table.i32(1)?), (42, 0));
/// # Ok::<(), zonecast_embed::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    buffer: &'a [u8],
    at: u64,
    vtable: u64,
    vtable_size: u64,
}

/// A vector of tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables<'a> {
    buffer: &'a [u8],
    at: u64,
    len: u32,
}

impl<'a> Table<'a> {
    /// The table that a buffer begins with.
    ///
    /// # Errors
    ///
    /// If it is not within the buffer; so for all that follows.
    pub fn root(buffer: &'a [u8]) -> Result<Self> {
        Self::behind(buffer, 0)
    }

    /// The table that the offset at `pointer` leads to.
    fn behind(buffer: &'a [u8], pointer: u64) -> Result<Self> {
        let damaged = |_| Error::damaged(pointer, TABLE);
        let at = pointer + u64::from(bytes::u32(buffer, pointer, TABLE)?);
        let back = bytes::u32(buffer, at, TABLE).map_err(damaged)? as i32;
        let vtable = at.checked_add_signed(-i64::from(back)).ok_or(Error::damaged(at, TABLE))?;
        let vtable_size = bytes::u16(buffer, vtable, TABLE).map_err(damaged)?.into();
        bytes::slice(buffer, vtable, vtable_size, TABLE).map_err(damaged)?;
        Ok(Self { buffer, at, vtable, vtable_size })
    }

    /// Where the table begins in its buffer.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Where the field of that slot is, if it is present, and its first `size` bytes.
    fn field(&self, slot: u64, size: u64) -> Result<Option<(u64, &'a [u8])>> {
        let entry = 4 + 2 * slot;
        if entry + 2 > self.vtable_size {
            return Ok(None);
        }
        let within = bytes::u16(self.buffer, self.vtable + entry, FIELD)?;
        if within == 0 {
            return Ok(None);
        }
        let at = self.at + u64::from(within);
        let field = bytes::slice(self.buffer, at, size, FIELD).map_err(|_| Error::damaged(self.at, FIELD))?;
        Ok(Some((at, field)))
    }

    /// A number; 0 if absent.
    pub fn u8(&self, slot: u64) -> Result<u8> {
        Ok(self.field(slot, 1)?.map_or(0, |(_, field)| field[0]))
    }

    /// A number; 0 if absent.
    pub fn u64(&self, slot: u64) -> Result<u64> {
        self.field(slot, 8)?.map_or(Ok(0), |(_, field)| bytes::u64(field, 0, FIELD))
    }

    /// A number; 0 if absent.
    pub fn i32(&self, slot: u64) -> Result<i32> {
        self.field(slot, 4)?.map_or(Ok(0), |(_, field)| bytes::u32(field, 0, FIELD).map(|value| value as i32))
    }

    /// A table; `None` if absent.
    pub fn table(&self, slot: u64) -> Result<Option<Self>> {
        let Some((at, _)) = self.field(slot, 4)? else { return Ok(None) };
        Self::behind(self.buffer, at).map(Some)
    }

    /// The length of the vector that the field points at, and its elements, each of `size` bytes.
    fn vector(&self, slot: u64, size: u64) -> Result<Option<(u32, u64, &'a [u8])>> {
        let Some((at, field)) = self.field(slot, 4)? else { return Ok(None) };
        let damaged = |_| Error::damaged(at, VECTOR);
        let vector = at + u64::from(bytes::u32(field, 0, VECTOR)?);
        let len = bytes::u32(self.buffer, vector, VECTOR).map_err(damaged)?;
        let elements =
            bytes::slice(self.buffer, vector + 4, u64::from(len) * size, VECTOR).map_err(damaged)?;
        Ok(Some((len, vector + 4, elements)))
    }

    /// A vector of bytes, or a string; `None` if absent.
    pub fn bytes(&self, slot: u64) -> Result<Option<&'a [u8]>> {
        Ok(self.vector(slot, 1)?.map(|(_, _, elements)| elements))
    }

    /// A vector of tables; empty if absent.
    pub fn tables(&self, slot: u64) -> Result<Tables<'a>> {
        let Some((len, at, _)) = self.vector(slot, 4)? else { return Ok(Tables::default()) };
        Ok(Tables { buffer: self.buffer, at, len })
    }
}

impl<'a> Tables<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The table of that index.
    ///
    /// # Errors
    ///
    /// If there are not so many, or it is not within the buffer.
    pub fn get(&self, index: usize) -> Result<Table<'a>> {
        if index >= self.len() {
            return Err(Error::damaged(self.at, VECTOR));
        }
        Table::behind(self.buffer, self.at + 4 * index as u64)
    }
}
