//! Comparing memories by number, type and tolerance.

use zonecast_recordings::diff::{Element, Outcome, Region, Tolerance, Value, compare};

const EXACT: Tolerance = Tolerance::EXACT;

fn ulp(most: u64) -> Tolerance {
    Tolerance { ulp: Some(most), ..EXACT }
}

fn relative(most: f64) -> Tolerance {
    Tolerance { relative: Some(most), ..EXACT }
}

fn absolute(most: f64) -> Tolerance {
    Tolerance { absolute: Some(most), ..EXACT }
}

fn outcome(a: &[u8], b: &[u8], element: Element, tolerance: Tolerance) -> Outcome {
    let range = 0..a.len().max(b.len()) as u64;
    let region = Region { name: "all".into(), range, element };
    compare(&mut &*a, &mut &*b, &[region], tolerance).unwrap().remove(0)
}

fn within(a: f32, b: f32, tolerance: Tolerance) -> bool {
    outcome(&a.to_le_bytes(), &b.to_le_bytes(), Element::F32, tolerance).is_within()
}

#[test]
fn bits_are_compared_without_a_tolerance() {
    assert!(within(1.5, 1.5, EXACT) && within(f32::NAN, f32::NAN, EXACT));
    assert!(!within(0.0, -0.0, EXACT) && !within(1.0, 1.0 + f32::EPSILON, EXACT));
    assert!(!within(f32::NAN, -f32::NAN, EXACT));
}

#[test]
fn nan_is_nan_and_no_number_is() {
    for tolerance in [ulp(u64::MAX), relative(1e30), absolute(f64::INFINITY)] {
        assert!(within(f32::NAN, -f32::NAN, tolerance));
        assert!(!within(f32::NAN, 1.0, tolerance) && !within(0.0, f32::NAN, tolerance));
        assert!(within(f32::INFINITY, f32::INFINITY, tolerance));
        assert!(!within(f32::INFINITY, f32::NEG_INFINITY, tolerance), "{tolerance:?}");
        assert!(!within(f32::INFINITY, f32::MAX, tolerance), "{tolerance:?}");
        assert!(within(0.0, -0.0, tolerance));
    }
}

#[test]
fn units_in_the_last_place_cross_zero_and_powers_of_two() {
    let next = |x: f32, steps: u32| f32::from_bits(x.to_bits() + steps);
    assert!(within(1.0, next(1.0, 4), ulp(4)) && !within(1.0, next(1.0, 5), ulp(4)));
    assert!(within(2.0, f32::from_bits(2.0_f32.to_bits() - 1), ulp(1)));
    let tiny = f32::from_bits(3);
    assert!(within(tiny, -tiny, ulp(6)) && !within(tiny, -tiny, ulp(5)));
}

#[test]
fn a_pair_is_within_if_any_tolerance_admits_it() {
    assert!(within(100.0, 101.0, relative(0.01)) && !within(100.0, 101.1, relative(0.01)));
    assert!(within(1e-9, -1e-9, absolute(1e-8)) && !within(1e-9, -1e-9, relative(0.5)));
    let both = Tolerance { absolute: Some(1e-8), relative: Some(0.01), ..EXACT };
    assert!(within(1e-9, -1e-9, both) && within(100.0, 101.0, both) && !within(1.0, 1.1, both));
}

#[test]
fn every_type_has_its_own_numbers() {
    let values: Vec<_> =
        Element::ALL.map(|element| element.value(&[0x80, 0xC0, 0x80, 0xC0, 0, 0, 0, 0xC0])).into();
    assert_eq!(values[..2], [Value::Unsigned(0x80), Value::Signed(-128)]);
    assert_eq!(values[2..4], [Value::Unsigned(0xC080), Value::Signed(-16256)]);
    assert_eq!(values[4..6], [Value::Unsigned(0xC080_C080), Value::Signed(-1_065_303_936)]);
    assert_eq!(values[6], Value::Unsigned(0xC000_0000_C080_C080));
    assert_eq!(values[8..10], [Value::Float(-2.25), Value::Float(-4.0)]);
    assert_eq!(values[10], Value::Float(f32::from_bits(0xC080_C080).into()));
    assert_eq!(values[11], Value::Float(f64::from_bits(0xC000_0000_C080_C080)));
    for element in Element::ALL {
        assert_eq!(element.name().parse::<Element>(), Ok(element));
    }
    assert!("f8".parse::<Element>().unwrap_err().contains("u8, i8"));
}

/// Also where a float would round the difference away.
#[test]
fn integers_are_compared_as_integers() {
    let (a, b) = (u64::MAX, u64::MAX - 3);
    let with = |tolerance| outcome(&a.to_le_bytes(), &b.to_le_bytes(), Element::U64, tolerance).is_within();
    assert!(with(ulp(3)) && with(absolute(3.0)) && !with(ulp(2)) && !with(absolute(2.0)));
    let extremes = outcome(&i64::MIN.to_le_bytes(), &i64::MAX.to_le_bytes(), Element::I64, ulp(u64::MAX - 1));
    assert!(!extremes.is_within());
}

#[test]
fn differences_are_counted_and_the_first_are_told() {
    // More than one block, each 1,000th number off, the last three bytes no number.
    let a: Vec<u8> = (0..50_000_u32).flat_map(|n| (n as f32).to_le_bytes()).chain([1, 2, 3]).collect();
    let mut b = a.clone();
    for number in (0..50_000).step_by(1000) {
        b[4 * number + 3] ^= 1;
    }
    b[200_001] = 9;
    let outcome = outcome(&a, &b, Element::F32, EXACT);
    assert_eq!((outcome.compared, outcome.differing, outcome.beyond), (50_003, 51, 51));
    let first: Vec<_> = outcome.first.iter().map(|d| (d.index, d.offset)).collect();
    assert_eq!(first.len(), 10);
    assert_eq!(first[..2], [(0, 0), (1000, 4000)]);
    assert!(!outcome.is_within());
    let tail = compare_tail(&a, &b);
    assert_eq!(tail.first[0].offset, 200_001);
    assert_eq!((tail.first[0].a, tail.first[0].b), (Value::Unsigned(2), Value::Unsigned(9)));
}

fn compare_tail(a: &[u8], b: &[u8]) -> Outcome {
    let region = Region { name: "tail".into(), range: 199_996..200_003, element: Element::F32 };
    compare(&mut &*a, &mut &*b, &[region], ulp(1000)).unwrap().remove(0)
}

#[test]
fn what_only_one_has_is_beyond() {
    for (a, b) in [(&[1_u8, 2, 3][..], &[1_u8][..]), (&[1], &[1, 2, 3])] {
        let outcome = outcome(a, b, Element::U8, absolute(1e9));
        assert_eq!((outcome.compared, outcome.unpaired), (1, 2));
        assert!(!outcome.is_within());
    }
}

#[test]
fn regions_are_told_apart() {
    let (a, b) = ([0_u8; 32], {
        let mut b = [0_u8; 32];
        b[20] = 7;
        b
    });
    let region = |name: &str, range| Region { name: name.into(), range, element: Element::I32 };
    let regions = [region("x", 0..8), region("y", 16..24), region("z", 24..32)];
    let outcomes = compare(&mut &a[..], &mut &b[..], &regions, EXACT).unwrap();
    assert_eq!(outcomes.iter().map(Outcome::is_within).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!((outcomes[1].first[0].index, outcomes[1].first[0].offset), (1, 20));
}
