//! What two runs of a kernel computed, compared number by number.
//!
//! Equality of bytes is seldom the question: sums are taken in another order, padding is noise. So memory is looked at by
//! [`Region`], each as numbers of one type, and two numbers are *within* the [`Tolerance`] or *beyond* it:
//!
//! * Without a tolerance, bits are compared. Then −0 is not 0, and one NaN is not another of other bits.
//! * With one or more, a pair is within if it is within any of them: so many units in the last place, a
//!   share of the larger magnitude, an absolute distance. Then −0 is 0, **any NaN is any other NaN and no number
//!   is NaN**, and an infinity is only itself.
//!
//! ```
//! use zonecast_recordings::diff::{Element, Region, Tolerance, compare};
//!
//! let bytes = |numbers: [f32; 3]| numbers.map(f32::to_le_bytes).concat();
//! let (a, b) = (bytes([1.0, 2.0, f32::NAN]), bytes([1.0, 2.0000002, f32::NAN]));
//! let regions = [Region { name: "argument 0".into(), range: 0..12, element: Element::F32 }];
//!
//! let exact = compare(&mut &a[..], &mut &b[..], &regions, Tolerance::EXACT)?;
//! assert_eq!(exact[0].beyond, 1);
//! assert_eq!(exact[0].first[0].index, 1);
//!
//! let close = compare(&mut &a[..], &mut &b[..], &regions, Tolerance { ulp: Some(1), ..Tolerance::EXACT })?;
//! assert_eq!((close[0].differing, close[0].beyond), (1, 0));
//! # Ok::<(), std::io::Error>(())
//! ```

mod element;

use std::io::{self, Read};
use std::ops::Range;

pub use element::{Element, Value};

/// How many differences are kept of each region.
const KEPT: usize = 10;
/// Bytes that are read at a time; a multiple of every element's size.
const BLOCK: usize = 1 << 16;

/// A piece of the memory that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// What a person calls it.
    pub name: String,
    /// Where it is, in bytes from the beginning of both memories.
    pub range: Range<u64>,
    /// What it is looked at as. Bytes at its end that make no whole number are compared as bytes.
    pub element: Element,
}

/// How much two numbers may differ. See [the module](self) for the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Units in the last place; for integers, the distance.
    pub ulp: Option<u64>,
    /// A share of the larger of both magnitudes.
    pub relative: Option<f64>,
    /// The distance.
    pub absolute: Option<f64>,
}

impl Tolerance {
    /// No bit may differ.
    pub const EXACT: Self = Self { ulp: None, relative: None, absolute: None };

    /// Whether two numbers whose bits differ are close enough.
    fn holds(self, element: Element, a: &[u8], b: &[u8]) -> bool {
        let (x, y) = (element.value(a), element.value(b));
        if let (Value::Float(x), Value::Float(y)) = (x, y)
            && !(x.is_finite() && y.is_finite())
        {
            // Infinities of the same sign have the same bits, and do not come here.
            return self != Self::EXACT && x.is_nan() && y.is_nan();
        }
        let steps = || element.steps(a, b);
        let distance = || distance(x, y);
        let larger = || x.to_f64().abs().max(y.to_f64().abs());
        self.ulp.is_some_and(|most| steps() <= most)
            || self.absolute.is_some_and(|most| distance() <= most)
            || self.relative.is_some_and(|most| distance() <= most * larger())
    }
}

/// Between two numbers of a type. Of integers it is taken before it is rounded.
fn distance(a: Value, b: Value) -> f64 {
    match (a, b) {
        (Value::Unsigned(a), Value::Unsigned(b)) => a.abs_diff(b) as f64,
        (Value::Signed(a), Value::Signed(b)) => a.abs_diff(b) as f64,
        (a, b) => (a.to_f64() - b.to_f64()).abs(),
    }
}

/// A pair of numbers beyond the tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Which number of its region, counted from 0; of bytes at the end that make no whole number, as if they made some.
    pub index: u64,
    /// Where it is, in bytes from the beginning of the memory.
    pub offset: u64,
    /// In the first memory.
    pub a: Value,
    /// In the second.
    pub b: Value,
}

/// What came of one region.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Which one.
    pub region: Region,
    /// How many numbers were compared.
    pub compared: u64,
    /// How many have other bits.
    pub differing: u64,
    /// How many of those are beyond the tolerance.
    pub beyond: u64,
    /// The largest distance between two numbers; of those where one is no finite number, none.
    pub largest: f64,
    /// The first ten beyond the tolerance.
    pub first: Vec<Difference>,
    /// How many bytes of the region only one of both memories has. They count as beyond.
    pub unpaired: u64,
}

impl Outcome {
    /// Whether all of it is within the tolerance.
    pub fn is_within(&self) -> bool {
        self.beyond == 0 && self.unpaired == 0
    }
}

/// Compares two memories, region by region. Regions ascend and do not overlap; what lies between them is skipped.
///
/// # Errors
///
/// If one of both cannot be read. That it ends early is none: see [`Outcome::unpaired`].
pub fn compare(
    a: &mut dyn Read,
    b: &mut dyn Read,
    regions: &[Region],
    tolerance: Tolerance,
) -> io::Result<Vec<Outcome>> {
    let mut at = 0;
    let mut outcomes = Vec::with_capacity(regions.len());
    for region in regions {
        let gap = region.range.start.saturating_sub(at);
        io::copy(&mut a.take(gap), &mut io::sink())?;
        io::copy(&mut b.take(gap), &mut io::sink())?;
        outcomes.push(compare_region(a, b, region, tolerance)?);
        at = region.range.end.max(at);
    }
    Ok(outcomes)
}

fn compare_region(
    a: &mut dyn Read,
    b: &mut dyn Read,
    region: &Region,
    tolerance: Tolerance,
) -> io::Result<Outcome> {
    let mut outcome = Outcome {
        region: region.clone(),
        compared: 0,
        differing: 0,
        beyond: 0,
        largest: 0.0,
        first: Vec::new(),
        unpaired: 0,
    };
    let (mut of_a, mut of_b) = (vec![0; BLOCK], vec![0; BLOCK]);
    let mut at = region.range.start;
    while at < region.range.end {
        let wanted = BLOCK.min(usize::try_from(region.range.end - at).unwrap_or(BLOCK));
        let (read_a, read_b) = (fill(a, &mut of_a[..wanted])?, fill(b, &mut of_b[..wanted])?);
        let both = read_a.min(read_b);
        outcome.unpaired += (read_a.max(read_b) - both) as u64;
        outcome.block(at, &of_a[..both], &of_b[..both], tolerance);
        at += wanted as u64;
        if read_a.max(read_b) < wanted {
            // Both are at their end: what is missing now, is missing in both.
            break;
        }
    }
    Ok(outcome)
}

impl Outcome {
    /// Takes in a block that begins at a whole number of the region.
    fn block(&mut self, at: u64, a: &[u8], b: &[u8], tolerance: Tolerance) {
        let element = self.region.element;
        let whole = a.len() - a.len() % element.size();
        self.numbers(at, &a[..whole], &b[..whole], element, tolerance);
        self.numbers(at + whole as u64, &a[whole..], &b[whole..], Element::U8, Tolerance::EXACT);
    }

    fn numbers(&mut self, at: u64, a: &[u8], b: &[u8], element: Element, tolerance: Tolerance) {
        let size = element.size();
        self.compared += (a.len() / size) as u64;
        // Most blocks are equal, and found to be so at once.
        if a == b {
            return;
        }
        let pairs = a.chunks_exact(size).zip(b.chunks_exact(size)).enumerate();
        for (index, (x, y)) in pairs.filter(|(_, (x, y))| x != y) {
            self.differing += 1;
            let (a, b) = (element.value(x), element.value(y));
            let distance = distance(a, b);
            if distance.is_finite() {
                self.largest = self.largest.max(distance);
            }
            if tolerance.holds(element, x, y) {
                continue;
            }
            self.beyond += 1;
            if self.first.len() < KEPT {
                let offset = at + (index * size) as u64;
                let index = (offset - self.region.range.start) / self.region.element.size() as u64;
                self.first.push(Difference { index, offset, a, b });
            }
        }
    }
}

/// Reads until the buffer is full or there is no more.
fn fill(from: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
