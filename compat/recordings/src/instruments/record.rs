//! One record of a ring: what happened in a workgroup.

use std::fmt;

use half::{bf16, f16};

use crate::bytes;

/// Records begin at multiples of this many bytes.
pub(super) const STEP: u64 = 16;
/// The length of a workgroup's record.
const WORKGROUP: u64 = 32;
/// Keys have 40 bits.
const KEY_SHIFT: u32 = 24;

/// A record and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// How many bytes had been written to the ring before it. Its place in the ring is this modulo the size.
    pub at: u64,
    /// What it says.
    pub event: Event<'a>,
}

/// What a record says. A `key` is the place in the ring of the workgroup's own record, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// A workgroup began.
    Workgroup(Workgroup),
    /// A workgroup printed a text. (No compiler emits it yet.)
    Print(Print<'a>),
    /// A workgroup came past a probe.
    Value(Probe),
    /// A workgroup read memory.
    Load(Access),
    /// A workgroup wrote memory.
    Store(Access),
    /// So many bytes that are no record: reserved but not yet written when the ring was saved, left over from
    /// a record that was overwritten, or damaged.
    Torn {
        /// How many.
        length: u64,
    },
}

/// A workgroup that began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workgroup {
    /// From which site it was dispatched.
    pub site: u32,
    /// Which one of the grid.
    pub id: [u32; 3],
    /// The size of the grid.
    pub count: [u32; 3],
    /// The processor that it ran on.
    pub processor: u32,
}

/// A text that a workgroup printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Print<'a> {
    /// Whose.
    pub key: u64,
    /// The text, UTF-8 or not.
    pub text: &'a [u8],
}

/// A value at a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Whose.
    pub key: u64,
    /// Which probe of the kernel.
    pub ordinal: u8,
    /// What passed it.
    pub value: Value,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whose.
    pub key: u64,
    /// Where it begins.
    pub address: u64,
    /// How many bytes.
    pub length: u16,
}

/// A value of one of the types that a probe can have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    I8(i8),
    U8(u8),
    I16(i16),
    U16(u16),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    /// An address.
    Pointer(u64),
    /// The bits of an IEEE half.
    F16(u16),
    F32(f32),
    F64(f64),
    /// The bits of a brain float. Some compilers say [`I16`](Self::I16) instead.
    Bf16(u16),
    /// A type that is not known, and its bits.
    Unknown(u8, u64),
}

impl Value {
    /// `bits` are zero-extended, whatever the type.
    fn from_bits(kind: u8, bits: u64) -> Self {
        match kind {
            0 => Self::I8(bits as i8),
            1 => Self::U8(bits as u8),
            2 => Self::I16(bits as i16),
            3 => Self::U16(bits as u16),
            4 => Self::I32(bits as i32),
            5 => Self::U32(bits as u32),
            6 => Self::I64(bits as i64),
            7 => Self::U64(bits),
            8 => Self::Pointer(bits),
            9 => Self::F16(bits as u16),
            10 => Self::F32(f32::from_bits(bits as u32)),
            11 => Self::F64(f64::from_bits(bits)),
            12 => Self::Bf16(bits as u16),
            _ => Self::Unknown(kind, bits),
        }
    }

    /// Type and bits, as a record has them.
    pub(super) fn to_bits(self) -> (u8, u64) {
        match self {
            Self::I8(value) => (0, u64::from(value.cast_unsigned())),
            Self::U8(value) => (1, value.into()),
            Self::I16(value) => (2, u64::from(value.cast_unsigned())),
            Self::U16(value) => (3, value.into()),
            Self::I32(value) => (4, u64::from(value.cast_unsigned())),
            Self::U32(value) => (5, value.into()),
            Self::I64(value) => (6, value.cast_unsigned()),
            Self::U64(value) => (7, value),
            Self::Pointer(value) => (8, value),
            Self::F16(bits) => (9, bits.into()),
            Self::F32(value) => (10, value.to_bits().into()),
            Self::F64(value) => (11, value.to_bits()),
            Self::Bf16(bits) => (12, bits.into()),
            Self::Unknown(kind, bits) => (kind, bits),
        }
    }

    /// The type's name in MLIR, with the sign where it has one.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::I8(_) => "i8",
            Self::U8(_) => "u8",
            Self::I16(_) => "i16",
            Self::U16(_) => "u16",
            Self::I32(_) => "i32",
            Self::U32(_) => "u32",
            Self::I64(_) => "i64",
            Self::U64(_) => "u64",
            Self::Pointer(_) => "pointer",
            Self::F16(_) => "f16",
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
            Self::Bf16(_) => "bf16",
            Self::Unknown(..) => "unknown",
        }
    }

    /// As a number; nothing for an unknown type. Large 64-bit integers are rounded.
    pub fn as_f64(self) -> Option<f64> {
        Some(match self {
            Self::I8(value) => value.into(),
            Self::U8(value) => value.into(),
            Self::I16(value) => value.into(),
            Self::U16(value) => value.into(),
            Self::I32(value) => value.into(),
            Self::U32(value) => value.into(),
            Self::I64(value) => value as f64,
            Self::U64(value) | Self::Pointer(value) => value as f64,
            Self::F16(bits) => f16::from_bits(bits).into(),
            Self::F32(value) => value.into(),
            Self::F64(value) => value,
            Self::Bf16(bits) => bf16::from_bits(bits).into(),
            Self::Unknown(..) => return None,
        })
    }
}

/// The value, in as many digits as tell it from its neighbours.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::I8(value) => value.fmt(f),
            Self::U8(value) => value.fmt(f),
            Self::I16(value) => value.fmt(f),
            Self::U16(value) => value.fmt(f),
            Self::I32(value) => value.fmt(f),
            Self::U32(value) => value.fmt(f),
            Self::I64(value) => value.fmt(f),
            Self::U64(value) => value.fmt(f),
            Self::Pointer(value) => write!(f, "{value:#x}"),
            Self::F16(bits) => f16::from_bits(bits).fmt(f),
            Self::F32(value) => value.fmt(f),
            Self::F64(value) => value.fmt(f),
            Self::Bf16(bits) => bf16::from_bits(bits).fmt(f),
            Self::Unknown(kind, bits) => write!(f, "{bits:#x} of unknown type {kind}"),
        }
    }
}

/// What the bytes of a ring must look like to be a record of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The ring's size.
    pub(super) size: u64,
    /// How many dispatch sites there are.
    pub(super) sites: u32,
}

impl Rules {
    /// The record that `ring` has at `place`, and its length; nothing if what is there can be none.
    #[inline]
    pub(super) fn record<'a>(&self, ring: &'a [u8], place: usize) -> Option<(Event<'a>, u64)> {
        let (word, second) = (bytes::u64(ring, place), bytes::u64(ring, place + 8));
        let (length, key) = ((word >> 8) as u16, word >> KEY_SHIFT);
        let of_a_workgroup = key < self.size && key.is_multiple_of(STEP);
        match word as u8 {
            0 => self.workgroup(ring, place).map(|workgroup| (Event::Workgroup(workgroup), WORKGROUP)),
            _ if !of_a_workgroup => None,
            1 => {
                let end = place + 8 + usize::from(length);
                let text = ring.get(place + 8..end)?;
                Some((Event::Print(Print { key, text }), (8 + u64::from(length)).next_multiple_of(STEP)))
            }
            2 => {
                let (kind, ordinal) = ((word >> 8) as u8, (word >> 16) as u8);
                let value = Value::from_bits(kind, second);
                Some((Event::Value(Probe { key, ordinal, value }), STEP))
            }
            tag @ (4 | 5) if length > 0 => {
                let access = Access { key, address: second, length };
                Some((if tag == 4 { Event::Load(access) } else { Event::Store(access) }, STEP))
            }
            _ => None,
        }
    }

    /// The workgroup whose record is at `place`, if there is one.
    #[inline]
    pub(super) fn workgroup(&self, ring: &[u8], place: usize) -> Option<Workgroup> {
        let record: &[u8; WORKGROUP as usize] =
            ring.get(place..place + WORKGROUP as usize)?.try_into().ok()?;
        let word = |index: usize| bytes::u32(record, 4 * index);
        let (head, id, count) = (word(0), [word(1), word(2), word(3)], [word(4), word(5), word(6)]);
        let site = head >> 8;
        let within = id[0] < count[0] && id[1] < count[1] && id[2] < count[2];
        let is_one = head as u8 == 0 && site < self.sites && within;
        is_one.then_some(Workgroup { site, id, count, processor: word(7) })
    }

    /// The grid that the second half of a workgroup's record at `place` would give.
    pub(super) fn second_half(ring: &[u8], place: usize) -> [u32; 3] {
        [0, 4, 8].map(|at| bytes::u32(ring, place + at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_their_bits_with_sign_and_width() {
        let values = [
            (Value::I8(-5), "-5"),
            (Value::U8(255), "255"),
            (Value::I16(-1234), "-1234"),
            (Value::U16(65535), "65535"),
            (Value::I32(i32::MIN), "-2147483648"),
            (Value::U32(u32::MAX), "4294967295"),
            (Value::I64(-1), "-1"),
            (Value::U64(u64::MAX), "18446744073709551615"),
            (Value::Pointer(0xbeef), "0xbeef"),
            (Value::F16(0x3e00), "1.5"),
            (Value::F32(0.1), "0.1"),
            (Value::F64(-0.1), "-0.1"),
            (Value::Bf16(0xc040), "-3"),
            (Value::Unknown(77, 9), "0x9 of unknown type 77"),
        ];
        for (value, text) in values {
            let (kind, bits) = value.to_bits();
            assert_eq!(Value::from_bits(kind, bits), value);
            assert_eq!(value.to_string(), text);
        }
    }
}
