//! How bytes are looked at: as numbers of a type.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};

/// The type of the numbers in a buffer. All are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the types' own names")]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Element {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
    ];

    /// Its name: `u8`, `bf16`, `f32`, …
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// How many bytes one takes.
    pub fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The number in the first [`size`](Self::size) bytes.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn value(self, bytes: &[u8]) -> Value {
        let mut word = [0; 8];
        word[..self.size()].copy_from_slice(&bytes[..self.size()]);
        let bits = u64::from_le_bytes(word);
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Value::Unsigned(bits),
            Self::I8 => Value::Signed((bits as i8).into()),
            Self::I16 => Value::Signed((bits as i16).into()),
            Self::I32 => Value::Signed((bits as i32).into()),
            Self::I64 => Value::Signed(bits as i64),
            Self::F16 => Value::Float(f16::from_bits(bits as u16).to_f64()),
            Self::Bf16 => Value::Float(bf16::from_bits(bits as u16).to_f64()),
            Self::F32 => Value::Float(f32::from_bits(bits as u32).into()),
            Self::F64 => Value::Float(f64::from_bits(bits)),
        }
    }

    /// How many numbers of this type lie between two, one of them counted: 0 for equal ones, 1 for neighbours. The
    /// two zeros of floats are equal. For floats that are finite.
    pub(super) fn steps(self, a: &[u8], b: &[u8]) -> u64 {
        let place = |bytes| match self.value(bytes) {
            Value::Unsigned(number) => i128::from(number),
            Value::Signed(number) => i128::from(number),
            Value::Float(_) => self.rank(bytes),
        };
        u64::try_from((place(a) - place(b)).abs()).unwrap_or(u64::MAX)
    }

    /// A float's place among all of its type, counted from zero.
    fn rank(self, bytes: &[u8]) -> i128 {
        let mut word = [0; 8];
        word[..self.size()].copy_from_slice(&bytes[..self.size()]);
        let bits = u64::from_le_bytes(word);
        let sign = 1 << (8 * self.size() - 1);
        let magnitude = i128::from(bits & !sign);
        if bits & sign == 0 { magnitude } else { -magnitude }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|element| element.name() == name);
        found.ok_or_else(|| format!("no type {name}; there are {}", names()))
    }
}

/// A number of any type, widened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the kinds' own names")]
pub enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

impl Value {
    /// As a float, rounded if it has more than 53 bits.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Unsigned(number) => number as f64,
            Self::Signed(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => number.fmt(f),
            Self::Signed(number) => number.fmt(f),
            Self::Float(number) if number.abs() < 1e-4 && *number != 0.0 || number.abs() >= 1e16 => {
                write!(f, "{number:e}")
            }
            Self::Float(number) => number.fmt(f),
        }
    }
}
