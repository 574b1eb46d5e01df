//! Writing lines by hand: numbers, times and padding without `core::fmt`.

/// Where bytes can be put.
pub(super) trait Put {
    /// Appends `bytes`.
    fn put(&mut self, bytes: &[u8]);

    /// Appends a number in decimal.
    #[inline]
    fn number(&mut self, number: u64) {
        let mut digits = Digits::NEW;
        self.put(digits.of(number));
    }

    /// Appends a number with its sign.
    #[inline]
    fn signed(&mut self, number: i64) {
        if number < 0 {
            self.put(b"-");
        }
        self.number(number.unsigned_abs());
    }

    /// Appends a number in hexadecimal, as `0x7f00`.
    fn hex(&mut self, number: u64) {
        let mut digits = [b'0'; 18];
        let mut at = digits.len();
        let mut rest = number;
        loop {
            at -= 1;
            digits[at] = HEX[(rest & 15) as usize];
            rest >>= 4;
            if rest == 0 {
                break;
            }
        }
        digits[at - 1] = b'x';
        self.put(&digits[at - 2..]);
    }

    /// Appends a colour, as `#ff8800`.
    fn color(&mut self, color: u32) {
        let mut digits = *b"#000000";
        for (at, digit) in digits[1..].iter_mut().enumerate() {
            *digit = HEX[(color >> (20 - 4 * at) & 15) as usize];
        }
        self.put(&digits);
    }

    /// Appends `count` spaces.
    #[inline]
    fn spaces(&mut self, count: usize) {
        static SPACES: [u8; 128] = [b' '; 128];
        self.put(&SPACES[..count.min(SPACES.len())]);
    }

    /// Appends `text`, after spaces that make it `width` wide.
    #[inline]
    fn right(&mut self, text: &[u8], width: usize) {
        self.spaces(width.saturating_sub(text.len()));
        self.put(text);
    }

    /// Appends a float in the shortest form that reads back as the same, `inf` and `NaN` included.
    fn float(&mut self, number: f64)
    where
        Self: Sized,
    {
        // The one number that is left to the library: shortest digits are an art.
        self.formatted(format_args!("{number:?}"));
    }

    /// As [`float`](Self::float), with the digits that matter to a shorter one.
    fn single(&mut self, number: f32)
    where
        Self: Sized,
    {
        self.formatted(format_args!("{number:?}"));
    }

    /// Appends what the library formats.
    fn formatted(&mut self, arguments: core::fmt::Arguments<'_>)
    where
        Self: Sized,
    {
        let _ = core::fmt::Write::write_fmt(&mut Formatted(self), arguments);
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl Put for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

struct Formatted<'a, P>(&'a mut P);

impl<P: Put> core::fmt::Write for Formatted<'_, P> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.put(text.as_bytes());
        Ok(())
    }
}

/// Writes into memory that is there already. What does not fit is cut off: whoever makes a pen asks
/// for room enough.
pub(super) struct Pen {
    from: *mut u8,
    at: *mut u8,
    end: *mut u8,
}

impl Pen {
    /// A pen for `room` bytes from `from` on.
    ///
    /// # Safety
    ///
    /// Those bytes are valid for writes, and nobody else looks at them, while the pen is used.
    #[inline]
    pub(super) const unsafe fn new(from: *mut u8, room: usize) -> Self {
        // SAFETY: the caller vouches for `room` bytes.
        Self { from, at: from, end: unsafe { from.add(room) } }
    }

    /// How much was written.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.at.addr() - self.from.addr()
    }
}

impl Put for Pen {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        let room = self.end.addr() - self.at.addr();
        // A branch rather than the lesser of both: most lengths are known when this is compiled, and
        // copies of known lengths need no call.
        if bytes.len() > room {
            return self.put_beginning(bytes, room);
        }
        // SAFETY: so many bytes are left before `end`, and are writable and nobody else's (see
        // `new`); `bytes` is a shared borrow and so does not overlap them.
        unsafe {
            self.at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.at = self.at.add(bytes.len());
        }
    }
}

impl Pen {
    /// As [`spaces`](Put::spaces), without a call for the few that most lines have.
    #[inline]
    pub(super) fn few_spaces(&mut self, count: usize) {
        const FEW: usize = 16;
        if count > FEW || self.end.addr() - self.at.addr() < FEW {
            return self.spaces(count);
        }
        // SAFETY: so many bytes are left before `end`; those too many are written over, or never
        // counted.
        unsafe {
            self.at.cast::<[u8; FEW]>().write_unaligned([b' '; FEW]);
            self.at = self.at.add(count);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_beginning(&mut self, bytes: &[u8], room: usize) {
        debug_assert!(false, "a line is longer than was asked for");
        self.put(&bytes[..room]);
    }
}

/// Room for the decimal digits of a number.
pub(super) struct Digits([u8; 20]);

/// "00" to "99".
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

/// The last two digits of `number`.
#[inline(always)]
fn pair(number: u64) -> [u8; 2] {
    PAIRS[(number % 100) as usize]
}

impl Digits {
    pub(super) const NEW: Self = Self([b'0'; 20]);

    /// The digits of `number`.
    #[inline]
    pub(super) fn of(&mut self, number: u64) -> &[u8] {
        let mut rest = number;
        let mut at = self.0.len();
        while rest >= 100 {
            at -= 2;
            self.0[at..at + 2].copy_from_slice(&pair(rest));
            rest /= 100;
        }
        at -= 2;
        self.0[at..at + 2].copy_from_slice(&pair(rest));
        &self.0[at + usize::from(rest < 10)..]
    }
}

/// Appends nanoseconds as a reader likes them, such as ` 12.34 us`, in at least 9 characters.
#[inline]
pub(super) fn duration(pen: &mut impl Put, ns: u64) {
    let (hundredths, unit) = match ns {
        0..1_000 => return nanoseconds(pen, ns),
        1_000..1_000_000 => (ns / 10, *b" us"),
        1_000_000..1_000_000_000 => (ns / 10_000, *b" ms"),
        _ => (ns / 10_000_000, *b" s "),
    };
    let whole = hundredths / 100;
    let [tens, ones] = pair(hundredths);
    if whole < 1_000 {
        let [a, b, c] = three_or_less(whole);
        return pen.put(&[a, b, c, b'.', tens, ones, unit[0], unit[1], unit[2]]);
    }
    // More than a quarter of an hour: whole seconds need more room.
    pen.number(whole);
    pen.put(&[b'.', tens, ones, unit[0], unit[1], unit[2]]);
}

#[inline]
fn nanoseconds(pen: &mut impl Put, ns: u64) {
    let [a, b, c] = three_or_less(ns);
    pen.put(&[b' ', b' ', b' ', a, b, c, b' ', b'n', b's']);
}

/// The three digits of `number`, which is less than 1,000.
#[inline]
fn three(number: u64) -> [u8; 3] {
    let [tens, ones] = pair(number);
    [b'0' + (number / 100) as u8, tens, ones]
}

/// As [`three`], with spaces for the zeros before it.
#[inline]
fn three_or_less(number: u64) -> [u8; 3] {
    let [a, b, c] = three(number);
    match number {
        0..10 => [b' ', b' ', c],
        10..100 => [b' ', b, c],
        _ => [a, b, c],
    }
}

/// Appends a time as seconds with six places, in at least 12 characters.
#[inline]
pub(super) fn seconds(pen: &mut impl Put, ns: i64) {
    let Ok(ns) = u64::try_from(ns) else {
        // Of a lane, measured before the start.
        return pen.formatted(format_args!("{:12.6}", ns as f64 / 1e9));
    };
    let (whole, micros) = (ns / 1_000_000_000, ns % 1_000_000_000 / 1_000);
    let [[d, e], [f, g], [h, i]] = [pair(micros / 10_000), pair(micros / 100), pair(micros)];
    if whole < 1_000 {
        let [a, b, c] = three_or_less(whole);
        return pen.put(&[b' ', b' ', a, b, c, b'.', d, e, f, g, h, i]);
    }
    let mut digits = Digits::NEW;
    pen.right(digits.of(whole), 5);
    pen.put(&[b'.', d, e, f, g, h, i]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(make: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = Vec::new();
        make(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn numbers() {
        for number in [0, 9, 10, 99, 100, 12_345, 1_000_000, u64::MAX] {
            assert_eq!(made(|p| p.number(number)), number.to_string());
            assert_eq!(made(|p| p.hex(number)), format!("{number:#x}"));
        }
        for number in [i64::MIN, -1, 0, i64::MAX] {
            assert_eq!(made(|p| p.signed(number)), number.to_string());
        }
        assert_eq!(made(|p| p.color(0xff8800)), "#ff8800");
        assert_eq!(made(|p| p.color(0x12)), "#000012");
        assert_eq!(made(|p| p.float(0.1)), "0.1");
        assert_eq!(made(|p| p.float(f64::MIN_POSITIVE)), "2.2250738585072014e-308");
    }

    #[test]
    fn times() {
        let shown = |ns| made(|p| duration(p, ns));
        assert_eq!(shown(0), "     0 ns");
        assert_eq!(shown(999), "   999 ns");
        assert_eq!(shown(1_000), "  1.00 us");
        assert_eq!(shown(12_345), " 12.34 us");
        assert_eq!(shown(999_999), "999.99 us");
        assert_eq!(shown(1_050_000), "  1.05 ms");
        assert_eq!(shown(61_000_000_000), " 61.00 s ");
        assert_eq!(shown(1_002_030_000_000), "1002.03 s ");
        assert_eq!(made(|p| seconds(p, 1_000_002_999)), "    1.000002");
        assert_eq!(made(|p| seconds(p, 0)), "    0.000000");
        assert_eq!(made(|p| seconds(p, -1_500_000_000)), "   -1.500000");
        assert_eq!(made(|p| seconds(p, 123_456_789_012_345)), "123456.789012");
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "longer than was asked for"))]
    fn a_pen_does_not_write_past_its_room() {
        let mut memory = [b'.'; 8];
        // SAFETY: the memory is ours and longer than the room.
        let mut pen = unsafe { Pen::new(memory.as_mut_ptr(), 4) };
        pen.put(b"abcdef");
        assert_eq!(pen.len(), 4);
        assert_eq!(&memory, b"abcd....");
    }
}
