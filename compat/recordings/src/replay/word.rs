//! An argument as a person writes it.

use std::str::FromStr;

/// An 8-byte word to pass to a kernel.
///
/// ```
/// use zonecast_recordings::replay::Word;
///
/// assert_eq!("-1".parse(), Ok(Word::Value(u64::MAX)));
/// assert_eq!("0x10".parse(), Ok(Word::Value(16)));
/// assert_eq!("+0x40".parse(), Ok(Word::Offset(64)));
/// assert_eq!("f32:1.5".parse(), Ok(Word::Value(0x3FC0_0000)));
/// assert!("x".parse::<Word>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The word itself.
    Value(u64),
    /// The address of what is so many bytes into the recorded memory.
    Offset(u64),
}

impl Word {
    /// The word, if the memory begins at `base`.
    pub fn at(self, base: u64) -> u64 {
        match self {
            Self::Value(word) => word,
            Self::Offset(offset) => base.wrapping_add(offset),
        }
    }
}

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        };
        let word = if let Some(offset) = text.strip_prefix('+') {
            number(offset).map(Self::Offset)
        } else if let Some(float) = text.strip_prefix("f32:") {
            float.parse().ok().map(|float: f32| Self::Value(float.to_bits().into()))
        } else if let Some(float) = text.strip_prefix("f64:") {
            float.parse().ok().map(|float: f64| Self::Value(float.to_bits()))
        } else {
            number(text).or_else(|| text.parse().ok().map(i64::cast_unsigned)).map(Self::Value)
        };
        let forms = "16, -1, 0x10, +0x40 (into the memory), f32:1.5 or f64:1.5";
        word.ok_or_else(|| format!("{text} is no word of 64 bits; write it as {forms}"))
    }
}
