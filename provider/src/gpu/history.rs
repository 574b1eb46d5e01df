//! A sequence of growing keys that remembers the near past densely and the far past sparsely.

/// How many points are kept. The newer half is whole; of the older half, every second one goes
/// whenever there are more.
const KEPT: usize = 512;

/// Points by a growing key.
#[derive(Debug)]
pub(crate) struct History<T> {
    points: Vec<(i64, T)>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self { points: Vec::with_capacity(KEPT + 1) }
    }
}

impl<T> History<T> {
    /// Adds a point; its key is larger than all before. Points that are forgotten for it go to
    /// `forget`. The first one stays.
    pub(crate) fn push(&mut self, key: i64, value: T, mut forget: impl FnMut(T)) {
        self.points.push((key, value));
        if self.points.len() > KEPT {
            let older = self.points.len() / 2;
            let mut kept = Vec::with_capacity(KEPT + 1);
            for (place, point) in self.points.drain(..).enumerate() {
                if place < older && place % 2 == 1 {
                    forget(point.1);
                } else {
                    kept.push(point);
                }
            }
            self.points = kept;
        }
    }

    pub(super) fn points(&self) -> &[(i64, T)] {
        &self.points
    }

    pub(crate) fn last(&self) -> Option<&(i64, T)> {
        self.points.last()
    }

    /// How many points have keys up to `key`.
    pub(super) fn count_until(&self, key: i64) -> usize {
        self.points.partition_point(|point| point.0 <= key)
    }

    /// The last point up to `key`.
    pub(super) fn until(&self, key: i64) -> Option<&(i64, T)> {
        self.points.get(self.count_until(key).checked_sub(1)?)
    }

    /// The first point from `key` on.
    pub(super) fn from(&self, key: i64) -> Option<&(i64, T)> {
        self.points.get(self.count_until(key.saturating_sub(1)))
    }

    /// The two neighbours to interpolate between at `key`, or the two outermost ones to go on from.
    pub(crate) fn around(&self, key: i64) -> Option<[&(i64, T); 2]> {
        let second = self.count_until(key).clamp(1, self.points.len().checked_sub(1)?.max(1));
        Some([self.points.get(second - 1)?, self.points.get(second)?])
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.points.drain(..).map(|point| point.1)
    }
}

/// The value at `key` on the line through two points, rounded to the nearest.
pub(crate) fn on_line(key: i64, from: (i64, i64), to: (i64, i64)) -> i64 {
    if to.0 == from.0 {
        return from.1;
    }
    let (Ok(run), Ok(rise), Ok(away)) = (i32_of(to.0, from.0), i32_of(to.1, from.1), i32_of(key, from.0))
    else {
        return on_long_line(key, from, to);
    };
    let (run, product) = (i64::from(run), i64::from(away) * i64::from(rise));
    from.1 + (product * run.signum() + run.abs() / 2).div_euclid(run.abs())
}

/// The difference, if it is small: then products of two fit into 64 bits.
fn i32_of(a: i64, b: i64) -> Result<i32, core::num::TryFromIntError> {
    i32::try_from(a.wrapping_sub(b))
}

#[cold]
fn on_long_line(key: i64, from: (i64, i64), to: (i64, i64)) -> i64 {
    let run = i128::from(to.0) - i128::from(from.0);
    let rise = i128::from(to.1) - i128::from(from.1);
    let scaled = (i128::from(key) - i128::from(from.0)) * rise;
    let rounded = (scaled * run.signum() + run.abs() / 2).div_euclid(run.abs());
    let value = i128::from(from.1) + rounded;
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_near_past_is_whole_and_the_far_past_thin() {
        let mut history = History::default();
        let mut forgotten = 0;
        for key in 0..10_000 {
            history.push(key, key, |_| forgotten += 1);
        }
        let keys: Vec<_> = history.points().iter().map(|point| point.0).collect();
        assert_eq!(keys.len() + forgotten, 10_000);
        assert!(keys.len() <= KEPT && keys[0] == 0);
        assert!(keys.is_sorted());
        assert!((9_800..10_000).all(|key| keys.contains(&key)));
    }

    #[test]
    fn neighbours_and_ends() {
        let mut history = History::default();
        assert!(history.around(0).is_none());
        history.push(10, (), drop);
        assert!(history.around(0).is_none());
        for key in [20, 30] {
            history.push(key, (), drop);
        }
        let around = |key| history.around(key).map(|[a, b]| (a.0, b.0)).unwrap();
        assert_eq!([around(0), around(10), around(19)], [(10, 20); 3]);
        assert_eq!([around(20), around(25), around(99)], [(20, 30); 3]);
    }

    #[test]
    fn lines_round_to_the_nearest() {
        assert_eq!(on_line(5, (0, 0), (10, 3)), 2);
        assert_eq!(on_line(-5, (0, 0), (10, 3)), -1);
        assert_eq!(on_line(i64::MAX, (0, 0), (1, 1)), i64::MAX);
        let far = 1 << 40;
        assert_eq!(on_line(far + 5, (far, far), (far + 10, far + 3)), far + 2);
        assert_eq!(on_line(far, (0, 0), (2 * far, 3)), 2);
        assert_eq!(on_line(5, (10, 3), (0, 0)), 2);
        assert_eq!(on_line(7, (7, 1), (7, 9)), 1);
    }
}
